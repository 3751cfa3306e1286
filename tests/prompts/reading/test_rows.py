"""The views of a row's cells."""

import json
from decimal import Decimal

import pytest

from batchui.prompts.reading.rows import (
    SAMPLE_CELL,
    SAMPLE_ROW,
    as_list,
    as_object,
    cell_text,
    decode_row,
    decode_to_show,
    encode_row,
    extras,
    sample_text,
    typed_cell,
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


@pytest.mark.parametrize(
    ("json_value", "cell"),
    [
        (b"true", True),
        (b"false", False),
        (b"7", 7),
        (b"1.50", Decimal("1.50")),
        (b"0.0", Decimal("0.0")),
        (b"-1e-5", Decimal("-0.00001")),
        (b'"7"', "7"),
        (b'"true"', "true"),
        (b"null", ""),
        (b"[1, 2]", "[1,2]"),
        (b'{"a":1.10}', '{"a":1.10}'),
    ],
)
def test_a_value_of_an_object_keeps_its_type_in_a_cell(json_value: bytes, cell: object) -> None:
    stored = encode_row(decode_row(b'{"a": %s}' % json_value))
    shown = decode_to_show(stored)
    [found, beyond] = as_list(shown, ("a", "b"), typed_cell)
    assert (found, type(found), beyond) == (cell, type(cell), "")
    if isinstance(found, Decimal):
        assert str(found) == str(cell)


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


def test_a_long_cell_is_cut() -> None:
    most = SAMPLE_CELL
    whole = '["{}"]'
    assert sample_text(["x" * most]) == whole.format("x" * most)
    assert sample_text(["x" * (most + 1)]) == whole.format("x" * most + " …")


def test_short_cells_are_shown_however_many() -> None:
    cells = [f"cell number {number}" for number in range(500)]
    assert sample_text(cells) == json.dumps(cells, separators=(",", ":"))


def test_many_cells_share_the_room_of_a_row() -> None:
    cells = ["x" * SAMPLE_CELL] * 30
    as_list = sample_text(cells)
    as_object = sample_text({f"column {n}": cell for n, cell in enumerate(cells)})
    for text in (as_list, as_object):
        assert text.count("x") == SAMPLE_ROW


def test_long_names_share_the_room_of_a_row() -> None:
    shown = json.loads(sample_text({"x" * SAMPLE_ROW: 1, "y" * SAMPLE_ROW: 2, "z" * 10**6: 3}))
    assert list(shown.values()) == [1]


def test_of_very_many_cells_some_are_shown() -> None:
    assert len(sample_text([""] * 1_000_000)) == 3 * SAMPLE_ROW + 1
