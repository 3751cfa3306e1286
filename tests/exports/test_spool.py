"""Rows in a temporary file: as they were, as often as wanted, and gone afterwards."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from batchui.exports.column_kinds import Kind
from batchui.exports.spool import Spool, spooled
from batchui.exports.table import EVERYTHING, Table
from tests.exports.rows import row

CELLS: list[Any] = [
    *("text", "", "\u0000 é😀\n", 5, 2**70, Decimal("1.10"), Decimal("1E+400"), True),
    *({"date": "2026-05-01"}, {"shown": "00123", "number": 123}),
]


def kept(folder: Path, rows: Any, table: Table) -> Any:
    return spooled(rows, table, EVERYTHING, folder)


def test_every_cell_comes_back_as_often_as_wanted(tmp_path: Path) -> None:
    rows = [row(at, [cell], extras=[cell], error="Why.") for at, cell in enumerate(CELLS)]
    with kept(tmp_path, rows, Table(["cell"], typed=True)) as spool:
        for _ in range(2):
            found = list(spool)
            assert found == [[cell, "yes", "answered", "Why.", cell] for cell in CELLS]
            assert [type(cells[0]) for cells in found] == [type(cell) for cell in CELLS]
        assert str(found[5][0]) == "1.10"
        assert [spool.folder] == list(tmp_path.glob("export-*"))
    assert not list(tmp_path.iterdir())


def test_it_knows_its_columns_and_rows(tmp_path: Path) -> None:
    table = Table(["n", "text"], header=["", "text"])
    rows = [row(1, ["5", "x" * 70]), row(2, ["", "y"], answer=b"2.5", extras=["", "z" * 99])]
    with kept(tmp_path, rows, table) as spool:
        assert spool.names == ["n", "text", "answer", "status", "error"]
        assert spool.header == ["", "text", "answer", "status", "error"]
        assert [column.kind for column in spool.columns] == [
            *(Kind.INTEGER, Kind.TEXT, Kind.TEXT, Kind.TEXT, Kind.BLANK)
        ]
        assert spool.number_columns == {0}
        assert (spool.rows, spool.extras, spool.longest) == (2, 2, 99)


def test_a_status_or_an_error_is_never_a_number(tmp_path: Path) -> None:
    rows = [row(1, status="5", error="7", answer=b'"9"')]
    with kept(tmp_path, rows, Table(["a", "b"])) as spool:
        assert spool.number_columns == {0, 2}


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    rows = [row(1, ["cut \ud83d", "fine"]), row(2, ["é", "x"])]
    with kept(tmp_path, rows, Table(["a", "b"])) as spool:
        assert [cells[:2] for cells in spool] == [["cut ?", "fine"], ["é", "x"]]


def test_the_temporary_file_goes_when_something_fails(tmp_path: Path) -> None:
    def breaking() -> Any:
        yield row(1)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"), kept(tmp_path, breaking(), Table(["a", "b"])):
        pass
    assert not list(tmp_path.iterdir())


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    spool: Spool
    with kept(tmp_path, [], Table(["a"])) as spool:
        assert list(spool) == []
        assert (spool.rows, spool.extras, spool.longest) == (0, 0, 0)
