"""Finds the cells of a row."""

import re
from typing import NamedTuple

from batchui.exports.cannot_write import NOT_WELL_FORMED, unreadable
from batchui.exports.sheet_xml import Row
from batchui.exports.tags import Tags, attributes_of, column_number, place

_SLASH = ord("/")


class Cell(NamedTuple):
    """A cell: where it begins and ends in its row's `cells`, and its column, from 1.

    style: the number of its format, None if it has none. filled: it has a value, or a formula.
    """

    start: int
    end: int
    column: int
    style: str | None
    filled: bool


def cells_of(row: Row, tags: Tags) -> list[Cell]:
    """The cells of a row, from the left.

    One that does not say its column stands right of the one before. Raises CannotWrite for cells
    that are not in order, or say that they are in another row: programs do not agree about those.
    """
    text = tags.extension.sub(_blanks, row.cells) if b"extLst" in row.cells else row.cells
    found: list[Cell] = []
    column = 0
    for tag in tags.cell.finditer(text):
        attributes = attributes_of(tag[1])
        reference = attributes.get(b"r")
        before, column = column, column + 1
        if reference is not None:
            number, column = place(reference)
            if number != row.number or column <= before:
                raise unreadable(f"The cells of row {row.number:,} of the sheet are not in order.")
        end, filled = tag.end(), False
        if text[end - 2] != _SLASH:
            closing = tags.cell_end.search(text, end)
            if closing is None:
                raise unreadable(NOT_WELL_FORMED)
            filled = b"<" in text[end : closing.start()]
            end = closing.end()
        style = attributes.get(b"s", b"")
        number_of_style = style.decode() if style.isdigit() else None
        found.append(Cell(tag.start(), end, column, number_of_style, filled))
    return found


class LastColumns:
    """Finds the last columns of one row after another."""

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._in_order: list[bytes] = []

    def of(self, row: Row) -> tuple[int, int]:
        """The columns of a row's last cell and of its last filled one; 0 if there is none.

        Raises CannotWrite as `cells_of` does. It finds the same, three times as fast, for a row as
        programs usually write it whose columns are those of the row before.
        """
        if self._tags.any_cell not in row.cells:
            return 0, 0
        if self._tags.usual_row.match(row.raw):
            letters = self._tags.usual_cell.findall(row.cells)
            if self._are_in_order(letters):
                last = column_number(letters[-1])
                is_filled = row.cells.endswith(self._tags.usual_cell_ends)
                return last, last if is_filled else self._last_filled(row.cells)
        cells = cells_of(row, self._tags)
        last_filled = max((cell.column for cell in cells if cell.filled), default=0)
        return cells[-1].column if cells else 0, last_filled

    def _last_filled(self, cells: bytes) -> int:
        """The column of the last filled cell of a usual row."""
        end = max(map(cells.rfind, self._tags.usual_cell_ends))
        start = cells.rfind(self._tags.usual_cell_start, 0, max(end, 0))
        found = self._tags.usual_cell.match(cells, start) if start >= 0 else None
        return column_number(found[1]) if found else 0

    def _are_in_order(self, letters: list[bytes]) -> bool:
        if letters != self._in_order:
            columns = list(map(column_number, letters))
            if columns != sorted(set(columns)):
                return False
            self._in_order = letters
        return True


def _blanks(found: re.Match[bytes]) -> bytes:
    return b" " * len(found[0])
