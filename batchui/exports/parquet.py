"""Writes Parquet with pyarrow, which may be missing and is loaded only when it is needed."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from batchui.exports.column_kinds import Kind
from batchui.exports.names import free_name
from batchui.exports.rows import Cell, ExportRow, as_texts
from batchui.exports.spool import Spool, spooled
from batchui.exports.table import EVERYTHING, Selection, Table
from batchui.exports.typed_values import value_of

# Of a row group, about; whichever comes first. Readers hold one in memory, and so does this writer.
GROUP_ROWS = 20_000
GROUP_BYTES = 16_000_000
# The column of the cells that rows have beyond the header.
EXTRAS = "extra_cells"


def is_available() -> bool:
    """Whether pyarrow is installed."""
    return find_spec("pyarrow") is not None


def write_parquet(
    rows: Iterable[ExportRow],
    table: Table,
    selection: Selection = EVERYTHING,
    *,
    target: Path,
    folder: Path,
    progress: Callable[[int], None] = lambda written: None,
) -> int:
    """Write the rows as Parquet (zstd) to the file `target`; returns how many there are.

    A column has the type that fits all its cells (`column_kinds.Kind`): int64, double, bool, date,
    timestamp or string; a percentage is a double (25% is 0.25), an embedding a list of doubles, any
    other answer with a structure JSON text. A blank cell is null, in a column of texts ''. Where
    there is no answer or no error it is null. Cells beyond the header are a list of texts in a
    column of its own, if any row has some.

    folder: for a temporary file, about as large as the answers compressed. progress: is told now
    and then how many rows are written; what it raises ends the writing. Raises ValueError for a row
    that does not have one cell for each column.
    """
    from pyarrow import RecordBatch, schema
    from pyarrow.parquet import ParquetWriter

    with spooled(rows, table, selection, folder) as spool:
        kinds = [column.kind for column in spool.columns]
        made = schema(_fields(spool, kinds))
        with ParquetWriter(target, made, compression="zstd") as writer:
            written = 0
            for group in spool.groups(rows=GROUP_ROWS, size=GROUP_BYTES):
                arrays = _arrays(spool, kinds, group)
                writer.write_batch(RecordBatch.from_arrays(arrays, schema=made))
                written += len(group)
                progress(written)
        return spool.rows


def _fields(spool: Spool, kinds: Sequence[Kind]) -> list[Any]:
    """The name and the type of each column."""
    types = _types()
    fields = [(name, types[kind]) for name, kind in zip(spool.names, kinds, strict=True)]
    if spool.extras:
        taken = {name.strip().casefold() for name in spool.names}
        fields.append((free_name(EXTRAS, taken), _extras_type()))
    return fields


def _types() -> dict[Kind, Any]:
    """The type of a column of each kind."""
    import pyarrow

    return {
        Kind.BLANK: pyarrow.string(),
        Kind.TEXT: pyarrow.string(),
        Kind.BOOLEAN: pyarrow.bool_(),
        Kind.INTEGER: pyarrow.int64(),
        Kind.NUMBER: pyarrow.float64(),
        Kind.PERCENT: pyarrow.float64(),
        Kind.DATE: pyarrow.date32(),
        Kind.DATETIME: pyarrow.timestamp("us"),
        Kind.NUMBERS: pyarrow.list_(pyarrow.float64()),
    }


def _extras_type() -> Any:
    import pyarrow

    return pyarrow.list_(pyarrow.string())


def _arrays(spool: Spool, kinds: Sequence[Kind], group: Sequence[Sequence[Cell]]) -> list[Any]:
    """The columns of these rows."""
    import pyarrow

    types = _types()
    of_file = len(spool.layout.columns)
    arrays = [
        pyarrow.array(_values(kind, cells, blank="" if at < of_file else None), type=types[kind])
        # Rows may have cells behind these columns.
        for at, (kind, cells) in enumerate(zip(kinds, zip(*group, strict=False), strict=False))
    ]
    if spool.extras:
        extras = [as_texts(cells[len(kinds) :]) or None for cells in group]
        arrays.append(pyarrow.array(extras, type=_extras_type()))
    return arrays


def _values(kind: Kind, cells: Sequence[Cell], *, blank: str | None) -> Sequence[Any]:
    """The values of a column of this kind. blank: what a blank cell is in a column of texts."""
    read = _READ.get(kind)
    if read is None:
        texts = as_texts(cells)
        return texts if blank == "" else [text or blank for text in texts]
    return [None if cell == "" else read(cell) for cell in cells]


def _fraction(cell: dict[str, Any]) -> float | None:
    value = value_of(cell)
    return float(value) if isinstance(value, Decimal) else None


_READ: dict[Kind, Callable[[Any], Any]] = {
    Kind.BOOLEAN: bool,
    Kind.INTEGER: int,
    Kind.NUMBER: float,
    Kind.PERCENT: _fraction,
    # `column_kinds` has seen that every one of them is a day or a moment.
    Kind.DATE: lambda cell: date.fromisoformat(cell["date"]),
    Kind.DATETIME: lambda cell: datetime.fromisoformat(cell["datetime"]),
    Kind.NUMBERS: msgspec.json.Decoder(list[float]).decode,
}
