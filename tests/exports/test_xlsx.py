"""A new workbook: every cell as it was, in types that other programs know."""

import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchui.exports.rows import ExportRow, cell_text
from batchui.exports.table import Selection, Table
from batchui.exports.xlsx import write_xlsx
from tests.exports.rows import row
from tests.exports.workbook.workbooks import by_calamine, by_openpyxl, workbook

TABLE = Table(["id", "review"])
TYPED = Table(["cell"], typed=True)
ADDED = ["answer", "status", "error"]
ANSWERED = ["yes", "answered", ""]


def read_back(folder: Path, cell: Any) -> Any:
    """A typed cell as the workbook has it."""
    return by_calamine(workbook(folder, [row(1, [cell])], TYPED))[1][0]


def test_a_workbook_has_the_rows_and_three_more_columns(tmp_path: Path) -> None:
    rows = [row(1, ["x1", "good"]), row(2, ["x2", ""], answer=None, status="failed", error="Why.")]
    path = workbook(tmp_path, rows, TABLE)
    assert by_calamine(path) == [
        ["id", "review", *ADDED],
        ["x1", "good", *ANSWERED],
        ["x2", "", "", "failed", "Why."],
    ]
    assert by_openpyxl(path) == by_calamine(path)
    assert list(tmp_path.iterdir()) == [path], "a temporary file was left"


def test_no_rows_make_a_workbook_with_a_header(tmp_path: Path) -> None:
    assert by_calamine(workbook(tmp_path, [], TABLE)) == [["id", "review", *ADDED]]


def test_the_header_is_as_it_was_and_so_are_the_rows_above_it(tmp_path: Path) -> None:
    table = Table(["a", "a (2)", "Column 3"], ["a", "a", ""], [["Title"], [], ["May", 5, True]])
    assert by_calamine(workbook(tmp_path, [row(1, "xyz")], table))[:5] == [
        ["Title", "", "", "", "", ""],
        ["", "", "", "", "", ""],
        ["May", 5, True, "", "", ""],
        ["a", "a", "", *ADDED],
        ["x", "y", "z", *ANSWERED],
    ]


def test_above_chosen_columns_stands_their_part_of_the_title_rows(tmp_path: Path) -> None:
    table = Table(["a", "b", "c"], above=[["Title", "", ""], ["", "x", "y"]])
    path = workbook(tmp_path, [row(1, "pqr")], table, Selection(columns={"b", "c"}))
    assert [cells[:3] for cells in by_calamine(path)[:3]] == [
        ["Title", "", ""],
        ["x", "y", ""],
        ["b", "c", "answer"],
    ]


