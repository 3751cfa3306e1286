"""The texts of a column's cells, and the kinds that their extremes decide."""

from decimal import Decimal

import pytest

from batchui.exports.column_kinds import Column, Kind
from batchui.exports.rows import Cell, cell_text, column_texts

COLUMNS: list[list[Cell]] = [
    [],
    [1, -20, 2**53 + 1],
    [1, Decimal("1.10"), 2.5],
    [Decimal("1E+2"), float("nan")],
    [True, False],
    [True, 1],
    [{"date": "2026-05-01"}, {"percent": "25%"}, {"shown": "00123", "number": 123}],
    [{"date": "2026-05-01"}, 7],
    ["a", True, "", False],
    ["a", ""],
]


@pytest.mark.parametrize("cells", COLUMNS, ids=str)
def test_a_column_has_the_texts_of_its_cells(cells: list[Cell]) -> None:
    assert column_texts(cells) == [cell_text(cell) for cell in cells]


def test_a_moment_as_a_column_is_its_text() -> None:
    assert column_texts([{"datetime": "2026-05-01 12:30:15"}]) == ["2026-05-01 12:30:15"]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([5, 2**53, -(2**53)], Kind.INTEGER),
        ([5, 2**63 - 1, 7], Kind.INTEGER),
        ([5, 2**63, 7], Kind.TEXT),
        ([5, -(2**63) - 1, 7], Kind.TEXT),
        ([True, False], Kind.BOOLEAN),
        ([True, 1], Kind.TEXT),
        ([{"date": "2026-05-01"}, {"date": "2026-05-01"}], Kind.DATE),
        ([{"date": "2026-05-01"}, {"date": "2026-02-30"}], Kind.TEXT),
        ([{"date": "2026-05-01"}, {"datetime": "2026-05-01 12:30:15"}], Kind.TEXT),
    ],
    ids=str,
)
def test_the_kind_of_a_column_is_that_of_all_its_cells(cells: list[Cell], kind: Kind) -> None:
    # Numbers beyond 64 bits are Decimals where they are read.
    cells = [Decimal(cell) if type(cell) is int and abs(cell) > 2**63 else cell for cell in cells]
    column = Column(untyped=False)
    column.note(cells, column_texts(cells))
    assert column.kind == kind


@pytest.mark.parametrize("far", [2**53 + 1, -(2**53) - 1])
def test_one_number_beyond_all_doubles_makes_a_column_with_fractions_text(far: int) -> None:
    column = Column(untyped=False)
    for cells in ([5, far, 7], [Decimal("1.5")]):
        column.note(cells, column_texts(cells))
    assert column.kind == Kind.TEXT
