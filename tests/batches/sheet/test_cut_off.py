"""Answers that were cut off at the longest answer: recognised, kept, counted, and asked again."""

import json
from typing import Any

import msgspec
import pytest

from batchui.batches import corrections, exporting, listing, part_answers, results
from batchui.batches.answer_editing import seen_of
from batchui.batches.answer_reading import answer_of
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.part_answers import CUT_OFF, Answer
from batchui.batches.sheet import asking_again, pages
from batchui.batches.sheet.asking_again import AskAgain, longer_answers
from batchui.batches.sheet.selection import Selection
from batchui.batches.states import BatchStatus
from batchui.cloudflare.answers import CUT_SHORT
from batchui.cloudflare.replies import EMPTY, ItemReply
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.model_facts import ROOM
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team, User
from tests.batches.conftest import CHAT_COMPLETIONS, MODEL, MakeBatch, counted, rows, work

pytestmark = pytest.mark.django_db


def all_is_well(batch: Batch) -> None:
    """What the doctor knows must be true."""
    assert [str(one) for one in look(Scope(batch=batch.pk)).findings] == []


GPT_OSS = "@cf/openai/gpt-oss-20b"
CUT = Selection(reason="answered-cut")
TONE = (AnswerColumn("tone", "one_of", ("good", "bad")),)


def item(**fields: Any) -> ItemReply:
    return ItemReply(**{"index": 0, "status": "answered", "answer": b'"It beg"'} | fields)


# -- what is recognised ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("usage", "is_cut"),
    [
        (b'{"prompt_tokens":9,"completion_tokens":40}', True),
        (b'{"prompt_tokens":9,"completion_tokens":41}', True),
        (b'{"prompt_tokens":40,"completion_tokens":39}', False),
        (b'{"input_tokens":9,"output_tokens":40}', True),
        (b'{"completion_tokens":40.0}', True),
        (b'{"completion_tokens":"many"}', False),
        (b'{"total_tokens":99}', False),
        (b"[40]", False),
        (None, False),
    ],
)
def test_an_answer_with_as_many_tokens_as_it_might_have_was_cut_off(
    usage: bytes | None, is_cut: bool
) -> None:
    assert answer_of(item(usage=usage), (), longest=40).is_cut is is_cut


def test_what_the_item_says_counts_for_more_than_its_tokens() -> None:
    full = b'{"completion_tokens":40}'
    assert not answer_of(item(usage=full, cut=False), (), longest=40).is_cut
    assert answer_of(item(cut=True), (), longest=None).is_cut
    assert not answer_of(item(usage=full), (), longest=None).is_cut


@pytest.mark.parametrize(
    ("given", "columns", "status", "error"),
    [
        ({}, (), "answered", CUT_OFF),
        ({"answer": b'{"tone":"good"}'}, TONE, "answered", CUT_OFF),
        ({"answer": b'"{\\"tone\\": \\"go"'}, TONE, "unfit", "so it does not fit the answer"),
        ({"answer": b'{"tone":null}'}, TONE, "empty", CUT_SHORT),
        ({"status": "empty", "answer": None, "error": EMPTY}, (), "empty", CUT_SHORT),
        ({"status": "failed", "answer": None, "error": "Broken."}, (), "failed", "Broken."),
    ],
)
def test_a_row_says_that_its_answer_was_cut_off_whatever_is_left_of_it(
    given: dict[str, Any], columns: tuple[AnswerColumn, ...], status: str, error: str
) -> None:
    found = answer_of(item(**given, cut=True), columns)
    assert found.status == status
    assert found.error is not None
    assert error in found.error
    assert found.is_cut is (status == "answered")


def test_a_sentence_that_says_more_is_kept() -> None:
    said = "All the room went into reasoning: it reached the longest answer allowed."
    kept = answer_of(item(status="empty", answer=None, error=said, cut=True), ())
    assert kept.error == said


def test_lines_of_older_versions_are_read_and_were_not_cut_off() -> None:
    for line in (b'["answered","yes"]', b'["answered","yes",null,null,null]'):
        assert not msgspec.json.decode(line, type=Answer).is_cut
    counted_empty = Answer("answered", error=part_answers.COUNTED)
    assert not counted_empty.is_cut


# -- through the whole path -----------------------------------------------------------------------


