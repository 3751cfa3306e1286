"""Finds out how a CSV is written: the delimiter of its cells, and its quotation marks."""

import csv
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

from batchui.prompts.problems import LINE_LIMIT
from batchui.prompts.reading.format import ONE_COLUMN
from batchui.prompts.reading.headers import table_top

# They show the delimiter. A quarter of a megabyte may have a hundred thousand.
HEAD_ROWS = 1_000
# What people call each. In this order, where two fit alike.
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
# A first line that Excel writes to name the delimiter. It is not part of the table.
SEPARATOR_LINE = re.compile(rf"sep=([{''.join(DELIMITERS)}])(?:\r\n|\r|\n)")
ESCAPED = re.compile(r'\\(["\\])')


class Dialect(NamedTuple):
    """How a CSV is written. delimiter: one of DELIMITERS, or ONE_COLUMN. rows: see `head_rows`."""

    delimiter: str
    backslashes: bool
    rows: list[list[str]]


def find_dialect(text: str, *, whole: bool, delimiter: str | None = None) -> Dialect:
    """The dialect of a file that begins with `text`. delimiter: see `format.Choices`."""
    found = _find(text, whole=whole, delimiter=delimiter)
    if _has_backslashes(text, found.delimiter):
        found = _find(doubled(text), whole=whole, delimiter=delimiter)
        return found._replace(backslashes=True)
    return found


def _find(text: str, *, whole: bool, delimiter: str | None) -> Dialect:
    if delimiter is None and (named := SEPARATOR_LINE.match(text)):
        delimiter = named[1]
    if delimiter is not None:
        return Dialect(delimiter, False, head_rows(text, delimiter, whole=whole))
    best: tuple[float, int, int] = (-1.0, 0, 0)
    found = Dialect(ONE_COLUMN, False, head_rows(text, ONE_COLUMN, whole=whole))
    for delimiter in DELIMITERS:
        rows = head_rows(text, delimiter, whole=whole)
        score = _score(rows)
        if score is not None and score > best:
            best, found = score, Dialect(delimiter, False, rows)
    return found


def _score(rows: Sequence[Sequence[str]]) -> tuple[float, int, int] | None:
    """How well a delimiter splits these rows; None: it cannot be the one.

    It must split the first row of the table, and at least half of those under it. Where something
    stands above that row, half of those under it must have as many cells, too. The best is the
    one with the most rows that have as many cells as the first, then with the fewest names that
    begin with a blank, then with the most columns.
    """
    top = table_top(rows)
    filled = [row for row in rows[top:] if row]
    if not filled or len(filled[0]) < 2:
        return None
    width = len(filled[0])
    under = [len(row) for row in filled[1:]]
    if sum(cells > 1 for cells in under) * 2 < len(under):
        return None
    others = len(under) + sum(map(bool, rows[:top]))
    if top and under.count(width) * 2 < len(under):
        return None  # no title over a table, but a name over texts
    same = under.count(width) / others if others else 1.0
    return same, -sum(name.startswith(" ") for name in filled[0]), width


def split_sign(delimiter: str | None) -> str:
    """The sign at which rows are split; for a single column NUL, which the decoder refuses."""
    return delimiter or "\0"


def table_start(text: str) -> int:
    """Where the table begins: below a line that names the separator."""
    named = SEPARATOR_LINE.match(text)
    return named.end() if named else 0


def head_rows(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """The first HEAD_ROWS rows, with `[]` for an empty line. One that may be cut off is dropped."""
    csv.field_size_limit(LINE_LIMIT)
    lines = io.StringIO(text[table_start(text) :], newline="")
    rows: list[list[str]] = []
    row: list[str] = []
    for row in csv.reader(lines, delimiter=split_sign(delimiter)):
        rows.append(row)
        if len(rows) == HEAD_ROWS:
            return rows
    if row and not whole:
        rows.pop()
    while rows and not rows[-1]:
        rows.pop()
    return rows


def doubled(text: str) -> str:
    """The text with its escaped quotation marks written as two, and `\\\\` as one backslash."""
    return ESCAPED.sub(lambda found: '""' if found[1] == '"' else "\\", text)


class Doubling:
    """Does what `doubled` does to a text that comes in pieces."""

    def __init__(self) -> None:
        self._held = ""

    def __call__(self, text: str, *, final: bool) -> str:
        text = self._held + text
        # A backslash at the end may belong to what comes next.
        odd = (len(text) - len(text.rstrip("\\"))) % 2 and not final
        self._held = "\\" if odd else ""
        return doubled(text[:-1] if odd else text)


def _has_backslashes(text: str, delimiter: str) -> bool:
    """Whether quotation marks within cells are written with a backslash.

    They are if the text can be read further so than with two of them.
    """
    return '\\"' in text and _rows_read(doubled(text), delimiter) > _rows_read(text, delimiter)


def _rows_read(text: str, delimiter: str) -> int:
    """How many rows come before the first quotation mark that is wrong."""
    csv.field_size_limit(LINE_LIMIT)
    lines = io.StringIO(text[table_start(text) :], newline="")
    reader = csv.reader(lines, delimiter=split_sign(delimiter), strict=True)
    rows = 0
    try:
        for _ in reader:
            rows += 1
    except csv.Error:
        pass
    return rows
