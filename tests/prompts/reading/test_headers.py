"""Which row has the names of the columns, and what they are called."""

from typing import Any

import pytest

from batchui.prompts.problems import BadInput
from batchui.prompts.reading.headers import find_header, table_top, unique_names
from tests.prompts.files import cells_of, format_of, rows_of

Rows = list[list[Any]]

NAMED: dict[str, Rows] = {
    "names over numbers": [["a", "b"], ["1", "2"]],
    "names over dates": [["von", "bis"], ["2026-01-02", "03.04.2026"]],
    "usual names over text": [["Name", "City"], ["Ann Smith", "Berlin"], ["Bob Jones", "Paris"]],
    "years over numbers": [["country", "2022", "2023"], ["Chad", "5", "6"], ["Peru", "7", "8"]],
    "counted columns": [["item", "1", "2", "3"], ["x", "5", "6", "9"], ["y", "8", "9", "2"]],
    "questions of a form": [
        ["Timestamp", "How satisfied were you with our service, all things considered, and why?"],
        ["2026/05/01 10:00:00", "Very, because it was quick."],
        ["2026/05/02 11:00:00", "Not at all."],
    ],
    "one column with a usual name": [["review"], ["good"], ["bad"]],
    "one column of sentences": [["kunde"], ["Where is my parcel?"], ["I want my money back."]],
    "typed cells": [["a", "b", "c"], [1, True, {"date": "2026-05-01"}]],
    "two columns that may be either": [["foo", "bar"], ["baz", "qux"]],
    "names without rows": [["id", "text"]],
    "a code over codes": [["customer_id", "x"], ["C-1001", "y"], ["C-1002", "z"]],
}
WITHOUT: dict[str, Rows] = {
    "numbers over numbers": [["1", "a"], ["2", "b"], ["3", "c"]],
    "one column of sentences alike": [[f"Where is my parcel {number}"] for number in range(25)],
    "one column of words alike": [["Anna"], ["Bob"], ["Clara"]],
    "one column of numbers": [["17"], ["18"], ["25"]],
    "addresses": [["https://a.example/x"], ["https://b.example/y"], ["https://c.example/z"]],
    "a value that comes again": [["ok", "north"], ["bad", "south"], ["ok", "north"]],
    "people": [["Ann Smith", "Berlin"], ["Bob Jones", "Paris"], ["Cy Young", "Rome"]],
    "typed cells": [[1, "x"], [2, "y"], [3, "z"]],
    "long texts": [["a " * 40 + "end"], ["b " * 50 + "end"], ["c " * 45 + "end"]],
    "a single number": [["5"]],
}


@pytest.mark.parametrize("rows", NAMED.values(), ids=NAMED)
def test_a_first_row_of_names_is_the_header(rows: Rows) -> None:
    found = find_header(rows)
    assert (found.row, found.first_row) == (1, 2)
    assert [str(cell) for cell in rows[0]] == list(found.columns)


@pytest.mark.parametrize("rows", WITHOUT.values(), ids=WITHOUT)
def test_a_first_row_like_the_others_is_a_row(rows: Rows) -> None:
    found = find_header(rows)
    assert (found.row, found.first_row, found.original) == (0, 1, None)
    assert found.columns == tuple(f"Column {at}" for at in range(1, len(rows[0]) + 1))


@pytest.mark.parametrize(
    "word", ["\\N", "NULL", " nil ", "None", "NA", "n/a", "#N/A", "NaN", "-", "?"]
)
def test_what_a_program_writes_where_there_is_no_value_is_no_name(word: str) -> None:
    rows = [["1", "one", word], ["2", "two", "7"], ["3", "three", "8"]]
    assert find_header(rows).columns == ("Column 1", "Column 2", "Column 3")


@pytest.mark.parametrize(
    ("rows", "row"),
    [
        ([["Sales of May"], [], ["name", "age", "city"], ["a", "1", "x"], ["b", "2", "y"]], 3),
        ([["Sales", "", ""], ["name", "age", "city"], ["a", "1", "x"], ["b", "2", "y"]], 2),
        ([["Sales", "May 2026"], ["id", "n", "city"], ["a", "1", "x"], ["b", "2", "y"]], 2),
        ([[], [], ["name", "age"], ["a", "1"]], 3),
        ([["Sales"], ["as of today"], ["name", "age"], ["a", "1"], ["b", "2"]], 3),
    ],
)
def test_titles_and_blank_rows_above_the_names_are_passed_over(rows: Rows, row: int) -> None:
    found = find_header(rows)
    assert (found.row, found.first_row) == (row, row + 1)
    assert found.columns == tuple(rows[row - 1])


