"""What became of each row: put together from the files, a page at a time."""

import tracemalloc
from typing import Any, BinaryIO

import msgspec
import pytest

from batchui.batches import compressed, exporting, files, part_answers, references, results
from batchui.batches.compressed import Compressed, DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import STATUSES, parse
from batchui.batches.states import AnswerStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, on_record, rows, work

pytestmark = pytest.mark.django_db

YES, NO = (Answer("answered", msgspec.Raw(said)) for said in (b'"yes"', b'"no"'))


def test_a_new_answer_takes_the_place_of_an_old_one(team: Team) -> None:
    part = on_record(team).parts.get()
    store(part, {0: NO, 1: NO})
    store(part, {1: YES, 2: YES})
    assert list(part_answers.read_answers(part))[:4] == [NO, YES, YES, None]


def test_a_row_that_is_answered_stays_answered_whatever_another_request_brings(team: Team) -> None:
    part = on_record(team).parts.get()
    others = [Answer(status.value) for status in AnswerStatus if status != AnswerStatus.ANSWERED]
    store(part, dict.fromkeys(range(len(others)), YES))
    store(part, dict(enumerate(others)))
    assert list(part_answers.read_answers(part))[: len(others)] == [YES] * len(others)
    assert part.answered == len(others)


def test_answers_that_nobody_needs_are_passed_over_and_the_others_read(team: Team) -> None:
    part = on_record(team).parts.get()
    failed = Answer("failed", error="“answered” is no answer.")
    store(part, {0: YES, 1: failed, 2: Answer("empty"), 3: NO})
    found = list(part_answers.read_answers(part, skips_answered=True))
    assert found[:5] == [
        part_answers.ANSWERED,
        failed,
        Answer("empty"),
        part_answers.ANSWERED,
        None,
    ]
    assert found[0] != YES


def store(part: Part, arrived: dict[int, Answer]) -> None:
    """Put answers that arrived into the part."""
    changes: Any = part_answers.merge(part, arrived, missing=lambda _: None).store()
    Part.objects.filter(pk=part.pk).update(**changes)
    part.refresh_from_db()


def test_a_row_without_an_answer_is_what_is_said_of_it(team: Team) -> None:
    part = on_record(team).parts.get()
    missing = Answer("missing")
    changes = part_answers.merge(
        part, {0: YES}, missing=lambda at: missing if at < 3 else None
    ).changes
    assert (changes["answered"], changes["missing"]) == (1, 2)


def test_the_rows_a_retry_asks_are_open_and_the_others_are_not(team: Team) -> None:
    part = on_record(team).parts.get()
    states = [*AnswerStatus, AnswerStatus.ANSWERED]
    store(part, {at: Answer(status.value) for at, status in enumerate(states)})
    without = [*range(len(states), part.rows)]
    assert part_answers.open_positions(part) == without
    Part.objects.update(forget_unanswered=True)
    part.refresh_from_db()
    asked = {
        *(AnswerStatus.EMPTY, AnswerStatus.UNFIT, AnswerStatus.FAILED),
        *(AnswerStatus.MISSING, AnswerStatus.UNSENT),
    }
    retried = [at for at, status in enumerate(states) if status in asked]
    assert part_answers.open_positions(part) == [*retried, *without]
    store(part, {})
    assert not part.forget_unanswered


# -- names of files -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", AnswerStatus)
def test_answers_are_counted_by_what_they_came_to(team: Team, status: AnswerStatus) -> None:
    part = on_record(team).parts.get()
    changes = part_answers.new_answers(
        part, [Answer(status.value), None, Answer(status.value)]
    ).changes
    assert {other: n for other in AnswerStatus if (n := changes[other.value])} == {status: 2}


def test_every_version_of_the_answers_has_a_file_of_its_own(team: Team) -> None:
    part = on_record(team).parts.get()
    store(part, {0: NO})
    before = part.answers_file
    store(part, {0: YES})
    assert part.answers_file != before
    files.open_file(before).close()  # somebody may just be reading it


