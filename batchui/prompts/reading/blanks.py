"""Counts the blank cells of every column while a file is checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from batchui.prompts.problems import LIMITS, NAME_LIMIT, NAMES_LIMIT, BadInput, quoted
from batchui.prompts.reading.blocks import Block


@dataclass(frozen=True)
class Blank:
    """How many cells of a column are empty or only white space, and the first such row."""

    count: int
    first_row: int


class ListBlanks:
    """Counts the blank cells of a CSV, TXT or table.

    Its columns are known; good rows have all of them. Only a text can be blank.
    """

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        self._blanks: dict[str, Blank] = {}

    def add(self, block: Block) -> None:
        """Count the rows of the block that have no problem."""
        rows = block.cells
        kept: Sequence[int] = range(block.number, block.number + len(rows))
        if block.problems:
            good = [at not in block.problems for at in range(len(rows))]
            rows, kept = list(compress(rows, good)), list(compress(kept, good))
        for column, cells in zip(self.columns, zip(*rows, strict=True), strict=False):
            try:
                filled = all(map(str.strip, cells))
            except TypeError:  # there are numbers; behind a blank none was looked at
                filled = False
            if not filled:
                self._count(column, cells, kept)

    def _count(self, column: str, cells: Sequence[Any], numbers: Sequence[int]) -> None:
        blank = [
            number
            for number, cell in zip(numbers, cells, strict=True)
            if isinstance(cell, str) and not cell.strip()
        ]
        if blank:
            before = self._blanks.get(column, Blank(0, blank[0]))
            self._blanks[column] = Blank(before.count + len(blank), before.first_row)

    def found(self) -> dict[str, Blank]:
        """The columns that have blank cells, in the order of the file."""
        return {name: self._blanks[name] for name in self.columns if name in self._blanks}


class ObjectBlanks:
    """Counts the blank cells of a JSONL. Objects may have new columns; a missing key is blank."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._filled = dict.fromkeys(columns, 0)
        self._room = NAMES_LIMIT - sum(map(len, columns))
        self._whole = list(columns)  # columns without a blank so far
        self._first_blank: dict[str, int] = {}
        self._rows = 0
        self._first_row = 0

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._filled)

    def add(self, block: Block) -> None:
        """Count the objects of the block. Raises BadInput for keys that cannot be columns."""
        for at, cells in enumerate(block.cells):
            if isinstance(cells, dict):
                self._add(cells, row=block.number + at, line=block.lines[at])

    def _add(self, cells: dict[str, Any], *, row: int, line: int) -> None:
        filled = self._filled
        self._first_row = self._first_row or row
        there = 0
        for column, value in cells.items():
            if column not in filled:
                self._new_column(column, row=row, line=line)
            if value is not None and not (isinstance(value, str) and not value.strip()):
                filled[column] += 1
                there += 1
        self._rows += 1
        if there < len(filled):
            self._note_first_blanks(cells, row=row)

    def _new_column(self, column: str, *, row: int, line: int) -> None:
        if len(column) > NAME_LIMIT:
            raise BadInput.at(
                f"the key {quoted(column)} has {len(column):,} characters; at most {NAME_LIMIT:,} "
                "are possible. Shorten it.",
                row=row,
                line=line,
            )
        self._room -= len(column)
        if len(self._filled) >= LIMITS.columns or self._room < 0:
            raise BadInput.at(
                f"with this object the file has more than {LIMITS.columns:,} different keys, or "
                f"keys of more than {NAMES_LIMIT:,} characters together, too many to be columns. "
                "Put values that vary under one key.",
                row=row,
                line=line,
            )
        self._filled[column] = 0
        if self._rows:
            self._first_blank[column] = self._first_row
        else:
            self._whole.append(column)

    def _note_first_blanks(self, cells: dict[str, Any], *, row: int) -> None:
        still = []
        for column in self._whole:
            value = cells.get(column)
            if value is None or (isinstance(value, str) and not value.strip()):
                self._first_blank[column] = row
            else:
                still.append(column)
        self._whole = still

    def found(self) -> dict[str, Blank]:
        """The columns that have blank cells, in the order in which they were found."""
        return {
            column: Blank(self._rows - filled, self._first_blank[column])
            for column, filled in self._filled.items()
            if filled < self._rows
        }
