"""Parquet: a type for each column that fits all its cells."""

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import Table as Arrow

from batchui.exports import parquet as parquet_module
from batchui.exports.parquet import GROUP_BYTES, GROUP_ROWS, is_available, write_parquet
from batchui.exports.parquet_spool import BLOCK_BYTES
from batchui.exports.rows import cell_text
from batchui.exports.table import EVERYTHING, Selection, Table
from tests.exports.rows import row

TABLE = Table(["id", "review"], header=["id", "id"], above=[["Title"]])
TYPED = Table(["cell"], typed=True)


def parquet(
    folder: Path, rows: Any, table: Table = TABLE, selection: Selection = EVERYTHING, **how: Any
) -> Arrow:
    """The rows written and read back."""
    target = folder / "made.parquet"
    write_parquet(rows, table, selection, target=target, folder=folder, **how)
    return pq.read_table(target)


def typed_column(folder: Path, *cells: Any) -> tuple[str, list[Any]]:
    """The type and the values of a column with these typed cells."""
    made = parquet(folder, [row(at, [cell]) for at, cell in enumerate(cells)], TYPED)
    return str(made.schema.field("cell").type), made["cell"].to_pylist()


def answers(folder: Path, *raw: bytes | None) -> tuple[str, list[Any]]:
    """The type and the values of the answers."""
    made = parquet(folder, [row(at, answer=answer) for at, answer in enumerate(raw)])
    return str(made.schema.field("answer").type), made["answer"].to_pylist()


def test_it_has_unique_names_and_three_more_columns(tmp_path: Path) -> None:
    rows = [row(1, ["x", "good"]), row(2, ["", "bad"], answer=None, status="failed", error="Why.")]
    assert parquet(tmp_path, rows).to_pylist() == [
        {"id": "x", "review": "good", "answer": "yes", "status": "answered", "error": None},
        {"id": "", "review": "bad", "answer": None, "status": "failed", "error": "Why."},
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["made.parquet"], (
        "a temporary file is left"
    )
    assert write_parquet(rows, TABLE, target=tmp_path / "x", folder=tmp_path) == 2
    assert is_available()


def test_no_rows_are_a_table_without_rows(tmp_path: Path) -> None:
    made = parquet(tmp_path, [])
    assert made.num_rows == 0
    assert made.column_names == ["id", "review", "answer", "status", "error"]


def test_the_selection_counts_here_too(tmp_path: Path) -> None:
    rows = [row(1, ["x", "y"]), row(2, ["p", "q"], status="failed")]
    chosen = Selection(columns={"review"}, answer="mood", statuses={"failed"})
    assert parquet(tmp_path, rows, selection=chosen).to_pylist() == [
        {"review": "q", "mood": "yes", "status": "failed", "error": None}
    ]


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        ([5, "", -(2**63)], "int64", [5, None, -(2**63)]),
        ([5, Decimal("2.50")], "double", [5.0, 2.5]),
        ([5, Decimal("0.1234567890123456789")], "string", ["5", "0.1234567890123456789"]),
        ([2**64, 1], "string", ["18446744073709551616", "1"]),
        ([True, "", False], "bool", [True, None, False]),
        ([True, 1], "string", ["TRUE", "1"]),
        ([{"date": "1066-10-14"}, ""], "date32[day]", [date(1066, 10, 14), None]),
        (
            [{"datetime": "2026-05-01 12:30:15.000001"}, ""],
            "timestamp[us]",
            [datetime(2026, 5, 1, 12, 30, 15, 1), None],  # noqa: DTZ001
        ),
        (
            [{"datetime": "2026-05-01 12:30:15.123456789"}],
            "string",
            ["2026-05-01 12:30:15.123456789"],
        ),
        ([{"percent": "25%"}, "", {"percent": "-0.5%"}], "double", [0.25, None, -0.005]),
        ([{"time": "12:30:00"}], "string", ["12:30:00"]),
        ([{"duration": "30:00:00"}], "string", ["30:00:00"]),
        ([{"shown": "00123", "number": 123}], "string", ["00123"]),
        ([{"date": "2026-05-01"}, "soon"], "string", ["2026-05-01", "soon"]),
        (["", ""], "string", ["", ""]),
        (["5", "6"], "string", ["5", "6"]),
    ],
)
def test_a_column_has_the_type_that_fits_all_its_cells(
    tmp_path: Path, cells: list[Any], kind: str, values: list[Any]
) -> None:
    assert typed_column(tmp_path, *cells) == (kind, values)


