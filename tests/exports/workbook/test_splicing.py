"""What exactly the XML of a sheet becomes, for each kind of row."""

import re

import pytest

from batchui.exports.workbook.writer import Added
from tests.exports.workbook.sample_workbooks import by_hand
from tests.exports.workbook.splice import add, sheet_xml
from tests.exports.workbook.xml_by_hand import MAIN, sheet

ONE = '<c r="B1"><v>1</v></c>'


def added_to(xml: str, rows: dict[int, object], *, header_row: int = 0, last_row: int = 0) -> str:
    """The sheet with one more column, "answer", and these values in it."""
    content, _ = add(
        by_hand(xml),
        header_row=header_row,
        columns=["answer"],
        rows=[(row, [value]) for row, value in rows.items()],
        last_row=last_row,
    )
    return sheet_xml(content)


def rows_added_to(rows: str, answers: dict[int, object], *, header_row: int = 0) -> str:
    """What is between <sheetData> and its end, after values were added to these rows."""
    xml = added_to(sheet(rows), answers, header_row=header_row, last_row=max(answers, default=0))
    found = re.search("<sheetData>(.*)</sheetData>", xml, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # The cell goes before the end of the row.
        (f'<row r="1">{ONE}</row>', f'<row r="1">{ONE}<c r="C1"><v>7</v></c></row>'),
        (f'<row r="1">{ONE}\n</row >', f'<row r="1">{ONE}\n<c r="C1"><v>7</v></c></row >'),
        # And before its extensions.
        (
            f'<row r="1">{ONE}<extLst><ext/></extLst></row>',
            f'<row r="1">{ONE}<c r="C1"><v>7</v></c><extLst><ext/></extLst></row>',
        ),
        # The columns that a row said to have no longer hold.
        (f'<row r="1" spans="2:2">{ONE}</row>', f'<row r="1">{ONE}<c r="C1"><v>7</v></c></row>'),
        (
            f"<row a=' spans=\"1\"' spans='2:2' r='1' ht=\"9\">{ONE}</row>",
            f'<row a=\' spans="1"\' r=\'1\' ht="9">{ONE}<c r="C1"><v>7</v></c></row>',
        ),
        (
            f"<!-- <row spans='1'> --><row r='1' spans = '2:2'>{ONE}</row>",
            f"<!-- <row spans='1'> --><row r='1'>{ONE}<c r=\"C1\"><v>7</v></c></row>",
        ),
        # An empty cell in the way is replaced, and leaves its style.
        (
            f'<row r="1">{ONE}<c r="C1" s="3"/></row>',
            f'<row r="1">{ONE}<c r="C1" s="3"><v>7</v></c></row>',
        ),
        (
            f'<row r="1">{ONE}<c t="n" s="3" r="C1"> </c ></row>',
            f'<row r="1">{ONE}<c r="C1" s="3"><v>7</v></c></row>',
        ),
        (
            f'<row r="1">{ONE}<c r="C1"></c></row>',
            f'<row r="1">{ONE}<c r="C1"><v>7</v></c></row>',
        ),
        # A style that is no number is not taken over.
        (
            f'<row r="1">{ONE}<c r="C1" s=\'"\'/></row>',
            f'<row r="1">{ONE}<c r="C1"><v>7</v></c></row>',
        ),
        # Cells stay in the order of their columns.
        (
            f'<row r="1">{ONE}<c r="D1" s="3"/><extLst/></row>',
            f'<row r="1">{ONE}<c r="C1"><v>7</v></c><c r="D1" s="3"/><extLst/></row>',
        ),
        # Cells without a place stand right of the one before.
        (
            '<row r="1"><c r="B1"><v>1</v></c><c s="4"/><c/></row>',
            '<row r="1"><c r="B1"><v>1</v></c><c r="C1" s="4"><v>7</v></c><c/></row>',
        ),
    ],
)
def test_a_cell_is_put_into_a_row(before: str, after: str) -> None:
    assert rows_added_to(before, {1: 7}) == after


def test_a_row_that_ends_itself_gets_an_end_tag() -> None:
    rows = f'<row r="1">{ONE}</row><row r="2" spans="1:2" ht="20" /><row r="3"/>'
    assert rows_added_to(rows, {2: 7}) == (
        f'<row r="1">{ONE}</row><row r="2" ht="20" ><c r="C2"><v>7</v></c></row><row r="3"/>'
    )


def test_rows_that_are_not_there_are_put_where_they_belong() -> None:
    rows = f'<row r="2">{ONE.replace("B1", "B2")}</row>\n<row r="5"/>\n'
    assert rows_added_to(rows, {1: 1, 3: 3, 4: 4, 5: 5, 7: 7, 9: 9}) == (
        '<row r="1"><c r="C1"><v>1</v></c></row>'
        '<row r="2"><c r="B2"><v>1</v></c></row>'
        '<row r="3"><c r="C3"><v>3</v></c></row><row r="4"><c r="C4"><v>4</v></c></row>'
        '\n<row r="5"><c r="C5"><v>5</v></c></row>'
        '<row r="7"><c r="C7"><v>7</v></c></row><row r="9"><c r="C9"><v>9</v></c></row>\n'
    )


@pytest.mark.parametrize("value", [None, ""])
def test_a_row_without_a_value_stays_as_it_is(value: object) -> None:
    rows = '<row r="1" spans="1:2"><c r="A1"><v>1</v></c><c r="B1" s="2"/></row><row r="2"/>'
    assert rows_added_to(rows, {1: value, 2: value, 3: value}) == rows