def test_the_selection_counts_here_too(tmp_path: Path) -> None:
    rows = [row(1, ["x", "y"]), row(2, ["p", "q"], status="failed")]
    chosen = Selection(columns={"review"}, answer="mood", statuses={"failed"})
    assert by_calamine(workbook(tmp_path, rows, TABLE, chosen)) == [
        ["review", "mood", "status", "error"],
        ["q", "yes", "failed", ""],
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (5, 5),
        (-(10**15) + 1, -(10**15) + 1),
        (10**15, "1000000000000000"),
        (123456789012345678, "123456789012345678"),
        (Decimal("1.10"), 1.1),
        (Decimal("0.30000000000000004"), 0.30000000000000004),
        (Decimal("9.95"), 9.95),
        (Decimal("1E+30"), 1e30),
        (Decimal("5E-324"), 5e-324),
        (Decimal("1E+400"), "1E+400"),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (True, True),
        (False, False),
        ({"date": "2026-05-01"}, date(2026, 5, 1)),
        ({"date": "1900-03-01"}, date(1900, 3, 1)),
        ({"date": "1900-02-28"}, "1900-02-28"),
        ({"date": "9999-12-31"}, date(9999, 12, 31)),
        ({"date": "2026-02-30"}, "2026-02-30"),
        ({"datetime": "2026-05-01 12:30:15"}, datetime(2026, 5, 1, 12, 30, 15)),  # noqa: DTZ001
        (
            {"datetime": "2026-05-01 12:30:15.25"},
            datetime(2026, 5, 1, 12, 30, 15, 250_000),  # noqa: DTZ001
        ),
        ({"datetime": "2026-05-01 12:30:15.000001"}, "2026-05-01 12:30:15.000001"),
        ({"datetime": "2026-05-01 12:30:15+02:00"}, "2026-05-01 12:30:15+02:00"),
        ({"time": "23:59:59"}, time(23, 59, 59)),
        ({"time": "00:00:00"}, time(0, 0, 0)),
        ({"time": "24:00:01"}, "24:00:01"),
        ({"duration": "30:00:00"}, timedelta(hours=30)),
        ({"duration": "-1:00:00"}, "-1:00:00"),
        ({"percent": "25%"}, 0.25),
        ({"percent": "-12.5%"}, -0.125),
        ({"percent": "1.23456789012345%"}, 0.0123456789012345),
        ({"percent": "1.234567890123456%"}, "1.234567890123456%"),
        ({"percent": "1.2345678901234567%"}, "1.2345678901234567%"),
        ({"percent": "many"}, "many"),
        ({"shown": "00123", "number": 123}, 123),
        ({"shown": "-00123.50", "number": Decimal("-123.5")}, -123.5),
        ({"shown": "00124", "number": 123}, "00124"),
        ({"shown": "0" * 27 + "123", "number": 123}, 123),
        ({"shown": "0" * 28 + "123", "number": 123}, "0" * 28 + "123"),
        ({"shown": "01234567890123456", "number": 1234567890123456}, "01234567890123456"),
        ({"shown": "No. 123", "number": 123}, "No. 123"),
        ("00123", "00123"),
        ("1.10", "1.10"),
        ("5", "5"),
    ],
)
def test_a_typed_cell_keeps_its_type_as_far_as_a_workbook_has_it(
    tmp_path: Path, cell: Any, value: Any
) -> None:
    found = read_back(tmp_path, cell)
    assert found == value
    assert isinstance(found, str) is isinstance(value, str)


@pytest.mark.parametrize(
    ("cell", "how"),
    [
        (12345678901, "General"),
        (123456789012, "0"),
        (Decimal("1.5"), "General"),
        (Decimal("1.50"), "0.00"),
        (Decimal("0.1234567891"), "0.0000000000"),
        (Decimal("0.00000012345678901"), "General"),
        (Decimal("1.23456789012345"), "0.00000000000000"),
        (Decimal("100"), "General"),
        (Decimal("1E+3"), "General"),
        ({"date": "2026-05-01"}, "yyyy-mm-dd"),
        ({"datetime": "2026-05-01 12:30:15"}, "yyyy-mm-dd hh:mm:ss"),
        ({"datetime": "2026-05-01 12:30:15.5"}, "yyyy-mm-dd hh:mm:ss.000"),
        ({"time": "12:30:00"}, "hh:mm:ss"),
        ({"duration": "30:00:00"}, "[h]:mm:ss"),
        ({"percent": "25%"}, "0%"),
        ({"percent": "25.0%"}, "0.0%"),
        ({"shown": "00123", "number": 123}, "00000"),
        ({"shown": "-001.50", "number": Decimal("-1.5")}, "000.00"),
    ],
)
def test_a_number_is_shown_as_it_was(tmp_path: Path, cell: Any, how: str) -> None:
    sheet = openpyxl.load_workbook(workbook(tmp_path, [row(1, [cell])], TYPED)).active
    assert sheet["A2"].number_format == how


