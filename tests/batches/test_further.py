"""A further question: the sheet of an ended batch, answers included, is the file of a draft."""

import io
import json
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import openpyxl
import pytest
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchui.batches import (
    checking,
    decisions,
    files,
    intake,
    long_tasks,
    part_answers,
    progress,
    sources,
    uploads,
)
from batchui.batches.exporting import ALL, csv_plain, export_rows
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.states import BatchStatus, PartStatus
from batchui.batches.whole_files import kinds_for, workbook
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.format import Choices
from batchui.prompts.reading.readers import read
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import MODEL, MakeBatch, rows, work

pytestmark = pytest.mark.django_db


def answered(batch: Batch, answers: Iterable[bytes | None]) -> Batch:
    """The started batch, ended with these raw answers; None: the row failed."""
    given_answers = iter(answers)
    for part in batch.parts.order_by("number"):
        arrived = {
            at: Answer("failed", error="It failed.")
            if (raw := next(given_answers)) is None
            else Answer("answered", answer=msgspec.Raw(raw))
            for at in range(part.rows)
        }
        made = part_answers.merge(part, arrived, missing=lambda _: None)
        Part.objects.filter(pk=part.pk).update(status=PartStatus.DONE, **made.store())
    Batch.objects.filter(pk=batch.pk).update(status=BatchStatus.PROBLEMS, answered=1)
    batch.refresh_from_db()
    return batch


def lines_of(draft: Batch) -> list[Any]:
    """The lines from which the rows of a draft are read."""
    with sources.open_rows(draft) as stream:
        text = b"".join(iter(lambda: stream.read(1 << 16), b""))
    return [json.loads(line, parse_float=Decimal) for line in text.splitlines()]


def cells_of(draft: Batch) -> list[tuple[int, Any]]:
    """The number and the cells of each of its rows."""
    with sources.open_rows(draft) as stream:
        return [(row.number, row.cells) for row in read(stream, draft.format)]


def source_of(batch: Batch) -> bytes:
    with uploads.open_upload(batch.source_file) as source:
        return source.read()


