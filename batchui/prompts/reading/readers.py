"""Reads the rows of a file, one chunk at a time: memory stays flat, whatever the file's size.

A problem of one row is stored in that row (`Row.problem`). If the whole file cannot be read,
BadInput is raised. A kind of text is one entry in PARSERS; a file that is no text (a workbook,
Parquet) is converted to one of them first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from typing import BinaryIO, NamedTuple, cast

from batchui.prompts.problems import Problem
from batchui.prompts.reading.blocks import Block, Cells, Parser, read_text
from batchui.prompts.reading.csv_rows import CsvParser
from batchui.prompts.reading.dialects import Doubling
from batchui.prompts.reading.format import Format
from batchui.prompts.reading.line_rows import JsonlParser, TxtParser
from batchui.prompts.reading.table_rows import TableParser

# Of the beginning of a file. A row of 8 million characters (`LINE_LIMIT`) fits in any encoding.
MOST_BYTES = 32_000_000


class Row(NamedTuple):
    """One row as it is in the file.

    number: as a spreadsheet shows it: of a CSV with names in its first line, the first row is 2.
    line: where the row starts, from 1 as in an editor. cells: texts in the order of the columns
    (CSV, TXT), typed cells (a table, see `rows.shown_text`), or the object (JSONL).
    problem: what is wrong with the row, or None. `cells` has all text of a row with a problem;
    text that fits no column comes last (see `rows.extras`).
    stored: the cells as `encode_row` encodes them, where they were read from there; else None.
    """

    number: int
    line: int
    cells: Cells
    problem: Problem | None
    stored: bytes | None = None


# It takes half the time of calling Row, which matters for a million rows.
_row = cast(Callable[[Iterable[object]], Row], partial(tuple.__new__, Row))


class Rows(NamedTuple):
    """Consecutive rows, for code that works on many at once.

    number: of the first row. lines, cells, stored: of each, as in `Row`. problems: by position in
    `cells`, for the rows that have one.
    """

    number: int
    lines: Iterable[int]
    cells: Sequence[Cells]
    problems: Mapping[int, Problem]
    stored: Sequence[bytes]

    def each(self) -> Iterator[Row]:
        """The rows one by one."""
        problems: Iterable[Problem | None] = repeat(None)
        if self.problems:
            problems = map(self.problems.get, range(len(self.cells)))
        return map(_row, zip(count(self.number), self.lines, self.cells, problems, self.stored))


def read(stream: BinaryIO, fmt: Format) -> Iterator[Row]:
    """Every row of the file, in order. Raises BadInput if the rest of the file cannot be read.

    Empty lines at the end are not rows. An empty line in the middle is a row with a problem; in a
    CSV of one column it is a row with an empty cell.
    """
    for block in read_blocks(stream, fmt):
        problems: Iterator[Problem | None] = repeat(None)
        if block.problems:
            problems = map(block.problem, range(len(block.cells)))
        yield from map(
            _row, zip(count(block.number), block.lines, block.cells, problems, repeat(None))
        )


def read_beginning(stream: BinaryIO, fmt: Format) -> Iterator[Block]:
    """The rows that end within the first MOST_BYTES of the file. Raises BadInput, as `read` does.

    Somebody may send a gigabyte of empty lines, and wait for the page that shows the first rows.
    """
    try:
        yield from read_blocks(cast(BinaryIO, _Beginning(stream)), fmt)
    except _EnoughRead:
        return


class _EnoughRead(Exception):
    """As much was read as is read of the beginning of a file."""


class _Beginning:
    """A stream that raises _EnoughRead after MOST_BYTES. If it ended there, so would half a row."""

    def __init__(self, stream: BinaryIO) -> None:
        self._read = stream.read
        self._left = MOST_BYTES

    def read(self, size: int) -> bytes:
        if self._left <= 0:
            raise _EnoughRead
        data = self._read(min(size, self._left))
        self._left -= len(data)
        return data


def read_blocks(stream: BinaryIO, fmt: Format) -> Iterator[Block]:
    """The same rows in blocks of a few hundred, for code that works on whole columns."""
    above = fmt.first_row - 1
    for block in _all_blocks(stream, fmt):
        if above:
            block, above = _without_first(block, above), max(0, above - len(block.cells))
        if block.cells:
            yield block


def rows_above(stream: BinaryIO, fmt: Format) -> list[Cells]:
    """The rows above the first one: titles, and the names of the columns.

    Together they are not longer than `format.HEAD_BYTES`.
    """
    found: list[Cells] = []
    for block in _all_blocks(stream, fmt):
        found += block.cells[: fmt.first_row - 1 - len(found)]
        if len(found) == fmt.first_row - 1:
            break
    return found


def _all_blocks(stream: BinaryIO, fmt: Format) -> Iterator[Block]:
    return read_text(
        stream,
        encoding=fmt.encoding,
        parser=PARSERS[fmt.kind](fmt),
        change=Doubling() if fmt.backslashes else None,
    )


def _without_first(block: Block, rows: int) -> Block:
    return Block(
        block.number + min(rows, len(block.cells)),
        block.lines[rows:],
        block.cells[rows:],
        {at - rows: problem for at, problem in block.problems.items() if at >= rows},
    )


PARSERS: dict[str, Callable[[Format], Parser]] = {
    "csv": CsvParser,
    "jsonl": JsonlParser,
    "table": TableParser,
    "txt": TxtParser,
}