def test_a_column_of_texts_is_one_of_numbers_only_if_every_text_comes_back(tmp_path: Path) -> None:
    rows = [row(1, ["1", "00123", "2.5"]), row(2, ["", "2", "10"]), row(3, ["-7", "3", "1"])]
    table = Table(["a", "b", "c"])
    assert [cells[:3] for cells in by_calamine(workbook(tmp_path, rows, table))[1:]] == [
        [1, "00123", 2.5],
        ["", "2", 10],
        [-7, "3", 1],
    ]
    typed = Table(["a", "b", "c"], typed=True)
    assert by_calamine(workbook(tmp_path, rows, typed))[1][:3] == ["1", "00123", "2.5"]
    of_texts = Table(["a", "b", "c"], typed=True, of_texts=True)
    assert by_calamine(workbook(tmp_path, rows, of_texts))[1][:3] == [1, "00123", 2.5]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (b'"=1+1"', "=1+1"),
        (b'"7"', 7),
        (b"0.25", 0.25),
        (b"true", True),
        (b"null", ""),
        (b'{"a": 1.10}', '{"a":1.10}'),
        (b'"cut \\ud83d"', "cut ?"),
        (b"not json", "not json"),
        (None, ""),
    ],
)
def test_an_answer_is_a_text_a_number_or_a_boolean(
    tmp_path: Path, answer: bytes | None, value: Any
) -> None:
    assert by_calamine(workbook(tmp_path, [row(1, answer=answer)], TABLE))[1][2] == value


FORMULAS = ["=1+1", "{=1+1}", "@SUM(A1)", "+1", "http://127.0.0.1/", "mailto:a@b", "<r>x</r>"]


@pytest.mark.parametrize("text", [*FORMULAS, "<r><t>&</t></r>", "</t>", "internal:A1!B1"])
def test_a_text_never_becomes_a_formula_a_link_or_xml(tmp_path: Path, text: str) -> None:
    path = workbook(tmp_path, [row(1, ["1", text])], TABLE)
    assert by_calamine(path)[1][1] == text
    cell = openpyxl.load_workbook(path).active["B2"]
    assert (cell.value, cell.data_type, cell.hyperlink) == (text, "s", None)


def test_a_text_that_looks_like_xml_keeps_its_place_and_its_format(tmp_path: Path) -> None:
    path = workbook(tmp_path, [row(1, ["1", "<r>x</r>"])], TABLE)
    xml = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    cell = '<c r="{}" s="{}" t="inlineStr"><is><t>{}</t></is></c>'.format
    assert cell("B2", 2, "&lt;r&gt;x&lt;/r&gt;") + cell("C2", 3, "yes") in xml


def test_the_header_stays_the_filter_is_on_and_answers_are_wrapped(tmp_path: Path) -> None:
    table = Table(["id", "review"], above=[["Title"]])
    rows = [row(1, ["12", "x" * 500]), row(2)]
    sheet = openpyxl.load_workbook(workbook(tmp_path, rows, table)).active
    assert sheet.title == "Answers"
    assert sheet.freeze_panes == "A3"
    assert sheet.auto_filter.ref == "A2:E4"
    assert sheet["A2"].font.bold
    assert (sheet["A2"].border.bottom.style, sheet["A3"].border.bottom.style) == ("thin", None)
    assert [bool(sheet[at].alignment.wrap_text) for at in ("B3", "C3", "D3")] == [0, 1, 0]


def test_excel_does_not_warn_of_texts_that_look_like_numbers(tmp_path: Path) -> None:
    path = workbook(tmp_path, [row(1, ["00123", "x"], extras=["00124"])], TABLE)
    xml = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml").decode()
    assert '<ignoredError sqref="A1:F2" numberStoredAsText="1"/>' in xml


def test_columns_are_as_wide_as_their_cells_or_names(tmp_path: Path) -> None:
    rows = [row(1, ["1", "x" * 500, "x" * 20], answer=b'"%s"' % ("日本".encode() * 10))]
    path = workbook(tmp_path, rows, Table(["n", "long", "a name of thirty characters ok"]))
    widths = openpyxl.load_workbook(path).active.column_dimensions
    assert [round(widths[letter].width) for letter in "ABCD"] == [11, 63, 36, 43]


