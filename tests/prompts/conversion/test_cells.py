"""Cells become lines of JSON, one a row."""

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.prompts.conversion import cells

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["", ",", '"', '""', '",""', "[", "]\n", '",""]', ".0", "null", "1e20", ',"",""', "\n5.0\n"]
)
numbers = st.integers(-(10**30), 10**30) | st.floats(allow_infinity=False, allow_nan=False).map(
    lambda x: x + 0.0
)
values = texts | numbers | st.booleans() | st.none()


def trimmed(row: list[Any]) -> list[Any]:
    """The row without blanks at its end; cells of different types are never equal."""
    row = ["" if cell is None else cell for cell in row]
    while row and row[-1] == "":
        row.pop()
    return [float(cell) if type(cell) in (int, float) else (type(cell), cell) for cell in row]


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(values, min_size=n, max_size=n), min_size=1)
    )
)
@settings(max_examples=200, deadline=None)
def test_whatever_is_in_a_row_comes_back_without_the_blanks_at_its_end(rows: list[Any]) -> None:
    found = [json.loads(line) for line in cells.lines(rows).splitlines()]
    assert list(map(trimmed, found)) == list(map(trimmed, rows))
    assert list(map(len, found)) == [len(trimmed(row)) for row in rows]


@given(st.lists(texts, min_size=1, max_size=5), st.integers(0, 3))
@settings(max_examples=100, deadline=None)
def test_blanks_before_a_row_are_added_only_where_there_is_something(
    row: list[str], left: int
) -> None:
    [found] = map(json.loads, cells.lines([row], left=left).splitlines())
    while row and not row[-1]:
        row.pop()
    assert found == ([""] * left + row if row else [])


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (5.0, "[5]"),
        (-0.5, "[-0.5]"),
        (1e16, "[10000000000000000]"),
        (1.5e17, "[150000000000000000]"),
        (1e39, f"[1{'0' * 39}]"),
        (1e40, "[1E+40]"),
        (1e300, "[1E+300]"),
        (Decimal("0E-50"), "[0E-50]"),
        (1e-7, "[1e-7]"),
        (float("nan"), "[]"),
        (0.1 + 0.2, "[0.30000000000000004]"),
        (Decimal("1.10"), "[1.10]"),
        (10**30, f"[{10**30}]"),
        (True, "[true]"),
        (None, "[]"),
        ("", "[]"),
        ("5.0", '["5.0"]'),
        ("null", '["null"]'),
        (date(2026, 5, 1), '[{"date":"2026-05-01"}]'),
        (datetime.fromisoformat("2026-05-01 12:30:15"), '[{"datetime":"2026-05-01 12:30:15"}]'),
        (
            datetime.fromisoformat("2026-05-01 12:30:15.500+02:00"),
            '[{"datetime":"2026-05-01 12:30:15.5+02:00"}]',
        ),
        (time(12, 30), '[{"time":"12:30:00"}]'),
        (time(12, 30, 0, 120), '[{"time":"12:30:00.00012"}]'),
        (timedelta(days=1, hours=6, seconds=1), '[{"duration":"30:00:01"}]'),
        (-timedelta(minutes=90), '[{"duration":"-01:30:00"}]'),
        (timedelta(seconds=0.25), '[{"duration":"00:00:00.25"}]'),
        (cells.percent("25%"), '[{"percent":"25%"}]'),
        (cells.padded("00123", "123"), '[{"shown":"00123","number":123}]'),
        (cells.number("123456789012345678"), "[123456789012345678]"),
        (cells.number("9" * 308), f"[{'9' * 308}]"),
        (cells.number("9" * 309), f'["{"9" * 309}"]'),
    ],
)
def test_a_cell_says_what_it_is(cell: object, line: str) -> None:
    assert cells.lines([[cell]]) == line.encode() + b"\n"


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0.1 + 0.2, "0.3"),
        (1234567.1234567891, "1234567.12345679"),
        (1.2345678901234567e-7, "1.23456789012346E-7"),
        (1.2345678901234567e17, "123456789012346000"),
        (123456.789, "123456.789"),
        (1 / 3, "0.333333333333333"),
        (-2 / 3, "-0.666666666666667"),
        (-5.0, "-5"),
        (-0.0, "0"),
        (1234567890123456.0, "1234567890123456"),
        (10000000000000002.0, "10000000000000000"),
        (-10000000000000002.0, "-10000000000000000"),
    ],
)
def test_a_spreadsheet_shows_fifteen_digits(number: float, shown: str) -> None:
    assert cells.lines([[number, "x"]], as_shown=True) == f'[{shown},"x"]\n'.encode()


def test_a_day_among_moments_is_at_midnight() -> None:
    day, moment = date(2026, 5, 1), datetime.fromisoformat("2026-05-01 12:30:15")
    rows = [[day, day, moment], [moment, "", day], [day, day, 1]]
    assert cells.lines(rows, as_shown=True).decode().splitlines() == [
        '[{"datetime":"2026-05-01 00:00:00"},{"date":"2026-05-01"},'
        '{"datetime":"2026-05-01 12:30:15"}]',
        '[{"datetime":"2026-05-01 12:30:15"},"",{"datetime":"2026-05-01 00:00:00"}]',
        '[{"datetime":"2026-05-01 00:00:00"},{"date":"2026-05-01"},1]',
    ]
    assert cells.lines([[day], [moment]]).decode().splitlines() == [
        '[{"date":"2026-05-01"}]',
        '[{"datetime":"2026-05-01 12:30:15"}]',
    ]


def test_rows_without_cells_are_lines_too() -> None:
    assert cells.lines([[], []]) == b"[]\n[]\n"


def test_blocks_are_small_where_rows_are_wide() -> None:
    rows = [[0]] * 45_000
    assert [len(block) for block in cells.blocks(rows, width=1)] == [20_000, 20_000, 5_000]
    assert [len(block) for block in cells.blocks(rows[:5], width=10_000)] == [2, 2, 1]
    assert [len(block) for block in cells.blocks(rows[:2], width=30_000)] == [1, 1]
