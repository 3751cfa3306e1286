"""Workbooks, Parquet and Arrow files: strange ones, cut ones, and files called so that are none."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from xlsxwriter import Workbook

from tests.batches.books import book
from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in
from tests.prompts.conversion.binary_workbooks import binary_workbook
from tests.prompts.conversion.conversions import ODS, hand_written, open_document

pytestmark = pytest.mark.django_db

ROWS = [["id", "text"], ["1", "one"], ["2", "two"]]
TWO = Table(("id", "text"), 2, ["1", "one"])
CUT = (
    "This file is damaged or was not copied whole: its end is missing. Copy or download it again, …"
)
DAMAGED = "This workbook is damaged or was not copied whole. …"
DAMAGED_TABLE = "This file is damaged, or was not copied whole, so its table cannot be read. …"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
DELETED = b"\xef\xbf\xbd"  # what a text editor makes of a byte that is no UTF-8


def in_folder(make: Callable[[Path], Path]) -> Callable[[], bytes]:
    """What makes the bytes of a file that is written to a path."""

    def made() -> bytes:
        with TemporaryDirectory() as folder:
            return make(Path(folder) / "file").read_bytes()

    return made


def plain() -> bytes:
    return book(("Data", ROWS))


def zipped(parts: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return made.getvalue()


def without(part: str) -> bytes:
    """A workbook that lacks one of its parts."""
    with zipfile.ZipFile(io.BytesIO(plain())) as archive:
        return zipped({name: archive.read(name) for name in archive.namelist() if name != part})


def cells_of_xml(*rows: str, **more: Any) -> Callable[[], bytes]:
    return in_folder(lambda path: hand_written(path, "".join(rows), **more))


def bar_code_as_hours() -> bytes:
    made = io.BytesIO()
    with Workbook(made) as workbook:
        sheet = workbook.add_worksheet()
        sheet.write_row("A1", ["time", "text"])
        sheet.write("A2", 4_006_381_333_931, workbook.add_format({"num_format": "[h]:mm"}))
    return made.getvalue()


def inline(ref: str, text: str) -> str:
    return f'<c r="{ref}" t="inlineStr"><is><t>{text}</t></is></c>'


NAMES = f'<row r="1">{inline("A1", "id")}{inline("B1", "text")}</row>'


def in_ods(rows: Sequence[Sequence[str]]) -> Callable[[], bytes]:
    text_type = 'office:value-type="string"'
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell {text_type}><text:p>{cell}</text:p></table:table-cell>"
            for cell in row
        )
        + "</table:table-row>"
        for row in rows
    )
    table = f'<table:table table:name="A">{cells}</table:table>'
    return in_folder(lambda path: open_document(path, table))


ENTRIES = [
    Entry("a plain workbook", "r.xlsx", plain, TWO),
    Entry("a workbook in capitals", "R.XLSX", plain, TWO),
    Entry("a workbook named .csv", "r.csv", plain, TWO),
    Entry("a workbook named .xls", "r.xls", plain, TWO),
    Entry("a workbook without an ending", "r", plain, TWO),
    Entry("a workbook named .zip", "r.zip", plain, TWO),
    Entry(
        "an empty workbook",
        "r.xlsx",
        lambda: book(("Data", [])),
        "There is nothing in this workbook. Choose one with a table in it.",
    ),
    Entry(
        "a workbook of names alone",
        "r.xlsx",
        lambda: book(("Data", [["id", "text"]])),
        "This table has column names but no rows under them. …",
    ),
    Entry("an empty sheet first", "r.xlsx", lambda: book(("Empty", []), ("Data", ROWS)), TWO),
    Entry(
        "a note first",
        "r.xlsx",
        lambda: book(("Read me", [["Please read this."]]), ("Data", ROWS)),
        TWO,
    ),
    Entry(
        "a workbook that is cut in the middle", "r.xlsx", lambda: plain()[: len(plain()) // 2], CUT
    ),
    Entry("a workbook without its last bytes", "r.xlsx", lambda: plain()[:-30], CUT),
    Entry(
        "a workbook that was saved as text",
        "r.xlsx",
        lambda: plain().replace(b"\x9b", DELETED),
        DAMAGED,
    ),
    Entry(
        "a workbook without its sheet",
        "r.xlsx",
        lambda: without("xl/worksheets/sheet1.xml"),
        DAMAGED,
    ),
    Entry(
        "a workbook without its list of sheets",
        "r.xlsx",
        lambda: without("xl/workbook.xml"),
        "This file is an Office file without a workbook in it, or a damaged one, not a workbook. …",
    ),
    Entry("a workbook without its styles", "r.xlsx", lambda: without("xl/styles.xml"), TWO),
    Entry(
        "a workbook without its texts", "r.xlsx", lambda: without("xl/sharedStrings.xml"), DAMAGED
    ),
    Entry("a sheet of XML that is cut", "r.xlsx", cells_of_xml(NAMES, "<row><c"), DAMAGED),
    Entry(
        "rows out of order",
        "r.xlsx",
        cells_of_xml(f'<row r="2">{inline("A2", "1")}{inline("B2", "one")}</row>', NAMES),
        Table(("id", "text"), 1, ["1", "one"]),
    ),
    Entry(
        "rows and cells without numbers",
        "r.xlsx",
        cells_of_xml(
            "<row><c t='str'><v>id</v></c><c t='str'><v>text</v></c></row>",
            "<row><c><v>1</v></c><c t='str'><v>one</v></c></row>",
        ),
        Table(("id", "text"), 1, [1, "one"]),
    ),
    Entry(
        "a cell at a place that is none",
        "r.xlsx",
        cells_of_xml(NAMES, f'<row r="2">{inline("??", "1")}</row>'),
        DAMAGED,
    ),
    Entry(
        "a text that is not in the list",
        "r.xlsx",
        cells_of_xml(
            NAMES, '<row r="2"><c r="A2" t="s"><v>99</v></c><c r="B2" t="str"><v>x</v></c></row>'
        ),
        DAMAGED,
    ),
    Entry(
        "an error in a cell",
        "r.xlsx",
        cells_of_xml(
            NAMES, '<row r="2"><c r="A2" t="e"><v>#N/A</v></c>' + inline("B2", "one") + "</row>"
        ),
        Table(("text",), 1, ["", "one"]),
    ),
    Entry(
        "a date before 1900",
        "r.xlsx",
        cells_of_xml(
            NAMES,
            '<row r="2"><c r="A2" t="d"><v>1850-01-01T00:00:00</v></c>'
            + inline("B2", "x")
            + "</row>",
        ),
        Table(("id", "text"), 1, [{"datetime": "1850-01-01 00:00:00"}, "x"]),
    ),
    Entry(
        "a bar code in a column of hours",
        "r.xlsx",
        bar_code_as_hours,
        "A cell of this workbook is shown as hours, and its number is far too large for that. Look "
        "for a cell with #####, give its column the format “General”, and upload the workbook "
        "again.",
    ),
    Entry(
        "escaped characters",
        "r.xlsx",
        cells_of_xml(
            NAMES, f'<row r="2">{inline("A2", "a_x000D_b")}{inline("B2", "x&amp;y")}</row>'
        ),
        Table(("id", "text"), 1, ["a\rb", "x&y"]),
    ),
    Entry(
        "texts in several styles",
        "r.xlsx",
        cells_of_xml(
            NAMES,
            '<row r="2"><c r="A2" t="inlineStr"><is><r><t>on</t></r><r><t>e</t></r></is></c>'
            + inline("B2", "x")
            + "</row>",
        ),
        Table(("id", "text"), 1, ["one", "x"]),
    ),
    Entry(
        "a formula that was never calculated",
        "r.xlsx",
        cells_of_xml(NAMES, '<row r="2"><c r="A2"><f>1+1</f></c>' + inline("B2", "x") + "</row>"),
        Table(("text",), 1, ["", "x"]),
    ),
    Entry(
        "a workbook of long ids",
        "r.xlsx",
        lambda: book(("Data", [["id", "text"], ["007", "a"], ["123456789012345678", "b"]])),
        Table(("id", "text"), 2, ["007", "a"]),
    ),
    Entry(
        "a workbook of dates",
        "r.xlsx",
        lambda: book(("Data", [["day", "text"], [date(2026, 5, 1), "a"]])),
        Table(("day", "text"), 1, [{"date": "2026-05-01"}, "a"]),
    ),
    Entry("a binary workbook", "r.xlsb", in_folder(lambda path: binary_workbook(path, ROWS)), TWO),
    Entry("an OpenDocument spreadsheet", "r.ods", in_ods(ROWS), TWO),
    Entry("an OpenDocument spreadsheet named .xlsx", "r.xlsx", in_ods(ROWS), TWO),
    Entry(
        "an OpenDocument spreadsheet without content",
        "r.ods",
        lambda: zipped({"mimetype": ODS.encode()}),
        DAMAGED,
    ),
    Entry(
        "an empty OpenDocument spreadsheet",
        "r.ods",
        in_ods([]),
        "There is nothing in this workbook. Choose one with a table in it.",
    ),
]


@each(ENTRIES)
def test_a_file_that_is_no_text_is_read_or_named(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
