"""Keeps the rows of a Parquet export in a temporary file until the types of the columns are known.

Every cell is there as its text, column by column, in the format of Arrow: it is written and read
without being looked at, so it costs next to no time.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from batchui.exports.answers import columns_of
from batchui.exports.rows import Cell, ExportRow, as_texts, encodable, groups
from batchui.exports.shape import Shape

# Of the rows that are turned into columns at once, about. Each time costs as much as 20 rows.
BLOCK_BYTES = 250_000


class TextSpool(Shape):
    """The rows as tables of texts: `fill` it, then `read` it."""

    def fill(self, path: Path, rows: Iterable[ExportRow]) -> None:
        """Take the rows. Raises ValueError for one that does not have one cell for each column."""
        import pyarrow

        text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
        kinds = [*(text for _ in self.names), texts]
        schema = pyarrow.schema([(str(at), kind) for at, kind in enumerate(kinds)])
        with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, schema) as out:
            for group in groups(self.layout.rows(rows), size=BLOCK_BYTES):
                extras = [row.extras for row in group]
                arrays = list(map(_array, self.note(columns_of(group, self.layout), extras)))
                arrays.append(_beyond(extras))
                out.write_batch(pyarrow.record_batch(arrays, schema=schema))

    def read(self, path: Path, *, rows: int, size: int) -> Iterator[Any]:
        """The rows again, as tables that end as soon as they have so many rows, or `size` bytes.

        A table may have more: what was turned into columns at once stays together.
        """
        import pyarrow

        group: list[Any] = []
        rows_left, bytes_left = rows, size
        with pyarrow.OSFile(str(path)) as file, pyarrow.ipc.open_stream(file) as batches:
            for batch in batches:
                group.append(batch)
                rows_left -= batch.num_rows
                bytes_left -= batch.nbytes
                if rows_left <= 0 or bytes_left <= 0:
                    yield pyarrow.Table.from_batches(group)
                    group, rows_left, bytes_left = [], rows, size
        if group:
            yield pyarrow.Table.from_batches(group)


def _beyond(extras: Sequence[Sequence[Cell]]) -> Any:
    """The lists of texts of the cells beyond the columns; null for a row without any."""
    import pyarrow

    kind = pyarrow.list_(pyarrow.string())
    if not any(extras):
        return pyarrow.nulls(len(extras), kind)
    return pyarrow.array([_texts(cells) if cells else None for cells in extras], type=kind)


def _texts(cells: Sequence[Cell]) -> list[Cell]:
    return list(map(encodable, as_texts(cells)))


def _array(texts: Sequence[str]) -> Any:
    import pyarrow

    try:
        return pyarrow.array(texts)
    except UnicodeEncodeError:
        return pyarrow.array(list(map(encodable, texts)))
