"""The views of a row's cells."""

from decimal import Decimal

import pytest

from batchui.prompts.rows import (
    as_list,
    as_object,
    cell_text,
    decode_row,
    encode_row,
    extras,
)


@pytest.mark.parametrize(
    "cells", [["a", 'b"\n\x00\u2028é'], [], [""], {"a": [1, None], "b": {"c": True}}]
)
def test_stored_rows_come_back_on_one_line(cells: list[str] | dict[str, object]) -> None:
    line = encode_row(cells)
    assert b"\n" not in line
    assert decode_row(line) == cells


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is ", "as is "),
        (None, ""),
        (True, "true"),
        (7, "7"),
        (Decimal("1.10"), "1.10"),
        ({"a": [1, "é"]}, '{"a":[1,"é"]}'),
    ],
)
def test_a_cell_as_text(value: object, text: str) -> None:
    assert cell_text(value) == text


def test_cells_are_aligned_with_the_columns() -> None:
    columns = ("a", "b")
    assert as_list(["1", "2"], columns) == ["1", "2"]
    assert as_list(["1"], columns) == ["1", ""]
    assert as_list([], columns) == ["", ""]
    assert as_list(["1", "2", "3"], columns) == ["1", "2"]
    assert as_list({"b": 2, "x": 1}, columns) == ["", "2"]


def test_cells_beyond_the_header_are_not_lost() -> None:
    assert extras(["1", "2", "3", "4"], ("a", "b")) == ["3", "4"]
    assert extras(["1"], ("a", "b")) == []
    assert extras({"a": 1}, ("a",)) == []


def test_a_row_as_an_object() -> None:
    assert as_object(["1"], ("a", "b")) == {"a": "1", "b": ""}
    assert as_object({"z": [1]}, ("a", "b")) == {"z": [1]}
