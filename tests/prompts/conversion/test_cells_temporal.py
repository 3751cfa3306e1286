"""Dates and times are the same cells, encoded as a column or one after the other."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchui.prompts.conversion import cells

MOMENT, DAY, CLOCK = datetime(2026, 5, 1, 12, 30, 15), date(26, 5, 1), time(12, 30)  # noqa: DTZ001
WEST = timezone(timedelta(hours=-5))
zones = st.sampled_from([None, UTC, WEST])
whole = st.datetimes().map(lambda moment: moment.replace(microsecond=0))
KINDS = [
    whole,
    st.datetimes(timezones=zones),
    st.dates(),
    st.times().map(lambda clock: clock.replace(microsecond=0)),
    st.times(timezones=zones),
]
columns = st.one_of(
    [
        st.lists(st.one_of(kind, *more), min_size=1, max_size=6)
        for kind in KINDS
        for more in ((), (st.just(""),), (st.sampled_from(["", "open", "2026/05/01"]),))
    ]
)


def alone(cell: object) -> bytes:
    """The JSON of a cell that is encoded by itself."""
    if isinstance(cell, str):
        return f'"{cell}"'.encode()
    return bytes(cells.TEMPORAL[type(cell)](cell))


@given(columns)
@settings(deadline=None, max_examples=200)
def test_a_column_has_the_cells_that_each_would_be_alone(column: list[object]) -> None:
    assert cells.encoded(column) == list(map(alone, column))


@pytest.mark.parametrize(
    ("column", "made"),
    [
        ([MOMENT], ['{"datetime":"2026-05-01 12:30:15"}']),
        ([DAY, ""], ['{"date":"0026-05-01"}', '""']),
        (["", CLOCK], ['""', '{"time":"12:30:00"}']),
        (["Day", DAY], ['"Day"', '{"date":"0026-05-01"}']),
        (["2026/05/01", DAY], ['"2026/05/01"', '{"date":"0026-05-01"}']),
        ([MOMENT.replace(microsecond=500_000)], ['{"datetime":"2026-05-01 12:30:15.5"}']),
        ([MOMENT.replace(tzinfo=WEST)], ['{"datetime":"2026-05-01 12:30:15-05:00"}']),
        ([DAY, CLOCK], ['{"date":"0026-05-01"}', '{"time":"12:30:00"}']),
        ([DAY, None], ['{"date":"0026-05-01"}', '""']),
    ],
    ids=str,
)
def test_dates_and_times_are_as_iso_has_them(column: list[object], made: list[str]) -> None:
    assert cells.encoded(column) == [cell.encode() for cell in made]


def test_days_among_moments_are_at_midnight_in_a_spreadsheet() -> None:
    assert cells.encoded([MOMENT, date(2026, 5, 2), ""], as_shown=True) == [
        b'{"datetime":"2026-05-01 12:30:15"}',
        b'{"datetime":"2026-05-02 00:00:00"}',
        b'""',
    ]
