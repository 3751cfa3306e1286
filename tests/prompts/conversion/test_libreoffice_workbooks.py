"""Workbooks that LibreOffice makes of a CSV have the texts of that CSV in their cells."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from xlsxwriter import Workbook

from tests.office import convert
from tests.prompts.conversion.conversions import made_of

pytestmark = pytest.mark.processes

ROWS = [
    ["id", "text", "amount", "share", "day", "moment", "paid", "code", "long"],
    ["1", "Grüße, „Ümläute“", "1.1", "25.00%", "2026-05-01", "2026-05-01 12:30:15", "TRUE"],
    ["2", "two\nlines", "-0.5", "12.50%", "1999-12-31", "2026-01-02 00:00:01", "FALSE"],
    [
        "3",
        'a "quoted" text; 日本',
        "1000000",
        "100.00%",
        "2028-02-29",
        "2024-02-29 00:00:00",
        "TRUE",
    ],
    ["", "", "", "", "", "", ""],
    ["5", " blanks around ", "0.001", "0.00%", "2026-05-01", "2026-05-01 12:30:15", "FALSE"],
]
TEXTS = [["code", "long"], ["00123", "123456789012345678"], ["007", "999999999999999999"]]
# Column by column, how LibreOffice reads it: 1 is as it likes, 2 text, 5 year, month and day.
COLUMNS = "1/1/2/2/3/1/4/1/5/5/6/1/7/1/8/2/9/2"


def table() -> list[list[str]]:
    codes = [TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[1], ["", ""], TEXTS[2]]
    return [row[:7] + code for row, code in zip(ROWS, codes, strict=True)]


def text_of(cell: Any) -> str:
    """The text of a cell, as it goes into a prompt."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return str(next(iter(cell.values()))) if isinstance(cell, dict) else str(cell)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table as x.xlsx, x.xls and x.ods."""
    folder = tmp_path_factory.mktemp("workbooks")
    text = io.StringIO(newline="")
    csv.writer(text).writerows(table())
    # Separated by commas, quoted by ", in UTF-8, from line 1; special numbers are understood.
    how = [f"--infilter=CSV:44,34,76,1,{COLUMNS},1033,false,true"]
    for kind in ("xlsx", "xls", "ods"):
        made = convert(folder / kind, {"x.csv": text.getvalue().encode()}, to=kind, how=how)
        (folder / f"x.{kind}").write_bytes(made["x"])
    return folder


def read(folder: Path, kind: str) -> list[list[Any]]:
    rows: list[list[Any]] = made_of(folder / f"x.{kind}").rows
    return [row + [""] * (9 - len(row)) for row in rows]


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_the_texts_of_a_workbook_are_those_of_the_csv(folder: Path, kind: str) -> None:
    assert [list(map(text_of, row)) for row in read(folder, kind)] == table()


def test_the_texts_of_an_old_workbook_are_those_of_the_csv_but_for_percentages(
    folder: Path,
) -> None:
    found = [list(map(text_of, row)) for row in read(folder, "xls")]
    shares = [row.pop(3) for row in found]
    assert found == [row[:3] + row[4:] for row in table()]
    assert shares == ["share", "0.25", "0.125", "1", "", "0"]


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
def test_cells_have_their_types(folder: Path, kind: str) -> None:
    row = read(folder, kind)[1]
    share = 0.25 if kind == "xls" else {"percent": "25.00%"}
    assert row == [
        *(1, "Grüße, „Ümläute“", 1.1, share, {"date": "2026-05-01"}),
        *({"datetime": "2026-05-01 12:30:15"}, True, "00123", "123456789012345678"),
    ]


def test_numbers_with_marks_are_the_same_in_both_formats(tmp_path: Path) -> None:
    formats = ["000-00-0000", "(000) 000-0000", "+00 000", "# ##0", "0.00", "0-00", "0"]
    with Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        for at, code in enumerate(formats):
            sheet.write(0, at, 123456, book.add_format({"num_format": code}))
    made = convert(tmp_path / "office", {"x.xlsx": (tmp_path / "x.xlsx").read_bytes()}, to="ods")
    (tmp_path / "x.ods").write_bytes(made["x"])
    assert made_of(tmp_path / "x.ods").rows == made_of(tmp_path / "x.xlsx").rows
    assert made_of(tmp_path / "x.ods").rows[0][:2] == [
        {"shown": "000-12-3456", "number": 123456},
        {"shown": "(000) 012-3456", "number": 123456},
    ]


def test_what_an_old_workbook_does_not_tell_is_said(folder: Path) -> None:
    sheet = made_of(folder / "x.xls").sheet
    assert (sheet.hidden_rows, sheet.errors, sheet.uncalculated) == (None, None, None)
    assert sheet.lost[0] == "In a file of this kind, percentages are plain numbers: 25% is 0.25."
    assert made_of(folder / "x.xlsx").sheet.lost == ()
