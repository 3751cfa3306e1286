"""Downloads begin at once and hold no more than a chunk."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.rows import ExportRow
from batchui.exports.table import Table
from tests.exports.rows import row

COLUMNS = ["id", "review"]
WRITERS: list[Callable[..., Iterator[bytes]]] = [csv_chunks, json_chunks, jsonl_chunks]


class Counted:
    """Rows without an end, counted as they are taken."""

    def __init__(self, **changes: Any) -> None:
        self.taken = 0
        self._changes = changes

    def __iter__(self) -> Iterator[ExportRow]:
        for self.taken in itertools.count(1):
            yield row(self.taken, **self._changes)


@pytest.mark.parametrize("write", [csv_chunks, json_chunks])
def test_the_first_chunk_comes_before_the_first_row(write: Callable[..., Iterator[bytes]]) -> None:
    rows = Counted()
    assert next(write(rows, Table(COLUMNS)))
    assert rows.taken == 0


@pytest.mark.parametrize("write", WRITERS)
def test_chunks_are_about_64_kib(write: Callable[..., Iterator[bytes]]) -> None:
    chunks = write(Counted(answer=b'"%s"' % (b"word " * 60)), Table(COLUMNS))
    sizes = [len(chunk) for chunk in itertools.islice(chunks, 1, 6)]
    assert all(40_000 < size < 130_000 for size in sizes)


@pytest.mark.parametrize("write", WRITERS)
def test_large_answers_are_not_gathered(write: Callable[..., Iterator[bytes]]) -> None:
    rows = Counted(answer=b'"%s"' % (b"x" * 100_000))
    for _ in itertools.islice(write(rows, Table(COLUMNS)), 5):
        pass
    assert rows.taken <= 5


@pytest.mark.parametrize("write", WRITERS)
def test_large_cells_are_not_gathered(write: Callable[..., Iterator[bytes]]) -> None:
    rows = Counted(cells=["1", "x" * 100_000])
    for _ in itertools.islice(write(rows, Table(COLUMNS)), 5):
        pass
    assert rows.taken <= 5
