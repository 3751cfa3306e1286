"""Finds the wrong quotation mark of a CSV row. The csv module does not say where it is."""

import re
from itertools import islice
from typing import Literal, NamedTuple

from batchui.prompts.problems import LIMITS

# A whole quoted cell. Possessive, so that half of a "" never closes an unclosed cell.
QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)*+"')
BARE_LINE = re.compile(r"[^\r\n]*")
LINE_END = re.compile(r"\r\n|\r|\n")
# A line with its end, if it has one.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class QuoteFault(NamedTuple):
    """A cell with something wrong.

    kind: `unclosed`, if no quotation mark closes the cell; `stray`, if text follows the one that
    closes it; `long`, if the cell has more than LIMITS.cell characters.
    cell: its number in the row, from 0. start, end: its place in the text. An unclosed cell ends
    with the text, a stray one after the closing mark.
    """

    kind: Literal["unclosed", "stray", "long"]
    cell: int
    start: int
    end: int


def find_fault(text: str, *, start: int, delimiter: str) -> QuoteFault | None:
    """The first fault of the row that begins at `start`; None if it has none."""
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
        if end - start > LIMITS.cell:
            return QuoteFault("long", cell, start, end)
        if text[end : end + 1] != delimiter:
            return None
        start = end + 1
        cell += 1


class Walk:
    """Finds where the lines of a chunk begin. It only goes forward."""

    def __init__(self, text: str) -> None:
        self._ends = LINE_END.finditer(text)
        self._passed = 0
        self._offset = 0

    def offset(self, line: int) -> int:
        """The offset of the line that has `line` lines before it."""
        for end in islice(self._ends, line - self._passed):
            self._offset = end.end()
        self._passed = line
        return self._offset


def bare_line(text: str, offset: int) -> str:
    """The rest of the line at `offset`, without its line break."""
    match = BARE_LINE.match(text, offset)
    return match[0] if match else ""
