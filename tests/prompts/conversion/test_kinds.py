"""What a file is, by its first bytes and its name, and what is said of those that are no table."""

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from batchui.prompts.conversion import cells, kinds
from batchui.prompts.conversion.converted import Progress, Result, Sheet, Text
from batchui.prompts.conversion.kinds import is_text
from batchui.prompts.conversion.looking import File
from batchui.prompts.conversion.outputs import Output
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.sniffing import sniff
from tests.prompts.conversion.conversions import made_of_bytes

CAN_BE_READ = (
    "Excel (XLSX, XLSM, XLSB, XLS), OpenDocument (ODS), Parquet, Arrow, JSON, CSV, TSV, TXT or "
    "JSONL; also inside a .gz or a .zip, and pictures in a .zip"
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"a,b\n1,2\n", "x.csv"),
        (b"a\tb\n1\t2\n", "x.xls"),
        (b'[{"a"},b\n1,2\n', "x.csv"),
        (b'{"a": 1}\n{"a": 2}\n', "x.jsonl"),
        (b'{"a": 1}\n{"a": 2}\n', "x.json"),
        (b'{"a": 1}\n', "x.ndjson"),
        (b'\n{"a": 1}\n{"a": 2}\n', "x.json"),
        (b'[{"a": 1}]', "x.tsv"),
        (b"hello", "x.json"),
        (b"[1, 2]", "x.txt"),
        (b'{"a": 1}', "x.txt"),
        (b"[1] first\n[2] second\n", "x.txt"),
        (b"", "x.xlsx"),
        (b"BZh, said he\n", "x.txt"),
        (b"<html>", "x.csv"),
        (b"\xff\xff\xff\xff", "x.csv"),
    ],
)
def test_text_tables_need_no_conversion(head: bytes, name: str) -> None:
    assert is_text(head, name)


@pytest.mark.parametrize(
    "ending",
    [
        "xlsx",
        "xlsm",
        "xlsb",
        "xls",
        "ods",
        "json",
        "parquet",
        "arrow",
        "feather",
        "gz",
        "zip",
        "zst",
        "csv",
    ],
)
def test_an_empty_file_is_called_empty_whatever_its_name(ending: str) -> None:
    assert is_text(b"", f"x.{ending}")
    with pytest.raises(BadInput, match=r"^The file is empty\. Choose a file with at least one row"):
        sniff(b"", name=f"x.{ending}", whole=True)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"PK\x03\x04", "x.csv"),
        (b"PK\x05\x06" + b"\0" * 18, "x"),
        (OLE, "x.xls"),
        (b"\x1f\x8b\x08", "x"),
        (b"BZh91AY&SY", "x"),
        (b"\xfd7zXZ\x00", "x"),
        (b"\x28\xb5\x2f\xfd", "x"),
        (b"PAR1", "x"),
        (b"ARROW1", "x"),
        (b"FEA1", "x"),
        (b"\xff\xff\xff\xff", "x.arrow"),
        (b' [ {"a": 1}]', "x.txt"),
        ('[{"a": 1}]'.encode("utf-16"), "x.json"),
        (b"\xef\xbb\xbf[1, 2]", "x.json"),
        (b'{"a":\n1}', "x.json"),
        (b'{"a": 1}', "x.json"),
        (b'{"a": 1}', "x.geojson"),
        (b'{"a": 1}\n\n', "x.json"),
        (b"[1]", "x.ndjson"),
        (b'{"a": ' + b"[" * 100_000 + b"\n1", "x.json"),
        (b'{"requests": [', "x.jsonl"),
        (b"[1, 2]\n[3, 4]\n", "x.jsonl"),
        (b"<html><table>", "x.xls"),
        (b"<?xml version='1.0'?>", "x.xlsx"),
    ],
)
def test_all_others_do(head: bytes, name: str) -> None:
    assert not is_text(head, name)


def zipped(*names: str, mimetype: str = "") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, "x")
    return made.getvalue()


def old_office(*names: str) -> bytes:
    """The header and the directory of an old Office file."""
    header = OLE + b"\0" * 22 + (9).to_bytes(2, "little") + b"\0" * 16 + b"\0" * 4
    entries = b""
    for name in names:
        text = (name + "\0").encode("utf-16-le")
        entries += text.ljust(64, b"\0") + len(text).to_bytes(2, "little") + b"\0" * 62
    return header.ljust(512, b"\0") + entries.ljust(512, b"\0")


ODT = "application/vnd.oasis.opendocument.text"
XML_2003 = b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">'
FLAT = b'<?xml version="1.0"?><x mimetype="application/vnd.oasis.opendocument.spreadsheet"/>'