def test_many_title_rows_do_not_stay_on_the_screen(tmp_path: Path) -> None:
    def frozen(titles: int) -> str | None:
        table = Table(["id", "review"], above=[["Title"]] * titles)
        found: str | None = openpyxl.load_workbook(
            workbook(tmp_path, [], table)
        ).active.freeze_panes
        return found

    assert (frozen(9), frozen(10)) == ("A11", None)


def test_a_row_that_does_not_fit_the_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="3 cells in a row of 2 columns"):
        workbook(tmp_path, [row(1, "abc")], TABLE)


def test_progress_is_told_and_can_end_the_writing(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    told: list[int] = []

    def tell(written: int) -> None:
        told.append(written)
        if written == 2_000:
            raise Enough

    rows = [row(number) for number in range(2_500)]
    workbook(tmp_path, rows[:1_999], TABLE, progress=tell)
    assert told == [1_000, 1_999]
    with pytest.raises(Enough):
        workbook(tmp_path, rows, TABLE, progress=tell)
    assert [path.name for path in tmp_path.iterdir()] == ["made.xlsx"], "temporary files were left"


def test_temporary_files_are_in_the_folder_that_was_named(tmp_path: Path) -> None:
    found: list[int] = []

    def look(written: int) -> None:
        found.append(len(list(tmp_path.glob("export-*/*"))))

    workbook(tmp_path, [row(number) for number in range(10)], TABLE, progress=look)
    assert found == [2], "the rows, and what xlsxwriter has written of the sheet"


def test_a_disk_that_cannot_be_written_to_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_xlsx([row(1)], TABLE, target=tmp_path, folder=tmp_path)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufffe\uffff"), max_size=12)
STRANGE = st.sampled_from(
    [
        *FORMULAS,
        "",
        " ",
        "00123",
        "1e5",
        "\r\n",
        "_x0041_",
        "_x0041_x0042_",
        "_x0041\x00",
        "\x00",
        "7",
        "2.5",
    ]
)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(TEXTS | STRANGE, min_size=2, max_size=2), max_size=6))
def test_whatever_texts_go_in_the_same_come_back(tmp_path: Path, cells: list[list[str]]) -> None:
    rows = [row(at, texts) for at, texts in enumerate(cells)]
    found = by_calamine(workbook(tmp_path, rows, TABLE))[1:]
    assert [[as_text(cell) for cell in read[:2]] for read in found] == cells


def as_text(cell: Any) -> str:
    """What a reader that shows whole numbers without a fraction makes of a cell."""
    if isinstance(cell, float):
        return str(int(cell)) if cell == int(cell) else repr(cell)
    assert isinstance(cell, str)
    return cell


NUMBERS = st.integers() | st.decimals(allow_nan=False, allow_infinity=False)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(NUMBERS | TEXTS, max_size=8))
def test_whatever_numbers_go_in_the_same_come_back(tmp_path: Path, cells: list[Any]) -> None:
    rows = [row(at, [cell]) for at, cell in enumerate(cells)]
    found = [read[0] for read in by_calamine(workbook(tmp_path, rows, TYPED))[1:]]
    for cell, read in zip(cells, found, strict=True):
        if isinstance(read, float):
            assert Decimal(repr(read)) == cell
        else:
            assert read == cell_text(cell)


def test_every_part_of_the_file_is_compressed_and_none_is_large(tmp_path: Path) -> None:
    """Excel for the web refuses what needs ZIP64."""
    path = workbook(tmp_path, [row(1)], TABLE)
    with zipfile.ZipFile(path) as archive:
        assert all(part.compress_type == zipfile.ZIP_DEFLATED for part in archive.infolist())
        assert all(part.extract_version == 20 for part in archive.infolist())


def test_rows_are_taken_once(tmp_path: Path) -> None:
    def once() -> Iterator[ExportRow]:
        yield row(1, ["7", "x"])
        yield row(2, ["8", "y"])

    path = workbook(tmp_path, once(), TABLE)
    assert [cells[0] for cells in by_calamine(path)] == ["id", 7, 8]