def test_a_worker_that_was_overtaken_writes_beside_what_is_in_use(team: Team) -> None:
    part = on_record(team).parts.get()
    overtaken = Part.objects.get()
    part.epoch += 1
    for name in (
        lambda part: files.answers_path(part, version=1),
        lambda part: files.reply_path(part, attempt=1),
        lambda part: files.rows_path(part),
    ):
        assert name(part) != name(overtaken)


def test_every_attempt_has_a_reply_of_its_own(team: Team) -> None:
    part = on_record(team).parts.get()
    assert files.reply_path(part, attempt=1) != files.reply_path(part, attempt=2)


def test_parts_and_batches_have_folders_of_their_own(team: Team) -> None:
    batch = on_record(team, parts=2)
    other = on_record(team).parts.get()
    names = {files.rows_path(part) for part in (*batch.parts.all(), other)}
    assert len(names) == 3


def test_a_file_that_lost_lines_is_not_shown_as_if_it_had_them_all(team: Team) -> None:
    part = on_record(team).parts.get()
    store(part, {0: YES})
    part.rows_file = Compressed.of_lines([b'["one"]'] * 9).store("nine-rows")
    with pytest.raises(DamagedFile, match="it has 9 lines in place of 10"):
        list(results.part_results(part))


def ten_answered(team: Team) -> Part:
    """A part of ten rows with their answers, all stored."""
    part = on_record(team).parts.get()
    store(part, dict.fromkeys(range(10), YES))
    part.rows_file = Compressed.of_lines([b'["one"]'] * 10).store("ten-rows")
    return part


def damaged(part: Part, field: str, lines: int) -> None:
    """Let a file of the part end after so many lines."""
    kept = [b'["one"]'] * lines if field == "rows_file" else [b'["answered","yes"]'] * lines
    setattr(part, field, Compressed.of_lines(kept).store(f"{field} cut short"))
    part.save()


@pytest.mark.parametrize("lines", [0, 4, 9])
def test_people_see_the_rows_of_a_damaged_file_as_far_as_they_can_be_read(
    team: Team, lines: int
) -> None:
    form = {"kind": "txt", "encoding": "utf-8", "delimiter": None, "columns": ["text"]}
    part = on_record(team, source_format=form).parts.get()
    store(part, dict.fromkeys(range(10), YES))
    damaged(part, "rows_file", lines)
    shown = list(results.readable_results(part))
    assert [row.cells for row in shown] == [["one"]] * lines + [None] * (10 - lines)
    assert {row.status for row in shown} == {"answered"}
    assert [row.row for row in shown] == list(range(1, 11))
    assert all("is damaged" in (row.error or "") for row in shown[lines:])
    (exported, *_) = list(exporting.export_rows(part.batch))[9:]
    assert (exported.row, exported.cells) == (10, [""] * len(part.batch.columns))


@pytest.mark.parametrize("lines", [0, 4, 9])
def test_answers_in_a_damaged_file_are_missing_with_the_reason(team: Team, lines: int) -> None:
    part = ten_answered(team)
    damaged(part, "answers_file", lines)
    shown = list(results.readable_results(part))
    assert [row.status for row in shown] == ["answered"] * lines + ["missing"] * (10 - lines)
    assert all(row.cells == ["one"] for row in shown)
    assert all("is damaged" in (row.error or "") for row in shown[lines:])


@pytest.mark.parametrize("field", ["rows_file", "answers_file"])
def test_lines_too_many_are_damage_to_those_who_want_them_all(team: Team, field: str) -> None:
    part = ten_answered(team)
    damaged(part, field, 12)
    with pytest.raises(DamagedFile, match="it has more than 10 lines"):
        list(results.part_results(part))


@pytest.mark.parametrize("field", ["rows_file", "answers_file"])
def test_lines_too_many_in_a_damaged_file_add_no_rows(team: Team, field: str) -> None:
    part = ten_answered(team)
    damaged(part, field, 12)
    shown = list(results.readable_results(part))
    assert [(row.row, row.cells, row.status) for row in shown] == [
        (number, ["one"], "answered") for number in range(1, 11)
    ]


