"""Files made to take the server down end in a sentence, within 10 CPU seconds and 300 MB."""

import gzip
import io
import lzma
import struct
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.prompts.conversion.apart import Cost, cost
from tests.prompts.conversion.conversions import ODS, hand_written, open_document

pytestmark = pytest.mark.processes

SECONDS, MEGABYTES = 10.0, 300.0
MEMORY = "This file needs far more memory to read than a file of its size should. If it is a workbo"
TIME = (
    "This file takes far longer to read than a file of its size should. If it is a workbook, perh"
)
DAMAGED_BOOK = (
    "This workbook is damaged or was not copied whole. Copy or download it again. If it s"
)
DAMAGED_PACK = (
    "This packed file is damaged or was not copied whole. Copy or download it again, or u"
)
DAMAGED_TABLE = (
    "This file is damaged, or was not copied whole, so its table cannot be read. Copy or "
)
TOO_LARGE = (
    "Unpacked, this file is larger than 100 MB, too large for one batch. Split its table int"
)
SHEET = "<worksheet><sheetData>{}</sheetData></worksheet>"
CELL = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
LAUGHS = "".join(f'<!ENTITY a{at + 1} "{f"&a{at};" * 10}">' for at in range(9))
LAUGHS = f'<!DOCTYPE a [<!ENTITY a0 "ha">{LAUGHS}]>'


