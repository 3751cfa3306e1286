"""Turns a stream of bytes into blocks of rows: the part that all text formats share."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, Protocol

from batchui.prompts.problems import LINE_LIMIT, BadInput, Problem
from batchui.prompts.reading.decoding import Decoder, line_breaks

Cells = list[Any] | dict[str, Any]
# From the cells of a row, its number and its line to a sentence. It is made when somebody reads it:
# of a million bad rows, few sentences are shown.
Sentence = Callable[[Any, int, int], Problem]

CHUNK_BYTES = 64 * 1024  # small enough to stay in the processor's cache
HELD_AT_ONCE = 1_000


class Block(NamedTuple):
    """Consecutive rows of a file.

    number: of the first row. lines, cells: of each row. problems: what makes the sentence, by
    position in `cells`, for the rows that have one.
    """

    number: int
    lines: Sequence[int]
    cells: Sequence[Cells]
    problems: dict[int, Sentence]

    def problem(self, at: int) -> Problem | None:
        """The problem of the row at a position; None if it has none."""
        if at not in self.problems:
            return None
        return self.problems[at](self.cells[at], self.number + at, self.lines[at])


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

    def empty(self) -> tuple[Cells, Sentence | None]:
        """The row, and its problem, for an empty line in the middle of the file."""


class Change(Protocol):
    """Changes a text that comes in pieces."""

    def __call__(self, text: str, *, final: bool) -> str:
        """The next piece as changed. It may keep the end back, unless it is the `final` one."""


def empty_lines(text: str, *, number: int, line: int) -> Parsed | None:
    """The result of parsing empty lines, which are only counted; None if there is more in `text`.

    Somebody may send a gigabyte of them.
    """
    if text.lstrip("\r\n"):
        return None
    breaks = line_breaks(text)
    return Parsed(Block(number, (), [], {}), breaks, len(text), line + breaks)


def read_text(
    stream: BinaryIO, *, encoding: str, parser: Parser, change: Change | None = None
) -> Iterator[Block]:
    """The rows of a text file. Holds one chunk in memory, or one row if that is longer.

    change: what to do to the text first; it may not add or remove a line break.
    """
    decoder = Decoder(encoding)
    line, number, held, unused, final = 1, 1, 0, 0, False
    pieces = [""]  # what is not parsed yet: the rest of a chunk, and the middle of a long line
    while not final:
        # As many bytes again as whole lines are left, so that a row over many chunks is parsed only
        # a few times. No more: the next rows would be in memory beside a long one.
        data = stream.read(max(CHUNK_BYTES, unused))
        final = not data
        piece = decoder.decode(data, final=final, rest=pieces[0], line=line)
        pieces.append(change(piece, final=final) if change else piece)
        if not final and not _may_end_a_line(pieces):
            _refuse_long_row(pieces, line)
            continue
        text = "".join(pieces)
        pieces.clear()
        end = len(text) if final else _end_of_lines(text)
        parsed = parser.parse(text[:end], number=number, line=line, final=final)
        pieces.append(text[parsed.used :])
        unused = end - parsed.used
        del text
        rows = len(parsed.block.cells)
        if rows:
            yield from _empty_rows(parser, number=number - held, line=line - held, rows=held)
            yield parsed.block
        held = parsed.empty_after + (0 if rows else held)
        number += rows + parsed.empty_after
        line = parsed.next_line
        _refuse_long_row(pieces, line)


def _may_end_a_line(pieces: Sequence[str]) -> bool:
    """Whether a line break is in the last piece, or just before it."""
    *_, before, last = pieces
    return "\n" in last or "\r" in last or before.endswith("\r")


def _end_of_lines(text: str) -> int:
    """Where the last complete line of a chunk ends. A CR at the very end may be half of a CR LF."""
    return text.rfind("\n") + 1 or text.rfind("\r", 0, len(text) - 1) + 1


def _empty_rows(parser: Parser, *, number: int, line: int, rows: int) -> Iterator[Block]:
    """Blocks for empty lines before a row. They are only counted until that row comes."""
    for start in range(0, rows, HELD_AT_ONCE):
        size = min(HELD_AT_ONCE, rows - start)
        made = [parser.empty() for _ in range(size)]
        yield Block(
            number=number + start,
            lines=range(line + start, line + start + size),
            cells=[cells for cells, _ in made],
            problems={i: problem for i, (_, problem) in enumerate(made) if problem},
        )


def _refuse_long_row(pieces: Sequence[str], line: int) -> None:
    """Raise BadInput for the beginning of a row of more than LINE_LIMIT characters."""
    if sum(map(len, pieces)) > LINE_LIMIT:
        raise BadInput.at(
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
