"""The rows that exports are made of, and the values of their cells.

Cells of a text file are texts. Those of a workbook or a Parquet file have types, and so have those
of JSON where they go into such a file (`Table.typed`). Then a cell is one of:

- a text; "" for a blank cell
- a number: int, Decimal or float, as the file shows it
- True or False
- a dict, which is one of {"date": "2026-05-01"}, {"datetime": "2026-05-01 12:30:15"},
  {"time": "12:30:00"}, {"duration": "30:00:00"}, {"percent": "25%"}, or, of a number that is padded
  with zeros, {"shown": "00123", "number": 123}
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from operator import itemgetter
from typing import Any, NamedTuple, TypeGuard

import msgspec
from msgspec.structs import replace

CHUNK_BYTES = 64 * 1024

Cell = str | int | float | Decimal | bool | dict[str, Any]

_encoder = msgspec.json.Encoder(decimal_format="number")
_json, _json_lines = _encoder.encode, _encoder.encode_lines
_numbers = frozenset((int, float, Decimal))


class ExportRow(msgspec.Struct, gc=False):
    """One row of the file with its answer.

    cells: one for each column of the file. extras: the cells beyond them. columns: the object of
    a JSONL row as it was read, by the names of the columns, else None.
    answer, usage: raw JSON, or None. error: a sentence, None if nothing went wrong.
    fields: the values of the answer for each of `Table.fields`: a text, a number, a boolean, a list
    of texts, or None.
    edited: whether a person corrected the answer by hand; own_answer: then, the model's own.
    """

    row: int
    cells: Sequence[Cell]
    extras: Sequence[Cell]
    columns: dict[str, Any] | None
    answer: bytes | None
    status: str
    error: str | None
    external_reference: str | None
    usage: bytes | None
    fields: Sequence[Any] = ()
    edited: bool = False
    own_answer: bytes | None = None


class TextRows(NamedTuple):
    """Consecutive rows of a file of texts, for a writer that needs no more of them than this.

    cells: of each row, as many texts as the file has columns. answers, statuses, errors: as in
    `ExportRow`.
    """

    cells: Sequence[Sequence[str]]
    answers: Sequence[bytes | None]
    statuses: Sequence[str]
    errors: Sequence[str | None]


def cell_text(cell: Cell) -> str:
    """The text of a cell: a number as JSON, TRUE or FALSE, a date or a percentage as shown."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, dict):
        return str(next(iter(cell.values())))
    return _json(cell).decode()


# The wrapper of a mutant would lose the guard of the types, and all who rely on it their types.
def are_texts(cells: Sequence[Cell]) -> TypeGuard[Sequence[str]]:  # pragma: no mutate block
    """Whether all of these cells are texts. Four times as fast as looking at each in a loop."""
    return set(map(type, cells)) <= {str}


def as_texts(cells: Sequence[Cell]) -> list[str]:
    """The texts of these cells."""
    if are_texts(cells):
        return list(cells)
    return [cell if isinstance(cell, str) else cell_text(cell) for cell in cells]


def column_texts(cells: Sequence[Cell]) -> Sequence[str]:
    """The texts of the cells of a column.

    Where all that are no texts are of one kind (numbers, booleans, dates) it takes a fifth of the
    time.
    """
    types = set(map(type, cells))
    if types == {str}:
        return cells  # type: ignore[return-value]
    if str in types:
        others = iter(column_texts([cell for cell in cells if not isinstance(cell, str)]))
        return [cell if isinstance(cell, str) else next(others) for cell in cells]
    if types <= _numbers:
        return _json_lines(cells).decode().split("\n")[:-1]
    if types == {bool}:
        return ["TRUE" if cell else "FALSE" for cell in cells]
    if types == {dict}:
        with suppress(KeyError):  # they are of several kinds
            return list(map(itemgetter(next(iter(cells[0]))), cells))  # type: ignore[arg-type]
    return [cell_text(cell) for cell in cells]


def encodable(cell: Cell) -> Cell:
    """The cell with a question mark for half a surrogate pair, which UTF-8 does not have."""
    return cell.encode(errors="replace").decode() if isinstance(cell, str) else cell


def with_cells(row: ExportRow, convert: Callable[[Sequence[Cell]], list[Any]]) -> ExportRow:
    """The row with its cells, and those beyond them, converted."""
    return replace(row, cells=convert(row.cells), extras=convert(row.extras))


def groups(rows: Iterable[ExportRow], *, size: int = CHUNK_BYTES) -> Iterator[list[ExportRow]]:
    """The rows in lists, each of about `size` bytes of text."""
    group: list[ExportRow] = []
    left = size
    for row in rows:
        group.append(row)
        left -= _weight(row)
        if left <= 0:
            yield group
            group, left = [], size
    if group:
        yield group


def _weight(row: ExportRow) -> int:
    """About how many bytes a row has. To write its cells as JSON takes half of a look at each."""
    try:
        cells = len(_json(row.cells))
    except UnicodeEncodeError:  # half a surrogate pair
        cells = sum(map(len, map(cell_text, row.cells)))
    return 100 + cells + len(row.answer or b"")
