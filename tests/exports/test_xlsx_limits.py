"""A new workbook has limits: of a cell, of a sheet, of formats."""

from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from batchui.exports.sheets import TooManyColumns, Written, sheets_for
from batchui.exports.table import Table
from batchui.exports.xlsx import write_xlsx
from tests.exports.rows import row
from tests.exports.workbook.workbooks import by_calamine, workbook

TABLE = Table(["id", "review"])
TYPED = Table(["cell"], typed=True)
ADDED = ["answer", "status", "error"]
ANSWERED = ["yes", "answered", ""]


def test_a_cell_that_is_too_long_is_cut_and_its_row_says_so(tmp_path: Path) -> None:
    rows = [
        row(1, ["1", "x" * 32_768], answer=b'"%s"' % (b"y" * 40_000), extras=["e", "z" * 32_768]),
        row(2, ["2", "fits"]),
        row(3, ["3", "w" * 32_768]),
    ]
    path = tmp_path / "made.xlsx"
    assert write_xlsx(rows, TABLE, target=path, folder=tmp_path) == Written(3, 1, 4)
    header, first, second, third = by_calamine(path)
    assert header == ["id", "review", *ADDED, "cut", "", ""]
    assert first[1:] == [
        *("x" * 32_767, "y" * 32_767, "answered", ""),
        *("review, answer, column H", "e", "z" * 32_767),
    ]
    assert second == [2, "fits", *ANSWERED, "", "", ""]
    assert third == [3, "w" * 32_767, *ANSWERED, "review", "", ""]


def test_the_column_that_says_so_is_only_there_if_a_cell_was_cut(tmp_path: Path) -> None:
    rows = [row(1, ["1", "x" * 32_767], extras=["e"])]
    assert by_calamine(workbook(tmp_path, rows, TABLE))[0] == ["id", "review", *ADDED, ""]
    rows = [row(1, ["1", "x" * 32_768])]
    path = workbook(tmp_path, rows, Table(["id", "Cut"]))
    assert by_calamine(path)[0] == ["id", "Cut", *ADDED, "cut_2"]


@pytest.mark.parametrize(
    ("rows", "above", "sheets"),
    [(0, 0, 1), (1_048_575, 0, 1), (1_048_576, 0, 2), (1_048_574, 2, 2), (1_048_573, 2, 1)],
)
def test_it_is_known_beforehand_how_many_sheets_there_will_be(
    rows: int, above: int, sheets: int
) -> None:
    assert sheets_for(rows, above=above) == sheets
    assert [sheets_for(2 * 1_048_575 + more) for more in (0, 1)] == [2, 3]


def test_more_rows_than_a_sheet_holds_go_on_in_another_with_the_header(tmp_path: Path) -> None:
    rows = [row(number, [f"x{number}", "y"]) for number in range(1, 10)]
    table = Table(["id", "review"], above=[["Title"]])
    path = workbook(tmp_path, rows, table, most_rows=5)
    sheets = [[cells[0] for cells in by_calamine(path, at)] for at in range(3)]
    assert sheets == [
        ["Title", "id", "x1", "x2", "x3"],
        ["id", "x4", "x5", "x6", "x7"],
        ["id", "x8", "x9"],
    ]
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Answers", "Answers 2", "Answers 3"]
    assert [sheet.auto_filter.ref for sheet in book] == ["A2:E5", "A1:E5", "A1:E3"]
    assert [sheet.freeze_panes for sheet in book] == ["A3", "A2", "A2"]
    for number in range(12):
        made = write_xlsx(rows[:number], table, target=path, folder=tmp_path, most_rows=5)
        assert made.sheets == sheets_for(min(number, 9), above=1, most_rows=5)


def test_too_many_columns_are_refused_with_a_sentence(tmp_path: Path) -> None:
    wide = Table([f"c{at}" for at in range(16_381)])
    by_extras = [row(1, ["x"] * 16_380, extras=["y", "z"])]
    assert len(by_calamine(workbook(tmp_path, [], wide))[0]) == 16_384
    with pytest.raises(TooManyColumns) as refused:
        workbook(tmp_path, [], Table([*wide.columns, "more"]))
    assert str(refused.value) == (
        "With the answers, there are 16,385 columns. A spreadsheet has room for 16,384. "
        "Choose fewer columns, or download CSV."
    )
    with pytest.raises(TooManyColumns, match="16,385"):
        workbook(tmp_path, by_extras, Table(wide.columns[:-1]))


def test_what_a_workbook_has_no_format_left_for_stays_text(tmp_path: Path) -> None:
    cells = [f"{'0' * zeros}5.{'5' * decimals}" for zeros in range(14) for decimals in range(1, 14)]
    rows = [row(1, [{"shown": cell, "number": Decimal(cell)}]) for cell in cells]
    found = [cells[0] for cells in by_calamine(workbook(tmp_path, rows, TYPED))[1:]]
    assert [found[at] for at in (0, 100)] == [5.5, float(cells[100])]
    assert found[-1] == cells[-1]
    assert sum(isinstance(cell, float) for cell in found) == 149
