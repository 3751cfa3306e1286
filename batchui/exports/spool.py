"""Keeps the rows of an export in a temporary file, for writers that must know the columns first.

So they are read from the store once, and an answer that comes in between changes nothing.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import zstandard

from batchui.exports.answers import answer_cell
from batchui.exports.column_kinds import Column, Kind
from batchui.exports.rows import CHUNK_BYTES, Cell, ExportRow, groups
from batchui.exports.table import Layout, Selection, Table

_BUFFER = 256 * 1024
_numbers = (Kind.INTEGER, Kind.NUMBER)
_encode = msgspec.json.Encoder(decimal_format="number").encode_lines
_decode_lines = msgspec.json.Decoder(list[Any], float_hook=Decimal).decode_lines


class Spool:
    """The rows as lists of cells: those of the file, answer, status, error, then any beyond them.

    Iterate over it as often as you like. layout: the columns of the file and their names. names,
    header, columns: the unique name of each column, those of answer, status and error too, its cell
    in the header, and what is known about it. rows: how many. extras: the most cells that a row has
    beyond the columns. folder: a temporary one, which goes with it.
    """

    def __init__(self, path: Path, table: Table, layout: Layout) -> None:
        self.folder = path.parent
        self._path = path
        self.layout = layout
        self.names = [*layout.columns, *layout.added]
        self.header = [*layout.header, *layout.added]
        self.columns = [Column(untyped=not table.typed) for _ in layout.columns]
        self.columns.append(Column(untyped=True, lists=True))
        self.columns += [Column(untyped=False) for _ in (layout.status, layout.error)]
        self._beyond = Column(untyped=False)
        self.rows = 0
        self.extras = 0

    @property
    def number_columns(self) -> set[int]:
        """The positions of the columns that are numbers, where their cells may be texts."""
        return {at for at, column in enumerate(self.columns) if column.kind in _numbers}

    @property
    def longest(self) -> int:
        """The characters of the longest text."""
        return max(column.longest for column in [*self.columns, self._beyond])

    def __iter__(self) -> Iterator[list[Cell]]:
        return chain.from_iterable(map(_decode_lines, self._blocks()))

    def groups(self, *, rows: int, size: int) -> Iterator[list[list[Cell]]]:
        """The rows in lists that end as soon as they have so many, or JSON of `size` bytes.

        A list may have more: what is read at once, about 64 KiB or one row, stays together.
        """
        group: list[list[Cell]] = []
        read = 0
        for block in self._blocks():
            group += _decode_lines(block)
            read += len(block)
            if len(group) >= rows or read >= size:
                yield group
                group, read = [], 0
        if group:
            yield group

    def _blocks(self) -> Iterator[bytes]:
        """The lines of the file, some at once."""
        with zstandard.open(self._path, "rb") as packed:
            lines = io.BufferedReader(packed, buffer_size=_BUFFER)
            while block := lines.readlines(CHUNK_BYTES):
                yield b"".join(block)

    def fill(self, rows: Iterable[ExportRow]) -> None:
        """Take the rows. Raises ValueError for one that does not have one cell for each column."""
        width = len(self.layout.columns)
        compressor = zstandard.ZstdCompressor(level=1)
        with zstandard.open(self._path, "wb", cctx=compressor) as packed:
            for group in groups(self.layout.rows(rows)):
                lists = [_cells(row, width) for row in group]
                packed.write(_encoded(lists))
                self._note(lists)

    def _note(self, lists: Sequence[Sequence[Cell]]) -> None:
        self.rows += len(lists)
        # Rows have further cells behind these columns.
        for column, cells in zip(self.columns, zip(*lists, strict=False), strict=False):
            column.note(cells)
        width = len(self.columns)
        for row in lists:
            if beyond := row[width:]:
                self.extras = max(self.extras, len(beyond))
                self._beyond.note(beyond)


@contextmanager
def spooled(
    rows: Iterable[ExportRow], table: Table, selection: Selection, folder: Path
) -> Iterator[Spool]:
    """What goes out of these rows, kept in a temporary folder within `folder` as long as needed."""
    with TemporaryDirectory(dir=folder, prefix="export-") as name:
        spool = Spool(Path(name) / "rows.jsonl.zst", table, Layout(table, selection))
        spool.fill(rows)
        yield spool


def _cells(row: ExportRow, width: int) -> list[Cell]:
    if len(row.cells) != width:
        raise ValueError(f"{len(row.cells)} cells in a row of {width} columns")
    return [*row.cells, answer_cell(row.answer), row.status, row.error or "", *row.extras]


def _encoded(lists: Sequence[list[Cell]]) -> bytes:
    try:
        return _encode(lists)
    except UnicodeEncodeError:  # half a surrogate pair becomes a question mark, as in CSV
        return _encode(
            [
                [
                    cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
                    for cell in cells
                ]
                for cells in lists
            ]
        )
