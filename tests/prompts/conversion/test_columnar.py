"""Parquet and Arrow files become cells with the types of their columns."""

import io
import json
import sys
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from batchui.prompts.conversion.converted import Sheet
from batchui.prompts.problems import BadInput
from tests.prompts.conversion.conversions import Made, made_of_bytes

MOMENT = datetime.fromisoformat("2026-05-01T12:30:15.250")
ZONE = timezone(timedelta(hours=2))


def written(table: Any, kind: str = "parquet") -> bytes:
    made = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(table, made)
    else:
        new = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with new(made, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    return made.getvalue()


def made_from(folder: Path, name: str = "x.parquet", **columns: Any) -> Made:
    return made_of_bytes(folder, written(pa.table(columns)), name)


TABLE = {"id": [1, 2, 3], "text": ["a", None, "ü\n"]}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("parquet", "x"), ("file", "x.feather"), ("file", "x"), ("stream", "x.arrow")],
)
def test_the_first_row_has_the_names(tmp_path: Path, kind: str, name: str) -> None:
    made = made_of_bytes(tmp_path, written(pa.table(TABLE), kind), name)
    assert made.lines == ['["id","text"]', '[1,"a"]', "[2]", '[3,"ü\\n"]']
    assert made.sheet == Sheet(file="rows.jsonl.zst", name="", rows=4, columns=2, header=True)
    first = (3, 3) if kind == "parquet" else (2, 0)  # of a file that does not tell how many
    assert (made.news[0].done, made.news[0].of) == first


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("int64", 2**62, str(2**62)),
        ("uint64", 2**64 - 1, str(2**64 - 1)),
        ("float64", 5.0, "5"),
        ("float64", 0.1 + 0.2, "0.30000000000000004"),
        ("float64", float("nan"), '""'),
        ("float64", float("inf"), '""'),
        ("float32", 0.1, "0.1"),
        ("float16", 1.5, "1.5"),
        ("bool", True, "true"),
        ("string", "null", '"null"'),
        ("large_string", "", '""'),
        (pa.string_view(), 'ü "x"', '"ü \\"x\\""'),
        ("null", None, '""'),
        (pa.decimal128(10, 2), Decimal("1.10"), "1.10"),
        ("date32", date(2026, 5, 1), '{"date":"2026-05-01"}'),
        ("date64", date(2026, 5, 1), '{"date":"2026-05-01"}'),
        ("timestamp[s]", MOMENT, '{"datetime":"2026-05-01 12:30:15"}'),
        ("timestamp[us]", MOMENT, '{"datetime":"2026-05-01 12:30:15.25"}'),
        (
            "timestamp[ns]",
            1_777_638_615_000_000_001,
            '{"datetime":"2026-05-01 12:30:15.000000001"}',
        ),
        (
            pa.timestamp("us", tz="+02:00"),
            MOMENT.replace(tzinfo=ZONE),
            '{"datetime":"2026-05-01 12:30:15.25+02:00"}',
        ),
        (
            pa.timestamp("ms", tz="UTC"),
            MOMENT.replace(tzinfo=ZONE, microsecond=0),
            '{"datetime":"2026-05-01 10:30:15Z"}',
        ),
        ("time64[us]", time(12, 30), '{"time":"12:30:00"}'),
        ("time32[ms]", time(12, 30, 0, 500_000), '{"time":"12:30:00.5"}'),
        ("duration[s]", timedelta(hours=30), '{"duration":"30:00:00"}'),
        ("duration[ns]", 1_500_000_001, '{"duration":"00:00:01.5"}'),
        ("binary", b"\x00\xff", '"AP8="'),
        (pa.list_(pa.float64()), [0.5, 1.0, None], '"[0.5,1.0,null]"'),
        (
            pa.struct([("a", pa.int8()), ("b", pa.string())]),
            {"a": 1, "b": 'x"'},
            json.dumps('{"a":1,"b":"x\\""}'),
        ),
        (pa.map_(pa.string(), pa.int8()), [("a", 1)], '"[[\\"a\\",1]]"'),
        (pa.dictionary(pa.int8(), pa.string()), "red", '"red"'),
    ],
)
def test_a_value_is_a_cell_of_its_type(tmp_path: Path, kind: Any, value: Any, cell: str) -> None:
    kind = pa.type_for_alias(kind) if isinstance(kind, str) else kind
    array = pa.array([value, None], kind)
    made = made_from(tmp_path, a=array, b=pa.array(["x", "y"]))
    assert made.lines[1:] == [f'[{cell},"x"]', '["","y"]']


