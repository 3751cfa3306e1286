"""A small XLSB file, written by hand ([MS-XLSB]): LibreOffice and our libraries only read them."""

import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tests.prompts.conversion.conversions import OFFICE, PACKAGE

BEGIN_BOOK, END_BOOK, BEGIN_SHEETS, END_SHEETS, SHEET = 131, 132, 143, 144, 156
BEGIN_SHEET, END_SHEET, BEGIN_DATA, END_DATA, DIMENSION = 129, 130, 145, 146, 148
ROW, ERROR, BOOLEAN, REAL, TEXT = 0, 3, 4, 5, 6


def record(kind: int, data: bytes = b"") -> bytes:
    """A record of less than 128 bytes."""
    number = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    return number + bytes([len(data)]) + data


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode("utf-16-le")


def cell(column: int, value: object) -> bytes:
    start = struct.pack("<II", column, 0)
    if value == "#N/A":
        return record(ERROR, start + b"\x2a")
    if isinstance(value, bool):
        return record(BOOLEAN, start + bytes([value]))
    if isinstance(value, float):
        return record(REAL, start + struct.pack("<d", value))
    return record(TEXT, start + text(str(value)))


def binary_workbook(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    """An XLSB file with these texts, floats, booleans and errors."""
    data = b"".join(
        record(ROW, struct.pack("<IIHHBI", at, 0, 300, 0, 0, 0))
        + b"".join(map(cell, range(9), row))
        for at, row in enumerate(rows)
    )
    size = struct.pack("<IIII", 0, len(rows) - 1, 0, max(map(len, rows)) - 1)
    sheet = record(BEGIN_SHEET) + record(DIMENSION, size) + record(BEGIN_DATA) + data
    listed = record(SHEET, struct.pack("<II", 0, 1) + text("r1") + text("Data"))
    book = record(BEGIN_BOOK) + record(BEGIN_SHEETS) + listed + record(END_SHEETS)
    related = (
        f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" Type="{OFFICE}/%s" Target="%s"/>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        to_book, to_sheet = ("officeDocument", "xl/workbook.bin"), ("worksheet", "worksheets/a.bin")
        archive.writestr("_rels/.rels", related % to_book + "</Relationships>")
        archive.writestr("xl/_rels/workbook.bin.rels", related % to_sheet + "</Relationships>")
        archive.writestr("xl/workbook.bin", book + record(END_BOOK))
        archive.writestr("xl/worksheets/a.bin", sheet + record(END_DATA) + record(END_SHEET))
    return path
