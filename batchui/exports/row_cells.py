"""Finds the cells of a row."""

import re
from typing import NamedTuple

from batchui.exports.cannot_write import unreadable
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
                raise unreadable(f"Row {row.number:,} of the sheet has a cell without an end.")
            filled = b"<" in text[end : closing.start()]
            end = closing.end()
        style = attributes.get(b"s", b"")
        number_of_style = style.decode() if style.isdigit() else None
        found.append(Cell(tag.start(), end, column, number_of_style, filled))
    return found


def last_columns(row: Row, tags: Tags) -> tuple[int, int]:
    """The columns of a row's last cell and of its last filled one; 0 if there is none.

    Raises CannotWrite as `cells_of` does. It finds the same, without looking at each cell, where
    all begin with their reference and the last one is filled.
    """
    text = row.cells
    if tags.any_cell not in text:
        return 0, 0
    usual = tags.usual_cell.findall(text)
    if (
        len(usual) == text.count(tags.any_cell)
        and text.endswith(tags.filled_ends)
        and b"extLst" not in text
    ):
        letters, numbers = zip(*usual, strict=True)
        columns = list(map(column_number, letters))
        if set(numbers) == {b"%d" % row.number} and columns == sorted(set(columns)):
            return columns[-1], columns[-1]
    cells = cells_of(row, tags)
    filled = [cell.column for cell in cells if cell.filled]
    return cells[-1].column if cells else 0, filled[-1] if filled else 0


def _blanks(found: re.Match[bytes]) -> bytes:
    return b" " * len(found[0])
