"""The exception of this package, the phrases of its sentences, and the limits in them."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

# In characters. A longer line or cell means a damaged file, and must not fill the memory.
LINE_LIMIT = 8_000_000
CELL_LIMIT = 1_000_000
COLUMN_LIMIT = 2_000
# Of one row: the cells of a CSV, or everything in a JSON object. A value takes a hundred bytes of
# memory, and no model reads so many.
VALUE_LIMIT = 50_000
# Characters of a column's name, and of all of them: about as many as are read of a CSV's first
# line. They are stored with the batch, and its pages have them.
NAME_LIMIT = 1_000
NAMES_LIMIT = 250_000

# How the sentence about a row that can be skipped ends.
OR_SKIP = ", or skip the row."
# And where the sentence about a row with nothing to ask about begins to say what to do.
FILL_IN = ". Fill it in"

NAMES_SHOWN = 12
NAME_LENGTH = 60


@dataclass
class Limits:
    """What a table may have: the characters of a cell, and how many columns.

    There is one for the process; who starts it may set another (`BATCHUI_MAX_COLUMNS` …).
    """

    cell: int = CELL_LIMIT
    columns: int = COLUMN_LIMIT


LIMITS = Limits()


class Problem(str):
    """A sentence about one place in a file: the place, a colon, what is wrong and what to do.

    row (as a spreadsheet shows it), line (from 1, as in an editor) and column (its name) are the
    place as data, None if it has none. what: the sentence without its place. blank: the row has
    nothing to ask about; it is not broken.
    """

    __slots__ = ("blank", "column", "line", "row", "what")
    blank: bool
    row: int | None
    line: int | None
    column: str | None
    what: str

    def __new__(
        cls,
        what: str,
        *,
        row: int | None = None,
        line: int | None = None,
        column: str | None = None,
        blank: bool = False,
    ) -> Self:
        made = super().__new__(cls, f"{place(row=row, line=line, column=column)}: {what}")
        made.row, made.line, made.column, made.what = row, line, column, what
        made.blank = blank
        return made

    @property
    def once_skipped(self) -> str:
        """The sentence about a row that was skipped: it need not be offered any more.

        Of one with nothing to ask about it says only that: nothing has to be done.
        """
        if self.blank:
            return f"{self.partition(FILL_IN)[0]}."
        return f"{self.removesuffix(OR_SKIP)}." if self.endswith(OR_SKIP) else str(self)


class BadInput(ValueError):
    """Something in the file or the settings that the person has to correct.

    `str(exc)` is a whole sentence for the page: what is wrong, and what to do. `problem` says the
    same of one place; None if it is about the whole file.
    """

    def __init__(self, sentence: str, *, problem: Problem | None = None) -> None:
        super().__init__(sentence)
        self.problem = problem

    @classmethod
    def at(
        cls,
        what: str,
        *,
        row: int | None = None,
        line: int | None = None,
        column: str | None = None,
        blank: bool = False,
    ) -> Self:
        """The error for one place (see `Problem`)."""
        problem = Problem(what, row=row, line=line, column=column, blank=blank)
        return cls(str(problem), problem=problem)


def place(*, row: int | None = None, line: int | None = None, column: str | None = None) -> str:
    """The beginning of a sentence: "Row 42 (line 43), column “review”".

    The line is left out where it is the row.
    """
    if row is None:
        where = "The file" if line is None else f"Line {line:,}"
    else:
        where = f"Row {row:,}" if line in (None, row) else f"Row {row:,} (line {line:,})"
    return where if column is None else f"{where}, column {quoted(column)}"


def quoted(text: str) -> str:
    """A name from the file in quotation marks, shortened, without control characters."""
    shown = "".join(
        " " if unicodedata.category(char)[0] == "C" else char for char in text[:NAME_LENGTH]
    )
    return f"“{shown}”" if len(text) <= NAME_LENGTH else f"“{shown}…”"


def listed(names: Sequence[str]) -> str:
    """Names for a sentence: “a”, “b” and “c”. A long list is cut: “… and 5 more”."""
    return joined([quoted(name) for name in names])


def joined(words: Sequence[str]) -> str:
    """Words for a sentence: a, b and c. A long list is cut: “… and 5 more”."""
    shown = list(words[:NAMES_SHOWN])
    if len(words) > NAMES_SHOWN:
        shown.append(f"{len(words) - NAMES_SHOWN:,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def empty_line(_cells: object, row: int, line: int) -> Problem:
    """The sentence about an empty line."""
    what = f"the line is empty{FILL_IN}, or remove it if it is not a row."
    return Problem(what, row=row, line=line, blank=True)


def empty_row(_cells: object, row: int, line: int) -> Problem:
    """The sentence about a row of a sheet without anything in it."""
    what = f"the row is empty{FILL_IN}, or remove it if it is not a row."
    return Problem(what, row=row, line=line, blank=True)


def cell_too_long(
    *, row: int | None, line: int, column: str | None = None, in_quotes: bool = False
) -> BadInput:
    """The error for a cell of more than LIMITS.cell characters.

    in_quotes: it may be so long because of a quotation mark that is not closed.
    """
    perhaps = " If it is not so long, perhaps a quotation mark before it is not closed."
    return BadInput.at(
        f"this cell is longer than {LIMITS.cell:,} characters. Shorten it."
        f"{perhaps if in_quotes else ''}",
        row=row,
        line=line,
        column=column,
    )
