"""The kinds of downloads: which a batch has, what they are called, and what goes into hers."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from batchui.batches import whole_files
from batchui.batches.exporting import ALL, Choice, streamed, table, untold
from batchui.batches.models import Batch
from batchui.batches.whole_files import (
    KINDS,
    file_name,
    kinds_for,
    rows_going_out,
    said_before,
    whole,
)
from batchui.exports.rows import ExportRow
from batchui.exports.table import Layout, Selection, Table
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.sandbox.testing import RunningSandbox
from tests.batches.books import reviews
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.read_back import by_calamine

pytestmark = pytest.mark.django_db

DAY = date(2026, 11, 22)


@pytest.fixture
def answered(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A workbook with answers; its row 6 is blank and was skipped."""
    return work(start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True))


def hers(batch: Batch, target: Path, choice: Choice = ALL) -> tuple[list[str], Worksheet]:
    """What is said about her workbook with the answers, and the sheet that has them."""
    said = whole_files.workbook(batch, choice, target, untold)
    return said, openpyxl.load_workbook(target)["May"]


def column(sheet: Worksheet, letter: str) -> list[Any]:
    return [cell.value for cell in sheet[letter]]


def test_her_workbook_has_the_answers_beside_its_columns(answered: Batch, tmp_path: Path) -> None:
    said, sheet = hers(answered, tmp_path / "made.xlsx")
    assert said == ["The answers are in the columns I to K of the sheet “May”."]
    assert column(sheet, "A") == ["Reviews of May", None, "id", "007", "008", None, "009"]
    answers = column(sheet, "I")
    assert answers[:3] == [None, None, "answer"]
    assert [answer and answer[:9] for answer in answers[3:]] == [
        *["[sandbox]"] * 2,
        None,
        "[sandbox]",
    ]
    assert column(sheet, "J")[2:] == ["status", *["answered"] * 2, "skipped", "answered"]
    errors = column(sheet, "K")
    assert errors[2:5] == ["error", None, None]
    assert errors[5].startswith("Row 6: the row is empty.")


def test_only_rows_that_are_chosen_get_their_answers(
    sandbox: RunningSandbox, start: MakeBatch, tmp_path: Path
) -> None:
    sandbox.script({"fault": "failed", "items": [1]})
    batch = work(start(reviews(), "reviews.xlsx", template="{{id}}"))
    _, sheet = hers(batch, tmp_path / "made.xlsx", Choice(only="attention", answer="mood"))
    assert column(sheet, "I")[2:] == ["mood", None, None, None, None]
    assert column(sheet, "J")[2:] == ["status", None, "failed", None, None]
    _, sheet = hers(batch, tmp_path / "made.xlsx", Choice(only="answered"))
    assert column(sheet, "J")[2:] == ["status", "answered", None, None, "answered"]


def test_how_far_it_is_with_her_workbook_is_told(
    answered: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batchui.exports.workbook.writer.PROGRESS_ROWS", 2)
    told: list[int] = []
    whole_files.workbook(answered, ALL, tmp_path / "made.xlsx", told.append)
    assert told == [2, 4]


def test_what_did_not_come_from_a_workbook_has_none(start: MakeBatch, tmp_path: Path) -> None:
    batch = start(rows(1))
    with pytest.raises(CannotWrite) as refused:
        whole_files.workbook(batch, ALL, tmp_path / "made.xlsx", untold)
    assert str(refused.value) == (
        "This batch did not come from an Excel workbook. Choose a new one."
    )
    assert set(KINDS) - set(kinds_for(batch)) == {"workbook"}


def test_which_workbooks_can_take_answers_depends_on_their_names(start: MakeBatch) -> None:
    batch = start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True)
    assert kinds_for(batch) == KINDS
    for name, has_it in (("a.XLSM", True), ("a.xlsx", True), ("a.xls", False), ("a.ods", False)):
        batch.source_name = name
        assert ("workbook" in kinds_for(batch)) is has_it


def test_files_are_named_after_the_batch_the_day_and_the_kind(start: MakeBatch) -> None:
    batch = start(rows(1), "texts.csv")
    names = {kind: file_name(batch, kind, DAY) for kind in ("xlsx", "csv", "csv-plain", "ods")}
    assert names == {
        "xlsx": "texts 2026-11-22.xlsx",
        "csv": "texts 2026-11-22.csv",
        "csv-plain": "texts 2026-11-22.plain.csv",
        "ods": "texts 2026-11-22.ods",
    }


def test_a_new_workbook_is_not_called_as_her_own_with_the_answers(start: MakeBatch) -> None:
    batch = start(reviews(), "my.reviews.XLSM", template="{{id}}", skip_invalid=True)
    assert file_name(batch, "workbook", DAY) == "my.reviews 2026-11-22.xlsm"
    assert file_name(batch, "xlsx", DAY) == "my.reviews 2026-11-22.new.xlsx"
    assert file_name(batch, "ods", DAY) == "my.reviews 2026-11-22.ods"