def test_names_with_a_gap_are_no_title() -> None:
    assert format_of(b"id,,text\n=1,a,b\n2,y,z\n3,c,d\n").columns == ("id", "Column 2", "text")


def test_a_table_without_names_begins_below_its_title() -> None:
    found = find_header([["Sales"], ["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]])
    assert (found.row, found.first_row) == (0, 2)
    assert found.columns == ("Column 1", "Column 2", "Column 3")


def test_a_person_chooses_the_row_with_the_names() -> None:
    rows = [["a", "b"], ["c", "d"], ["e", "f"]]
    second = find_header(rows, chosen=2)
    assert (second.row, second.first_row, second.columns) == (2, 3, ("c", "d"))
    none = find_header(rows, chosen=0)
    assert (none.row, none.first_row, none.columns) == (0, 1, ("Column 1", "Column 2"))


def test_columns_without_a_name_and_repeated_names_get_one() -> None:
    found = find_header([["", "name", " ", "name", "name (2)"], ["1", "2", "3", "4", "5"]])
    assert found.columns == ("Column 1", "name", "Column 3", "name (3)", "name (2)")
    assert found.original == ("", "name", " ", "name", "name (2)")
    assert unique_names(["Column 2", ""]) == ("Column 2", "Column 2 (2)")
    assert find_header([["id", "text"], ["1", "x"]]).original is None


def test_a_delimiter_at_the_end_of_each_line_makes_a_last_column_without_a_name() -> None:
    fmt = format_of(b"name,age,\nann,5,\nbob,6,\n")
    assert (fmt.columns, fmt.header) == (("name", "age", "Column 3"), ("name", "age", ""))


def test_a_delimiter_at_the_end_of_each_row_alone_is_a_column_too() -> None:
    fmt = format_of(b"name,age\nann,5,\nbob,6,\n")
    assert (fmt.columns, fmt.header) == (("name", "age", "Column 3"), ("name", "age", ""))
    assert cells_of(b"name,age\nann,5,\nbob,6,\n") == [["ann", "5", ""], ["bob", "6", ""]]


def test_a_delimiter_at_the_end_of_the_names_alone_is_no_column() -> None:
    fmt = format_of(b"name,age,\nann,5\nbob,6\n")
    assert (fmt.columns, fmt.header) == (("name", "age"), None)
    assert not any(row.problem for row in rows_of(b"name,age,\nann,5\nbob,6\n"))


def test_an_index_as_pandas_and_r_write_it_is_a_first_column_without_a_name() -> None:
    assert format_of(b",name,age\n0,ann,5\n1,bob,6\n").columns == ("Column 1", "name", "age")
    written_by_r = b'"name","age"\n"1","ann",5\n"2","bob",6\n'
    assert format_of(written_by_r).columns == ("Column 1", "name", "age")
    assert format_of(written_by_r).header == ("", "name", "age")


def test_rows_that_differ_in_width_make_no_columns() -> None:
    assert format_of(b"id,text\n1,a, b\n2,c, d, e\n3,f\n").columns == ("id", "text")
    assert format_of(b"id,text\n1,a, b\n").columns == ("id", "text")


def test_the_top_of_no_rows_is_the_first() -> None:
    assert table_top([]) == 0
    assert table_top([[], ["", " "]]) == 0
    assert find_header([]).columns == ()


def test_a_table_far_below_blank_rows_is_found() -> None:
    rows = [*[["", ""]] * 100, ["Sales"], ["name", "age"], ["ann", 5], ["bob", 6]]
    found = find_header(rows)
    assert (found.row, found.first_row, found.columns) == (102, 103, ("name", "age"))


def test_rows_that_are_all_blank_are_no_table() -> None:
    with pytest.raises(BadInput) as refused:
        find_header([["", " "], []])
    assert str(refused.value) == (
        "The first rows of this table are all blank. Remove the blank rows above the table, or "
        "choose a file or a sheet with a table in it."
    )
    assert find_header([["", ""]], chosen=0).columns == ("Column 1", "Column 2")


def test_a_sheet_has_as_many_columns_as_it_says() -> None:
    found = find_header([["name"], ["a"], ["b"]], width=3)
    assert found.columns == ("name", "Column 2", "Column 3")
