"""What cannot be done safely is said in a sentence, and nothing is guessed."""

import io
import zipfile

import pytest

from batchui.exports.workbook.cannot_write import CannotWrite
from batchui.exports.workbook.cell_xml import CellWriter
from batchui.exports.workbook.sheet_scan import Scan
from batchui.exports.workbook.sheet_xml import SheetXml
from batchui.exports.workbook.splicing import Splicer
from tests.exports.workbook.sample_workbooks import by_hand
from tests.exports.workbook.splice import add
from tests.exports.workbook.xml_by_hand import MAIN, sheet

SAVE_AGAIN = "Open it in Excel or LibreOffice, save it as XLSX, and upload that file.$"


def refusal(content: bytes, **options: object) -> str:
    with pytest.raises(CannotWrite) as refused:
        add(content, **options)  # type: ignore[arg-type]
    return str(refused.value)


def rows_refused(rows: str) -> str:
    return refusal(by_hand(sheet(rows)))


@pytest.mark.parametrize(
    ("rows", "after"),
    [
        ('<row r="2"/><row r="2"/>', 2),
        ('<row r="3"/><row r="2"/>', 3),
        ('<row r="3"/><row><c r="A2"/></row>', 3),
        ('<row r="3"/><row/><row r="4"/>', 4),
        ('<row r="0"/>', 0),
        ('<row r="-1"/>', 0),
        ('<row r="x"/>', 0),
        ('<row r=""/>', 0),
        ('<row r="1048577"/>', 0),
        ('<row r="1048576"/><row/>', 1_048_576),
        ('<row r="99999999999"/>', 0),
    ],
)
def test_rows_that_are_not_in_order(rows: str, after: int) -> None:
    assert rows_refused(rows) == (
        "The workbook is not made as Excel makes it. The rows of the sheet are not in order after "
        f"row {after:,}. Open it in Excel or LibreOffice, save it as XLSX, and upload that file."
    )


@pytest.mark.parametrize(
    "cells",
    [
        '<c r="B2"><v>1</v></c><c r="A2"><v>1</v></c>',
        '<c r="A2"><v>1</v></c><c r="A2"><v>1</v></c>',
        '<c r="A2"/><c r="A2"/>',
        '<c r="A2"><v>1</v></c><c r="B3"><v>1</v></c>',
        '<c r="A3"/>',
        '<c/><c r="A2"/>',
    ],
)
def test_cells_that_are_not_in_order(cells: str) -> None:
    rows = f'<row r="1"><c r="A1"><v>1</v></c><c r="B1"><v>1</v></c></row><row r="2">{cells}</row>'
    assert "The cells of row 2 of the sheet are not in order." in rows_refused(rows)


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ("<c/>" * 16_385, "The cells of row 1 of the sheet are not in order."),
        ("<c>" * 100_000 + " " * 1_000_000 + "</c>", "Its XML is not well-formed."),
        ("<c/>" + "<extLst>" * 100_000 + " " * 1_000_000, "Its XML is not well-formed."),
        ("<c>" * 100_000 + " " * 1_000_000, "Its XML is not well-formed."),
    ],
)
def test_each_byte_of_a_row_is_searched_once(cells: str, sentence: str) -> None:
    """Searched again for each of these tags, such a row would take hours."""
    assert sentence in rows_refused(f'<row r="1">{cells}</row>')


@pytest.mark.parametrize("place", ["A", "1", "AAAA1", "A12345678", "", "A1:B1", "$A$1", "Ä1"])
def test_a_place_that_cannot_be_read(place: str) -> None:
    assert "a cell whose place cannot be read" in rows_refused(f'<row r="1"><c r="{place}"/></row>')


@pytest.mark.parametrize("place", ["XFE1", "ZZZ1", "zzz1"])
def test_a_cell_beyond_the_last_column(place: str) -> None:
    assert "beyond the last column, XFD" in rows_refused(f'<row r="1"><c r="{place}"/></row>')
    usual = f'<row r="1"><c r="{place}"><v>1</v></c></row>'
    assert "beyond the last column, XFD" in rows_refused(usual)


