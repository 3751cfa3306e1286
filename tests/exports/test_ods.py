"""A new ODS spreadsheet, as far as ODS has the values."""

import zipfile
import zlib
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from batchui.exports.ods import write_ods
from batchui.exports.rows import cell_text
from batchui.exports.sheets import TooManyColumns, Written
from batchui.exports.table import EVERYTHING, Selection, Table
from batchui.exports.zipped import LEVEL
from tests.exports.rows import row
from tests.exports.workbook.workbooks import by_calamine, by_libreoffice

TABLE = Table(["id", "review"])
TYPED = Table(["cell"], typed=True)
ADDED = ["answer", "status", "error"]
ANSWERED = ["yes", "answered", ""]


def ods(
    folder: Path, rows: Any, table: Table = TABLE, selection: Selection = EVERYTHING, **how: Any
) -> Path:
    """The path of a new spreadsheet with these rows."""
    target = folder / "made.ods"
    write_ods(rows, table, selection, target=target, folder=folder, **how)
    return target


def test_it_has_the_rows_above_the_header_the_header_and_three_more_columns(tmp_path: Path) -> None:
    table = Table(["a", "Column 2"], ["a", ""], [["Title", 5], []])
    rows = [row(1, ["x", "y"]), row(2, ["", "z"], answer=None, status="failed", extras=["e"])]
    path = ods(tmp_path, rows, table)
    assert by_calamine(path) == [
        ["Title", 5, "", "", "", ""],
        ["", "", "", "", "", ""],
        ["a", "", *ADDED, ""],
        ["x", "y", *ANSWERED, ""],
        ["", "z", "", "failed", "", "e"],
    ]
    assert list(tmp_path.iterdir()) == [path], "a temporary file was left"


def test_the_selection_counts_here_too(tmp_path: Path) -> None:
    rows = [row(1, ["x", "y"]), row(2, ["p", "q"], status="failed")]
    chosen = Selection(columns={"review"}, answer="mood", statuses={"failed"})
    assert by_calamine(ods(tmp_path, rows, TABLE, chosen)) == [
        ["review", "mood", "status", "error"],
        ["q", "yes", "failed", ""],
    ]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (5, 5),
        (123456789012345678, "123456789012345678"),
        (Decimal("0.30000000000000004"), 0.30000000000000004),
        (Decimal("1E+400"), "1E+400"),
        (True, True),
        ({"date": "1066-10-14"}, date(1066, 10, 14)),
        ({"date": "2026-02-30"}, "2026-02-30"),
        (
            {"datetime": "2026-05-01 12:30:15.000001"},
            datetime(2026, 5, 1, 12, 30, 15, 1),  # noqa: DTZ001
        ),
        ({"time": "23:59:59"}, time(23, 59, 59)),
        ({"percent": "12.5%"}, 0.125),
        ({"shown": "00123", "number": 123}, "00123"),
        ("00123", "00123"),
        ("x" * 40_000, "x" * 40_000),
        ("a\x00b\x0c\ufffe", "ab"),
        ("a\rb\r\nc\n", "a\nb\nc\n"),
        ("a\tb\t\tc", "a b  c"),
    ],
)
def test_a_cell_keeps_its_type_as_far_as_ods_has_it(tmp_path: Path, cell: Any, value: Any) -> None:
    found = by_calamine(ods(tmp_path, [row(1, [cell])], TYPED))[1][0]
    assert found == value
    assert isinstance(found, str) is isinstance(value, str)


