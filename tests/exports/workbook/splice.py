"""Adds columns to a workbook in memory, and looks at what came of it with code of its own."""

import io
import posixpath
import re
import struct
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

from batchui.exports.workbook.cell_xml import Value
from batchui.exports.workbook.writer import Added, add_columns

COLUMNS = ("answer", "score", "sure")
Cells = dict[tuple[int, int], tuple[str, str]]


def answers_for(row: int) -> tuple[str, float, bool]:
    return f"answer {row} & <more>", row + 0.25, row % 2 == 0


def add(
    content: bytes,
    *,
    sheet: str = "Data",
    header_row: int = 1,
    columns: Sequence[str] = COLUMNS,
    rows: Iterable[tuple[int, Sequence[Value]]] = (),
    **options: Any,
) -> tuple[bytes, Added]:
    """The workbook with more columns, and what was said about it."""
    target = io.BytesIO()
    added = add_columns(
        io.BytesIO(content),
        target,
        sheet=sheet,
        header_row=header_row,
        columns=columns,
        rows=rows,
        **options,
    )
    return target.getvalue(), added


def compressed(content: bytes) -> dict[str, bytes]:
    """The compressed bytes of each member of a zip file, in their order."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            name, extra = struct.unpack_from("<HH", content, info.header_offset + 26)
            start = info.header_offset + 30 + name + extra
            found[info.filename] = content[start : start + info.compress_size]
    return found


def sheet_member(content: bytes, sheet: str) -> str:
    """The member with the XML of a sheet."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        book = ET.fromstring(archive.read("xl/workbook.xml"))  # noqa: S314
        relations = ET.fromstring(archive.read("xl/_rels/workbook.xml.rels"))  # noqa: S314
        members = {name.lower(): name for name in archive.namelist()}
    [key] = [
        value
        for element in book.iter()
        if element.get("name") == sheet
        for name, value in element.attrib.items()
        if name.endswith("}id")
    ]
    [target] = [element.get("Target", "") for element in relations if element.get("Id") == key]
    path = posixpath.normpath(posixpath.join("/xl", target)).lstrip("/").replace("%20", " ")
    return members[path.lower()]


def sheet_xml(content: bytes, sheet: str = "Data") -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(sheet_member(content, sheet)).decode()


def cells_in(xml: str) -> Cells:
    """Type and text of every cell of a sheet that has an element in it, by row and column."""
    found: Cells = {}
    row = 0
    [data] = [element for element in ET.fromstring(xml) if local(element) == "sheetData"]  # noqa: S314
    for line in data:
        places = [cell.get("r") for cell in line if local(cell) == "c"]
        inner = re.sub("[A-Za-z]", "", places[0] or "") if places else ""
        row = int(line.get("r") or inner or row + 1)
        column = 0
        for cell in line:
            if local(cell) == "c":
                letters = re.sub("[0-9]", "", cell.get("r") or "")
                column = number_of(letters) if letters else column + 1
                if len(cell):
                    kind = cell.get("t", "n")
                    found[row, column] = kind, "|".join("".join(part.itertext()) for part in cell)
    return found


def local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def number_of(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + "ABCDEFGHIJKLMNOPQRSTUVWXYZ".index(letter) + 1
    return number


def without_columns(xml: str, letters: Iterable[str]) -> str:
    """The sheet without what is in these columns, and without what may change beside them.

    That is the dimension, `spans`, and how a row or the whole of them ends that is empty.
    """
    x = r"(?:[\w.-]+:)?"
    some = r"""(?:[^<>"']|"[^"]*"|'[^']*')*"""
    xml = re.sub(rf"(<{x}dimension[^>]*?)\sref\s*=\s*(?:'[^']*'|\"[^\"]*\")", r"\1", xml)
    for column in letters:
        place = rf"r=[\"']{column}[0-9]+[\"']"
        cell = rf"<{x}c(?=\s){some}?\s{place}{some}(?:(?<=/)>|(?<!/)>.*?</{x}c\s*>)"
        xml = re.sub(cell, "", xml, flags=re.DOTALL)
    xml = re.sub(rf"(<{x}row[^<]*?)\sspans\s*=\s*(?:'[^']*'|\"[^\"]*\")", r"\1", xml)
    xml = re.sub(rf"<({x}(?:row|sheetData))((?:\s[^<]*)?)/>", r"<\1\2></\1>", xml)
    return re.sub(rf"<({x}row) r=\"[0-9]+\"></\1>", "", xml)
