"""Parquet and Arrow files: whole ones, strange ones, cut ones."""

import gzip
import io
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from tests.batches.conftest import MakeBatch
from tests.corpus.entries import Entry, Table, each, found_in

pytestmark = pytest.mark.django_db

DAMAGED_TABLE = "This file is damaged, or was not copied whole, so its table cannot be read. …"


def table_of(columns: Mapping[str, Any]) -> bytes:
    made = io.BytesIO()
    parquet.write_table(pa.table(columns), made)
    return made.getvalue()


def arrow_of(columns: Mapping[str, Any], new: Callable[..., Any]) -> bytes:
    made = io.BytesIO()
    table = pa.table(columns)
    with new(made, table.schema) as writer:
        writer.write_table(table)
    return made.getvalue()


def feather_of(columns: Mapping[str, Any]) -> bytes:
    made = io.BytesIO()
    feather.write_feather(pa.table(columns), made)
    return made.getvalue()


COLUMNS = {"id": [1, 2], "text": ["one", "two"]}
COLUMNAR = Table(("id", "text"), 2, [1, "one"])

ENTRIES = [
    Entry("a Parquet file", "r.parquet", lambda: table_of(COLUMNS), COLUMNAR),
    Entry("a Parquet file named .csv", "r.csv", lambda: table_of(COLUMNS), COLUMNAR),
    Entry(
        "a Parquet file without rows",
        "r.parquet",
        lambda: table_of({"a": pa.array([], pa.string())}),
        "The table in this file has no rows. Choose a file with rows.",
    ),
    Entry(
        "a Parquet file without columns",
        "r.parquet",
        lambda: table_of({}),
        "The table in this file has no columns. …",
    ),
    Entry(
        "a Parquet file that is cut", "r.parquet", lambda: table_of(COLUMNS)[:-20], DAMAGED_TABLE
    ),
    Entry("four bytes of a Parquet file", "r.parquet", b"PAR1", DAMAGED_TABLE),
    Entry(
        "an encrypted Parquet file",
        "r.parquet",
        b"PARE" + bytes(50),
        "This Parquet file is encrypted. …",
    ),
    Entry(
        "a Parquet file of lists and objects",
        "r.parquet",
        lambda: table_of({"a": [[1, 2]], "b": [{"c": "d"}]}),
        Table(("a", "b"), 1, ["[1,2]", '{"c":"d"}']),
    ),
    Entry(
        "a Parquet file of bytes",
        "r.parquet",
        lambda: table_of({"a": [b"abc"], "b": [b"\xff\xfe"]}),
        Table(("a", "b"), 1, ["YWJj", "//4="]),
    ),
    Entry(
        "a Parquet file with an index of pandas",
        "r.parquet",
        lambda: table_of({"text": ["a"], "__index_level_0__": [7]}),
        Table(("text", "__index_level_0__"), 1, ["a", 7]),
    ),
    Entry("an Arrow file", "r.arrow", lambda: arrow_of(COLUMNS, pa.ipc.new_file), COLUMNAR),
    Entry("an Arrow stream", "r.arrows", lambda: arrow_of(COLUMNS, pa.ipc.new_stream), COLUMNAR),
    Entry(
        "an Arrow stream that is cut",
        "r.arrows",
        lambda: arrow_of(COLUMNS, pa.ipc.new_stream)[:200],
        DAMAGED_TABLE,
    ),
    Entry("a Feather file", "r.feather", lambda: feather_of(COLUMNS), COLUMNAR),
    Entry(
        "an old Feather file",
        "r.feather",
        b"FEA1" + bytes(50),
        "This Feather file is of version 1, which is too old. …",
    ),
    Entry(
        "a Parquet file in gzip", "r.parquet.gz", lambda: gzip.compress(table_of(COLUMNS)), COLUMNAR
    ),
]


@each(ENTRIES)
def test_a_table_of_columns_is_read(receive: MakeBatch, entry: Entry) -> None:
    assert found_in(receive, entry) == entry.expected