def test_a_date_that_no_calendar_has_is_text(tmp_path: Path) -> None:
    made = made_from(tmp_path, a=pa.array([10**8], pa.int32()).cast(pa.date32()))
    assert made.lines[1] == '["<value out of range: 100000000>"]'


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        (pa.timestamp("us", tz="Nowhere/Atall"), MOMENT, "timestamp[us, tz=Nowhere/Atall]"),
        (pa.list_(pa.timestamp("ns")), [1], "list<"),
    ],
)
def test_values_that_cannot_be_shown_name_their_column(
    tmp_path: Path, kind: Any, value: Any, named: str
) -> None:
    with pytest.raises(BadInput) as caught:
        made_from(tmp_path, good=["x"], bad=pa.array([value], kind))
    said = str(caught.value)
    assert said.startswith(f"The column “bad” has values of the type {named}")
    assert said.endswith(
        " that cannot be shown. Save the column as text, and upload the file again."
    )


def test_many_batches_stay_in_order(tmp_path: Path) -> None:
    rows = [[at, f"row {at}"] for at in range(25_000)]
    made = made_from(tmp_path, a=[row[0] for row in rows], b=[row[1] for row in rows])
    assert made.rows == [["a", "b"], *rows]
    assert made.news[-1].of == 25_000


def test_the_tables_of_an_arrow_file_are_cut_into_small_batches(tmp_path: Path) -> None:
    made = io.BytesIO()
    table = pa.table({"a": range(25_000)})
    with pa.ipc.new_file(made, table.schema) as writer:
        writer.write_table(table)
        writer.write_table(table)
    found = made_of_bytes(tmp_path, made.getvalue(), "x")
    assert found.rows == [["a"], *([at] for at in range(25_000)), *([at] for at in range(25_000))]
    assert found.news[0].done == 10_000


def test_a_conversion_takes_one_thread(tmp_path: Path) -> None:
    pa.set_cpu_count(2)
    pa.set_io_thread_count(2)
    made_from(tmp_path, a=[1])
    assert (pa.cpu_count(), pa.io_thread_count()) == (1, 1)


def test_a_table_without_rows_or_columns(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^The table in this file has no rows\. Choose a file with"):
        made_from(tmp_path, a=pa.array([], pa.int8()))
    with pytest.raises(BadInput, match=r"^The table in this file has no columns\. Save its table"):
        made_from(tmp_path)


@pytest.mark.parametrize("kind", ["parquet", "file", "stream"])
@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
def test_a_file_that_was_not_copied_whole(tmp_path: Path, kind: str, keep: float) -> None:
    data = written(pa.table(TABLE), kind)
    data = data[: max(8, int(len(data) * keep))]
    with pytest.raises(BadInput, match=r"^This file is damaged, or was not copied whole, so its"):
        made_of_bytes(tmp_path, data, "x.arrow")


def test_kinds_that_are_not_read_are_called_by_their_names(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^This Parquet file is encrypted\. Save its table as CSV"):
        made_of_bytes(tmp_path, b"PARE" + b"x" * 100, "x.parquet")
    with pytest.raises(BadInput, match=r"^This Feather file is of version 1, which is too old\. S"):
        made_of_bytes(tmp_path, b"FEA1" + b"x" * 100, "x.feather")


def test_without_pyarrow_it_is_said_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match=r"^Parquet and Arrow files cannot be read here, because py"):
        made_of_bytes(tmp_path, b"PAR1", "x.parquet")
