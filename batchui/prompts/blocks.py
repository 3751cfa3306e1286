"""Turns a stream of bytes into blocks of rows: the part that all text formats share."""

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, Protocol

from batchui.prompts.decoding import Decoder, line_breaks
from batchui.prompts.problems import LINE_LIMIT, BadInput

Cells = list[str] | dict[str, Any]

CHUNK_BYTES = 64 * 1024  # small enough to stay in the processor's cache
HELD_AT_ONCE = 1_000


class Block(NamedTuple):
    """Consecutive rows of a file.

    number: of the first row. lines, cells: of each row. problems: sentences, by position in
    `cells`, for the rows that have one.
    """

    number: int
    lines: Sequence[int]
    cells: Sequence[Cells]
    problems: dict[int, str]


class Parsed(NamedTuple):
    """The result of parsing a chunk of text.

    empty_after: how many empty lines follow the last row; they are not in the block.
    used: how many characters were parsed. next_line: the number of the line after them.
    """

    block: Block
    empty_after: int
    used: int
    next_line: int


class Parser(Protocol):
    """One text format.

    A parser may leave the end of a chunk unused; it receives it again with the next chunk.
    """

    def parse(self, text: str, *, number: int, line: int, final: bool) -> Parsed:
        """The rows of `text`, which has whole lines and begins in `line` with row `number`."""

    def empty(self, *, number: int, line: int) -> tuple[Cells, str | None]:
        """The row, and its problem, for an empty line in the middle of the file."""


def empty_lines(text: str, *, number: int, line: int) -> Parsed | None:
    """The result of parsing empty lines, which are only counted; None if there is more in `text`.

    Somebody may send a gigabyte of them.
    """
    if text.count("\n") + text.count("\r") < len(text):
        return None
    breaks = line_breaks(text)
    return Parsed(Block(number, (), [], {}), breaks, len(text), line + breaks)


def read_text(stream: BinaryIO, *, encoding: str, parser: Parser) -> Iterator[Block]:
    """The rows of a text file. Holds one chunk in memory, or one row if that is longer."""
    decoder = Decoder(encoding)
    rest, line, number, held, final = "", 1, 1, 0, False
    while not final:
        # At least as many bytes again, so that a row over many chunks is parsed only a few times.
        data = stream.read(max(CHUNK_BYTES, len(rest)))
        final = not data
        text = rest + decoder.decode(data, final=final, rest=rest, line=line)
        end = len(text) if final else _end_of_lines(text)
        parsed = parser.parse(text[:end], number=number, line=line, final=final)
        rest = text[parsed.used :]
        rows = len(parsed.block.cells)
        if rows:
            yield from _empty_rows(parser, number=number - held, line=line - held, rows=held)
            yield parsed.block
        held = parsed.empty_after + (0 if rows else held)
        number += rows + parsed.empty_after
        line = parsed.next_line
        if len(rest) > LINE_LIMIT:
            raise _too_long(line)


def _end_of_lines(text: str) -> int:
    """Where the last complete line of a chunk ends. A CR at the very end may be half of a CR LF."""
    return text.rfind("\n") + 1 or text.rfind("\r", 0, len(text) - 1) + 1


def _empty_rows(parser: Parser, *, number: int, line: int, rows: int) -> Iterator[Block]:
    """Blocks for empty lines before a row. They are only counted until that row comes."""
    for start in range(0, rows, HELD_AT_ONCE):
        size = min(HELD_AT_ONCE, rows - start)
        made = [parser.empty(number=number + i, line=line + i) for i in range(start, start + size)]
        yield Block(
            number=number + start,
            lines=range(line + start, line + start + size),
            cells=[cells for cells, _ in made],
            problems={i: problem for i, (_, problem) in enumerate(made) if problem},
        )


def _too_long(line: int) -> BadInput:
    """The error for a row of more than LINE_LIMIT characters."""
    return BadInput.at(
        "what begins here is longer than 8 MB, too long for one row. Perhaps line breaks are "
        "missing, or a quotation mark is not closed. Correct it, or remove the line.",
        line=line,
    )


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their line breaks. LF, CR LF and CR may be mixed.

    `str.splitlines` also breaks at form feeds and Unicode separators, which belong to cells.
    """
    if "\r" not in text:
        lines = text.split("\n")
    else:
        lines = text.split("\r\n")
        breaks = len(lines) - 1
        if text.count("\r") != breaks or text.count("\n") != breaks:
            lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
