"""What the sheets of every spreadsheet program have in common."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from batchui.exports.column_kinds import width
from batchui.exports.spool import Spool
from batchui.exports.xlsx_text import LONGEST_TEXT

# Of a sheet, in every program.
MOST_ROWS = 1_048_576
MOST_COLUMNS = 16_384
# In letters: what the button of the filter takes, and the narrowest column.
BUTTON, NARROWEST = 3, 8


class TooManyColumns(Exception):
    """A sheet has no room for all columns. The text is a sentence for people."""


class Written(NamedTuple):
    """What became of an export: its rows, its sheets, and how many cells were cut."""

    rows: int
    sheets: int
    cut: int

    def remarks(self) -> list[str]:
        """Sentences for the page; none for most exports."""
        said = []
        if self.sheets > 1:
            said.append(
                f"A sheet has room for {MOST_ROWS:,} rows, so the {self.rows:,} rows are on "
                f"{self.sheets} sheets."
            )
        if self.cut:
            texts = "One text is" if self.cut == 1 else f"{self.cut:,} texts are"
            said.append(
                f"{texts} longer than the {LONGEST_TEXT:,} characters that a cell takes, and cut "
                "off there. The column “cut” says which. CSV and JSON have the whole text."
            )
        return said


def sheets_for(rows: int, *, above: int = 0, most_rows: int = MOST_ROWS) -> int:
    """How many sheets so many rows need. Each has the header; the first the rows above it, too."""
    first = most_rows - 1 - above
    return 1 + max(0, ceil((rows - first) / (most_rows - 1)))


def sheet_name(number: int) -> str:
    """The name of a sheet, counted from 1."""
    return "Answers" if number == 1 else f"Answers {number}"


def refuse_too_many(columns: int) -> None:
    """Raises TooManyColumns where a sheet has no room for so many."""
    if columns > MOST_COLUMNS:
        raise TooManyColumns(
            f"With the answers, there are {columns:,} columns. A spreadsheet has room for "
            f"{MOST_COLUMNS:,}. Choose fewer columns, or download CSV."
        )


def widths(spool: Spool, header: Sequence[str]) -> list[int]:
    """The width of each column in letters: its cells and its name fit."""
    cells = [column.width for column in spool.columns]
    cells += [0] * (len(header) - len(cells))
    names = [width(name) + BUTTON for name in header]
    return [max(NARROWEST, *both) + 2 for both in zip(cells, names, strict=True)]
