"""Typed cells as values of Python."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

Value = date | datetime | time | timedelta | Decimal

_duration = re.compile(r"([0-9]{1,9}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,6})?)")
_percent = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)%")


def value_of(cell: Mapping[str, Any]) -> Value | None:
    """The value of a typed cell that is a dict (see `rows.py`); 25% is 0.25.

    None: it is only a text for us, because it has a time zone, no such value exists, or it is
    another kind of cell.
    """
    kind, shown = next(iter(cell.items()))
    read = _READ.get(kind)
    try:
        return read(shown) if read else None
    except (ValueError, OverflowError, InvalidOperation):
        return None


def _datetime(shown: str) -> datetime | None:
    value = datetime.fromisoformat(shown)
    return value if value.tzinfo is None else None


def _time(shown: str) -> time | None:
    value = time.fromisoformat(shown)
    return value if value.tzinfo is None else None


def _timedelta(shown: str) -> timedelta | None:
    if not (found := _duration.fullmatch(shown)):
        return None
    hours, minutes, seconds = found.groups()
    whole, _, fraction = seconds.partition(".")
    return timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(whole),
        microseconds=int(fraction.ljust(6, "0")),
    )


def _fraction(shown: str) -> Decimal | None:
    found = _percent.fullmatch(shown)
    return Decimal(found[1]).scaleb(-2) if found else None


_READ = {
    "date": date.fromisoformat,
    "datetime": _datetime,
    "time": _time,
    "duration": _timedelta,
    "percent": _fraction,
}
