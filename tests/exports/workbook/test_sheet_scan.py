"""The first free column lies behind everything that keeps its place."""

import io

import pytest

from batchui.exports.workbook import sheet_scan, sheet_xml, tags
from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.package import Package
from batchui.exports.workbook.relations import (
    Relation,
    SheetEntry,
    relations,
    sheets,
    worksheet,
)
from batchui.exports.workbook.sheet_scan import Area, Scan, area, scan
from batchui.exports.workbook.sheet_xml import SheetXml
from batchui.exports.workbook.tags import column_letters, column_number
from tests.exports.workbook.sample_workbooks import MAIN, RELATIONS, by_hand
from tests.exports.workbook.splice import add
from tests.exports.workbook.xml_by_hand import sheet

X14 = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
XM = "http://schemas.microsoft.com/office/excel/2006/main"


def scanned(xml: str, *, first_row: int = 1, more: dict[str, bytes] | None = None) -> Scan:
    package = Package(io.BytesIO(by_hand(xml, more=more)))
    return scan(package, worksheet(package, "Data"), first_row=first_row)


def test_values_formulas_and_text_are_filled_and_styles_are_not() -> None:
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="F1" s="2"/></row>'
        '<row r="2"><c r="B2"><f>A1</f></c><c r="E2" s="1"></c></row>'
        '<row r="7"><c r="C7" t="inlineStr"><is><t>a</t></is></c></row><row r="9"/>'
    )
    assert scanned(sheet(rows)) == Scan(1, last_row=9, last_cell=6, last_filled=3)
    assert scanned(sheet(rows)).first_free == 4


def test_an_empty_sheet_is_free_from_the_first_column_on() -> None:
    found = scanned(sheet(""))
    assert (found.last_row, found.last_cell, found.last_filled) == (0, 0, 0)
    assert (found.last_taken, found.last_covered, found.hidden) == (0, 0, [])
    assert scanned(sheet("")).first_free == 1


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ('<c r="A1"><v>1</v></c><c r="B1"/><c r="C1"/>', (3, 1)),
        ('<c r="A1"/><c r="B1"><f>1</f><v>1</v></c><c r="C1" s="1"/>', (3, 2)),
        ('<c r="A1"/><c r="B1" t="inlineStr"><is><t>a</t></is></c><c r="AB1"/>', (28, 2)),
        ('<c r="A1"/><c r="B1"/>', (2, 0)),
        ('<c r="B1"><v></v></c>', (2, 2)),
        ('<c r="B1"><v/></c>', (2, 2)),
        ("<c/><c><v>1</v></c><c/>", (3, 2)),
    ],
)
def test_the_last_columns_of_a_row(row: str, found: tuple[int, int]) -> None:
    scan = scanned(sheet(f'<row r="1">{row}</row>'))
    assert (scan.last_cell, scan.last_filled) == found


@pytest.mark.parametrize(
    ("rows", "after", "last_taken"),
    [
        ("", '<mergeCells><mergeCell ref="B2:D3"/><mergeCell ref="a9:C9"/></mergeCells>', 4),
        ("", '<mergeCells><mergeCell ref="B2"/></mergeCells>', 2),
        ('<row r="4"><c r="A4"><f t="array" ref="A4:H4">B4</f><v>1</v></c></row>', "", 8),
        ("<row r='4'><c><f a='>' ref='A4:AA9' t='array'/></c></row>", "", 27),
        ('<row r="4"><c r="A4" t="inlineStr"><is><t>ref</t></is></c></row>', "", 0),
        # A sparkline takes its place, a format does not.
        (
            "",
            f'<extLst><ext xmlns:xm="{XM}"><s xmlns="{X14}"><sparkline><xm:f>A1</xm:f><xm:sqref>F2'
            "</xm:sqref></sparkline><sparkline><xm:f>A1</xm:f><xm:sqref> E2 </xm:sqref></sparkline>"
            "</s><c><xm:sqref>A1:Z9</xm:sqref></c></ext></extLst>",
            6,
        ),
    ],
)
def test_what_keeps_its_columns(rows: str, after: str, last_taken: int) -> None:
    found = scanned(sheet(rows, after=after))
    assert found.last_taken == last_taken
    assert found.first_free == max(last_taken, found.last_filled) + 1


def test_what_lies_above_the_rows_that_are_written_to_is_not_in_the_way() -> None:
    xml = sheet("", after='<mergeCells><mergeCell ref="A1:H2"/></mergeCells>')
    assert [scanned(xml, first_row=row).last_taken for row in (1, 2, 3)] == [8, 8, 0]


def with_table(kind: str, content: str) -> dict[str, bytes]:
    relations = (
        f'<Relationships><Relationship Id="r" Type="{RELATIONS}/{kind}" Target="../t.xml"/>'
        '<Relationship Id="s" Type="a/table" Target="gone.xml"/></Relationships>'
    )
    return {
        "xl/worksheets/_rels/sheet1.xml.rels": relations.encode(),
        "xl/t.xml": content.encode(),
    }