def test_no_room_before_the_last_column() -> None:
    rows = '<row r="1"><c r="{}1"><v>1</v></c></row>'
    _, added = add(by_hand(sheet(rows.format("XFA"))))
    assert added.letters == ("XFB", "XFC", "XFD")
    assert rows_refused(rows.format("XFB")) == "The sheet “Data” has no room for 3 more columns."
    merged = sheet('<row r="1"/>', after='<mergeCells><mergeCell ref="A1:XFD1"/></mergeCells>')
    assert "no room for 3 more columns" in refusal(by_hand(merged))


@pytest.mark.parametrize(
    "xml",
    [
        sheet('<row r="1"/>text'),
        sheet('<other/><row r="1"/>'),
        sheet("<ROW/>"),
        sheet('<x:row xmlns:x="x"/>'),
        sheet('<row r="1">').replace("</sheetData></worksheet>", ""),
        sheet('<row r="1"/>').partition("</sheetData>")[0],
        f'<worksheet xmlns="{MAIN}"><dimension/></worksheet>',
        "<worksheet",
        "",
        "<a>",
        '<?xml version="1.0"',
    ],
)
def test_rows_that_cannot_be_followed(xml: str) -> None:
    assert "has something else where its rows should be" in refusal(by_hand(xml))


@pytest.mark.parametrize(
    "xml",
    [
        sheet('<row r="1"><c r="A1"><v>1</v></row>'),
        sheet('<row r="1"></row>', after="<a>"),
        sheet('<row r="1"><c r="A1"><v>&nbsp;</v></c></row>'),
        sheet('<row r="1"><c r="A1"><v>\0</v></c></row>'),
        sheet('<row r="1" r="1"></row>'),
        sheet('<row r="1"><o:c/></row>'),
        sheet() + "<a/>",
        sheet(before="<a><a/>"),
        sheet().encode().replace(b"name", b"\xff"),
    ],
)
def test_xml_that_is_not_well_formed(xml: str | bytes) -> None:
    assert "Its XML is not well-formed." in refusal(by_hand(xml))


@pytest.mark.parametrize(
    "xml",
    [
        sheet(declaration='<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]>'),
        sheet(declaration='<!DOCTYPE a SYSTEM "http://127.0.0.1/">'),
        sheet('<row r="1"/><!DOCTYPE a>'),
        sheet('<row r="1"/>') + "<!DOCTYPE a>",
    ],
)
def test_a_document_type_is_refused_before_anything_is_read(xml: str) -> None:
    sentence = refusal(by_hand(xml))
    assert "document type declaration" in sentence or "not well-formed" in sentence
    content = by_hand(sheet(), more={"xl/workbook.xml": b"<!DOCTYPE a><workbook/>"})
    assert "document type declaration" in refusal(content)


@pytest.mark.parametrize(
    "xml",
    [
        sheet().encode("utf-16"),
        sheet().encode("utf-16-le"),
        sheet().encode("utf-16-be"),
        sheet().encode("utf-32"),
        sheet(declaration='<?xml version="1.0" encoding="UTF-16"?>').encode("utf-16"),
        sheet(declaration="<?xml version='1.0' encoding='ISO-8859-1'?>").encode("latin-1"),
        b"\xef\xbb\xbf" + sheet(declaration='<?xml version="1.0" encoding = "ascii"?>').encode(),
    ],
)
def test_a_sheet_that_is_not_in_utf_8(xml: bytes) -> None:
    assert "The sheet is not in UTF-8. Open it in Excel" in refusal(by_hand(xml))


