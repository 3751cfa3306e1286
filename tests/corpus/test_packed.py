"""Packed files: whole ones, cut ones, and those with nothing or too much in them."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Mapping

import pytest
import zstandard

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in, lines

pytestmark = pytest.mark.django_db

CSV = lines("id,text", "1,one", "2,two")
TWO = Table(("id", "text"), 2, ["1", "one"])
DAMAGED = "This packed file is damaged or was not copied whole. …"
CUT = "This file is damaged or was not copied whole: its end is missing. …"


def zipped(files: Mapping[str, bytes], *, encrypted: bool = False, method: int = 0) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    data = bytearray(made.getvalue())
    if encrypted:
        data[6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def wrong_sum() -> bytes:
    """A zip whose file does not have the checksum that it says."""
    return zipped({"r.csv": CSV}).replace(b"1,one", b"1,off", 1)


ENTRIES = [
    Entry("gzip", "r.csv.gz", gzip.compress(CSV), TWO),
    Entry("gzip without .gz", "r.csv", gzip.compress(CSV), TWO),
    Entry("gzip in two parts", "r.csv.gz", gzip.compress(CSV[:10]) + gzip.compress(CSV[10:]), TWO),
    Entry(
        "gzip of nothing",
        "r.csv.gz",
        gzip.compress(b""),
        "The file is empty. Choose a file with at least one row.",
    ),
    Entry("gzip that is cut", "r.csv.gz", gzip.compress(CSV * 99)[:-9], DAMAGED),
    Entry("the head of gzip alone", "r.csv.gz", gzip.compress(CSV)[:10], DAMAGED),
    Entry("gzip with more after it", "r.csv.gz", gzip.compress(CSV) + b"rubbish", DAMAGED),
    Entry(
        "gzip in gzip",
        "r.csv.gz.gz",
        gzip.compress(gzip.compress(CSV)),
        "Inside this packed file, “r.csv.gz” is packed, too. …",
    ),
    Entry(
        "gzip of JSON",
        "r.json.gz",
        gzip.compress(b'[{"id": 1, "text": "one"}]'),
        Table(("id", "text"), 1, {"id": 1, "text": "one"}),
    ),
    Entry(
        "gzip of a PDF",
        "r.csv.gz",
        gzip.compress(b"%PDF-1.7\n"),
        "This file is a PDF document, not text. …",
    ),
    Entry(
        "gzip of Windows-1252",
        "r.csv.gz",
        gzip.compress("id,text\n1,schön und größer\n2,für alle\n".encode("cp1252")),
        Table(("id", "text"), 2, ["1", "schön und größer"], "cp1252"),
    ),
    Entry("bzip2", "r.csv.bz2", bz2.compress(CSV), TWO),
    Entry("bzip2 that is cut", "r.csv.bz2", bz2.compress(CSV)[:-9], DAMAGED),
    Entry("xz", "r.csv.xz", lzma.compress(CSV), TWO),
    Entry("xz that is cut", "r.csv.xz", lzma.compress(CSV)[:-9], DAMAGED),
    Entry("Zstandard", "r.csv.zst", zstandard.compress(CSV), TWO),
    Entry("Zstandard that is cut", "r.csv.zst", zstandard.compress(CSV)[:-5], DAMAGED),
    Entry("a zip", "r.zip", zipped({"r.csv": CSV}), TWO),
    Entry(
        "a zip in deflate64",
        "r.zip",
        zipped({"r.csv": CSV}).replace(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x09\0"),
        DAMAGED,
    ),
    Entry("a zip of LZMA", "r.zip", zipped({"r.csv": CSV}, method=zipfile.ZIP_LZMA), TWO),
    Entry("a zip named .csv", "r.csv", zipped({"r.csv": CSV}), TWO),
    Entry("a zip with a folder", "r.zip", zipped({"May/": b"", "May/r.csv": CSV}), TWO),
    Entry(
        "a zip made on a Mac",
        "r.zip",
        zipped({"r.csv": CSV, "__MACOSX/._r.csv": b"\0\5\x16\7", ".DS_Store": b"\0"}),
        TWO,
    ),
    Entry("a zip with a name in Chinese", "r.zip", zipped({"评论.csv": CSV}), TWO),
    Entry(
        "a zip with a name that leads out of its folder",
        "r.zip",
        zipped({"../../etc/r.csv": CSV}),
        TWO,
    ),
    Entry(
        "a zip of two files",
        "r.zip",
        zipped({"a.csv": CSV, "b.csv": CSV}),
        "This ZIP archive has 2 files: “a.csv” and “b.csv”. Unpack it, and upload …",
    ),
    Entry(
        "an empty zip",
        "r.zip",
        zipped({}),
        "There is no file in this ZIP archive. Choose one with a table in it.",
    ),
    Entry(
        "a zip of an empty folder",
        "r.zip",
        zipped({"May/": b""}),
        "There is no file in this ZIP archive. Choose one with a table in it.",
    ),
    Entry(
        "a zip of an empty file",
        "r.zip",
        zipped({"r.csv": b""}),
        "The file is empty. Choose a file with at least one row.",
    ),
    Entry(
        "a zip with a password",
        "r.zip",
        zipped({"r.csv": CSV}, encrypted=True),
        "This ZIP archive is protected by a password. Unpack it, and upload the file inside.",
    ),
    Entry("a zip that is cut", "r.zip", zipped({"r.csv": CSV})[:-30], CUT),
    Entry("a zip with a wrong sum", "r.zip", wrong_sum(), DAMAGED),
    Entry(
        "a zip of a document",
        "r.zip",
        zipped({"r.pdf": b"%PDF-1.7\n"}),
        "This file is a PDF document, not text. …",
    ),
    Entry(
        "a zip of pictures",
        "r.zip",
        zipped(
            {
                "b/r10.png": b"",
                "b/r2.PNG": b"",
                "b/": b"",
                "__MACOSX/b/._r2.PNG": b"",
                ".thumbs/r2.PNG": b"",
                "b/Thumbs.db": b"",
            }
        ),
        Table(("picture",), 2, ["b/r2.PNG"]),
    ),
    Entry(
        "a zip of a table beside pictures",
        "r.zip",
        zipped({"r.csv": CSV, "r.png": b"", "b/s.jpg": b""}),
        TWO,
    ),
    Entry(
        "a zip of a zip",
        "r.zip",
        zipped({"r.zip": zipped({"r.csv": CSV})}),
        "Inside this packed file, “r.zip” is packed, too. …",
    ),
    Entry(
        "a 7-Zip archive",
        "r.7z",
        b"7z\xbc\xaf\x27\x1c" + bytes(40),
        "This file is a 7-Zip archive, not text. …",
    ),
    Entry(
        "a RAR archive",
        "r.rar",
        b"Rar!\x1a\x07\x00" + bytes(40),
        "This file is a RAR archive, not text. …",
    ),
    Entry(
        "a tar archive in gzip",
        "r.tar.gz",
        lambda: gzip.compress(
            b"r.csv".ljust(257, b"\0")
            + b"ustar\x0000"
            + bytes(248)
            + CSV.ljust(512, b"\0")
            + bytes(1024)
        ),
        "This file is a tar archive, not text. Unpack it, then upload what is in it.",
    ),
]


@each(ENTRIES)
def test_a_packed_file_is_unpacked_or_named(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