@pytest.mark.parametrize(
    ("kind", "content", "last_taken", "has_filter"),
    [
        ("table", f'<table xmlns="{MAIN}" ref="A1:E5"/>', 5, False),
        ("table", f'<table xmlns="{MAIN}" ref="A1:E5"><autoFilter ref="A1"/></table>', 5, True),
        (
            "pivotTable",
            f'<pivotTableDefinition xmlns="{MAIN}"><location ref="G1:I5"/></pivotTableDefinition>',
            9,
            False,
        ),
        ("table", '<table xmlns="other" ref="A1:E5"><autoFilter/></table>', 0, False),
        ("hyperlink", f'<table xmlns="{MAIN}" ref="A1:E5"/>', 0, False),
    ],
)
def test_tables_keep_their_columns(
    kind: str, content: str, last_taken: int, has_filter: bool
) -> None:
    found = scanned(sheet(""), more=with_table(kind, content))
    assert (found.last_taken, found.has_filter) == (last_taken, has_filter)


def test_filters_and_hidden_columns_are_told() -> None:
    columns = '<cols><col min="4" max="5" hidden="1"/><col min="7" max="8" hidden="true"/>'
    columns += '<col min="9" max="9" hidden="0"/><col min="10" max="16384"/></cols>'
    xml = sheet(before=columns, after='<autoFilter ref="A1:C4"/>')
    assert scanned(xml).hidden == [(4, 5), (7, 8)]
    assert scanned(xml).has_filter
    assert not scanned(sheet()).has_filter
    hidden = []
    for first in range(1, 10):
        rows = f'<row r="1"><c r="{column_letters(first)}1"><v>1</v></c></row>'
        added = add(by_hand(sheet(rows, before=columns)), columns=["a", "b"])[1]
        hidden.append(added.is_hidden)
    #                  B, C   C, D  D, E  E, F  F, G  G, H  H, I  I, J   J, K
    assert hidden == [False, True, True, True, True, True, True, False, False]


@pytest.mark.parametrize(
    "xml",
    [
        sheet(before='<cols><col min="x" max="5" hidden="1"/></cols>'),
        sheet(before='<cols><col min="1" hidden="1"/></cols>'),
        sheet(before='<cols><col max="1" hidden="1"/></cols>'),
        sheet(before='<col min="1" max="1" hidden="1"/>' * 16_385),
    ],
)
def test_columns_that_cannot_be_read(xml: str) -> None:
    with pytest.raises(CannotWrite, match=r"The sheet has columns that cannot be read"):
        scanned(xml)


@pytest.mark.parametrize("reference", ["", "A", "A1:", "1:2", "A:B", "A1:B2:C3", "A1 B2", "é1"])
def test_an_area_that_cannot_be_read(reference: str) -> None:
    with pytest.raises(CannotWrite, match=r"The sheet has a range of cells that cannot be read"):
        scanned(sheet(after=f'<mergeCell ref="{reference}"/>'))


def test_an_area_that_is_not_said() -> None:
    sentence = "The sheet has a range of cells that cannot be read"
    with pytest.raises(CannotWrite, match=sentence):
        scanned(sheet(after="<mergeCell/>"))
    with pytest.raises(CannotWrite, match=sentence):
        scanned(sheet(), more=with_table("table", f'<table xmlns="{MAIN}"/>'))


def test_an_area_has_four_sides() -> None:
    assert area("B3:d10") == Area(top=3, left=2, bottom=10, right=4)
    assert area("XFD1048576") == Area(1_048_576, 16_384, 1_048_576, 16_384)


@pytest.mark.parametrize(
    ("number", "letters"), [(1, "A"), (26, "Z"), (27, "AA"), (702, "ZZ"), (703, "AAA")]
)
def test_columns_have_letters(number: int, letters: str) -> None:
    assert column_letters(number) == letters
    assert column_number(letters.encode()) == column_number(letters.lower().encode()) == number
    assert column_letters(16_384) == "XFD"
    assert column_number(b"XFD") == 16_384


def test_the_sheets_are_listed_in_the_order_of_their_tabs() -> None:
    xml = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets><sheet name="B" r:id="rId8"/>'
        '<sheet name="Data" r:id="rId7"/><o xmlns="o"><sheet name="no"/></o><sheet r:id="gone"/>'
        "</sheets></workbook>"
    )
    package = Package(io.BytesIO(by_hand(sheet(), more={"xl/workbook.xml": xml.encode()})))
    part = package.find("xl/worksheets/sheet1.xml")
    assert sheets(package) == [
        SheetEntry("B", None),
        SheetEntry("Data", part),
        SheetEntry("", None),
    ]