@pytest.mark.parametrize("name", ["UTF-8", "utf8", "Utf-8"])
def test_utf_8_is_known_by_its_names(name: str) -> None:
    xml = sheet(declaration=f'<?xml version="1.0" encoding="{name}"?>')
    assert add(by_hand(xml))[1].letters == ("D", "E", "F")


def test_a_sheet_of_another_name_or_kind() -> None:
    content = by_hand(sheet())
    assert refusal(content, sheet="data") == "The workbook has no sheet “data”."
    for kind in ("chartsheet", "dialogsheet", "xlMacrosheet"):
        assert "The sheet “Data” has no cells" in refusal(by_hand(sheet(), kind=kind))
    assert "The sheet “Data” has no cells" in refusal(by_hand(sheet(), place="nowhere.xml"))


def with_sheets(*sheets: str) -> bytes:
    xml = (
        f'<workbook xmlns="{MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/'
        f'relationships"><sheets>{"".join(sheets)}</sheets></workbook>'
    )
    return by_hand(sheet(), more={"xl/workbook.xml": xml.encode()})


def test_a_sheet_that_is_there_twice() -> None:
    one, same_name = '<sheet name="Data" r:id="rId7"/>', '<sheet name="Data" r:id="rId8"/>'
    assert add(with_sheets(one))[1].letters == ("D", "E", "F")
    assert "Two sheets have the name “Data”." in refusal(with_sheets(one, same_name))
    same_part = '<sheet name="Other" r:id="rId7"/>'
    assert "The sheet “Data” is listed twice." in refusal(with_sheets(one, same_part))
    assert "The sheet “Data” has no cells" in refusal(with_sheets('<sheet name="Data"/>'))
    assert refusal(with_sheets("<sheet/>")) == "The workbook has no sheet “Data”."


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            "xl/workbook.bin",
            "Only XLSX and XLSM workbooks can be added to; this is an XLSB. Open it",
        ),
        ("xl/nowhere.xml", "can be added to; this is something else. Open it"),
        (
            'xl/workbook.xml" TargetMode="External',
            "can be added to; this is something else. Open it",
        ),
    ],
)
def test_a_zip_file_that_is_no_such_workbook(target: str, sentence: str) -> None:
    relations = (
        '<Relationships><Relationship Id="a" Type="b/officeDocument" '
        f'Target="{target}"/></Relationships>'
    )
    more = {"_rels/.rels": relations.encode(), "xl/workbook.bin": b""}
    assert sentence in refusal(by_hand(sheet(), more=more))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    assert "can be added to; this is something else. Open" in refusal(buffer.getvalue())


def test_a_signed_workbook() -> None:
    content = by_hand(sheet(), more={"_xmlsignatures/origin.sigs": b""})
    assert "The workbook is signed, and any change would make the sig" in refusal(content)


@pytest.mark.parametrize(
    "cell", ['<c r="A2"><v>1</v></c>', '<c r="A2" ><v>1</v></c>', '<c r="A2" s="1"><f>1</f></c>']
)
@pytest.mark.parametrize("header_row", [0, 2])
def test_columns_that_are_not_free_when_they_are_written(cell: str, header_row: int) -> None:
    """As if the sheet had changed since it was looked at."""
    xml = SheetXml([sheet(f'<row r="2">{cell}<c r="B2"/></row>').encode()])
    found = Scan(1, last_row=2, last_cell=1)
    splicer = Splicer(xml, found, first=1, count=1, header_row=header_row, last_row=2)
    with pytest.raises(CannotWrite, match=r"^Column A of the sheet is not free\.$"):
        list(splicer.rows([(2, [2])]))


def test_a_sentence_ends_with_what_to_do() -> None:
    with pytest.raises(CannotWrite, match=SAVE_AGAIN):
        add(by_hand(sheet('<row r="2"/><row r="1"/>')))
    assert issubclass(CannotWrite, ValueError)


def test_an_odd_value_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError):
        CellWriter(["A"], "").cell(0, 1, object())  # type: ignore[arg-type]
