"""Rows as programs usually write them are known, so that most of their cells need no look."""

import pytest

from batchui.exports.workbook.row_cells import cells_of, last_filled
from batchui.exports.workbook.sheet_xml import Row, SheetXml
from batchui.exports.workbook.tags import Tags
from tests.exports.workbook.xml_by_hand import prefixed, sheet

NUMBER = '<c r="A1"><v>1</v></c>'
TEXT = '<c r="B1" t="inlineStr"><is><t>a</t></is></c>'
FORMULA = '<c r="C1" s="3"><f t="shared">A1</f><v>1</v></c>'
BLANK = '<c r="AB1" s="2"/>'

USUAL = {
    "a number": (f'<row r="1">{NUMBER}</row>', 1, NUMBER),
    "a text": (f'<row r="1">{TEXT}</row>', 2, TEXT),
    "a formula": (f'<row r="1">{FORMULA}</row>', 3, FORMULA),
    "blanks behind": (f'<row r="1">{NUMBER}{TEXT}{BLANK}</row>', 2, NUMBER + TEXT),
    "a text before a number": (
        f'<row r="1">{TEXT}{FORMULA}{BLANK}</row>',
        3,
        TEXT + FORMULA,
    ),
    "attributes": (f'<row r="1" spans="1:3" a="&gt;/>" ht=\'20\' >{NUMBER}</row>', 1, NUMBER),
    "blanks alone": (f'<row r="1">{BLANK}</row>', 0, ""),
    "nothing": ('<row r="1"></row>', 0, ""),
    "a line break before it": (f'\n\t<row r="1">{NUMBER}</row>', 1, NUMBER),
}
OTHERS = [
    '<row r="1"/>',
    f"<row>{NUMBER}</row>",
    f'<row a="b" r="1">{NUMBER}</row>',
    f'<row r="1">{NUMBER}</row >',
    f'<row r="1"> {NUMBER}</row>',
    '<row r="1"><c><v>1</v></c></row>',
    '<row r="1"><c r="a1"><v>1</v></c></row>',
    '<row r="1"><c s="1" r="A1"><v>1</v></c></row>',
    '<row r="1"><c r="A1"></c></row>',
    '<row r="1"><c r="A1"><f>1</f></c></row>',
    '<row r="1"><c r="A1"><v>1</v> </c></row>',
    '<row r="1"><c r="A1" t="inlineStr"><is><r><t>a</t></r></is></c></row>',
    f'<row r="1">{NUMBER}<extLst/></row>',
]


def read(row: str, prefix: str) -> tuple[Row, Tags]:
    xml = sheet(row)
    found = SheetXml([(prefixed(xml, prefix) if prefix else xml).encode()])
    [made] = found.rows()
    return made, found.tags


def with_prefix(cells: str, prefix: str) -> str:
    return cells.replace("<", "<x:").replace("<x:/", "</x:") if prefix else cells


@pytest.mark.parametrize("prefix", ["", "x"])
@pytest.mark.parametrize("name", USUAL)
def test_a_usual_row_says_where_its_last_value_is(name: str, prefix: str) -> None:
    row, column, filled = USUAL[name]
    found, tags = read(row, prefix)
    assert found.is_usual
    assert last_filled(found, tags) == (column, len(with_prefix(filled, prefix)))
    assert found.raw.decode() == with_prefix(row, prefix)


@pytest.mark.parametrize(
    ("last", "columns"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 4]), (4, [1, 2, 4])]
)
def test_cells_behind_the_last_column_that_is_asked_for_are_not_looked_at(
    last: int, columns: list[int]
) -> None:
    row, tags = read('<row r="1"><c r="A1"/><c r="B1"/><c r="D1"/><c r="E1"/></row>', "")
    assert [cell.column for cell in cells_of(row, tags, last=last)] == columns
    assert [cell.column for cell in cells_of(row, tags)] == [1, 2, 4, 5]


def test_the_last_column_of_all_may_have_a_cell() -> None:
    row, tags = read('<row r="1"><c s="1" r="XFD1"><v>1</v></c></row>', "")
    assert [(cell.column, cell.filled) for cell in cells_of(row, tags)] == [(16_384, True)]


@pytest.mark.parametrize("prefix", ["", "x"])
@pytest.mark.parametrize("row", OTHERS)
def test_in_any_other_row_each_cell_is_looked_at(row: str, prefix: str) -> None:
    found, tags = read(row, prefix)
    assert not found.is_usual
    assert last_filled(found, tags) is None
