"""Finds the cells of a row."""

import re
from typing import NamedTuple

from batchui.exports.workbook.cannot_write import NOT_WELL_FORMED, unreadable
from batchui.exports.workbook.sheet_xml import Row
from batchui.exports.workbook.tags import LAST_COLUMN, Tags, column_number, place_of

_SLASH = ord("/")


class Cell(NamedTuple):
    """A cell: where it begins and ends in its row's `cells`, and its column, from 1.

    filled: it has a value, or a formula. tag: its start tag, as `Tags.cell` finds it.
    """

    start: int
    end: int
    column: int
    filled: bool
    tag: re.Match[bytes]


def cells_of(row: Row, tags: Tags, *, start: int = 0, last: int = LAST_COLUMN + 1) -> list[Cell]:
    """The cells of a row, from the left; with `start`, only those from this place on.

    With `last`, none behind the first one that reaches this column. Raises CannotWrite for cells
    that are not in order, or say that they are in another row: programs do not agree about those.
    """
    text = _without_extensions(row.cells, tags)
    found: list[Cell] = []
    column = 0
    while column < last and (tag := tags.cell.search(text, start)):
        before = column
        number, column = place_of(tag) or (row.number, before + 1)
        if number != row.number or not before < column <= LAST_COLUMN:
            raise unreadable(f"The cells of row {row.number:,} of the sheet are not in order.")
        end = tag.end()
        # What is searched next begins behind this cell: no byte is searched twice.
        start = end if text[end - 2] == _SLASH else _end_of(text, end, tags.cell_end)
        filled = start > end and b"<" in text[end : text.rindex(b"<", end, start)]
        found.append(Cell(tag.start(), start, column, filled, tag))
    return found


def last_filled(row: Row, tags: Tags) -> tuple[int, int] | None:
    """The column of the last filled cell, and where it ends; zeros if there is none.

    None for a row that is not as programs usually write it. In others, all cells say where they are
    and those behind the last filled one are blank; often they are many.
    """
    return _last_filled(row.cells, tags) if row.is_usual else None


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
        if row.is_usual:
            letters = self._tags.usual_cell.findall(row.cells)
            if not letters:
                return 0, 0
            if self._are_in_order(letters):
                last = column_number(letters[-1])
                is_filled = row.cells.endswith(self._tags.usual_cell_ends)
                return last, last if is_filled else _last_filled(row.cells, self._tags)[0]
        cells = cells_of(row, self._tags)
        last = max((cell.column for cell in cells if cell.filled), default=0)
        return cells[-1].column if cells else 0, last

    def _are_in_order(self, letters: list[bytes]) -> bool:
        if letters != self._in_order:
            columns = list(map(column_number, letters))
            if columns != sorted(set(columns)):
                return False
            self._in_order = letters
        return True


def _last_filled(cells: bytes, tags: Tags) -> tuple[int, int]:
    ends = [cells.rfind(end) + len(end) for end in tags.usual_cell_ends if end in cells]
    if not ends:
        return 0, 0
    end = max(ends)
    start = cells.rfind(tags.usual_cell_start, 0, end)
    [letters] = tags.usual_cell.findall(cells, start, end)
    return column_number(letters), end


def _without_extensions(text: bytes, tags: Tags) -> bytes:
    """The cells of a row with blanks for extensions, in which tags mean something else."""
    if b"extLst" not in text:
        return text
    seen = bytearray(text)
    end = 0
    while tag := tags.extension.search(text, end):
        end = tag.end()
        if text[end - 2] != _SLASH:
            end = _end_of(text, end, tags.extension_end)
        seen[tag.start() : end] = b" " * (end - tag.start())
    return bytes(seen)


def _end_of(text: bytes, start: int, end_tag: re.Pattern[bytes]) -> int:
    found = end_tag.search(text, start)
    if found is None:
        raise unreadable(NOT_WELL_FORMED)
    return found.end()
