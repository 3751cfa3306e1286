"""What of a batch goes out, the same for every format."""

import json
from decimal import Decimal
from typing import Any

import pytest

from batchui.exports.csv import csv_chunks
from batchui.exports.json import json_chunks
from batchui.exports.rows import ExportRow, cell_text
from batchui.exports.table import EVERYTHING, Layout, Selection, Table
from tests.exports.rows import row, table_of

TABLE = Table(["id", "review", "Column 3"], header=["id", "review", ""])
ROWS = [
    row(1, ["1", "good", "x"]),
    row(2, ["2", "bad", "y"], answer=None, status="failed", extras=["z"]),
    row(3, ["3", "odd", ""], answer=None, status="waiting"),
]


def csv(table: Table = TABLE, selection: Selection = EVERYTHING, **how: Any) -> list[list[str]]:
    return table_of(csv_chunks(ROWS, table, selection, **how))


def objects(selection: Selection, rows: list[ExportRow] = ROWS, table: Table = TABLE) -> Any:
    return json.loads(b"".join(json_chunks(rows, table, selection)))


def test_csv_has_the_header_of_the_file_and_json_the_unique_names() -> None:
    assert csv()[0] == ["id", "review", "", "answer", "status", "error"]
    assert objects(EVERYTHING)[0]["columns"] == {"id": "1", "review": "good", "Column 3": "x"}


def test_only_the_chosen_columns_go_out_in_the_order_of_the_file() -> None:
    chosen = Selection(columns={"Column 3", "id", "never there"})
    assert csv(selection=chosen)[:3] == [
        ["id", "", "answer", "status", "error"],
        ["1", "x", "yes", "answered", ""],
        ["2", "y", "", "failed", ""],
    ]
    assert [entry["columns"] for entry in objects(chosen)][:2] == [
        {"id": "1", "Column 3": "x"},
        {"id": "2", "Column 3": "y"},
    ]
    assert "extra_cells" not in objects(chosen)[1]
    assert objects(EVERYTHING)[1]["extra_cells"] == ["z"]


def test_of_an_object_only_the_chosen_columns_go_out() -> None:
    made = row(1, ["1", "", ""], columns={"review": [1], "id": 1})
    assert objects(Selection(columns={"id", "Column 3"}), [made])[0]["columns"] == {"id": 1}


def test_a_choice_of_no_column_leaves_the_answers() -> None:
    assert csv(selection=Selection(columns=frozenset()))[:2] == [
        ["answer", "status", "error"],
        ["yes", "answered", ""],
    ]


def test_a_row_that_does_not_fit_the_table_is_refused_before_columns_are_left_out() -> None:
    with pytest.raises(ValueError, match="2 cells in a row of 3 columns"):
        list(csv_chunks([row(1, "ab")], TABLE, Selection(columns={"id"})))


def test_a_header_that_does_not_fit_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells in the header of 2 columns"):
        Layout(Table(["a", "b"], header=["a"]), EVERYTHING)


def test_only_rows_of_the_chosen_statuses_go_out() -> None:
    chosen = Selection(statuses={"failed", "waiting"})
    assert [cells[0] for cells in csv(selection=chosen)] == ["id", "2", "3"]
    assert [entry["row"] for entry in objects(chosen)] == [2, 3]


def test_the_column_of_answers_has_the_chosen_name() -> None:
    chosen = Selection(answer="mood")
    assert csv(selection=chosen)[0] == ["id", "review", "", "mood", "status", "error"]
    assert list(objects(chosen)[0]) == [
        *("row", "columns", "mood", "status", "error", "external_reference", "usage")
    ]
    assert objects(chosen)[0]["mood"] == "yes"
    assert objects(chosen)[1]["extra_cells"] == ["z"]


def test_the_name_of_the_answer_is_never_there_twice() -> None:
    assert csv(selection=Selection(answer="Review"))[0][3] == "Review_2"
    assert csv(selection=Selection(answer="column 3"))[0][3] == "column 3_2"
    assert objects(Selection(answer="usage"))[0]["usage_2"] == "yes"
    # A column that does not go out does not count.
    assert csv(selection=Selection(columns={"id"}, answer="review"))[0][1] == "review"


def test_the_rows_above_the_header_come_back_in_csv() -> None:
    table = Table(["a"], above=[["Reviews", "May"], [], ["=1+1"]])
    [made] = csv_chunks([], table)
    assert made.decode() == "\ufeffReviews,May\r\n\r\n'=1+1\r\na,answer,status,error\r\n"


@pytest.mark.parametrize(
    ("columns", "above"),
    [
        (None, [["Reviews", "", "May", 7], [], ["", "Sum", ""], ["", "", ""]]),
        ({"id"}, [["Reviews"], [], ["Sum"], [""]]),
        ({"review"}, [["Reviews"], [], ["Sum"], [""]]),
        ({"id", "Column 3"}, [["Reviews", "May"], [], ["Sum", ""], ["", ""]]),
        ({"review", "Column 3"}, [["Reviews", "May"], [], ["Sum", ""], ["", ""]]),
        ({"Column 3"}, [["May"], [], ["Sum"], [""]]),
        (set(), [["Reviews"], [], ["Sum"], []]),
    ],
)
def test_the_rows_above_the_header_are_as_wide_as_the_chosen_columns_and_keep_the_title(
    columns: set[str] | None, above: list[list[Any]]
) -> None:
    table = Table(
        TABLE.columns, above=[["Reviews", "", "May", 7], [], ["", "Sum", ""], ["", "", ""]]
    )
    layout = Layout(table, Selection(columns=columns))
    assert layout.above == above
    [made] = csv_chunks([], table, Selection(columns=columns), plain=True)
    lines = [",".join(map(str, cells)) for cells in above]
    assert made.decode().split("\r\n")[:4] == lines


TYPED = [
    ("00123", "00123", "00123"),
    (12345678901234567890, "12345678901234567890", 12345678901234567890),
    (True, "TRUE", True),
    (False, "FALSE", False),
    (1.5, "1.5", 1.5),
    ({"date": "2026-05-01"}, "2026-05-01", "2026-05-01"),
    ({"percent": "25%"}, "25%", "25%"),
    ({"shown": "00123", "number": 123}, "00123", "00123"),
]


@pytest.mark.parametrize(("cell", "text", "value"), TYPED)
def test_a_typed_cell_is_its_text_in_csv_and_keeps_its_type_in_json(
    cell: Any, text: str, value: Any
) -> None:
    assert cell_text(cell) == text
    table = Table(["a", "b"], typed=True, above=[[cell]])
    rows = [row(1, ["x", cell], extras=[cell])]
    above, _, cells = table_of(csv_chunks(rows, table))
    assert (above, cells) == ([text], ["x", text, "yes", "answered", "", text])
    [entry] = objects(EVERYTHING, rows, table)
    assert entry["columns"]["b"] == value
    assert type(entry["columns"]["b"]) is type(value)
    assert entry["extra_cells"] == [value]


def test_a_number_is_written_as_the_file_shows_it() -> None:
    rows = [row(1, [Decimal("1.10")])]
    table = Table(["a"], typed=True)
    assert b'"columns":{"a":1.10}' in b"".join(json_chunks(rows, table))
    assert table_of(csv_chunks(rows, table))[1][0] == "1.10"