def test_what_a_relation_does_not_say_is_nothing() -> None:
    listed = (
        '<Relationships><Relationship Id="a" Type="b/c" Target="/xl/workbook.xml"/>'
        '<Relationship/><Relationship Id="a" Type="c" Target="/xl/workbook.xml"'
        ' TargetMode="External"/></Relationships>'
    )
    more = {"xl/worksheets/_rels/sheet1.xml.rels": listed.encode()}
    package = Package(io.BytesIO(by_hand(sheet(), more=more)))
    workbook = package.find("xl/workbook.xml")
    assert relations(package, "xl/worksheets/sheet1.xml") == [
        Relation("a", "c", workbook),
        Relation("", "", None),
        Relation("a", "c", None),
    ]


def test_pieces_that_are_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_xml, "LARGEST_PIECE", 1_000)
    monkeypatch.setattr(sheet_scan, "LARGEST_SURROUNDINGS", 5_000)
    for long in (
        sheet(f'<row r="1">{" " * 9_000}</row>'),
        sheet(" " * 9_000),
        sheet("<!--" + "x" * 9_000),
        sheet(f'<row r="1" a="{"x" * 9_000}"/>'),
        sheet(before="<a/>" * 3_000),
    ):
        with pytest.raises(CannotWrite, match="a row, or a beginning, that is too long"):
            list(SheetXml(iter([bytes([byte]) for byte in long.encode()])).rows())
    with pytest.raises(CannotWrite, match="too much beside its rows"):
        scanned(sheet(after="<a/>" * 1_300))
    assert scanned(sheet(after="<a/>" * 1_100)).last_row == 4


@pytest.mark.parametrize(
    ("columns", "last_covered"), [((0,), 1), ((2, 9, 4), 10), (("x", -1, ""), 0), ((), 0)]
)
def test_charts_and_pictures_cover_columns(columns: tuple[object, ...], last_covered: int) -> None:
    content = "".join(f"<from> <col>{column}</col><row>99</row></from>" for column in columns)
    found = scanned(sheet(""), more=with_table("drawing", f"<d>{content}</d>"))
    assert found == Scan(1, last_covered=last_covered)
    assert scanned(sheet(""), more=with_table("chart", "<d><col>9</col></d>")) == Scan(1)


@pytest.mark.parametrize("depth", [98, 99])
def test_elements_may_be_a_hundred_deep(depth: int) -> None:
    xml = sheet("", after="<a>" * depth + "</a>" * depth)
    if depth == 98:
        assert scanned(xml) == Scan(1)
    else:
        with pytest.raises(CannotWrite, match="nested too deep"):
            scanned(xml)


def test_a_long_beginning_of_a_sheet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is parsed again for each chunk of rows."""
    data = sheet().encode()
    xml = SheetXml([data])
    assert xml.opening == f'<worksheet xmlns="{MAIN}"><sheetData>'.encode()
    assert xml.closing == b"</sheetData></worksheet>"
    monkeypatch.setattr(sheet_xml, "LARGEST_OPENING", len(xml.opening))
    assert SheetXml([data]).head == xml.head
    monkeypatch.setattr(sheet_xml, "LARGEST_OPENING", len(xml.opening) - 1)
    with pytest.raises(CannotWrite, match="a row, or a beginning, that is too long"):
        SheetXml([data])


@pytest.mark.parametrize("cells", [9, 10])
def test_a_row_has_a_limit_of_tags(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_xml, "MOST_TAGS", 11)
    # With those of the row itself there are two more.
    data = sheet(f'<row r="1">{"<c/>" * 9}</row><row r="2">{"<c/>" * cells}</row>').encode()
    if cells == 9:
        assert len(list(SheetXml([data]).rows())) == 2
    else:
        with pytest.raises(CannotWrite, match="a row, or a beginning, that is too long"):
            list(SheetXml([data]).rows())


@pytest.mark.parametrize("hidden", [3, 4])
def test_a_buffer_has_a_limit_of_comments(hidden: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "MOST_TAGS", 4)
    # The declaration counts as one.
    data = sheet("<!---->" * hidden).encode()
    if hidden == 3:
        assert list(SheetXml([data]).rows()) == []
    else:
        with pytest.raises(CannotWrite, match="a row, or a beginning, that is too long"):
            SheetXml([data])


def test_a_piece_may_be_as_long_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data = sheet().encode()
    monkeypatch.setattr(sheet_xml, "LARGEST_PIECE", 50)
    assert len(list(SheetXml([data[:50], data[50:]]).rows())) == 4
    with pytest.raises(CannotWrite, match="a row, or a beginning, that is too long"):
        SheetXml([data[:51], data[51:]])


def test_what_is_beside_the_rows_may_be_as_long_as_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = '<row r="1"><c r="A1"/></row>'
    size = len(sheet("").encode())
    monkeypatch.setattr(sheet_scan, "LARGEST_SURROUNDINGS", size)
    assert scanned(sheet(rows)).last_row == 1
    monkeypatch.setattr(sheet_scan, "LARGEST_SURROUNDINGS", size - 1)
    with pytest.raises(CannotWrite, match="too much beside its rows"):
        scanned(sheet(rows))
