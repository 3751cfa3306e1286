"""Whatever cells go in, the same come out, in the same order."""

import csv
import io
import json
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks, jsonl_chunks
from batchui.exports.rows import cell_text
from batchui.exports.table import Table
from tests.exports.rows import row

COLUMNS = ["a", "b"]
TEXTS = st.text(max_size=10) | st.sampled_from(["=1+1", "-", "00123", "\r\n", '"', ";", ",", "\t"])
TYPED = (
    TEXTS
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.dates().map(lambda day: {"date": day.isoformat()})
)
PROPERTY = settings(deadline=None, max_examples=60)


def rows_of(cells: Any) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(cells, min_size=2, max_size=2), max_size=8)


def by_csv(chunks: Any, delimiter: str) -> list[list[str]]:
    text = b"".join(chunks).decode("utf-8")
    found = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [cells[:2] for cells in found][1:]


@PROPERTY
@given(rows_of(TYPED), st.sampled_from([",", ";", "\t", "|"]))
def test_plain_csv_has_every_text(cells: list[list[Any]], delimiter: str) -> None:
    table = Table(COLUMNS, typed=True)
    rows = [row(at, both) for at, both in enumerate(cells)]
    chunks = csv_chunks(rows, table, delimiter=delimiter, plain=True)
    assert by_csv(chunks, delimiter) == [[cell_text(cell) for cell in both] for both in cells]


@PROPERTY
@given(rows_of(TEXTS))
def test_texts_need_no_types_to_come_back(cells: list[list[str]]) -> None:
    rows = [row(at, both) for at, both in enumerate(cells)]
    assert by_csv(csv_chunks(rows, Table(COLUMNS), plain=True), ",") == cells
    lines = b"".join(jsonl_chunks(rows, Table(COLUMNS))).splitlines()
    assert [list(json.loads(line)["columns"].values()) for line in lines] == cells


@PROPERTY
@given(rows_of(TYPED))
def test_json_has_every_number_exactly_and_every_text(cells: list[list[Any]]) -> None:
    rows = [row(at, both) for at, both in enumerate(cells)]
    written = b"".join(json_chunks(rows, Table(COLUMNS, typed=True)))
    found = json.loads(written, parse_float=Decimal)
    assert [entry["row"] for entry in found] == list(range(len(cells)))
    for entry, both in zip(found, cells, strict=True):
        expected = [cell_text(cell) if isinstance(cell, dict) else cell for cell in both]
        values = list(entry["columns"].values())
        assert values == expected
        assert [type(value) is bool for value in values] == [type(v) is bool for v in expected]
