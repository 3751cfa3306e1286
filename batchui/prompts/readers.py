"""A file -> its rows, one chunk of text at a time, so that memory stays flat whatever its size.

What is wrong with one row is said in that row (`Row.problem`); what makes the whole file
unreadable is raised as BadInput. A new kind of file (a workbook, Parquet) is one more entry in
READERS: a function from a stream to blocks of rows.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count, repeat
from typing import BinaryIO, NamedTuple, cast

from batchui.prompts.blocks import Block, Cells, Parser, read_text
from batchui.prompts.csv_rows import CsvParser
from batchui.prompts.line_rows import JsonlParser, TxtParser
from batchui.prompts.sniffing import Format


class Row(NamedTuple):
    """One row as it stands in the file.

    `number` counts from 1 without the header, `line` from 1 as an editor does (where the row
    starts). `cells`: texts in the header's order (CSV, TXT) or the object (JSONL). `problem`: a
    sentence that names the row, or None; a row with a problem has all its text in `cells`, what
    does not fit the columns behind them (see `rows.extras`).
    """

    number: int
    line: int
    cells: Cells
    problem: str | None


def read(stream: BinaryIO, fmt: Format) -> Iterator[Row]:
    """Every row of the file, in order; raises BadInput where the file cannot be read on.

    Empty lines at the end are no rows; in the middle they are rows with a problem (in a CSV of
    one column: a row whose cell is empty).
    """
    # At half the cost of calling Row, a million times.
    make = cast(Callable[[Iterable[object]], Row], partial(tuple.__new__, Row))
    for block in read_blocks(stream, fmt):
        problems: Iterator[str | None] = repeat(None)
        if block.problems:
            problems = map(block.problems.get, range(len(block.cells)))
        yield from map(make, zip(count(block.number), block.lines, block.cells, problems))


def read_blocks(stream: BinaryIO, fmt: Format) -> Iterator[Block]:
    """The same rows, some hundreds at a time: for code that looks at whole columns."""
    return READERS[fmt.kind](stream, fmt)


def _text_reader(
    parser: Callable[[Format], Parser],
) -> Callable[[BinaryIO, Format], Iterator[Block]]:
    def read_stream(stream: BinaryIO, fmt: Format) -> Iterator[Block]:
        return read_text(stream, encoding=fmt.encoding, parser=parser(fmt))

    return read_stream


READERS: dict[str, Callable[[BinaryIO, Format], Iterator[Block]]] = {
    "csv": _text_reader(CsvParser),
    "jsonl": _text_reader(JsonlParser),
    "txt": _text_reader(TxtParser),
}