def test_a_column_of_texts_has_numbers_only_if_every_text_comes_back(tmp_path: Path) -> None:
    rows = [row(1, ["1", "00123", "2.5"]), row(2, ["", "2", "10"])]
    made = parquet(tmp_path, rows, Table(["a", "b", "c"]))
    assert [str(kind) for kind in made.schema.types[:3]] == ["int64", "string", "double"]
    assert made["a"].to_pylist() == [1, None]
    assert made["b"].to_pylist() == ["00123", "2"]
    assert made["c"].to_pylist() == [2.5, 10.0]


def test_embeddings_are_lists_of_doubles(tmp_path: Path) -> None:
    kind, values = answers(tmp_path, b"[0.1,-2e-5]", None, b"[1, 2]")
    assert kind == "list<element: double>"
    assert values == [[0.1, -2e-5], None, [1.0, 2.0]]


@pytest.mark.parametrize(
    ("raw", "kind", "values"),
    [
        ([b"[0.1]", b'"none"'], "string", ["[0.1]", "none"]),
        ([b'{"a": 1.10}', b"null"], "string", ['{"a":1.10}', None]),
        ([b'"5"', b'"7"'], "int64", [5, 7]),
        ([b"0.5", b"2"], "double", [0.5, 2.0]),
        ([b"true", None], "bool", [True, None]),
        ([b'"yes"', b"true"], "string", ["yes", "TRUE"]),
        ([None, None], "string", [None, None]),
    ],
)
def test_answers_have_the_type_that_fits_all_of_them(
    tmp_path: Path, raw: list[bytes | None], kind: str, values: list[Any]
) -> None:
    assert answers(tmp_path, *raw) == (kind, values)


def test_cells_beyond_the_header_are_a_list_if_there_are_some(tmp_path: Path) -> None:
    rows = [row(1, ["1", "2"], extras=["x", ""]), row(2, ["3", "4"])]
    made = parquet(tmp_path, rows, Table(["a", "Extra_cells"]))
    assert made.column_names[-1] == "extra_cells_2"
    assert made["extra_cells_2"].to_pylist() == [["x", ""], None]
    every = parquet(tmp_path, rows[:1], Table(["a", "b"]))
    assert every["error"].to_pylist() == [None]
    assert every["extra_cells"].to_pylist() == [["x", ""]]


def test_half_a_surrogate_pair_becomes_a_question_mark(tmp_path: Path) -> None:
    rows = [row(1, ["cut \ud83d", "é"], extras=["x\ud83d"]), row(2, ["", "y"])]
    made = parquet(tmp_path, rows, Table(["a", "b"]))
    assert made["a"].to_pylist() == ["cut ?", ""]
    assert made["extra_cells"].to_pylist() == [["x?"], None]