def test_more_rows_than_a_sheet_holds_go_on_in_another_with_the_header(tmp_path: Path) -> None:
    rows = [row(number, [f"x{number}", "y"]) for number in range(1, 10)]
    table = Table(["id", "review"], above=[["Title"]])
    path = ods(tmp_path, rows, table, most_rows=5)
    sheets = [[cells[0] for cells in by_calamine(path, at)] for at in range(3)]
    assert sheets == [
        ["Title", "id", "x1", "x2", "x3"],
        ["id", "x4", "x5", "x6", "x7"],
        ["id", "x8", "x9"],
    ]
    assert CalamineWorkbook.from_path(str(path)).sheet_names == [
        "Answers",
        "Answers 2",
        "Answers 3",
    ]
    xml = zipfile.ZipFile(path).read("content.xml").decode()
    for cells in ("'Answers'.A2:'Answers'.E5", "'Answers 2'.A1:'Answers 2'.E5"):
        assert f'table:target-range-address="{cells}"' in xml


def test_the_header_is_bold_answers_are_wrapped_and_columns_fit(tmp_path: Path) -> None:
    path = ods(tmp_path, [row(1, ["12", "x" * 500])])
    content = ElementTree.fromstring(zipfile.ZipFile(path).read("content.xml"))  # noqa: S314

    def attributes(name: str) -> list[dict[str, str]]:
        found = content.iter(f"{{urn:oasis:names:tc:opendocument:xmlns:{name}")
        return [{key.split("}")[1]: value for key, value in tag.items()} for tag in found]

    assert attributes("table:1.0}table-column") == [
        {"style-name": "w10", "default-cell-style-name": "plain"},
        {"style-name": "w62", "default-cell-style-name": "plain"},
        {"style-name": "w11", "default-cell-style-name": "wrapped"},
        {"style-name": "w11", "default-cell-style-name": "plain"},
        {"style-name": "w10", "default-cell-style-name": "plain"},
    ]
    assert [width["column-width"] for width in attributes("style:1.0}table-column-properties")] == [
        *("2.0cm", "2.2cm", "12.4cm")
    ]
    styles = {style["name"]: style for style in attributes("style:1.0}style")}
    assert {"plain", "wrapped", "header", "date", "datetime", "time", "percent"} < styles.keys()
    # A duration of 30 hours is not shown as 6; no other style has that attribute.
    times = [{"name": "shown-time", "truncate-on-overflow": "false"}]
    assert attributes("datastyle:1.0}time-style") == times
    assert attributes("datastyle:1.0}date-style") == [
        {"name": "shown-date"},
        {"name": "shown-datetime"},
    ]
    assert attributes("style:1.0}text-properties") == [{"font-weight": "bold"}]
    looks = attributes("style:1.0}table-cell-properties")
    assert {look["vertical-align"] for look in looks} == {"top"}
    assert [look for look in looks if "wrap-option" in look] == [
        {"vertical-align": "top", "wrap-option": "wrap"}
    ]
    assert [look for look in looks if "border-bottom" in look] == [
        {"vertical-align": "top", "border-bottom": "0.5pt solid #000000"}
    ]
    cells = [cell.get("style-name") for cell in attributes("table:1.0}table-cell")]
    assert cells == ["header"] * 5 + [None] * 5
    # What stands between the parts of dates and times, then the cells: there is no other text.
    names = "idreviewanswerstatuserror"
    assert "".join(content.itertext()) == f"---- ::::%{names}{'x' * 500}yesanswered"
    [filtered] = attributes("table:1.0}database-range")
    assert filtered["display-filter-buttons"] == "true"


