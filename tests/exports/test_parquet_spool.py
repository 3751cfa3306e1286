"""The texts of a Parquet export in a temporary file, until the types of its columns are known."""

from pathlib import Path
from typing import Any

import pytest

from batchui.exports.column_kinds import Kind
from batchui.exports.parquet_spool import BLOCK_BYTES, TextSpool
from batchui.exports.table import EVERYTHING, Layout, Table
from tests.exports.rows import row


def filled(folder: Path, rows: list[Any], columns: list[str], *, typed: bool = False) -> TextSpool:
    table = Table(columns, typed=typed)
    spool = TextSpool(table, Layout(table, EVERYTHING))
    spool.fill(folder / "rows", iter(rows))
    return spool


def read(spool: TextSpool, folder: Path, *, rows: int, size: int) -> list[list[list[Any]]]:
    """The columns of each table."""
    tables = spool.read(folder / "rows", rows=rows, size=size)
    return [[column.to_pylist() for column in table.columns] for table in tables]


def test_every_cell_comes_back_as_its_text(tmp_path: Path) -> None:
    rows = [
        row(1, [5, "a"], answer=b"[1]", extras=[True, ""]),
        row(2, [{"date": "2026-05-01"}, ""], answer=None, error="Why."),
    ]
    spool = filled(tmp_path, rows, ["x", "y"], typed=True)
    assert read(spool, tmp_path, rows=9, size=BLOCK_BYTES) == [
        [
            ["5", "2026-05-01"],
            ["a", ""],
            ["[1]", ""],
            ["answered", "answered"],
            ["", "Why."],
            [["TRUE", ""], None],
        ]
    ]
    assert (spool.rows, spool.extras) == (2, 2)
    assert [column.kind for column in spool.columns] == [
        *(Kind.TEXT, Kind.TEXT, Kind.NUMBERS, Kind.TEXT, Kind.TEXT)
    ]


@pytest.mark.parametrize(
    ("rows", "size", "lengths"),
    [
        (2, 10**9, [2, 2, 1]),
        (3, 10**9, [3, 2]),
        (5, 10**9, [5]),
        (6, 10**9, [5]),
        (9, BLOCK_BYTES * 3 // 2, [2, 2, 1]),
        (9, 1, [1, 1, 1, 1, 1]),
        (1, 10**9, [1, 1, 1, 1, 1]),
    ],
)
def test_tables_end_with_so_many_rows_or_bytes(
    tmp_path: Path, rows: int, size: int, lengths: list[int]
) -> None:
    """A row of this size is a block."""
    long = "x" * BLOCK_BYTES
    spool = filled(tmp_path, [row(at, [f"{at} {long}"]) for at in range(5)], ["a"])
    found = read(spool, tmp_path, rows=rows, size=size)
    assert [len(columns[0]) for columns in found] == lengths
    assert [cell[0] for columns in found for cell in columns[0]] == list("01234")


def test_rows_that_are_turned_into_columns_at_once_stay_together(tmp_path: Path) -> None:
    spool = filled(tmp_path, [row(at, ["x"]) for at in range(9)], ["a"])
    assert [len(columns[0]) for columns in read(spool, tmp_path, rows=4, size=1)] == [9]
    assert read(filled(tmp_path, [], ["a"]), tmp_path, rows=4, size=1) == []