def test_it_is_compressed_and_in_groups_of_bounded_size(tmp_path: Path) -> None:
    told: list[int] = []
    parquet(tmp_path, (row(at) for at in range(2 * GROUP_ROWS)), progress=told.append)
    made = pq.ParquetFile(tmp_path / "made.parquet").metadata
    first, second = (made.row_group(at).num_rows for at in range(made.num_row_groups))
    assert GROUP_ROWS <= first < GROUP_ROWS + 4_000
    assert told == [first, first + second] == [first, 2 * GROUP_ROWS]
    assert made.row_group(0).column(0).compression == "ZSTD"
    large = b'"%s"' % (b"x" * (GROUP_BYTES // 2))
    parquet(tmp_path, (row(at, answer=large) for at in range(3)))
    made = pq.ParquetFile(tmp_path / "made.parquet").metadata
    assert [made.row_group(at).num_rows for at in range(made.num_row_groups)] == [2, 1]


@pytest.mark.parametrize(
    ("cell", "answer", "kinds", "values"),
    [
        ({"percent": "25%"}, b"[1, 2]", ["double", "list<element: double>"], (0.25, [1.0, 2.0])),
        ({"date": "1066-10-14"}, b"2", ["date32[day]", "int64"], (date(1066, 10, 14), 2)),
    ],
)
def test_a_group_of_blank_cells_has_the_types_of_the_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cell: Any,
    answer: bytes,
    kinds: list[str],
    values: tuple[Any, ...],
) -> None:
    monkeypatch.setattr(parquet_module, "GROUP_ROWS", 1)
    long = "x" * BLOCK_BYTES
    rows = [row(1, ["", long], answer=None), row(2, [cell, long], answer=answer)]
    made = parquet(tmp_path, rows, Table(["cell", "long"], typed=True))
    assert pq.ParquetFile(tmp_path / "made.parquet").metadata.num_row_groups == 2
    assert [str(made.schema.field(name).type) for name in ("cell", "answer")] == kinds
    assert made["cell"].to_pylist() == [None, values[0]]
    assert made["answer"].to_pylist() == [None, values[1]]


def test_the_temporary_file_is_in_the_folder_that_was_named(tmp_path: Path) -> None:
    found: list[int] = []

    def look(written: int) -> None:
        found.append(len(list(tmp_path.glob("export-*/*"))))

    parquet(tmp_path, [row(1)], progress=look)
    assert found == [1]


def test_a_row_that_does_not_fit_the_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="3 cells in a row of 2 columns"):
        parquet(tmp_path, [row(1, "abc")])
    assert not list(tmp_path.iterdir())


TYPED_CELLS = (
    st.text(max_size=8)
    | st.integers()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.dates().map(lambda day: {"date": day.isoformat()})
    | st.datetimes().map(lambda when: {"datetime": str(when)})
    | st.integers(-(10**6), 10**6).map(lambda number: {"percent": f"{number / 100}%"})
)
PROPERTY = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@PROPERTY
@given(st.lists(TYPED_CELLS, max_size=4))
def test_whatever_goes_in_the_same_comes_back(tmp_path: Path, cells: list[Any]) -> None:
    kind, values = typed_column(tmp_path, *cells)
    for cell, value in zip(cells, values, strict=True):
        if kind == "string":
            assert value == cell_text(cell)
        elif cell == "":
            assert value is None
        elif isinstance(cell, dict):
            assert shown(value) in {cell_text(cell), cell_text(cell).replace(".0%", "%")}
        else:
            assert Decimal(repr(value)) == cell if kind == "double" else value == cell


def shown(value: Any) -> str:
    """A value as the text that it was."""
    if isinstance(value, float):
        return f"{Decimal(repr(value)) * 100:f}".rstrip("0").rstrip(".") + "%" if value else "0%"
    return str(value)


@PROPERTY
@given(st.lists(st.lists(st.text(max_size=8) | st.integers().map(str), min_size=2, max_size=2)))
def test_whatever_texts_go_in_the_same_come_back(tmp_path: Path, cells: list[list[str]]) -> None:
    made = parquet(tmp_path, [row(at, texts) for at, texts in enumerate(cells)])
    found = zip(made["id"].to_pylist(), made["review"].to_pylist(), strict=True)
    back = [["" if cell is None else str(cell) for cell in both] for both in found]
    assert back == cells


def test_json_of_answers_is_as_it_came(tmp_path: Path) -> None:
    raw = b'{"big":123456789012345678901234567890,"text":"\\u00e9\\n"}'
    assert json.loads(answers(tmp_path, raw)[1][0]) == json.loads(raw)