@pytest.mark.parametrize("model", [MODEL, CHAT_COMPLETIONS, GPT_OSS])
def test_cut_answers_are_kept_counted_and_count_as_answered(
    sandbox: RunningSandbox, start: MakeBatch, model: str
) -> None:
    sandbox.script({"fault": "cut_off", "items": [1, 3], "times": 0})
    batch = work(start(rows(10), model=model))
    assert (batch.status, batch.cut) == (BatchStatus.FINISHED, 2)
    assert counted(batch) == {"answered": 10}
    assert [row.row for row in pages.page(batch, Selection(shown="cut"), offset=0, limit=9)] == [
        3,
        5,
    ]
    lines = [json.loads(line) for line in b"".join(exporting.jsonl(batch)).splitlines()]
    assert [line["row"] for line in lines if line["error"] == CUT_OFF] == [3, 5]
    assert all(line["answer"] for line in lines)
    all_is_well(batch)


def test_ready_made_requests_are_held_to_their_own_limit(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    lines = [{"prompt": "One?", "max_tokens": 1}, {"prompt": "Two?", "max_tokens": 300}]
    content = "".join(json.dumps(line) + "\n" for line in [*lines, {"prompt": "Three?"}]).encode()
    sandbox.script({"fault": "cut_off", "every": 1, "times": 0})
    batch = work(start(content, "items.jsonl", as_items=True, template="", max_tokens=77))
    usages = [json.loads(row.usage or b"null") for row in results.results(batch)]
    assert [usage["completion_tokens"] for usage in usages] == [1, 300, 77]
    assert batch.cut == 3
    assert longer_answers(batch) is None


def test_a_person_who_corrects_a_cut_answer_settles_it(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "cut_off", "times": 0})
    batch = work(start(rows(3)))
    [row] = pages.page(batch, CUT, offset=0, limit=9)
    seen = seen_of(row.answer, (), 0)
    done = corrections.correct(batch, row.row, at=0, written="Whole.", seen=seen, by=None)
    assert done.is_saved
    batch.refresh_from_db()
    assert (batch.cut, batch.edited, pages.count(batch, CUT)) == (0, 1, 0)
    now = pages.page(batch, Selection(shown="edited"), offset=0, limit=1)[0]
    assert corrections.put_back(batch, row.row, seen=seen_of(now.answer, (), 0), by=None).is_saved
    batch.refresh_from_db()
    assert (batch.cut, pages.count(batch, CUT)) == (1, 1)
    all_is_well(batch)


# -- asked again ----------------------------------------------------------------------------------


def limits_sent(sandbox: RunningSandbox) -> list[list[int]]:
    """The longest answers of the items of each request, in the order they were sent."""
    store = sandbox.sandbox.context.store
    bodies = [store.body(call.request_id) for call in sandbox.calls("submit")]
    return [[one["max_tokens"] for one in json.loads(body)["requests"]] for body in bodies if body]


def two_cut(sandbox: RunningSandbox, start: MakeBatch, **ask: Any) -> Batch:
    """Ten rows, of which rows 3 and 5 were cut off."""
    sandbox.script({"fault": "cut_off", "items": [1, 3]})
    batch = work(start(rows(10), **ask))
    sandbox.script()
    return batch