# -- pages --------------------------------------------------------------------------------------


def numbers(batch: Batch, *, offset: int, limit: int, shown: str = "all") -> list[int]:
    return [row.row for row in pages.page(batch, parse(shown), offset=offset, limit=limit)]


@pytest.mark.parametrize("offset", [0, 1, 24, 25, 26, 49, 50, 59, 60, 100])
def test_a_page_begins_where_it_should(sandbox: RunningSandbox, batch: Batch, offset: int) -> None:
    everything = list(range(2, 62))
    assert numbers(batch, offset=offset, limit=7) == everything[offset : offset + 7]


def test_all_rows_come_in_the_order_of_the_file(sandbox: RunningSandbox, batch: Batch) -> None:
    assert [row.row for row in results.results(batch)] == list(range(2, 62))
    assert [row.row for row in exporting.export_rows(batch)] == list(range(2, 62))


def test_a_page_reads_no_part_but_its_own(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, _ = batch.parts.order_by("number")
    opened: list[str] = []
    open_file = files.open_file

    def note(name: str) -> BinaryIO:
        opened.append(name)
        return open_file(name)

    monkeypatch.setattr(compressed, "open_file", note)
    assert second.rows == 25
    assert numbers(batch, offset=first.rows, limit=25) == list(range(27, 52))
    assert opened == [second.rows_file]


def test_a_row_that_is_missed_out_on_or_went_wrong_needs_attention() -> None:
    assert {"", "answered", "skipped", *STATUSES["attention"]} == {"", *AnswerStatus}
    assert not {"", "answered", "skipped"} & set(STATUSES["attention"])


def test_the_reason_of_a_whole_part_is_the_reason_of_its_rows(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "code": 5007, "call": "submit"})
    batch = work(start(rows(3)))
    reason = batch.parts.get().waiting_error
    shown = pages.page(batch, parse("attention"), offset=0, limit=5)
    assert [(row.row, row.status, row.error) for row in shown] == [
        (number, "failed", reason) for number in (2, 3, 4)
    ]
    exported = list(exporting.export_rows(batch))
    assert [(row.status, row.error) for row in exported] == [("failed", reason)] * 3


def test_a_row_on_its_way_has_neither_answer_nor_reason(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    (row,) = pages.page(batch, offset=5, limit=1)
    assert (row.status, row.answer, row.error, row.usage) == ("", None, None, None)


def test_the_reason_of_one_row_is_its_own(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "failed", "items": [1]})
    batch = work(start(rows(3)))
    everything = pages.page(batch, offset=0, limit=5)
    assert [row.error is None for row in everything] == [True, False, True]
    assert [row.answer is None for row in everything] == [False, True, False]
    exported = list(exporting.export_rows(batch))
    assert [row.error for row in exported] == [row.error for row in everything]


# -- references ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "own"),
    [({}, False), ({"reference_column": "id"}, True), ({"as_items": True}, True)],
)
def test_rows_have_references_of_their_own_where_they_were_given(
    team: Team, ask: dict[str, Any], own: bool
) -> None:
    assert references.has_own_references(on_record(team, **ask)) is own


def test_a_row_without_a_reference_of_its_own_has_its_number(team: Team) -> None:
    assert references.reference_of(on_record(team))(42, ["one"]) == "42"


def test_of_the_lists_in_a_row_nothing_is_made_for_a_page_or_a_download(start: MakeBatch) -> None:
    batch = start(b'{"text": [[], [1.10]]}\n', "texts.jsonl", template="{{text}}")
    [shown] = pages.page(batch, offset=0, limit=1)
    assert shown.cells == {"text": msgspec.Raw(b"[[],[1.10]]")}


def test_long_answers_are_written_few_at_a_time(team: Team) -> None:
    part = on_record(team).parts.get()
    text = b'"%s"' % (b"x" * 1_000_000)
    tracemalloc.start()
    try:
        long = (Answer("answered", msgspec.Raw(bytes(bytearray(text)))) for _ in range(30))
        new = part_answers.new_answers(part, long)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert new.changes["answered"] == 30
    assert peak < 12_000_000
