"""Where the quotation marks of a CSV row go wrong: the csv module says that they do, not where."""

import io
import re
from typing import Literal, NamedTuple

from batchui.prompts.problems import CELL_LIMIT

# A whole quoted cell. Possessive: in an unclosed one the first half of a "" must not close it.
QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')
BARE_LINE = re.compile(r"[^\r\n]*")


class QuoteFault(NamedTuple):
    """`start` and `end` are where the cell is in the text; `cell` counts from 0 within the row.

    unclosed: no mark closes the cell, `end` is the end of the text. stray: text follows the
    closing mark, which stands before `end`. long: the cell is over CELL_LIMIT characters.
    """

    kind: Literal["unclosed", "stray", "long"]
    cell: int
    start: int
    end: int


def find_fault(text: str, *, start: int, delimiter: str) -> QuoteFault | None:
    """The first fault of the row that begins at `start`; None when there is none."""
    bare_cell = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    cell = 0
    while True:
        if text.startswith('"', start):
            match = QUOTED.match(text, start)
            if match is None:
                return QuoteFault("unclosed", cell, start, len(text))
            end = match.end()
            if text[end : end + 1] not in ("", delimiter, "\r", "\n"):
                return QuoteFault("stray", cell, start, end)
        else:
            match = bare_cell.match(text, start)
            end = match.end() if match else start
        if end - start > CELL_LIMIT:
            return QuoteFault("long", cell, start, end)
        if text[end : end + 1] != delimiter:
            return None
        start = end + 1
        cell += 1


class Walk:
    """Goes through the lines of a chunk, forward only: where does line number n begin?"""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = io.StringIO(text, newline="")
        self._passed = 0

    def offset(self, line: int) -> int:
        """Where the line begins that has `line` lines before it."""
        for _ in range(line - self._passed):
            self._lines.readline()
        self._passed = line
        return self._lines.tell()


def bare_line(text: str, offset: int) -> str:
    """The rest of the line at `offset`, without its line break."""
    match = BARE_LINE.match(text, offset)
    return match[0] if match else ""
