"""Writes Parquet with pyarrow, which may be missing and is loaded only when it is needed."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from batchui.exports.column_kinds import Kind
from batchui.exports.names import free_name
from batchui.exports.parquet_spool import TextSpool
from batchui.exports.rows import ExportRow
from batchui.exports.shape import Shape
from batchui.exports.table import EVERYTHING, Layout, Selection, Table
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

    folder: for a temporary file, about as large as the texts of all cells. progress: is told now
    and then how many rows are written; what it raises ends the writing. Raises ValueError for a row
    that does not have one cell for each column.
    """
    from pyarrow import Table as Arrow
    from pyarrow import schema, set_memory_pool, system_memory_pool
    from pyarrow.parquet import ParquetWriter

    set_memory_pool(system_memory_pool())  # the usual one keeps 40 MB that nobody needs any more
    with TemporaryDirectory(dir=folder, prefix="export-") as name:
        path = Path(name) / "rows.arrow"
        spool = TextSpool(table, Layout(table, selection))
        spool.fill(path, rows)
        made = schema(_fields(spool))
        with ParquetWriter(target, made, compression="zstd") as writer:
            written = 0
            for texts in spool.read(path, rows=GROUP_ROWS, size=GROUP_BYTES):
                columns = _columns(spool, texts, made.types)
                writer.write_table(Arrow.from_arrays(columns, schema=made))
                written += texts.num_rows
                progress(written)
        return spool.rows


def _fields(shape: Shape) -> list[Any]:
    """The name and the type of each column."""
    import pyarrow

    types = _types()
    kinds = [column.kind for column in shape.columns]
    fields = [(name, types[kind]) for name, kind in zip(shape.names, kinds, strict=True)]
    if shape.extras:
        fields.append((free_name(EXTRAS, shape.names), pyarrow.list_(pyarrow.string())))
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


def _columns(shape: Shape, texts: Any, types: Sequence[Any]) -> list[Any]:
    """The columns of a table of texts, each with its type."""
    of_file = len(shape.layout.columns)
    columns = [
        _typed(column.kind, texts[at], types[at], keeps_blanks=at < of_file)
        for at, column in enumerate(shape.columns)
    ]
    return [*columns, texts[-1]] if shape.extras else columns


def _typed(kind: Kind, texts: Any, type_: Any, *, keeps_blanks: bool) -> Any:
    """A column of texts as values. keeps_blanks: a blank cell stays '' in a column of texts."""
    import pyarrow
    from pyarrow import compute

    if keeps_blanks and kind in (Kind.TEXT, Kind.BLANK):
        return texts
    values = compute.if_else(compute.equal(texts, ""), None, texts)
    if read := _READ.get(kind):
        found = [None if text is None else read(text) for text in values.to_pylist()]
        return pyarrow.array(found, type=type_)
    return values.cast(type_)


def _fraction(shown: str) -> float | None:
    value = value_of({"percent": shown})
    return float(value) if isinstance(value, Decimal) else None


# What Arrow does not read by itself.
_READ: dict[Kind, Callable[[str], Any]] = {
    Kind.PERCENT: _fraction,
    Kind.NUMBERS: msgspec.json.Decoder(list[float]).decode,
}
