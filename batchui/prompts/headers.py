"""Reads the first line of a CSV: the delimiter of its cells and the names of its columns."""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence

from batchui.prompts.decoding import line_breaks
from batchui.prompts.problems import CELL_LIMIT, NAME_LIMIT, BadInput, joined, quoted
from batchui.prompts.quotes import find_fault

COLUMN_LIMIT = 2_000
# They show the delimiter. A quarter of a megabyte may have a hundred thousand.
HEAD_ROWS = 1_000
DELIMITERS = (",", ";", "\t")
# For a single column. The decoder refuses NUL, so no text is split at it.
NO_DELIMITER = "\0"
# A first line that Excel writes to name the delimiter. It is not part of the table.
SEPARATOR_LINE = re.compile(r"sep=([,;\t|])(?:\r\n|\r|\n)")
FILLED_LINE = re.compile(r"[^\r\n]+")


def check_header(text: str, *, delimiter: str | None, columns: Sequence[str]) -> None:
    """Raise BadInput, with names and positions, if the names in the first line cannot be used."""
    _refuse_open_quotes(text, delimiter)
    start = _table_start(text)
    if not columns and start and not FILLED_LINE.search(text, start):
        above = text[:start].strip()
        raise BadInput.at(
            f"there are no column names below the line “{above}”. Choose a file with column names "
            "and at least one row.",
            line=2,
        )
    if not columns:
        raise BadInput(
            "The first line of the file is longer than 256 KB, too long for a line of column "
            "names. Put the names of the columns in the first line."
        )
    if len(columns) > COLUMN_LIMIT:
        raise BadInput(
            f"The first line names {len(columns):,} columns; at most {COLUMN_LIMIT:,} can be read. "
            "Remove the columns that are not needed."
        )
    _refuse_blank_names(columns)
    _refuse_long_names(columns)
    _refuse_duplicate_names(columns)


def _table_start(text: str) -> int:
    """Where the table begins: below a line that names the separator."""
    named = SEPARATOR_LINE.match(text)
    return named.end() if named else 0


def _refuse_open_quotes(text: str, delimiter: str | None) -> None:
    start = FILLED_LINE.search(text, _table_start(text))
    fault = start and find_fault(text, start=start.start(), delimiter=delimiter or NO_DELIMITER)
    if fault:
        line = 1 + line_breaks(text[: fault.start])
        raise BadInput.at(
            "the quotation mark that opens a column's name here is "
            f"{'not closed' if fault.kind == 'unclosed' else 'closed within the name'}. Put each "
            "name in quotation marks as a whole, or in none.",
            line=line,
        )


def _refuse_blank_names(columns: Sequence[str]) -> None:
    blank = [at for at, name in enumerate(columns, 1) if not name.strip()]
    if blank:
        which = "Column" if len(blank) == 1 else "Columns"
        has = "has" if len(blank) == 1 else "have"
        raise BadInput(
            f"{which} {_numbers(blank)} of the first line {has} no name. Give every column a name "
            "in the first line, or remove the columns without one.",
            line=1,
        )


def _refuse_long_names(columns: Sequence[str]) -> None:
    for at, name in enumerate(columns, 1):
        if len(name) > NAME_LIMIT:
            raise BadInput.at(
                f"the name of column {at:,}, {quoted(name)}, has {len(name):,} characters; at most "
                f"{NAME_LIMIT:,} are possible. Shorten it. If this line is a row, put names of the "
                "columns above it.",
                line=1,
            )


def _refuse_duplicate_names(columns: Sequence[str]) -> None:
    name, times = Counter(columns).most_common(1)[0]
    if times > 1:
        places = [at for at, other in enumerate(columns, 1) if other == name]
        raise BadInput(
            f"The column name {quoted(name)} appears {times:,} times in the first line, as columns "
            f"{_numbers(places)}. Give each column a different name.",
            line=1,
            column=name,
        )


def _numbers(places: Sequence[int]) -> str:
    return joined([str(place) for place in places])


def best_delimiter(text: str, *, whole: bool) -> tuple[str | None, tuple[str, ...], int]:
    """The delimiter (None for a single column), the header's cells, and the number of other rows.

    A delimiter must split the header and at least half of the rows. See `_score` for what makes one
    better than another.
    """
    if named := SEPARATOR_LINE.match(text):
        rows = head_rows(text, named[1], whole=whole)
        return named[1], tuple(rows[0]) if rows else (), len(rows) - 1
    best: tuple[float, int, int] = (-1.0, 0, 0)
    found: tuple[str | None, list[list[str]]] = (None, head_rows(text, NO_DELIMITER, whole=whole))
    for delimiter in DELIMITERS:
        rows = head_rows(text, delimiter, whole=whole)
        score = _score(rows)
        if score is not None and score > best:
            best, found = score, (delimiter, rows)
    delimiter_found, rows = found
    return delimiter_found, tuple(rows[0]) if rows else (), max(0, len(rows) - 1)


def _score(rows: Sequence[Sequence[str]]) -> tuple[float, int, int] | None:
    """How well a delimiter splits these rows, the header first; None: it cannot be the one.

    It must split the header, and at least half of the rows. The best is the one with the most rows
    that have as many cells as the header, then with the fewest names that begin with a blank.
    """
    if not rows or len(rows[0]) < 2:
        return None
    width = len(rows[0])
    under = [len(row) for row in rows[1:]]
    if sum(cells > 1 for cells in under) * 2 < len(under):
        return None
    same = under.count(width) / len(under) if under else 1.0
    return same, -sum(name.startswith(" ") for name in rows[0]), width


def head_rows(text: str, delimiter: str, *, whole: bool) -> list[list[str]]:
    """The first HEAD_ROWS of the head that are not empty. One that may be cut off is dropped."""
    csv.field_size_limit(CELL_LIMIT)
    lines = io.StringIO(text[_table_start(text) :], newline="")
    rows: list[list[str]] = []
    row: list[str] = []
    for row in csv.reader(lines, delimiter=delimiter):
        if row:
            rows.append(row)
            if len(rows) == HEAD_ROWS:
                return rows
    return rows[:-1] if row and not whole else rows
