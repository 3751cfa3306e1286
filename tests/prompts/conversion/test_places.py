"""The names of cells, and where they are."""

import pytest

from batchui.prompts.conversion.places import place, position


@pytest.mark.parametrize(
    ("row", "column", "letters"),
    [
        (0, 0, "A"),
        (16, 2, "C"),
        (0, 25, "Z"),
        (8, 26, "AA"),
        (9, 51, "AZ"),
        (99, 701, "ZZ"),
        (0, 702, "AAA"),
        (1_048_575, 16_383, "XFD"),
    ],
)
def test_a_cell_is_called_as_a_spreadsheet_calls_it(row: int, column: int, letters: str) -> None:
    assert place(row, column) == f"{letters}{row + 1}"
    assert position(letters.encode(), b"%d" % (row + 1)) == (row, column)
