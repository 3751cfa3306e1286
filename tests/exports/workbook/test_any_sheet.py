"""Whatever a sheet is like: the answers come in, and nothing else changes."""

import io
import xml.etree.ElementTree as ET
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from batchui.exports.workbook.row_cells import LastColumns, cells_of
from batchui.exports.workbook.sheet_xml import Row, SheetXml
from tests.exports.workbook.any_sheet import LAST_COLUMN, LAST_ROW, any_sheet
from tests.exports.workbook.sample_workbooks import by_hand
from tests.exports.workbook.splice import add, cells_in, number_of, sheet_xml, without_columns
from tests.exports.workbook.xml_by_hand import XML_BY_HAND

ANSWERS = st.dictionaries(
    st.integers(2, LAST_ROW),
    st.lists(st.sampled_from(["a", "b & c", 7, None, True]), min_size=2, max_size=2),
)


def in_pieces(data: bytes, size: int) -> Iterable[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(data: bytes, size: int) -> tuple[bytes, list[Row], bytes]:
    xml = SheetXml(in_pieces(data, size))
    return xml.head, list(xml.rows()), b"".join(xml.tail())


@given(any_sheet(), ANSWERS)
@settings(max_examples=60, deadline=None)
def test_the_answers_come_in_and_nothing_else_changes(
    xml: str, answers: dict[int, list[str | int | None]]
) -> None:
    rows = sorted(answers.items())
    content, added = add(by_hand(xml), columns=["x", "y"], rows=rows, last_row=LAST_ROW)
    old, new = cells_in(xml), cells_in(sheet_xml(content))
    first = max((column for _, column in old), default=0) + 1
    assert [number_of(letters) for letters in added.letters] == [first, first + 1]
    kinds = {"x": ("inlineStr", "x"), "y": ("inlineStr", "y"), "a": ("inlineStr", "a")}
    kinds |= {"b & c": ("inlineStr", "b & c"), "7": ("n", "7"), "True": ("b", "1")}
    expected = {
        (row, first + at): kinds[str(value)]
        for row, values in [(1, ["x", "y"]), *rows]
        for at, value in enumerate(values)
        if value is not None
    }
    assert new == old | expected


@given(any_sheet(), ANSWERS)
@settings(max_examples=60, deadline=None)
def test_without_the_new_cells_every_byte_is_the_old_one(
    xml: str, answers: dict[int, list[str | int | None]]
) -> None:
    """But for empty cells in the way: those that were replaced, and those that were not."""
    rows = sorted(answers.items())
    content, added = add(by_hand(xml), columns=["x", "y"], rows=rows, last_row=LAST_ROW)
    # A comment in an empty cell that is replaced goes with it.
    xml = xml.replace("<!-- nothing -->", "")
    new = sheet_xml(content).replace("<!-- nothing -->", "")
    letters = [*added.letters, *map(str.lower, added.letters)]
    assert without_columns(new, letters) == without_columns(xml, letters)


@given(any_sheet(), st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_it_does_not_matter_where_the_bytes_are_cut(xml: str, size: int) -> None:
    data = xml.encode()
    head, rows, tail = read(data, size)
    assert head + b"".join(row.raw for row in rows) + tail == data
    assert (head, rows, tail) == read(data, len(data))


@given(any_sheet())
@settings(max_examples=60, deadline=None)
def test_the_short_way_to_the_last_column_finds_what_the_long_one_does(xml: str) -> None:
    found = SheetXml([xml.encode()])
    columns = LastColumns(found.tags)
    for row in found.rows():
        cells = cells_of(row, found.tags)
        last = max((cell.column for cell in cells), default=0)
        assert columns.of(row) == (last, max((c.column for c in cells if c.filled), default=0))
        assert last <= LAST_COLUMN


def test_pieces_of_37_bytes_give_the_same_rows_for_every_sheet_by_hand() -> None:
    for made in XML_BY_HAND.values():
        data = made.xml.encode() if isinstance(made.xml, str) else made.xml
        assert read(data, 37) == read(data, len(data)) == read(data, 1)


def test_the_sheets_of_these_tests_are_well_formed_and_readable() -> None:
    @given(any_sheet())
    @settings(max_examples=30, deadline=None)
    def check(xml: str) -> None:
        ET.fromstring(xml)  # noqa: S314
        if "extLst" not in xml:
            CalamineWorkbook.from_filelike(io.BytesIO(by_hand(xml))).get_sheet_by_name("Data")

    check()