@pytest.mark.parametrize(
    ("count", "sentence"),
    [
        (1_048_575, ""),
        (
            1_048_576,
            "In a new spreadsheet, the 1,048,576 rows take 2 sheets: one has room for 1,048,576.",
        ),
        (
            2_097_151,
            "In a new spreadsheet, the 2,097,151 rows take 3 sheets: one has room for 1,048,576.",
        ),
    ],
)
def test_several_sheets_are_said_before_the_file_is_made(count: int, sentence: str) -> None:
    assert said_before(Batch(rows=count)) == sentence


def test_how_many_rows_go_out_is_known_before(answered: Batch) -> None:
    counts = {
        only: rows_going_out(answered, Choice(only=only)) for only in whole_files.exporting.ONLY
    }
    assert (counts["all"], counts["answered"], counts["attention"]) == (4, 3, 0)


def test_a_new_file_has_the_types_of_the_rows_and_what_was_chosen(
    answered: Batch, tmp_path: Path
) -> None:
    write = KINDS["xlsx"].write
    assert write
    told: list[int] = []
    chosen = Choice(only="answered", columns=("stars", "ok"), answer="mood")
    assert write(answered, chosen, tmp_path / "made.xlsx", told.append) == []
    found = by_calamine((tmp_path / "made.xlsx").read_bytes())
    assert found[2][:4] == ["stars", "ok", "mood", "status"]
    assert [row[:2] for row in found[3:]] == [[5, True], [1.5, False], [3, True]]
    assert told == [3]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("made")] == [
        "made.xlsx"
    ]


def _lists(rows: Iterable[ExportRow], table: Table, selection: Selection) -> Iterator[bytes]:
    yield f"# {Layout(table, selection).answer} {table.typed}\n".encode()
    for row in Layout(table, selection).rows(rows):
        yield f"- {row.row}: {row.cells}\n".encode()


def _written(
    rows: Iterable[ExportRow],
    table: Table,
    selection: Selection,
    *,
    target: Path,
    folder: Path,
    progress: Callable[[int], None],
) -> tuple[str, bool]:
    target.write_bytes(b"".join(_lists(rows, table, selection)))
    progress(2)
    return "written", folder == target.parent


def test_the_next_format_is_a_function_that_writes_rows(start: MakeBatch, tmp_path: Path) -> None:
    batch = start(b'{"n": 1.50}\n{"n": true}\n', "numbers.jsonl", template="{{n}}")
    chosen, target = Choice(only="all", answer="reply"), tmp_path / "made"
    told: list[int] = []
    said = whole(_written, lambda made: [f"{made}"])(batch, chosen, target, told.append)
    assert said == ["('written', True)"]
    assert target.read_text() == "# reply True\n- 1: [Decimal('1.50')]\n- 2: [True]\n"
    assert told == [2]
    assert whole(_written)(batch, chosen, target, untold) == []
    assert whole(_written)(batch, Choice(only="answered"), target, untold) == []
    assert target.read_text() == "# answer True\n"
    made = b"".join(streamed(_lists)(batch, chosen))
    assert made.decode() == "# reply False\n- 1: ['1.50']\n- 2: ['true']\n"
    assert list(streamed(_lists)(batch)) == list(streamed(_lists)(batch, ALL))


def test_what_is_streamed_tells_how_far_it_is(start: MakeBatch) -> None:
    told: list[int] = []
    list(streamed(_lists)(start(rows(1_001)), ALL, told.append))
    assert told == [1_000]


def test_what_was_cut_in_a_new_file_is_said(start: MakeBatch, tmp_path: Path) -> None:
    batch = start(b"id,text\n1," + b"x" * 40_000 + b"\n", template="{{id}}")
    write = KINDS["xlsx"].write
    assert write
    [said] = write(batch, ALL, tmp_path / "made.xlsx", untold)
    assert said.startswith("One text is longer than the 32,767 characters that a cell takes")


def test_a_choice_is_kept_as_plain_json() -> None:
    chosen = Choice(only="answered", columns=("a", "b"), answer="mood")
    assert chosen.to_dict() == {
        "only": "answered",
        "columns": ("a", "b"),
        "answer": "mood",
        "whole": "unfit",
    }
    assert Choice.from_dict({**chosen.to_dict(), "columns": ["a", "b"]}) == chosen
    assert Choice.from_dict(ALL.to_dict()) == ALL
    assert Choice.from_dict({}) == ALL


def test_a_table_says_whether_its_cells_have_types(start: MakeBatch) -> None:
    of_texts = start(rows(1))
    of_objects = start(b'{"text": "x"}\n', "things.jsonl")
    of_sheet = start(reviews(), "reviews.xlsx", template="{{id}}", skip_invalid=True)
    found = [
        [(made.typed, made.of_texts) for made in (table(batch), table(batch, typed=True))]
        for batch in (of_texts, of_objects, of_sheet)
    ]
    assert found == [
        [(False, True), (False, True)],
        [(False, False), (True, False)],
        [(True, False), (True, False)],
    ]
    title, blank = table(of_sheet).above
    assert (title[0], set(title[1:]), set(blank)) == ("Reviews of May", {""}, {""})
