"""The words for states: five for people, and never one that the rows contradict."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import settling
from batchui.batches.models import WAITS_FOR_COPIES, Batch, Part
from batchui.batches.states import AnswerStatus, BatchStatus, PartStatus
from batchui.teams.models import Connection, Team, User
from batchui.web import holds, terminal
from batchui.web.status_words import WORDS, of_batch, of_part, of_state
from batchui.web.templatetags.batches import page_title, progress_text
from tests.batches.conftest import on_record
from tests.web.visiting import HTMX, html, said

pytestmark = pytest.mark.django_db

QUOTA = "The free allocation is used up."


def hold(batch: Batch, **more: object) -> None:
    batch.parts.update(status=PartStatus.HELD, message=QUOTA, **more)


@pytest.mark.parametrize("status", BatchStatus.values)
def test_a_batch_is_one_of_five_words_or_a_draft(team: Team, status: str) -> None:
    shown = of_batch(on_record(team, status=status, parts=1))
    assert shown.word in WORDS
    assert shown.sentence.endswith(".")


@pytest.mark.parametrize("status", PartStatus.values)
def test_a_part_has_the_same_words(team: Team, status: str) -> None:
    batch = on_record(team, parts=1)
    batch.parts.update(status=status, message=QUOTA)
    assert of_part(batch.parts.get()).word in WORDS


@pytest.mark.parametrize("status", [*AnswerStatus.values, ""])
def test_a_row_has_words_of_its_own(status: str) -> None:
    assert of_state(status).word not in WORDS


@pytest.mark.parametrize(
    ("counts", "tone", "sentence"),
    [
        ({"answered": 25}, "good", "25 rows are answered."),
        ({"answered": 23, "invalid": 2}, "good", "23 rows are answered, 2 skipped."),
        ({"answered": 24, "empty": 1}, "caution", "24 rows are answered, 1 without an answer."),
        ({"failed": 25}, "bad", "No row was answered."),
    ],
)
def test_a_part_that_failed_is_never_green(
    counts: dict[str, int], tone: str, sentence: str
) -> None:
    shown = of_part(Part(status=PartStatus.DONE, rows=25, **counts))
    assert (shown.word, shown.tone, shown.sentence) == ("Finished", tone, sentence)


def test_rows_that_were_skipped_by_choice_are_no_problem() -> None:
    shown = of_batch(Batch(status=BatchStatus.PROBLEMS, rows=65, answered=63, invalid=2))
    assert (shown.tone, shown.sentence) == ("good", "63 rows are answered, 2 skipped.")


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"answered": 65}, "65 of 65 answered"),
        ({"answered": 58, "skipped": 7}, "58 answered, 7 skipped"),
        ({"answered": 50, "empty": 8, "skipped": 7}, "50 of 58 answered, 7 skipped"),
        ({"invalid": 3, "skipped": 7}, "0 of 55 answered, 10 skipped"),
    ],
)
def test_rows_that_are_skipped_are_none_of_those_to_answer(
    counts: dict[str, int], text: str
) -> None:
    batch = Batch(status=BatchStatus.PROBLEMS, rows=65, **counts)
    assert progress_text(batch) == text
    of_rows = text.replace(" answered", " rows answered")
    assert terminal.summary(batch) == f"Finished: {of_rows}"


@pytest.mark.parametrize("state", ["queued", "running"])
def test_the_sandbox_is_not_called_cloudflare(team: Team, state: str) -> None:
    batch = on_record(team, status=state)
    batch.parts.update(status=state)
    part = batch.parts.get()
    for shown in (of_batch(batch), of_part(part)):
        assert "sandbox" in shown.sentence
        assert "Cloudflare" not in shown.sentence
    Connection.objects.update(kind=Connection.Kind.REST)
    for shown in (of_batch(Batch.objects.get()), of_part(Part.objects.get())):
        assert "Cloudflare" in shown.sentence


def test_a_part_that_waits_for_copies_is_not_paused() -> None:
    assert of_part(Part(status=PartStatus.HELD, message=WAITS_FOR_COPIES)).word == "Queued"


def test_a_batch_on_hold_is_paused_in_the_history_and_on_its_page(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.QUEUED, parts=2)
    assert "Queued" in said(web.get(reverse("batches"))).split("When")[1]
    hold(batch)
    for address in (reverse("batches"), reverse("live", args=[batch.pk])):
        page = html(web.get(address))
        assert "<span>Paused</span>" in page
        assert QUOTA in page
    assert "<span>Queued</span>" not in html(web.get(reverse("batches")))


def test_a_batch_of_which_something_is_under_way_is_not_paused(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.RUNNING, parts=2)
    hold(batch)
    assert holds.of([batch])[batch.pk].message == QUOTA
    batch.parts.filter(number=2).update(status=PartStatus.RUNNING)
    assert holds.of([batch]) == {}


def test_parts_that_wait_for_copies_pause_nothing(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.RUNNING, parts=1)
    batch.parts.update(status=PartStatus.HELD, message=WAITS_FOR_COPIES)
    assert holds.of([batch]) == {}


def test_a_batch_that_has_ended_is_not_paused(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.STOPPED, parts=1)
    hold(batch)
    assert holds.of([batch]) == {}


def test_the_pause_of_a_connection_shows_in_the_history_by_itself(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.QUEUED, parts=1)
    batch.parts.update(status=PartStatus.READY)
    seen = {"seen": f"{batch.pk}.{batch.version}"}
    assert web.get(reverse("history"), seen, headers=HTMX).status_code == 204
    until = timezone.now() + timedelta(minutes=5)
    Connection.objects.update(paused_until=until, pause_reason="Too many requests.")
    assert holds.of([batch])[batch.pk].resume_at == until
    changed = html(web.get(reverse("history"), seen, headers=HTMX))
    assert "<span>Paused</span>" in changed
    assert "Too many requests." in changed
    Connection.objects.update(paused_until=timezone.now() - timedelta(seconds=1))
    assert holds.of([batch]) == {}


@pytest.mark.parametrize("word", ["queued", "running", "paused", "finished", "problems"])
def test_the_filters_of_the_history_speak_the_same_words(
    web: Client, team: Team, word: str
) -> None:
    queued = on_record(team, status=BatchStatus.QUEUED, parts=1)
    queued.parts.update(status=PartStatus.QUEUED)
    running = on_record(team, status=BatchStatus.RUNNING, parts=1)
    running.parts.update(status=PartStatus.RUNNING)
    held = on_record(team, status=BatchStatus.QUEUED, parts=1)
    hold(held)
    asked = on_record(team, status=BatchStatus.ATTENTION, parts=1)
    good = on_record(team, status=BatchStatus.FINISHED, parts=1)
    poor = on_record(team, status=BatchStatus.PROBLEMS, parts=1)
    expected = {
        "queued": {queued},
        "running": {running},
        "paused": {held, asked},
        "finished": {good, poor},
        "problems": {poor},
    }[word]
    page = html(web.get(reverse("batches"), {"status": word}))
    everything = (queued, running, held, asked, good, poor)
    assert {batch for batch in everything if f'id="batch-{batch.pk}"' in page} == expected


def test_an_unknown_state_is_shown_as_it_is() -> None:
    assert of_state("not sent").word == "Not sent"


def test_a_batch_that_waits_for_a_token_gives_that_as_its_reason(web: Client, team: Team) -> None:
    """Nothing is asked about it that anybody could decide."""
    batch = on_record(team, status=BatchStatus.ATTENTION, parts=2)
    batch.parts.filter(number=1).update(status=PartStatus.HELD, message=QUOTA)
    batch.parts.filter(number=2).update(status=PartStatus.RUNNING)
    for address in (reverse("batches"), reverse("live", args=[batch.pk])):
        page = said(web.get(address))
        assert QUOTA in page
        assert "your decision" not in page
        assert "On hold." not in page
    batch.parts.filter(number=2).update(status=PartStatus.UNSURE)
    assert holds.of([batch]) == {}
    assert "It waits for your decision." in said(web.get(reverse("batches")))


def test_what_is_the_same_for_many_parts_is_said_once(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.PROBLEMS, parts=9)
    batch.parts.exclude(number=4).update(status=PartStatus.DONE, failed=10, message=QUOTA)
    batch.parts.filter(number=4).update(status=PartStatus.DONE, answered=10)
    page = said(web.get(reverse("parts", args=[batch.pk])))
    assert "Parts 1 to 3 and 5 to 9" in page
    assert page.count(QUOTA) == 1


def test_why_a_batch_is_on_hold_is_not_said_again_below(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.QUEUED, parts=9)
    hold(batch)
    assert said(web.get(reverse("parts", args=[batch.pk]))).count(QUOTA) == 1
    fragment = web.get(reverse("parts", args=[batch.pk]), headers=HTMX | {"HX-Target": "parts"})
    assert QUOTA not in html(fragment)


def test_rows_that_failed_each_by_itself_were_not_left_out(web: Client, team: Team) -> None:
    batch = on_record(team, status=BatchStatus.FAILED, parts=2)
    batch.parts.update(status=PartStatus.DONE, failed=10)
    page = said(web.get(reverse("live", args=[batch.pk])))
    assert "No row was answered. Each reason, and what to do, stands under Needs attention" in page
    assert "left out" not in page


def test_who_pressed_stop_has_not_stopped_what_still_runs(
    web: Client, team: Team, ana: User
) -> None:
    batch = on_record(team, status=BatchStatus.STOPPING, stop_requested_at=timezone.now())
    settling.record(batch, "stopping", "Stop was pressed.", by=ana)
    assert "Stop pressed by Ana" in said(web.get(reverse("live", args=[batch.pk])))
    Batch.objects.update(status=BatchStatus.STOPPED)
    assert "stopped by Ana" in said(web.get(reverse("live", args=[batch.pk])))


def test_rows_that_are_skipped_are_no_progress() -> None:
    batch = Batch(
        name="texts", status=BatchStatus.QUEUED, rows=80, skipped=13, connection=Connection()
    )
    assert page_title(batch) == "0% · texts · batchui"
    batch.answered = 67
    assert page_title(batch) == "100% · texts · batchui"
