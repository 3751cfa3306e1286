"""Writes the rows with their answers as lines that can be read as the file of another batch.

Nothing is cut, and nothing is changed for a spreadsheet: cells keep their types.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import msgspec

from batchui.exports.answers import answer_cell, answer_text, field_cell
from batchui.exports.rows import Cell, ExportRow, cell_text
from batchui.exports.table import EVERYTHING, Layout, Table

_encode = msgspec.json.Encoder(decimal_format="number").encode
_decode = msgspec.json.Decoder(float_hook=Decimal).decode


def table_lines(rows: Iterable[ExportRow], table: Table) -> Iterator[bytes]:
    """A JSON array of typed cells for each row of the sheet, without newlines.

    The rows above the header come first, then the header with the names of the new columns. Every
    row has its cells, answer, status and error, then the cells beyond the header. Blank cells at
    the end are left out, as in every table that is converted.
    """
    layout = Layout(table, EVERYTHING)
    for cells in layout.above:
        yield _line(list(cells))
    yield _line([*layout.header, *layout.added])
    for row in rows:
        answers = [*map(field_cell, row.fields)]
        if layout.has_whole:
            answers.append(answer_cell(row.answer))
        yield _line([*row.cells, *answers, row.status, row.error or "", *row.extras])


def object_lines(rows: Iterable[ExportRow], table: Table) -> Iterator[bytes]:
    """The JSON object of each row of a JSONL file, without newlines, with more keys.

    They are answer (or its fields), status and error; a structured answer stays structured. A line
    that was no object is the same line again. An empty one is an object that has these keys alone.
    """
    layout = Layout(table, EVERYTHING)
    for row in rows:
        if row.columns is None and row.extras:
            yield cell_text(row.extras[0]).encode()
        else:
            answers = [*row.fields, *([_value(row.answer)] if layout.has_whole else [])]
            added = zip(layout.added, [*answers, row.status, row.error], strict=True)
            yield _encode({**(row.columns or {}), **dict(added)})


def _line(cells: list[Cell]) -> bytes:
    while cells and cells[-1] == "":
        cells.pop()
    return _encode(cells)


def _value(answer: bytes | None) -> Any:
    """An answer in raw JSON as a value; as its text if it is no valid JSON."""
    if answer is None:
        return None
    try:
        return _decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return answer_text(answer)