@pytest.mark.parametrize(
    ("data", "name", "what"),
    [
        (zipped("[Content_Types].xml", "word/document.xml"), "x.xlsx", "a Word document"),
        (zipped("ppt/presentation.xml"), "x.xlsx", "a presentation"),
        (
            zipped("[Content_Types].xml", "xl/styles.xml"),
            "x.xlsx",
            "an Office file without a workbook in it, or a damaged one",
        ),
        (
            zipped("Index/Document.iwa"),
            "x.numbers",
            "a document of Apple Numbers, Pages or Keynote",
        ),
        (zipped("content.xml", mimetype=ODT), "x.ods", "an OpenDocument text or drawing"),
        (zipped("META-INF/container.xml", mimetype="application/epub+zip"), "x", "a book (EPUB)"),
        (old_office("Root Entry", "WordDocument"), "x.xls", "a Word document (.doc)"),
        (
            old_office("Root Entry", "Other"),
            "x.xls",
            "an old Office file without a workbook in it, or a part of one",
        ),
        (OLE, "x.xls", "an old Office file without a workbook in it, or a part of one"),
        (b"\n<HTML><body><table>", "x.xls", "a web page (HTML)"),
        (b"<table><tr>", "x.xlsx", "a web page (HTML)"),
        (XML_2003, "x.xls", "an Excel 2003 workbook in XML"),
        (XML_2003.decode().encode("utf-16"), "x.xls", "an Excel 2003 workbook in XML"),
        (FLAT, "x.fods", "a spreadsheet in flat XML (.fods)"),
        (b"<?xml version='1.0'?><a/>", "x.xlsx", "an XML document"),
        (b"\r\nMIME-Version: 1.0\r\n<html>", "x.xls", "a web page in a single file (MHTML)"),
        (zipped("Index.zip"), "x.pages", "a document of Apple Numbers, Pages or Keynote"),
        (zipped("META-INF/MANIFEST.MF"), "x.jar", "a Java program"),
        (zipped("AndroidManifest.xml"), "x.apk", "an Android app"),
        (old_office("Root Entry", "PowerPoint Document"), "x.ppt", "a presentation (.ppt)"),
    ],
)
def test_a_file_that_is_no_workbook_is_called_by_its_name(
    tmp_path: Path, data: bytes, name: str, what: str
) -> None:
    with pytest.raises(BadInput) as caught:
        made_of_bytes(tmp_path, data, name)
    assert str(caught.value) == (
        f"This file is {what}, not a workbook. Open it in Excel, LibreOffice or the program it "
        "comes from, save its table as XLSX or CSV, and upload that."
    )


def test_a_member_called_mimetype_makes_no_document(tmp_path: Path) -> None:
    """It is read as ASCII, and is none of a document, whatever is in it."""
    with pytest.raises(BadInput, match=r"^This ZIP archive has 2 files: “mimetype” and “x.csv”\."):
        made_of_bytes(tmp_path, zipped("x.csv", mimetype="ünsinn"), "x.zip")


def test_a_workbook_with_a_password(tmp_path: Path) -> None:
    data = old_office("Root Entry", "EncryptionInfo", "EncryptedPackage")
    with pytest.raises(
        BadInput, match=r"^This workbook is protected by a password\. Open it, save"
    ):
        made_of_bytes(tmp_path, data, "x.xlsx")


def test_a_text_table_stays_as_it_is(tmp_path: Path) -> None:
    made = made_of_bytes(tmp_path, b"a,b\n1,2\n", "x.csv")
    assert made.result == Text("text.zst", "x.csv")
    assert made.files == [b"a,b\n1,2\n"]
    assert set(made.news) == {Progress(0, 0)}


def test_an_open_document_with_a_password(tmp_path: Path) -> None:
    made = io.BytesIO()
    space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", bytes(range(1, 200)))
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{space}">'
            '<manifest:file-entry manifest:full-path="content.xml">'
            "<manifest:encryption-data></manifest:encryption-data></manifest:file-entry>"
            "</manifest:manifest>",
        )
    with pytest.raises(
        BadInput, match=r"^This workbook is protected by a password\. Open it, save"
    ):
        made_of_bytes(tmp_path, made.getvalue(), "x.ods")


def test_a_workbook_whose_members_have_a_password(tmp_path: Path) -> None:
    data = bytearray(zipped("xl/workbook.xml"))
    data[data.rfind(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(
        BadInput, match=r"^This workbook is protected by a password\. Open it, save"
    ):
        made_of_bytes(tmp_path, bytes(data), "x.xlsx")


def test_a_workbook_is_known_by_what_is_in_it_and_not_by_its_name(tmp_path: Path) -> None:
    data = zipped("xl/workbook.xml")
    with pytest.raises(BadInput, match=r"^This workbook is damaged"):
        made_of_bytes(tmp_path, data, "table.csv")


def test_a_person_is_told_what_can_be_read() -> None:
    assert kinds.CAN_BE_READ == CAN_BE_READ


class Pairs:
    """A format that nobody has: `PAIRS`, then names and values in turn."""

    FORMATS: tuple[str, ...] = ("Pairs",)

    def is_of(self, file: File) -> bool:
        return file.head.startswith(b"PAIRS")

    def convert(self, file: File, out: Output) -> Result:
        words = file.path.read_text().split()[1:]
        with out.file("rows") as write:
            write(cells.lines([words[::2], words[1::2]]))
        return (Sheet(file="rows", name="", rows=2, columns=len(words) // 2),)


@pytest.mark.parametrize("is_packed", [False, True])
def test_the_next_format_is_a_module_and_its_name_in_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_packed: bool
) -> None:
    monkeypatch.setattr(kinds, "FAMILIES", (Pairs(), *kinds.FAMILIES))
    data, name = b"PAIRS id 1 city Bonn", "x.pairs"
    assert not is_text(data, name)
    if is_packed:
        data, name = gzip.compress(data), "x.pairs.gz"
    made = made_of_bytes(tmp_path, data, name)
    assert made.rows == [["id", "city"], ["1", "Bonn"]]
