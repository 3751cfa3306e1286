"""What people may try, on which rows, and what is kept of it."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from msgspec import structs

from batchui.batches import decisions, deleting, intake, tries
from batchui.batches.models import Batch
from batchui.batches.try_models import TriedRow, TriedStatus, Try
from batchui.batches.try_rows import Which
from batchui.cloudflare.catalogue import find
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import Choices
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, rows
from tests.batches.trying import ask_all, begun, statuses, tried

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]

GAPS = b"id,text\r\n1,\r\n2,two\r\n3,  \r\n4,four\r\n5,five\r\n6,six\r\n7,seven\r\n8,eight\r\n"


@pytest.fixture
def draft(receive: MakeBatch) -> Batch:
    return receive(rows(40))


def numbers(one: Try) -> list[int]:
    return [row.number for row in tried(one)]


# -- which rows ---------------------------------------------------------------------------------


def test_the_first_five_rows_are_tried_as_they_would_be_sent(draft: Batch) -> None:
    one = begun(draft)
    assert numbers(one) == [2, 3, 4, 5, 6]
    assert tried(one)[0].item == (
        '{"messages":[{"role":"user","content":"Summarise: text number 1"}],"max_tokens":1024}'
    )


def test_blank_rows_are_passed_over_and_the_next_ones_taken(receive: MakeBatch) -> None:
    assert numbers(begun(receive(GAPS))) == [3, 5, 6, 7, 8]


def test_random_rows_are_of_the_whole_file_and_each_once(draft: Batch) -> None:
    drawn = set()
    for _ in range(12):
        one = begun(draft, which=Which.RANDOM)
        found = numbers(one)
        assert found == sorted(set(found))
        assert len(found) == 5
        assert {2 <= number <= 41 for number in found} == {True}
        drawn |= set(found)
        Try.objects.all().delete()
    assert len(drawn) > 15


def test_random_rows_are_never_blank_ones(receive: MakeBatch) -> None:
    assert numbers(begun(receive(GAPS), which=Which.RANDOM, count=20)) == [3, 5, 6, 7, 8, 9]


def test_ticked_rows_are_tried_and_one_that_cannot_be_asked_says_why(receive: MakeBatch) -> None:
    one = begun(receive(GAPS), which=Which.CHOSEN, numbers=[4, 9])
    assert statuses(one) == [TriedStatus.NOT_ASKED, TriedStatus.WAITING]
    assert tried(one)[0].error.startswith("Row 4, column “text”: the cell is blank")


def test_the_same_rows_are_tried_with_other_words(draft: Batch) -> None:
    first = begun(draft, which=Which.RANDOM)
    ask_all()
    again = begun(draft, which=Which.SAME, template="Judge: {{text}}")
    assert numbers(again) == numbers(first)
    assert "Judge: text number" in tried(again)[0].item


def test_a_row_too_long_for_the_model_is_passed_over(receive: MakeBatch) -> None:
    long = f"id,text\r\n1,{'word ' * 150_000}\r\n2,short\r\n".encode()
    draft = receive(long)
    assert numbers(begun(draft)) == [3]
    Try.objects.all().delete()
    [row, _] = tried(begun(draft, which=Which.CHOSEN, numbers=[2, 3]))
    assert (row.status, row.error) == (
        TriedStatus.NOT_ASKED,
        "The row is too long for this model. Shorten it, or choose a model that reads more.",
    )


def test_ready_made_items_and_translations_can_be_tried(receive: MakeBatch) -> None:
    lines = b'{"prompt": "one", "max_tokens": 7}\n{"prompt": "two", "external_reference": "b"}\n'
    ready = begun(receive(lines, "items.jsonl"), as_items=True, template="")
    assert [row.item for row in tried(ready)] == [
        '{"prompt":"one","max_tokens":7}',
        '{"max_tokens":1024,"prompt":"two"}',
    ]
    translated = begun(
        receive(rows(1)), model="@cf/meta/m2m100-1.2b", template="{{text}}", target_lang="fr"
    )
    assert tried(translated)[0].item == '{"text":"text number 1","target_lang":"fr"}'


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"template": ""}, tries.NO_QUESTION),
        ({"which": Which.SAME}, tries.NO_LATEST),
        ({"which": Which.CHOSEN}, tries.NONE_TICKED),
        ({"which": Which.CHOSEN, "numbers": range(2, 23)}, tries.TOO_MANY_TICKED),
        ({"which": Which.CHOSEN, "numbers": [99]}, tries.NO_ROWS),
        ({"template": "Hello"}, "names no column"),
        ({"template": "{{nothing}}"}, "nothing"),
    ],
)
def test_what_cannot_be_tried_is_refused_with_a_sentence(
    draft: Batch, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence[:40]):
        begun(draft, **more)
    assert not Try.objects.exists()


def test_no_more_than_twenty_rows_are_tried(draft: Batch) -> None:
    assert len(tried(begun(draft, count=100))) == 20


def test_a_draft_has_one_try_under_way(draft: Batch) -> None:
    one = begun(draft)
    with pytest.raises(BadInput, match="still under way"):
        begun(draft)
    TriedRow.objects.update(status=TriedStatus.ASKING)
    with pytest.raises(BadInput, match="still under way"):
        begun(draft)
    TriedRow.objects.update(status=TriedStatus.ANSWERED)
    assert begun(draft).number == one.number + 1


def test_a_team_has_three_tries_under_way(receive: MakeBatch) -> None:
    drafts = [receive(rows(3)) for _ in range(4)]
    for draft in drafts[:3]:
        begun(draft)
    with pytest.raises(BadInput, match="3 tries of your team are under way"):
        begun(drafts[3])
    deleting.discard(drafts[0], by=None)  # nobody waits for that one any more
    assert begun(drafts[3])


def test_the_tries_of_another_team_take_no_place(receive: MakeBatch) -> None:
    other = Team.objects.create(name="Another")
    for _ in range(3):
        file = ContentFile(rows(3), "texts.csv")
        begun(intake.receive(file, team=other, by=None, check_now=True))
    assert begun(receive(rows(3)))


def test_what_was_started_or_deleted_is_not_tried(draft: Batch) -> None:
    stale = Batch.objects.get(pk=draft.pk)
    decisions.start(draft, by=None, ask=Ask(model=MODEL, template=TEMPLATE))
    with pytest.raises(BadInput, match="was started"):
        begun(stale)
    Batch.objects.update(status="draft", deleted_at=timezone.now())
    with pytest.raises(BadInput, match="was started"):
        begun(stale)


def test_nothing_is_tried_while_the_connection_is_paused(draft: Batch, team: Team) -> None:
    connection = ensure_connection(team)
    Connection.objects.update(
        paused_until=timezone.now() + timedelta(minutes=5), pause_reason="The token is refused."
    )
    with pytest.raises(BadInput, match=r"Nothing was tried\. The token is refused\."):
        begun(draft)
    Connection.objects.update(paused_until=timezone.now() - timedelta(seconds=1))
    assert begun(draft).connection == connection


# -- what is kept -------------------------------------------------------------------------------


def test_a_try_keeps_the_question_as_it_was_and_who_asked(draft: Batch, ana: User) -> None:
    one = begun(draft, by=ana, instruction="Be brief.")
    decisions.edit(draft, ask=Ask(model=MODEL, template="Other: {{text}}"))
    one.refresh_from_db()
    assert one.ask == Ask(model=MODEL, template=TEMPLATE, instruction="Be brief.")
    assert one.created_by == ana


def test_four_tries_are_kept_and_the_oldest_goes(draft: Batch) -> None:
    for _ in range(6):
        begun(draft)
        ask_all()
    assert [one.number for one in tries.of(draft)] == [3, 4, 5, 6]


def test_the_tries_of_another_draft_stay(draft: Batch, receive: MakeBatch) -> None:
    other = begun(receive(rows(3)))
    for _ in range(5):
        begun(draft)
        ask_all()
    assert Try.objects.filter(pk=other.pk).exists()


def test_tries_of_rows_that_were_read_otherwise_do_not_show_and_then_go(draft: Batch) -> None:
    begun(draft)
    ask_all()
    intake.read_differently(draft, Choices(header_row=0), by=None)
    draft.refresh_from_db()
    assert list(tries.of(draft)) == []
    assert begun(draft, template="{{Column 2}}").number == 1
    assert Try.objects.count() == 1


def test_a_try_under_way_cannot_be_removed_and_one_that_ended_can(draft: Batch) -> None:
    one = begun(draft)
    assert not tries.remove(one)
    ask_all()
    assert tries.remove(one)
    assert not Try.objects.exists()


def test_a_batch_that_runs_again_begins_without_tries(draft: Batch) -> None:
    begun(draft)
    copy = intake.run_again(draft, by=None)
    assert list(tries.of(copy)) == []


def test_stopping_leaves_out_what_was_not_asked(draft: Batch) -> None:
    one = begun(draft)
    TriedRow.objects.filter(number=2).update(status=TriedStatus.ASKING)
    assert tries.stop(one) == 4
    assert statuses(one) == [TriedStatus.ASKING] + [TriedStatus.NOT_ASKED] * 4
    assert {row.error for row in tried(one)[1:]} == {tries.STOPPED}
    assert ask_all() == 0


# -- what they cost -----------------------------------------------------------------------------


def test_the_tokens_of_each_try_are_summed_up(draft: Batch) -> None:
    one = begun(draft)
    ask_all()
    [used] = tries.usage_of(draft)
    assert (used.number, used.model, used.rows) == (1, MODEL, 5)
    assert used.prompt_tokens == sum(row.prompt_tokens for row in tried(one)) > 0
    assert used.completion_tokens == sum(row.completion_tokens for row in tried(one)) > 0
    assert used.usd == pytest.approx(
        (0.27 * used.prompt_tokens + 0.85 * used.completion_tokens) / 1e6
    )


def test_a_try_without_an_answer_tells_nothing_about_tokens(draft: Batch) -> None:
    begun(draft)
    assert tries.usage_of(draft) == []


def test_the_most_that_a_try_costs_follows_from_its_longest_row_and_answer() -> None:
    ask = Ask(model=MODEL, max_tokens=1000)
    model = find(MODEL)
    usd = tries.most_usd(model, ask, [30, 300])
    assert usd == pytest.approx(5 * (100 * 0.27 + 1000 * 0.85) / 1e6)
    assert tries.most_usd(structs.replace(model, has_price=False), ask, [30]) is None


# -- large files --------------------------------------------------------------------------------


def test_random_rows_of_a_large_file_are_of_all_of_it_and_found_quickly(
    receive: MakeBatch,
) -> None:
    draft = receive(rows(30_000))
    began = time.process_time()
    one = begun(draft, which=Which.RANDOM, count=20)
    assert time.process_time() - began < 1
    found = numbers(one)
    assert len(found) == 20
    assert max(found) > 20_000
    for row in tried(one):
        assert f'Summarise: text number {row.number - 1}"' in row.item


def test_ticked_rows_far_down_are_found(receive: MakeBatch) -> None:
    one = begun(receive(rows(30_000)), which=Which.CHOSEN, numbers=[29_999, 3, 30_002, 0])
    assert [(row.number, row.item[:60]) for row in tried(one)] == [
        (3, '{"messages":[{"role":"user","content":"Summarise: text number'[:60]),
        (29_999, '{"messages":[{"role":"user","content":"Summarise: text number'[:60]),
    ]
    assert "text number 29998" in tried(one)[1].item


def test_drafts_of_older_versions_are_read_from_their_upload(draft: Batch) -> None:
    Batch.objects.update(draft_rows_file="")
    draft.refresh_from_db()
    assert numbers(begun(draft, which=Which.CHOSEN, numbers=[7, 41])) == [7, 41]
    Try.objects.all().delete()
    assert len(numbers(begun(draft, which=Which.RANDOM))) == 5
    Try.objects.all().delete()
    assert numbers(begun(draft)) == [2, 3, 4, 5, 6]


def test_a_damaged_file_is_said(draft: Batch) -> None:
    default_storage.delete(draft.draft_rows_file)
    with pytest.raises(BadInput, match="is not there any more"):
        begun(draft)
