"""Reads the downloads of a batch with other programs than those that wrote them."""

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow.parquet
from openpyxl.utils.escape import unescape
from python_calamine import CalamineWorkbook

from batchui.batches.exporting import ALL
from batchui.batches.models import Batch
from batchui.batches.progress import untold
from batchui.batches.whole_files import kinds_for
from batchui.exports.rows import Cell, cell_text

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# A text that may be a number in a column of such texts.
PLAIN = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
# ODS has no control characters, and readers drop its tabs.
NOT_IN_ODS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Line(NamedTuple):
    """A row of a download."""

    cells: list[Any]
    answer: Any
    status: str
    error: str | None
    beyond: list[Any]


def downloads(batch: Batch, folder: Path) -> dict[str, bytes]:
    """Every kind of download that the batch has."""
    made = {}
    for word, kind in kinds_for(batch).items():
        if kind.chunks is not None:
            made[word] = b"".join(kind.chunks(batch))
        elif kind.write is not None:
            target = folder / f"made.{kind.ending}"
            kind.write(batch, ALL, target, untold)
            made[word] = target.read_bytes()
    return made


def csv_lines(content: bytes, delimiter: str) -> list[list[str]]:
    text = content.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def by_calamine(content: bytes, sheet: int | str = 0) -> list[list[Any]]:
    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    found = (
        book.get_sheet_by_name(sheet) if isinstance(sheet, str) else book.get_sheet_by_index(sheet)
    )
    return found.to_python(skip_empty_area=False)


def by_openpyxl(content: bytes, sheet: str | None = None) -> list[list[Any]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    return [
        [unescape(cell) if isinstance(cell, str) else cell for cell in row]
        for row in (book[sheet] if sheet else book.active).iter_rows(values_only=True)
    ]


def lines(table: Sequence[Sequence[Any]], *, header_row: int, width: int) -> list[Line]:
    """The rows below the header of a sheet or a CSV, whose file had so many columns."""
    rows = [[*row, *[""] * (width + 3 - len(row))] for row in table[header_row:]]
    return [
        Line(row[:width], *row[width : width + 3], [cell for cell in row[width + 3 :] if cell])
        for row in rows
    ]


def of_parquet(content: bytes, width: int) -> list[Line]:
    table = pyarrow.parquet.read_table(io.BytesIO(content))
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [
        Line(list(row[:width]), *row[width : width + 3], (row[width + 3 :] or ([],))[0] or [])
        for row in rows
    ]


def of_json(content: bytes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(content, parse_float=Decimal)
    return found


def of_jsonl(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line, parse_float=Decimal) for line in content.splitlines()]


def is_same(cell: Cell, read: Any) -> bool:
    """Whether what was read back is this cell: the value itself, or its text."""
    shown = cell_text(cell)
    if read is None or isinstance(read, str):
        return (read or "") == shown or (
            is_number(cell)
            and bool(NUMBER.fullmatch(read or ""))
            and exactly(shown) == exactly(read)
        )
    if isinstance(read, bool) or isinstance(cell, bool):
        return read is cell
    if isinstance(cell, dict):
        kind = next(iter(cell))
        if kind == "percent":
            return round(exactly(read) * 100, 12) == Decimal(shown[:-1])
        return moment(read) == datetime.fromisoformat(shown)
    if isinstance(cell, str) and not PLAIN.fullmatch(cell):
        return False
    return exactly(read) == Decimal(shown)


def moment(read: date | datetime) -> datetime:
    """A day as its midnight, which programs take for the same."""
    return read if isinstance(read, datetime) else datetime(read.year, read.month, read.day)  # noqa: DTZ001


def exactly(number: float | Decimal | str | None) -> Decimal:
    """The number as its shortest text has it."""
    return Decimal(repr(number)) if isinstance(number, float) else Decimal(number or 0)


def is_number(cell: Cell) -> bool:
    return not isinstance(cell, str | bool | dict)


def in_ods(cell: Cell) -> Cell:
    """The cell as ODS can have it."""
    if not isinstance(cell, str):
        return cell
    return NOT_IN_ODS.sub("", re.sub("\r\n?", "\n", cell.replace("\t", " ")))