def test_each_row_is_one_of_the_table_and_each_value_has_its_style(tmp_path: Path) -> None:
    cells: list[Any] = [
        *(
            7,
            True,
            {"date": "2026-05-01"},
            {"datetime": "2026-05-01 12:30:15.5"},
            {"time": "12:30:15"},
        ),
        *({"duration": "30:00:01.25"}, {"percent": "-2.5%"}, "a<b>\n  c & d ", ""),
    ]
    table = Table([f"c{at}" for at in range(9)], typed=True)
    xml = zipfile.ZipFile(ods(tmp_path, [row(1, cells)] * 2, table)).read("content.xml").decode()
    value = '<table:table-cell{} office:value-type="{}" office:{}="{}"/>'.format
    text = (
        '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'.format
    )
    expected = [
        value("", "float", "value", "7"),
        value(' table:style-name="boolean"', "boolean", "boolean-value", "true"),
        value(' table:style-name="date"', "date", "date-value", "2026-05-01"),
        value(' table:style-name="datetime"', "date", "date-value", "2026-05-01T12:30:15.500000"),
        value(' table:style-name="time"', "time", "time-value", "PT12H30M15.000000S"),
        value(' table:style-name="time"', "time", "time-value", "PT108001.250000S"),
        value(' table:style-name="percent"', "percentage", "value", "-0.025"),
        text('a&lt;b&gt;</text:p><text:p><text:s text:c="2"/>c &amp; d<text:s text:c="1"/>'),
        "<table:table-cell/>",
        *(text("yes"), text("answered"), "<table:table-cell/>"),
    ]
    one = f"<table:table-row>{''.join(expected)}</table:table-row>"
    assert xml.count(one) == 2
    assert f"</table:table-row>{one}{one}</table:table><table:database-ranges>" in xml


def test_the_type_of_the_file_stands_first_and_uncompressed(tmp_path: Path) -> None:
    with zipfile.ZipFile(ods(tmp_path, [])) as archive:
        first, *others = archive.infolist()
        assert archive.read(first) == b"application/vnd.oasis.opendocument.spreadsheet"
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    assert [part.filename for part in others] == ["META-INF/manifest.xml", "content.xml"]


def test_the_rows_are_compressed_as_every_file_of_ours(tmp_path: Path) -> None:
    path = ods(tmp_path, [row(at, ["x", f"review {at * 7919}"]) for at in range(2_000)])
    with zipfile.ZipFile(path) as archive:
        engine = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        content = engine.compress(archive.read("content.xml")) + engine.flush()
        assert archive.getinfo("content.xml").compress_size == len(content)


def test_progress_is_told_and_the_rows_are_counted(tmp_path: Path) -> None:
    told: list[int] = []
    rows = [row(number) for number in range(1_999)]
    how: Any = {"target": tmp_path / "x.ods", "folder": tmp_path, "progress": told.append}
    assert write_ods(rows, TABLE, **how) == Written(1_999, 1, 0)
    assert told == [1_000, 1_999]


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TooManyColumns, match="16,385"):
        ods(tmp_path, [row(1, ["x"] * 16_380, extras=["y", "z"])], Table(["c"] * 16_380))


LINES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff")
    | st.sampled_from(" \n<&>\"'="),
    max_size=10,
)


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(LINES, max_size=6))
def test_whatever_texts_go_in_the_same_come_back(tmp_path: Path, cells: list[str]) -> None:
    rows = [row(at, [cell]) for at, cell in enumerate(cells)]
    assert [read[0] for read in by_calamine(ods(tmp_path, rows, TYPED))[1:]] == cells


SHOWN: list[Any] = [
    *("=1+1", "00123", "  two  blanks ", "a\n\n b", "日本語 😀", "<&>"),
    *(5, 123456789012, 123456789012345678, Decimal("0.5"), True, False, {"date": "2026-05-01"}),
    *({"datetime": "2026-05-01 12:30:15"}, {"time": "12:30:00"}, {"duration": "30:00:01"}),
    *({"percent": "25%"}, {"percent": "12.5%"}, {"shown": "00123", "number": 123}),
]


@pytest.mark.processes
def test_libreoffice_shows_each_cell_as_the_file_did(tmp_path: Path) -> None:
    rows = [row(at, ["x", cell]) for at, cell in enumerate(SHOWN)]
    found = by_libreoffice(ods(tmp_path, rows, Table(["a", "b"], typed=True)))
    assert found[0] == ["a", "b", *ADDED]
    assert [cells[1] for cells in found[1:]] == [cell_text(cell) for cell in SHOWN]