def large(path: Path, part: str, pieces: Iterable[bytes]) -> Path:
    """A workbook with one large part."""
    hand_written(path, '<row r="1"><c r="A1" t="s"><v>0</v></c></row>')
    with zipfile.ZipFile(path) as small, zipfile.ZipFile(path.with_suffix(".new"), "w") as archive:
        for name in small.namelist():
            if name != part:
                archive.writestr(name, small.read(name))
        member = zipfile.ZipInfo(part)
        member.compress_type = zipfile.ZIP_DEFLATED
        with archive.open(member, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
    return path.with_suffix(".new")


def around(start: bytes, piece: bytes, times: int, end: bytes) -> Iterable[bytes]:
    yield start
    for _ in range(times):
        yield piece
    yield end


def cells_far_apart(path: Path) -> Path:
    return hand_written(path, CELL.format(1, "A") + CELL.format(1048576, "XFD"))


def cells_as_far_apart_as_memory_just_allows(path: Path) -> Path:
    return hand_written(path, CELL.format(1, "A") + CELL.format(2_000, "XFD"))


def rows_without_end(path: Path) -> Path:
    rows = around(b"<worksheet><sheetData>", b"<row/>" * 100_000, 400, b"</sheetData></worksheet>")
    return large(path, "xl/worksheets/data.xml", rows)


def texts_without_end(path: Path) -> Path:
    texts = around(b"<sst>", b"<si><t>a</t></si>" * 50_000, 200, b"</sst>")
    return large(path, "xl/sharedStrings.xml", texts)


def one_text_without_end(path: Path) -> Path:
    text = around(b"<sst><si><t>", b"a" * 1_000_000, 400, b"</t></si></sst>")
    return large(path, "xl/sharedStrings.xml", text)


def one_text_in_a_million_cells(path: Path) -> Path:
    row = "<row>" + '<c t="s"><v>0</v></c>' * 1_000 + "</row>"
    return hand_written(path, row * 500, texts=f"<si><t>{'x' * 30_000}</t></si>")


def entities_in_a_sheet(path: Path) -> Path:
    cell = '<c r="A1" t="inlineStr"><is><t>&a9;</t></is></c>'
    xml = LAUGHS + SHEET.format(f'<row r="1">{cell}</row>')
    return hand_written(path, "", more={"xl/worksheets/data.xml": xml.encode()})


def entities_in_the_texts(path: Path) -> Path:
    xml = f"{LAUGHS}<sst><si><t>&a9;</t></si></sst>".encode()
    return hand_written(path, CELL.format(1, "A"), more={"xl/sharedStrings.xml": xml})


def entities_in_ods(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", ODS)
        archive.writestr("content.xml", LAUGHS + "<a>&a9;</a>")
    return path


def repeated_ods(path: Path) -> Path:
    return open_document(
        path,
        '<table:table table:name="A"><table:table-row table:number-rows-repeated="1048576">'
        '<table:table-cell table:number-columns-repeated="16384" office:value-type="string">'
        "<text:p>x</text:p></table:table-cell></table:table-row></table:table>",
    )


def written(data: bytes) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.write_bytes(data)
        return path

    return write


def packed_bomb(path: Path, library: Any) -> Path:
    with library.open(path, "wb") as file:
        for piece in around(b"a,b\n", b"a,b\n" * 250_000, 110, b""):
            file.write(piece)
    return path


def zip_bomb(path: Path) -> Path:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.csv", "w", force_zip64=True) as file,
    ):
        for piece in around(b"a,b\n", b"a,b\n" * 250_000, 110, b""):
            file.write(piece)
    return path


def zip_in_zip(path: Path) -> Path:
    inner = zip_bomb(path.with_suffix(".inner"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, "x.zip")
    return path


def zip_that_lies(path: Path) -> Path:
    data = bytearray(zip_bomb(path).read_bytes())
    struct.pack_into("<I", data, data.rfind(b"PK\x01\x02") + 24, 100)
    path.write_bytes(data)
    return path


def long_text_in_json(path: Path) -> Path:
    """A gigabyte in a file with a hole."""
    with path.open("wb") as file:
        file.write(b'[{"a": "' + b"x" * 20_000_000)
        file.truncate(1_000_000_000)
    return path


def forged_parquet(path: Path) -> Path:
    made = io.BytesIO()
    parquet.write_table(pa.table({"a": list(range(1000)), "b": ["x"] * 1000}), made)
    data = bytearray(made.getvalue())
    size = struct.unpack_from("<I", data, len(data) - 8)[0]
    data[len(data) - 8 - size // 3 : len(data) - 8 - size // 4] = b"\xff" * (size // 3 - size // 4)
    path.write_bytes(data)
    return path


def parquet_of_long_texts(path: Path) -> Path:
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * 1_000_000, pa.int8()), pa.array(["y" * 100_000])
    )
    parquet.write_table(pa.table({"a": texts}), path, compression="zstd")
    return path


def arrow_of_long_texts(path: Path) -> Path:
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    batch = pa.record_batch({"a": ["z" * 10_000] * 30_000})
    with (
        pa.OSFile(str(path), "wb") as file,
        pa.ipc.new_file(file, batch.schema, options=options) as writer,
    ):
        writer.write_batch(batch)
    return path


DEEP = b"[" * 100_000
HOSTILE: list[tuple[str, Callable[[Path], Path], str]] = [
    ("x.xlsx", cells_far_apart, MEMORY),
    ("x.xlsx", cells_as_far_apart_as_memory_just_allows, MEMORY),
    ("x.xlsx", rows_without_end, TIME),
    ("x.xlsx", texts_without_end, MEMORY),
    ("x.xlsx", one_text_without_end, MEMORY),
    ("x.xlsx", one_text_in_a_million_cells, MEMORY),
    ("x.xlsx", entities_in_a_sheet, "In this workbook, “xl/worksheets/data.xml” defines entities"),
    ("x.xlsx", entities_in_the_texts, "In this workbook, “xl/sharedStrings.xml” defines entities"),
    ("x.ods", entities_in_ods, "In this workbook, “content.xml” defines entities, which no spread"),
    ("x.ods", repeated_ods, DAMAGED_BOOK),
    ("x.csv.gz", partial(packed_bomb, library=gzip), TOO_LARGE),
    ("x.csv.xz", partial(packed_bomb, library=lzma), TOO_LARGE),
    ("x.zip", zip_bomb, TOO_LARGE),
    ("x.zip", zip_in_zip, "Inside this packed file, “x.zip” is packed, too. Unpack it, and upload"),
    ("x.zip", zip_that_lies, DAMAGED_PACK),
    (
        "x.json",
        written(b'[{"a": ' + DEEP),
        "Item 1 (line 1): this is no JSON (its lists and object",
    ),
    ("x.json", written(DEEP), "Item 1 (line 1): this is no JSON (its lists and objects are nested"),
    (
        "x.json",
        written(b"[" + b"9" * 1_000_000),
        "Item 1 (line 1): this is no JSON (it has a numbe",
    ),
    (
        "x.json",
        written(b"[" + b'{"a":1},' * 300_000),
        "Item 300,001 (line 1): the file ends in the",
    ),
    (
        "x.json",
        long_text_in_json,
        "Item 1 (line 1): what begins here is longer than 8",
    ),
    ("x.parquet", forged_parquet, DAMAGED_TABLE),
    ("x.parquet", parquet_of_long_texts, MEMORY),
    ("x.arrow", arrow_of_long_texts, MEMORY),
]


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    HOSTILE,
    ids=[f"{name} {getattr(make, '__name__', '')}" for name, make, _ in HOSTILE],
)
def test_a_hostile_file_ends_in_a_sentence(
    tmp_path: Path, name: str, make: Callable[[Path], Path], sentence: str
) -> None:
    # It would take the 6 seconds that every file has.
    seconds = 1.0 if make is rows_without_end else 0.0
    found = cost(make(tmp_path / "x"), name, seconds)
    assert found.sentence.startswith(sentence), found
    assert found.megabytes < MEGABYTES
    assert found.seconds < SECONDS


def test_an_honest_workbook_passes_within_what_its_size_allows(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{at}"><c r="A{at}"><v>{at * 7919 % 100_003}</v></c>'
        f'<c r="B{at}" t="inlineStr"><is><t>review {at * 104_729 % 1_000_003}</t></is></c></row>'
        for at in range(1, 100_001)
    )
    found = cost(hand_written(tmp_path / "x.xlsx", rows), "x.xlsx")
    assert found == Cost("", found.megabytes, found.seconds)
    assert found.megabytes < 100