def test_cut_rows_are_asked_again_with_a_longer_answer_and_no_others(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = two_cut(sandbox, start, max_tokens=100)
    before = {row.row: row.answer for row in results.results(batch)}
    means = asking_again.ask_again(batch, chosen=CUT, by=None, longest=400)
    assert means == AskAgain(unanswered=0, answered=2, short=2)
    all_is_well(batch)
    batch = work(batch)
    assert limits_sent(sandbox) == [[100] * 10, [400, 400]]
    assert list(Attempt.objects.order_by("number").values_list("longest", flat=True)) == [None, 400]
    after = {row.row: row.answer for row in results.results(batch)}
    assert {row for row in before if before[row] != after[row]} == {3, 5}
    assert (batch.cut, batch.answered, batch.ask.max_tokens) == (0, 10, 100)
    told = batch.events.filter(kind="retry").values_list("text", flat=True)
    assert any("with answers of up to 400 tokens" in text for text in told)
    all_is_well(batch)


def test_a_model_that_thinks_has_room_for_it_besides_the_raised_limit(
    sandbox: RunningSandbox, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = ROOM["medium"]
    batch = two_cut(sandbox, start, model=CHAT_COMPLETIONS, max_tokens=100, effort="medium")
    assert (longer_answers(batch) or [0])[0] == 100
    monkeypatch.setattr("batchui.batches.preparing.REPLY_BYTES", 4 * (400 + room))
    asking_again.ask_again(batch, chosen=CUT, by=None, longest=400)
    batch = work(batch)
    assert limits_sent(sandbox) == [[100 + room] * 10, [400 + room], [400 + room]]
    assert (batch.cut, batch.answered) == (0, 10)


def test_a_model_that_only_the_account_lists_can_be_asked_for_longer_answers(
    sandbox: RunningSandbox, start: MakeBatch, team: Team, ana: User
) -> None:
    new = "@cf/acme/brand-new-7b"
    sandbox.change_models({"name": new, "like": MODEL})
    listing.add_model(ensure_connection(team), new, task="chat", by=ana)
    batch = two_cut(sandbox, start, model=new, max_tokens=100)
    assert longer_answers(batch) == range(100, 32_769)
    assert asking_again.ask_again(batch, chosen=CUT, by=None, longest=400).rows == 2
    assert work(batch).cut == 0
    sandbox.change_models()


def test_what_is_cut_off_again_at_the_raised_limit_is_recognised_there(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = two_cut(sandbox, start, max_tokens=100)
    asking_again.ask_again(batch, chosen=CUT, by=None, longest=400)
    sandbox.script({"fault": "cut_off"})  # the first of the two
    batch = work(batch)
    assert [row.row for row in pages.page(batch, CUT, offset=0, limit=9)] == [3]
    assert batch.cut == 1


def test_a_limit_in_the_options_is_raised_where_it_stands(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = two_cut(sandbox, start, options={"max_tokens": 50, "seed": 7})
    assert longer_answers(batch) == range(50, 32_769)
    asking_again.ask_again(batch, chosen=CUT, by=None, longest=90)
    work(batch)
    assert limits_sent(sandbox) == [[50] * 10, [90, 90]]


def test_longer_answers_are_as_long_as_the_model_has_room_for(start: MakeBatch) -> None:
    llama = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    assert longer_answers(start(rows(1), max_tokens=256)) == range(256, 32_769)
    assert longer_answers(start(rows(1), model=llama, max_tokens=256)) == range(256, 24_000)
    assert longer_answers(start(rows(1), model=llama, max_tokens=23_999)) is None
    qwen = "@cf/qwen/qwen3-30b-a3b-fp8"  # it may think besides, within its window
    assert longer_answers(start(rows(1), model=qwen)) == range(1_024, 32_768 - ROOM["medium"])
    assert longer_answers(start(rows(1), max_tokens=32_768)) is None
    vectors = start(rows(1), model="@cf/baai/bge-base-en-v1.5", template="{{text}}")
    assert longer_answers(vectors) is None


def test_of_longer_answers_fewer_rows_are_asked_in_one_request(
    sandbox: RunningSandbox, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batchui.batches.preparing.REPLY_BYTES", 4 * 400)
    sandbox.script({"fault": "cut_off", "every": 1, "times": 0})
    batch = work(start(rows(3), max_tokens=100))
    sandbox.script()
    asking_again.ask_again(batch, chosen=CUT, by=None, longest=400)
    assert Part.objects.get().send_limit == 1
    work(batch)
    assert limits_sent(sandbox)[1:] == [[400], [400], [400]]


def test_rows_that_share_a_question_get_the_new_answer_and_not_the_old_one_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    """Also those of another part, which looks while the row that is asked waits for its answer."""
    same = b"id,text\n" + b"".join(f"{at},text {at % 25:02}\n".encode() for at in range(30))
    sandbox.script({"fault": "cut_off", "items": [0, 1], "times": 0})
    batch = work(start(same, ask_once=True))
    sandbox.script()
    assert (batch.part_count, batch.cut, len(sandbox.calls("submit"))) == (2, 4, 1)
    assert asking_again.ask_again(batch, chosen=CUT, by=None, longest=2_000).rows == 4
    batch = work(batch)
    assert (batch.cut, batch.answered) == (0, 30)
    assert limits_sent(sandbox)[1:] == [[2_000, 2_000]]
    answers = {row.row: json.loads(row.answer or b"") for row in results.results(batch)}
    assert {answers[row][-7:] for row in (2, 27)} == {"text 00"}
    assert {answers[row][-7:] for row in (3, 28)} == {"text 01"}
    all_is_well(batch)


@pytest.mark.parametrize("form", ["length", "stop"])
def test_reasoning_without_an_answer_is_a_reason_of_its_own(
    sandbox: RunningSandbox, start: MakeBatch, form: str
) -> None:
    sandbox.script({"fault": "reasoning", "form": form, "items": [0], "times": 0})
    batch = work(start(rows(3), model=CHAT_COMPLETIONS, max_tokens=60))
    key = "empty-cut" if form == "length" else "empty-reasoned-out"
    assert counted(batch) == {"answered": 2, "empty": 1}
    assert pages.count(batch, Selection(reason=key)) == 1
    means = asking_again.meaning_of(batch, chosen=Selection(reason=key))
    assert means == AskAgain(unanswered=1, short=int(form == "length"))
