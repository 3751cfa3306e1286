"""Typed cells as values of Python."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pytest

from batchui.exports.typed_values import value_of


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ({"date": "2026-05-01"}, date(2026, 5, 1)),
        ({"date": "2026-05-01x"}, None),
        ({"date": "2026-13-01"}, None),
        ({"date": "20260501"}, None),
        ({"date": "2026-W18-5"}, None),
        ({"datetime": "2026-05-01 12:30"}, datetime(2026, 5, 1, 12, 30)),  # noqa: DTZ001
        ({"datetime": "2026-05-01 12:30:15.123456789"}, None),
        ({"datetime": "2026-05-01T12:30:15"}, None),
        ({"datetime": "2026-05-01"}, None),
        ({"datetime": "2026-05-01 12:30:15"}, datetime(2026, 5, 1, 12, 30, 15)),  # noqa: DTZ001
        ({"datetime": "2026-05-01 12:30:15.5"}, datetime(2026, 5, 1, 12, 30, 15, 500000)),  # noqa: DTZ001
        ({"datetime": "2026-05-01 12:30:15Z"}, None),
        ({"datetime": "soon"}, None),
        ({"time": "12:30:00"}, time(12, 30)),
        ({"time": "12:30:00+01:00"}, None),
        ({"time": "25:00:00"}, None),
        ({"duration": "30:00:01"}, timedelta(hours=30, seconds=1)),
        ({"duration": "0:02:00.25"}, timedelta(minutes=2, milliseconds=250)),
        (
            {"duration": "999999999:00:00.000001"},
            timedelta(0, 0, 1, hours=999_999_999),
        ),
        ({"duration": "1:60:00"}, None),
        ({"duration": "1:00:60"}, None),
        ({"duration": "-1:00:00"}, None),
        ({"duration": "1:00:00.1234567"}, None),
        ({"percent": "25%"}, Decimal("0.25")),
        ({"percent": "-0.5%"}, Decimal("-0.005")),
        ({"percent": "25"}, None),
        ({"percent": ".5%"}, None),
        ({"shown": "00123", "number": 123}, None),
        ({"later": "x"}, None),
    ],
)
def test_a_cell_has_the_value_that_it_shows(cell: dict[str, Any], value: Any) -> None:
    assert value_of(cell) == value
    assert type(value_of(cell)) is type(value)
