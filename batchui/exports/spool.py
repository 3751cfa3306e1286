"""Keeps the rows of an export in a temporary file, for writers that must know the columns first.

So they are read from the store once, and an answer that comes in between changes nothing.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import zstandard

from batchui.exports.answers import columns_of
from batchui.exports.column_kinds import Column
from batchui.exports.rows import CHUNK_BYTES, Cell, ExportRow, as_texts, encodable, groups
from batchui.exports.shape import Shape
from batchui.exports.table import Layout, Selection, Table

_BUFFER = 256 * 1024
_encode = msgspec.json.Encoder(decimal_format="number").encode_lines
_decode_lines = msgspec.json.Decoder(list[Any], float_hook=Decimal).decode_lines


class Spool(Shape):
    """The rows as lists of cells: those of the file, answer, status, error, then any beyond them.

    Iterate over it as often as you like. folder: a temporary one, which goes with it.
    """

    def __init__(self, path: Path, table: Table, layout: Layout) -> None:
        super().__init__(table, layout)
        self.folder = path.parent
        self._path = path
        self._beyond = Column(untyped=False)

    @property
    def longest(self) -> int:
        """The characters of the longest text."""
        return max(column.longest for column in [*self.columns, self._beyond])

    def __iter__(self) -> Iterator[list[Cell]]:
        with zstandard.open(self._path, "rb") as packed:
            lines = io.BufferedReader(packed, buffer_size=_BUFFER)
            while block := lines.readlines(CHUNK_BYTES):
                yield from _decode_lines(b"".join(block))

    def fill(self, rows: Iterable[ExportRow]) -> None:
        """Take the rows. Raises ValueError for one that does not have one cell for each column."""
        compressor = zstandard.ZstdCompressor(level=1)
        with zstandard.open(self._path, "wb", cctx=compressor) as packed:
            for group in groups(self.layout.rows(rows)):
                columns = columns_of(group, self.layout)
                extras = [row.extras for row in group]
                for column, texts in zip(self.columns, self.note(columns, extras), strict=True):
                    column.measure(texts)
                for beyond in filter(None, extras):
                    self._beyond.measure(as_texts(beyond))
                packed.write(_encoded(zip(*columns, strict=True), extras))


@contextmanager
def spooled(
    rows: Iterable[ExportRow], table: Table, selection: Selection, folder: Path
) -> Iterator[Spool]:
    """What goes out of these rows, kept in a temporary folder within `folder` as long as needed."""
    with TemporaryDirectory(dir=folder, prefix="export-") as name:
        spool = Spool(Path(name) / "rows.jsonl.zst", table, Layout(table, selection))
        spool.fill(rows)
        yield spool


def _encoded(rows: Iterable[Sequence[Cell]], extras: Iterable[Sequence[Cell]]) -> bytes:
    lists = [[*row, *beyond] if beyond else row for row, beyond in zip(rows, extras, strict=True)]
    try:
        return _encode(lists)
    except UnicodeEncodeError:
        return _encode([list(map(encodable, cells)) for cells in lists])
