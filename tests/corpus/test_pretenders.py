"""Files that are no table, or not what they are called; empty ones, and rubbish."""

import sqlite3
import struct
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, each, found_in, lines
from tests.corpus.test_books import DAMAGED, TWO, zipped
from tests.prompts.conversion.conversions import ODS

pytestmark = pytest.mark.django_db

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def old_office(*names: str) -> bytes:
    """The beginning of an old Office file that holds streams of these names."""
    header = bytearray(512)
    header[:8] = OLE
    struct.pack_into("<HI", header, 30, 9, 0)
    struct.pack_into("<I", header, 48, 0)
    entries = b""
    for name in ("Root Entry", *names):
        text = name.encode("utf-16-le")
        entries += text.ljust(64, b"\0") + struct.pack("<H", len(text) + 2) + bytes(62)
    return bytes(header) + entries.ljust(512, b"\0") + bytes(512)


def database() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        made = sqlite3.connect(path)
        made.execute("create table t (a)")
        made.close()
        return path.read_bytes() or b"SQLite format 3\0"


ENTRIES = [
    Entry(
        "an OpenDocument text",
        "r.ods",
        lambda: zipped(
            {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": b"<a/>"}
        ),
        "This file is an OpenDocument text or drawing, not a workbook. …",
    ),
    Entry(
        "a Word document named .xlsx",
        "r.xlsx",
        lambda: zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<a/>"}),
        "This file is a Word document, not a workbook. …",
    ),
    Entry(
        "a presentation",
        "r.pptx",
        lambda: zipped({"ppt/presentation.xml": b"<a/>"}),
        "This file is a presentation, not a workbook. …",
    ),
    Entry(
        "an Apple Numbers document",
        "r.numbers",
        lambda: zipped({"Index/Document.iwa": b"\0"}),
        "This file is a document of Apple Numbers, Pages or Keynote, not a workbook. …",
    ),
    Entry(
        "an EPUB",
        "r.epub",
        lambda: zipped({"mimetype": b"application/epub+zip", "META-INF/container.xml": b"<a/>"}),
        "This file is a book (EPUB), not a workbook. …",
    ),
    Entry(
        "a workbook with a password",
        "r.xlsx",
        old_office("EncryptionInfo", "EncryptedPackage"),
        "This workbook is protected by a password. …",
    ),
    Entry(
        "an old Word document named .xls",
        "r.xls",
        old_office("WordDocument"),
        "This file is a Word document (.doc), not a workbook. …",
    ),
    Entry("an old workbook that is damaged", "r.xls", old_office("Workbook"), DAMAGED),
    Entry(
        "an old workbook that is cut",
        "r.xls",
        OLE + bytes(100),
        "This file is an old Office file without a workbook in it, or a part of one, not a …",
    ),
    Entry(
        "an e-mail of Outlook",
        "r.msg",
        old_office("__properties_version1.0"),
        "This file is an old Office file without a workbook in it, or a part of one, not a …",
    ),
    Entry(
        "a workbook in XML of 2003",
        "r.xls",
        b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
        "This file is an Excel 2003 workbook in XML, not a workbook. …",
    ),
    Entry(
        "a flat OpenDocument spreadsheet",
        "r.fods",
        f'<office:document office:mimetype="{ODS}"/>'.encode(),
        "This file is a spreadsheet in flat XML (.fods), not a workbook. …",
    ),
    Entry(
        "a web page named .xls",
        "r.xls",
        b"<html><table><tr><td>id</td></tr></table></html>",
        "This file is a web page (HTML), not a workbook. …",
    ),
    Entry(
        "a web page in a single file named .xls",
        "r.xls",
        lines("MIME-Version: 1.0", "X-Document-Type: Workbook", "", "<table>", end="\r\n"),
        "This file is a web page in a single file (MHTML), not a workbook. …",
    ),
    Entry(
        "a web page in UTF-16 named .xls",
        "r.xls",
        "<table><tr><td>id</td></tr></table>".encode("utf-16"),
        "This file is a web page (HTML), not a workbook. …",
    ),
    Entry(
        "a sign-in page named .csv",
        "r.csv",
        b"<!DOCTYPE html>\n<html><title>Sign in</title></html>",
        "This file is a web page (HTML), not a table. …",
    ),
    Entry(
        "a feed of XML",
        "r.xml",
        b'<?xml version="1.0"?><rss><item/></rss>',
        "This file is an XML document, not a workbook. …",
    ),
    Entry("a text table named .xlsx", "r.xlsx", lines("id,text", "1,one", "2,two"), TWO),
    Entry(
        "a text table with a title named .xls",
        "r.xls",
        lines("Reviews of May", "", "id\ttext", "1\tone", "2\ttwo"),
        TWO,
    ),
    Entry(
        "a PDF named .csv",
        "r.csv",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "This file is a PDF document, not text. …",
    ),
    Entry(
        "a PDF named .xlsx",
        "r.xlsx",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        "This file is a PDF document, not text. …",
    ),
    Entry(
        "a picture named .csv",
        "r.csv",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        "This file is a picture (PNG), not text. …",
    ),
    Entry(
        "a photo",
        "r.jpg",
        b"\xff\xd8\xff\xe0" + bytes(100),
        "This file is a picture (JPEG), not text. …",
    ),
    Entry(
        "rich text",
        "r.rtf",
        b"{\\rtf1\\ansi Hello}",
        "This file is a rich text document (RTF), not text. …",
    ),
    Entry("a SQLite database", "r.db", database, "This file is a SQLite database, not text. …"),
    Entry(
        "a program",
        "r.csv",
        b"\x7fELF\x02\x01\x01" + bytes(range(32)) * 20,
        "This file is not text: it is full of bytes that no text contains. …",
    ),
    Entry(
        "rubbish",
        "r.csv",
        bytes(range(256)) * 20,
        "This file is not text: it is full of bytes that no text contains. …",
    ),
    Entry(
        "zero bytes",
        "r.csv",
        bytes(5_000),
        "Line 1: there is a NUL byte, which no text contains; the file is damaged or not a text …",
    ),
    Entry(
        "blanks alone",
        "r.csv",
        b" \n\t\n  \n",
        "The file is empty. Choose a file with at least one row.",
    ),
    *(
        Entry(
            f"an empty file named .{ending}",
            f"r.{ending}",
            b"",
            "The file is empty. Choose a file with at least one row.",
        )
        for ending in (
            "csv",
            "tsv",
            "txt",
            "json",
            "jsonl",
            "xlsx",
            "xls",
            "ods",
            "parquet",
            "zip",
            "csv.gz",
        )
    ),
]


@each(ENTRIES)
def test_a_file_that_is_no_table_is_named(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
