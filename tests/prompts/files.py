"""Files for these tests: bytes in memory, whole or in small pieces."""

import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, BinaryIO, cast

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.checking import FirstProblems, Report, check
from batchui.prompts.reading.format import HEAD_BYTES, Choices, Format
from batchui.prompts.reading.readers import Row, Rows, read
from batchui.prompts.reading.rows import encode_row
from batchui.prompts.reading.sniffing import sniff

Checked = Report[FirstProblems]


class Dribble(io.RawIOBase):
    """A stream that gives at most `size` bytes at a time, however many are asked for."""

    def __init__(self, data: bytes, size: int) -> None:
        self._stream = io.BytesIO(data)
        self._size = size

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(self._size)


class Endless(io.RawIOBase):
    """A stream made of pieces that an iterator gives; counts what was taken from it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.taken = 0

    def read(self, size: int = -1) -> bytes:
        piece = next(self._pieces, b"")
        self.taken += len(piece)
        return piece


def format_of(data: bytes, name: str = "file.csv", **chosen: Any) -> Format:
    choices = Choices(**chosen)
    return sniff(data[:HEAD_BYTES], name=name, whole=len(data) <= HEAD_BYTES, choices=choices)


def rows_of(
    data: bytes, name: str = "file.csv", *, piece: int = 1 << 20, names_in: int = 1
) -> list[Row]:
    """The rows of a file. names_in: the row with the names of its columns, if it is a CSV."""
    fmt = format_of(data, name, header_row=names_in)
    return list(read(cast(BinaryIO, Dribble(data, piece)), fmt))


def cells_of(data: bytes, name: str = "file.csv") -> list[Any]:
    return [row.cells for row in rows_of(data, name)]


def report_of(data: bytes, name: str = "file.csv", *, max_rows: int = 1000, **more: Any) -> Checked:
    return check(
        lambda: io.BytesIO(data),
        format_of(data, name),
        problems=FirstProblems,
        max_rows=max_rows,
        **more,
    )


def place_of(error: BadInput) -> tuple[int | None, int | None, str | None]:
    """The row, the line and the column that an error is about."""
    problem = error.problem
    return (problem.row, problem.line, problem.column) if problem else (None, None, None)


def together(rows: Iterable[Row], at_once: int = 7) -> Iterator[Rows]:
    """The rows, so many at once."""
    left = iter(rows)
    while some := list(islice(left, at_once)):
        problems = {at: row.problem for at, row in enumerate(some) if row.problem}
        stored = [encode_row(row.cells) for row in some]
        cells = [row.cells for row in some]
        yield Rows(some[0].number, [row.line for row in some], cells, problems, stored)