def test_a_prefix_is_taken_for_everything_that_is_new() -> None:
    xml = (
        f'<x:worksheet xmlns:x="{MAIN}"><x:dimension ref="A1"/><x:sheetData><x:row r="1"/>'
        "</x:sheetData></x:worksheet>"
    )
    assert added_to(xml, {1: "a", 3: True}, last_row=3) == (
        f'<x:worksheet xmlns:x="{MAIN}"><x:dimension ref="A1:A3"/><x:sheetData><x:row r="1">'
        '<x:c r="A1" t="inlineStr"><x:is><x:t xml:space="preserve">a</x:t></x:is></x:c></x:row>'
        '<x:row r="3"><x:c r="A3" t="b"><x:v>1</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )


def test_an_empty_sheet_gets_an_end_tag_for_its_rows() -> None:
    xml = f'<worksheet xmlns="{MAIN}"><sheetData  /><a/></worksheet>'
    assert (
        added_to(xml, {}) == f'<worksheet xmlns="{MAIN}"><sheetData  ></sheetData><a/></worksheet>'
    )
    assert added_to(xml, {2: 7}, last_row=2) == (
        f'<worksheet xmlns="{MAIN}"><sheetData  ><row r="2"><c r="A2"><v>7</v></c></row>'
        "</sheetData><a/></worksheet>"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<dimension ref="A1:B1"/>', '<dimension ref="A1:C4"/>'),
        ('<dimension ref="A1"/>', '<dimension ref="A1:C4"/>'),
        ("<dimension a=\"ref\" ref = 'B1:Z9' />", '<dimension a="ref" ref="B1:Z9" />'),
        ('<dimension ref="E3:F3"></dimension>', '<dimension ref="C2:F4"></dimension>'),
        ('<dimension ref="nonsense"/>', '<dimension ref="A1:C4"/>'),
        ('<dimension ref="é1:B2"/>', '<dimension ref="A1:C4"/>'),
        ("<dimension/>", "<dimension/>"),
        ("", ""),
        ('<!-- <dimension ref="A1"/> -->', '<!-- <dimension ref="A1"/> -->'),
    ],
)
def test_the_sheet_says_its_new_size(old: str, new: str) -> None:
    rows = f'<row r="1">{ONE}</row><row r="4"/>'
    xml = added_to(sheet(rows, before=old), {3: 7}, header_row=2)
    assert xml.partition("<sheetData>")[0] == sheet("", before=new).partition("<sheetData>")[0]


def test_the_size_reaches_the_header_and_rows_below_the_last() -> None:
    xml = added_to(sheet("", before='<dimension ref="A1"/>'), {}, header_row=3)
    assert '<dimension ref="A1:A3"/>' in xml
    xml = added_to(sheet("", before='<dimension ref="none"/>'), {}, header_row=1)
    assert '<dimension ref="A1:A1"/>' in xml
    xml = added_to(sheet("", before='<dimension ref="A1"/>'), {9: 1}, header_row=3, last_row=12)
    assert '<dimension ref="A1:A12"/>' in xml


@pytest.mark.parametrize(
    ("header", "style"),
    [
        ('<c r="A1" s="4"/><c r="B1" s="5"><v>1</v></c>', ' s="5"'),
        ('<c r="A1" s="4"><v>1</v></c><c r="B1" s="5"/>', ' s="5"'),
        ('<c r="A1" s="4"><v>1</v></c>', ' s="4"'),
        ('<c r="A1" s="4"/><c r="B1"><v>1</v></c>', ""),
        ('<c r="C1" s="6"/>', ' s="6"'),
        ('<c r="B1" s="5"/><c r="C1" s="6"/><c r="D1" s="7"/>', ' s="6"'),
        ('<c r="B1" s="5"/><c r="C1"/>', ' s="5"'),
        ('<c r="D1" s="7"/>', ""),
        ("", ""),
    ],
)
def test_the_name_of_a_column_looks_like_its_neighbour(header: str, style: str) -> None:
    filled = '<row r="2"><c r="B2"><v>1</v></c></row>'
    rows = rows_added_to(f'<row r="1">{header}</row>{filled}', {2: "x"}, header_row=1)
    assert f'<c r="C1"{style} t="inlineStr"><is><t xml:space="preserve">answer</t>' in rows
    assert '<c r="C2" t="inlineStr">' in rows


def test_without_a_header_row_there_are_no_names() -> None:
    content, added = add(by_hand(sheet()), header_row=0, rows=[(1, ("a", 2, True))])
    assert added == Added(("D", "E", "F"), rows=1, has_names=False)
    assert ">answer<" not in sheet_xml(content)
    assert '<c r="D1" t="inlineStr"><is><t xml:space="preserve">a</t></is></c>' in sheet_xml(
        content
    )


@pytest.mark.parametrize(
    "rows",
    [
        [(1, ["x"])],  # the row of the names
        [(3, ["x"]), (2, ["x"])],
        [(3, ["x"]), (3, ["x"])],
        [(5, ["x"])],  # below the last one
        [(2, ["x", "y"])],
        [(2, [])],
    ],
)
def test_rows_that_do_not_fit_are_a_mistake(rows: list[tuple[int, list[str]]]) -> None:
    with pytest.raises(ValueError, match=r"^row \d with \d values, after row \d$"):
        add(by_hand(sheet()), columns=["answer"], rows=rows)


def test_the_row_after_the_last_one_may_be_announced() -> None:
    content, _ = add(by_hand(sheet()), columns=["answer"], rows=[(5, ["x"])], last_row=5)
    assert '<row r="5"><c r="D5"' in sheet_xml(content)