def sheet() -> bytes:
    """A workbook with a title, a blank row, names and two rows; another sheet stands before it."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    book.add_worksheet("Notes").write("A1", "kept")
    page = book.add_worksheet("Reviews")
    page.write("A1", "Reviews of May")
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    five = book.add_format({"num_format": "00000"})
    for at, name in enumerate(("code", "price", "day", "good", "text")):
        page.write(2, at, name)
    for row, (code, price, text) in enumerate(((123, 1.5, "fine"), (7, 20, "bad")), 3):
        page.write_number(row, 0, code, five)
        page.write_number(row, 1, price)
        page.write_datetime(row, 2, date(2026, 5, row), day)
        page.write_boolean(row, 3, text == "fine")
        page.write(row, 4, text)
    book.close()
    return out.getvalue()


# -- the draft ----------------------------------------------------------------------------------


def test_the_prompts_of_the_second_batch_have_the_answers_of_the_first(
    sandbox: RunningSandbox, start: MakeBatch, ana: User
) -> None:
    first = work(start(rows(30)))
    draft = intake.ask_further(first, by=ana)
    assert (draft.status, draft.rows, draft.bad_rows) == (BatchStatus.DRAFT, 30, 0)
    assert draft.columns == ("id", "text", "answer", "status", "error")
    assert draft.format.shown_columns == ("id", "text", "answer", "status")
    assert (draft.name, draft.asked_after, draft.created_by) == ("texts (2)", first, ana)
    assert draft.ask == Ask(model=MODEL)
    asked = Ask(model=MODEL, template="Shorter: {{id}} {{answer}}")
    assert decisions.start(draft, by=ana, ask=asked, prepare_now=True)
    sandbox.sandbox.calls.clear()
    second = work(Batch.objects.get(pk=draft.pk))
    assert (second.status, second.answered) == (BatchStatus.FINISHED, 30)
    answers = [json.loads(row.answer or b"") for row in export_rows(first)]
    said = [json.loads(row.answer or b"") for row in export_rows(second)]
    for number, (before, after) in enumerate(zip(answers, said, strict=True), 1):
        assert f"{number} {before}" in after
    assert [row.row for row in export_rows(second)] == [row.row for row in export_rows(first)]


def test_a_third_question_has_the_answers_of_both(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    second = intake.ask_further(work(start(rows(3))), by=None)
    asked = Ask(model=MODEL, template="{{answer}}")
    assert decisions.start(second, by=None, ask=asked, prepare_now=True)
    second = work(Batch.objects.get(pk=second.pk))
    third = intake.ask_further(second, by=None)
    assert third.columns == (
        *("id", "text", "answer", "status", "error"),
        *("answer_2", "status_2", "error_2"),
    )
    assert third.source_name == second.source_name == "texts with answers.csv"
    assert (third.asked_after, second.asked_after) == (second, second.asked_after)


def test_a_batch_that_has_not_ended_cannot_be_asked_further(batch: Batch) -> None:
    with pytest.raises(BadInput, match="has ended with at least one answer"):
        intake.ask_further(batch, by=None)
    Batch.objects.filter(pk=batch.pk).update(status=BatchStatus.FAILED, failed=60)
    batch.refresh_from_db()
    with pytest.raises(BadInput, match="has ended with at least one answer"):
        intake.ask_further(batch, by=None)
    assert Batch.objects.count() == 1


def test_nothing_is_made_of_a_large_batch_before_a_worker_does_it(
    start: MakeBatch, woken: list[Batch], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answered(start(rows(2)), [b'"one"', b'"two"'])
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", first.source_size - 1)
    woken.clear()
    draft = intake.ask_further(first, by=None)
    assert (draft.status, draft.source_file, woken) == (BatchStatus.CHECKING, "", [draft])
    assert long_tasks.next_unclaimed() == draft
    with pytest.raises(BadInput, match="is not read yet"):
        intake.run_again(draft, by=None)
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    assert (draft.status, draft.rows) == (BatchStatus.DRAFT, 2)
    assert [event.text for event in draft.events.order_by("pk")] == [
        "The rows of “texts” with their answers became the file.",
        "The file was read: 2 rows.",
    ]


def test_a_worker_that_is_asked_to_stop_gives_the_draft_back(
    start: MakeBatch, files_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answered(start(rows(2)), [b'"one"', b'"two"'])
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    draft = intake.ask_further(first, by=None)
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", -1)
    monkeypatch.setattr(progress, "TOLD_ROWS", 1)
    stopped = [0]

    def stop() -> None:
        stopped[0] += 1
        raise long_tasks.StoppedError

    checking.check_file(draft.pk, beat=stop)
    draft.refresh_from_db()
    assert (draft.status, draft.lease_until, stopped) == (BatchStatus.CHECKING, None, [1])
    assert (draft.readings_begun, draft.source_file) == (0, "")
    assert not list((files_in / f"batches/{draft.pk}").rglob("*"))
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    assert draft.rows == 2


def test_a_draft_outlives_the_batch_it_asks_further_about(start: MakeBatch) -> None:
    first = answered(start(rows(2)), [b'"one"', b'"two"'])
    draft = intake.ask_further(first, by=None)
    files.remove_batch_files(first.pk)
    first.delete()
    draft.refresh_from_db()
    assert (draft.asked_after, len(cells_of(draft))) == (None, 2)
    copy = intake.run_again(draft, by=None)
    assert cells_of(copy) == cells_of(draft)


def test_run_again_of_a_further_question_has_the_same_rows(start: MakeBatch) -> None:
    draft = intake.ask_further(answered(start(rows(2)), [b"1.50", b"true"]), by=None)
    copy = intake.run_again(draft, by=None)
    assert (copy.status, copy.asked_after) == (BatchStatus.DRAFT, draft.asked_after)
    assert cells_of(copy) == cells_of(draft)
    assert (copy.format, copy.converted) == (draft.format, draft.converted)
    assert copy.converted_file != draft.converted_file
    files.remove_batch_files(draft.pk)
    assert len(cells_of(copy)) == 2


def test_a_failed_row_is_a_blank_cell_of_the_answers(start: MakeBatch) -> None:
    draft = intake.ask_further(answered(start(rows(3)), [b'"one"', None, b'"three"']), by=None)
    assert draft.blanks["answer"] == {"count": 1, "first_row": 3}
    assert draft.blanks["error"] == {"count": 2, "first_row": 2}
    assert cells_of(draft)[1] == (3, ["2", "text number 2", "", "failed", "It failed."])


# -- its rows and its file ----------------------------------------------------------------------


def test_a_workbook_keeps_types_rows_and_the_way_back_into_it(
    start: MakeBatch, tmp_path: Path
) -> None:
    first = answered(start(sheet(), "may.xlsx"), [b'"good"', b"4.50"])
    draft = intake.ask_further(first, by=None)
    assert lines_of(draft) == [
        ["Reviews of May"],
        [],
        ["code", "price", "day", "good", "text", "answer", "status", "error"],
        [
            *({"shown": "00123", "number": 123}, Decimal("1.5"), {"date": "2026-05-03"}, True),
            *("fine", "good", "answered"),
        ],
        [
            *({"shown": "00007", "number": 7}, 20, {"date": "2026-05-04"}, False, "bad"),
            *(Decimal("4.50"), "answered"),
        ],
    ]
    assert (draft.source_name, draft.choices) == ("may with answers.xlsx", Choices(header_row=3))
    assert [(one["name"], one["rows"], one["columns"]) for one in draft.sheets] == [
        ("Reviews", 5, 8)
    ]
    assert [number for number, _ in cells_of(draft)] == [4, 5]
    book = openpyxl.load_workbook(io.BytesIO(source_of(draft)))
    assert book.sheetnames == ["Notes", "Reviews"]
    assert [cell.value for cell in book["Reviews"][4]][4:] == ["fine", "good", "answered", None]
    assert "workbook" in kinds_for(draft)
    asked = Ask(model=MODEL, template="{{answer}}")
    assert decisions.start(draft, by=None, ask=asked, prepare_now=True)
    second = answered(Batch.objects.get(pk=draft.pk), [b'"very"', b'"not"'])
    target = tmp_path / "out.xlsx"
    workbook(second, ALL, target, lambda rows: None)
    page = openpyxl.load_workbook(target)["Reviews"]
    assert [cell.value for cell in page[3]][4:] == [
        *("text", "answer", "status", "error"),
        *("answer_2", "status_2", "error_2"),
    ]
    assert [cell.value for cell in page[5]][4:] == [
        *("bad", 4.5, "answered", None),
        *("not", "answered", None),
    ]


def test_a_workbook_without_names_becomes_csv_with_names(start: MakeBatch) -> None:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    page = book.add_worksheet()
    for row in range(3):
        page.write_row(row, 0, [row, 10 * row])
    book.close()
    first = answered(start(out.getvalue(), "n.xlsx", template="{{Column 1}}"), [b"1", b"2", b"3"])
    assert first.format.header_row == 0
    draft = intake.ask_further(first, by=None)
    assert draft.source_name == "n with answers.csv"
    assert draft.columns == ("Column 1", "Column 2", "answer", "status", "error")
    assert cells_of(draft) == [
        (row + 2, [row, 10 * row, row + 1, "answered", ""]) for row in range(3)
    ]


def test_what_cannot_go_into_its_workbook_becomes_csv(start: MakeBatch) -> None:
    first = answered(start(sheet(), "may.xlsx"), [b'"good"', b'"bad"'])
    with files.open_file(first.source_file) as source:
        whole = source.read()
    files.save(first.source_file, io.BytesIO(whole[:100]))
    draft = intake.ask_further(first, by=None)
    assert draft.source_name == "may with answers.csv"
    assert source_of(draft) == b"".join(csv_plain(draft.asked_after or first))
    assert [number for number, _ in cells_of(draft)] == [4, 5]


def test_downloads_of_the_second_batch_have_the_delimiter_of_the_first(start: MakeBatch) -> None:
    first = answered(start(b"id;text\r\n1;one, two\r\n2;three\r\n"), [b'"a;b"', b'"c"'])
    draft = intake.ask_further(first, by=None)
    written = (
        b'id;text;answer;status;error\r\n1;one, two;"a;b";answered;\r\n2;three;c;answered;\r\n'
    )
    assert source_of(draft) == written
    assert cells_of(draft)[0] == (2, ["1", "one, two", "a;b", "answered", ""])
    assert draft.format.delimiter == ";"
    assert intake.read_differently(draft, Choices(header_row=0), by=None)
    assert (draft.format.delimiter, len(cells_of(draft))) == (";", 3)


def test_a_list_gets_a_row_of_names_above_it(start: MakeBatch) -> None:
    first = answered(start(b"one\ntwo\n", "list.txt", template="{{prompt}}"), [b'"1"', b"2"])
    draft = intake.ask_further(first, by=None)
    assert source_of(draft) == (
        b"prompt,answer,status,error\r\none,1,answered,\r\ntwo,2,answered,\r\n"
    )
    assert cells_of(draft) == [
        (2, ["one", "1", "answered", ""]),
        (3, ["two", 2, "answered", ""]),
    ]


def test_names_that_are_missing_or_repeated_are_mended_as_before(start: MakeBatch) -> None:
    content = b"text,,text\r\none,2,3\r\nfour,5,6\r\n"
    first = answered(start(content, template="{{text}}"), [b'"1"', b'"2"'])
    draft = intake.ask_further(first, by=None)
    assert draft.columns == (*first.columns, "answer", "status", "error")
    assert lines_of(draft)[0] == ["text", "", "text", "answer", "status", "error"]


def test_objects_get_three_more_keys(start: MakeBatch) -> None:
    content = b'{"text": "one", "n": 1.10}\nno object\n{"text": "two", "answer": {"a": 1}}\n'
    started = start(content, "texts.jsonl", template="{{text}}", skip_invalid=True)
    first = answered(started, [b'{"score":1.50}', None, b'"b"'])
    draft = intake.ask_further(first, by=None)
    assert source_of(draft).splitlines() == [
        b'{"text":"one","n":1.10,"answer":{"score":1.50},"status":"answered","error":null}',
        b"no object",
        b'{"text":"two","answer.a":1,"answer":"b","status":"answered","error":null}',
    ]
    assert draft.converted_file == ""
    assert (draft.source_name, draft.rows, draft.bad_rows) == ("texts with answers.jsonl", 3, 1)
    assert draft.format.nested == "text"
    assert "answer" in draft.columns


CELLS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=8),
    st.sampled_from(["", "=1+1", '"', "a,b", "line\nbreak", "00123", " x ", "TRUE", '\\"', "#N/A"]),
)
ANSWERS = st.one_of(
    CELLS,
    st.integers(),
    st.booleans(),
    st.none(),
    st.decimals(allow_nan=False, allow_infinity=False, places=2),
    st.lists(st.integers(), max_size=2),
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=st.lists(st.tuples(CELLS, CELLS, ANSWERS), min_size=1, max_size=6))
def test_whatever_cells_and_answers_there_are_the_draft_has_them(
    start: MakeBatch, table: list[tuple[str, str, Any]]
) -> None:
    quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row[:2]] for row in table]
    lines = ["id,text", *(f"{at},{','.join(row)}" for at, row in enumerate(quoted)), ""]
    batch = start("\r\n".join(lines).replace("id,", "id,more,", 1).encode(), template="{{id}}")
    encode = msgspec.json.Encoder(decimal_format="number").encode
    before = [row.cells for row in export_rows(answered(batch, (encode(r[2]) for r in table)))]
    draft = intake.ask_further(batch, by=None)
    after = [cells for _, cells in cells_of(draft)]
    assert [row[:3] for row in after] == before
    for row, (_, _, answer) in zip(after, table, strict=True):
        if isinstance(answer, list):
            answer = encode(answer).decode()
        assert row[3] == ("" if answer is None else answer)
        assert type(row[3]) is type("" if answer is None else answer) or type(answer) is Decimal
