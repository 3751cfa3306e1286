"""Workbooks as programs write them: which cells come out, and what is said about a sheet."""

from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter

from batchui.prompts.conversion import workbooks
from batchui.prompts.conversion.converted import Sheet
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.binary_workbooks import binary_workbook
from tests.prompts.conversion.conversions import (
    MAIN,
    OFFICE,
    hand_written,
    made_of,
    made_of_bytes,
    workbook,
)


def test_cells_are_as_a_person_sees_them(tmp_path: Path) -> None:
    rows = [
        ["id", "text", "amount"],
        ["00123", 'a\nb\tc "q" ü 😀', 1.10],
        ["123456789012345678", "  ", 5.0],
        [True, False, -0.5],
    ]
    made = made_of(workbook(tmp_path / "x.xlsx", rows))
    assert made.lines == [
        '["id","text","amount"]',
        '["00123","a\\nb\\tc \\"q\\" ü 😀",1.1]',
        '["123456789012345678","  ",5]',
        "[true,false,-0.5]",
    ]
    assert made.sheet == Sheet(
        file="sheet-1.jsonl.zst",
        name="Data",
        rows=4,
        columns=3,
        hidden_rows=0,
        errors=0,
        uncalculated=0,
        merged=0,
    )


def test_dates_and_times_are_iso(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        formats = ["yyyy-mm-dd", "dd.mm.yyyy hh:mm:ss", "hh:mm", "[h]:mm:ss"]
        day, moment, clock, long = (book.add_format({"num_format": code}) for code in formats)
        sheet.write_datetime(0, 0, date(2026, 5, 1), day)
        sheet.write_datetime(0, 1, datetime.fromisoformat("2026-05-01T12:30:15"), moment)
        sheet.write_datetime(0, 2, datetime.fromisoformat("2026-05-01T12:30:15.25"), moment)
        sheet.write_datetime(0, 3, time(12, 30), clock)
        sheet.write_datetime(0, 4, timedelta(hours=30, minutes=5, seconds=1.5), long)
    [row] = made_of(tmp_path / "x.xlsx").rows
    assert row == [
        {"date": "2026-05-01"},
        {"datetime": "2026-05-01 12:30:15"},
        {"datetime": "2026-05-01 12:30:15.25"},
        {"time": "12:30:00"},
        {"duration": "30:05:01.5"},
    ]


def test_a_line_is_a_row_of_the_sheet_from_row_1(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write(2, 2, "C3")
        sheet.write(4, 1, "B5")
        sheet.write(4, 3, 7)
    made = made_of(tmp_path / "x.xlsx")
    assert made.lines == ["[]", "[]", '["","","C3"]', "[]", '["","B5","",7]']
    assert (made.sheet.rows, made.sheet.columns) == (5, 4)


def test_every_worksheet_is_read_and_hidden_ones_are_marked(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        for name, value in (("One", 1), ("Two & 3", 2)):
            book.add_worksheet(name).write(0, 0, value)
        book.add_worksheet("Empty")
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=One!$A$1"})
        book.add_chartsheet("Chart").set_chart(chart)
        secret, most_secret = book.add_worksheet("Hidden"), book.add_worksheet("Very")
        secret.write(0, 0, 3)
        secret.hide()
        most_secret.write(0, 0, 4)
        most_secret.very_hidden()
    made = made_of(tmp_path / "x.xlsx")
    assert isinstance(made.result, tuple)
    found = [(sheet.name, sheet.rows, sheet.columns, sheet.hidden) for sheet in made.result]
    assert found == [
        ("One", 1, 1, False),
        ("Two & 3", 1, 1, False),
        ("Empty", 0, 0, False),
        ("Hidden", 1, 1, True),
        ("Very", 1, 1, True),
    ]
    assert made.files == [b"[1]\n", b"[2]\n", b"", b"[3]\n", b"[4]\n"]
    names = ["One", "Two & 3", "Empty", "Hidden", "Very"]
    begun = [one for one in made.news if (one.done, one.of) == (0, 0)]
    assert [one.what for one in begun] == names


def test_hidden_rows_errors_and_merged_cells_are_counted(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.merge_range("A1:C1", "title")
        sheet.merge_range("A2:A3", "two")
        for row in (3, 5):
            sheet.write(row, 0, row)
            sheet.set_row(row, None, None, {"hidden": True})
        sheet.write_formula("C7", "=NA()", None, "#N/A")
        sheet.write_formula("AB8", "=1/0", None, "#DIV/0!")
    made = made_of(tmp_path / "x.xlsx")
    assert made.lines == ['["title"]', '["two"]', "[]", "[3]", "[]", "[5]", "[]", "[]"]
    sheet_made = made.sheet
    assert (sheet_made.hidden_rows, sheet_made.first_hidden_row) == (2, 4)
    assert (sheet_made.errors, sheet_made.first_error) == (2, "C7")
    assert sheet_made.merged == 2


def test_what_openpyxl_writes(tmp_path: Path) -> None:
    """It writes no values of formulas, and text in its place."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["id", "sum", "share"])
    sheet.append([1234.5, "=1+1", 0.255])
    sheet.append([7, "=SUM(A1:A2)", 1])
    sheet["C2"].number_format = "0%"
    sheet["C3"].number_format = "0.00%"
    sheet["A3"].number_format = "000"
    book.save(tmp_path / "x.xlsx")
    made = made_of(tmp_path / "x.xlsx")
    assert made.lines == [
        '["id","sum","share"]',
        '[1234.5,"",{"percent":"26%"}]',
        '[{"shown":"007","number":7},"",{"percent":"100.00%"}]',
    ]
    assert (made.sheet.uncalculated, made.sheet.first_uncalculated) == (2, "B2")


def test_a_binary_workbook(tmp_path: Path) -> None:
    rows = [["id", "text"], [5.0, "ü", True], [0.25, "#N/A", False, 1e17]]
    made = made_of(binary_workbook(tmp_path / "x.xlsb", rows))
    assert made.lines == [
        '["id","text"]',
        '[5,"ü",true]',
        '[0.25,"",false,100000000000000000]',
    ]
    assert (made.sheet.name, made.sheet.rows, made.sheet.columns) == ("Data", 3, 4)
    assert made.sheet.errors is None
    assert " ".join(made.sheet.lost) == (
        "In a file of this kind, percentages are plain numbers: 25% is 0.25. Numbers lose the "
        "zeros before them, and are rounded after 15 digits; texts stay as they are. Error "
        "cells, hidden rows and formulas without a value are not counted. XLSX keeps all of this."
    )


def test_a_workbook_with_nothing_in_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^There is nothing in this workbook\. Choose one with a"):
        made_of(workbook(tmp_path / "x.xlsx", []))


@pytest.mark.parametrize("keep", [0.3, 0.7, 0.99])
def test_a_workbook_that_was_not_copied_whole(tmp_path: Path, keep: float) -> None:
    data = workbook(tmp_path / "x.xlsx", [["a"], ["b"]]).read_bytes()
    with pytest.raises(
        BadInput, match=r"its end is missing\. Copy or download it again, and upload that\.$"
    ):
        made_of_bytes(tmp_path, data[: int(len(data) * keep)], "x.xlsx")


def test_a_workbook_of_very_many_sheets_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbooks, "SHEET_LIMIT", 2)
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as book:
        for name in ("a", "b", "c"):
            book.add_worksheet(name).write(0, 0, "text")
    with pytest.raises(BadInput) as refused:
        made_of(tmp_path / "x.xlsx")
    assert str(refused.value) == (
        "This workbook has more than 2 sheets. Save the sheet that you need as a workbook of its "
        "own, and upload that."
    )


def test_a_workbook_whose_sheet_is_damaged(tmp_path: Path) -> None:
    path = hand_written(tmp_path / "x.xlsx", '<row r="1"><c r="A1"><v>1</row>')
    with pytest.raises(BadInput, match=r"^This workbook is damaged or was not copied whole\. Copy"):
        made_of(path)


@pytest.mark.parametrize(
    "xml", [b"<a>", b"<?xml version='1.0' encoding='UTF-0'?><a/>", b"", b"\xff"]
)
def test_a_workbook_whose_list_of_sheets_is_damaged(tmp_path: Path, xml: bytes) -> None:
    path = hand_written(tmp_path / "x.xlsx", "", more={"xl/styles.xml": xml})
    with pytest.raises(BadInput, match=r"^This workbook is damaged or was not copied whole\. Copy"):
        made_of(path)


def test_a_workbook_without_its_sheet(tmp_path: Path) -> None:
    path = hand_written(tmp_path / "x.xlsx", "", more={"xl/workbook.xml": b"<workbook/>"})
    with pytest.raises(BadInput, match=r"^There is nothing in this workbook"):
        made_of(path)


def test_a_workbook_of_more_sheets_than_anybody_has(tmp_path: Path) -> None:
    def of_sheets(count: int) -> Path:
        sheets = "".join(f'<sheet name="{at}" r:id="r1"/>' for at in range(count))
        spaces = f'xmlns="{MAIN}" xmlns:r="{OFFICE}"'
        xml = f"<workbook {spaces}><sheets>{sheets}</sheets></workbook>".encode()
        row = '<row r="1"><c r="A1"><v>1</v></c></row>'
        return hand_written(tmp_path / "x.xlsx", row, more={"xl/workbook.xml": xml})

    assert made_of(of_sheets(1000)).files == [b"[1]\n"] * 1000
    with pytest.raises(BadInput, match=r"^This workbook has more than 1,000 sheets\. Save the"):
        made_of(of_sheets(1001))


def test_rows_of_many_blocks_stay_in_order(tmp_path: Path) -> None:
    rows = [[at, f"row {at}"] for at in range(25_000)]
    assert made_of(workbook(tmp_path / "x.xlsx", rows)).rows == rows


def test_what_is_made_may_not_be_too_large(tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", [["x" * 1000]] * 3000)
    assert len(made_of(path, most_bytes=3_015_000).lines) == 3000
    with pytest.raises(BadInput, match=r"^Unpacked, this file is larger than 3 MB, too large"):
        made_of(path, most_bytes=3_014_999)
