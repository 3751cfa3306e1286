"""Typed cells as values of Python."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

Value = date | datetime | time | timedelta | Decimal

# Days and moments as they are stored, with zeros for digits. Python also reads `20260501`, and
# drops digits beyond millionths of a second without a word.
_DAYS = frozenset(["0000-00-00"])
_MOMENTS = frozenset(
    f"0000-00-00 00:00{seconds}"
    for seconds in ("", ":00", *(f":00.{'0' * digits}" for digits in range(1, 7)))
)
_zeros = str.maketrans("123456789", "0" * 9)
_duration = re.compile(r"([0-9]{1,9}):([0-5][0-9]):([0-5][0-9](?:\.[0-9]{1,6})?)")
_percent = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)%")


def value_of(cell: Mapping[str, Any]) -> Value | None:
    """The value of a typed cell that is a dict (see `rows.py`); 25% is 0.25.

    None: it is only a text for us, because it has a time zone or more than millionths of a second,
    no such value exists, or it is another kind of cell.
    """
    kind, shown = next(iter(cell.items()))
    read = _READ.get(kind)
    try:
        return read(shown) if read else None
    except (ValueError, OverflowError, InvalidOperation):
        return None


def have_values(kind: str, shown: Sequence[str]) -> bool:
    """Whether `value_of` has a value for each of these texts of one kind of cells."""
    if kind not in _ISO:
        return all(value_of({kind: text}) is not None for text in shown)
    shapes, read = _ISO[kind]
    try:
        return _shapes(shown) <= shapes and all(map(read, shown))
    except ValueError:
        return False


def _shapes(texts: Sequence[str]) -> set[str]:
    return set("\n".join(texts).translate(_zeros).split("\n"))


def _date(shown: str) -> date | None:
    return date.fromisoformat(shown) if _shapes([shown]) <= _DAYS else None


def _datetime(shown: str) -> datetime | None:
    return datetime.fromisoformat(shown) if _shapes([shown]) <= _MOMENTS else None


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


_ISO: dict[str, tuple[frozenset[str], Callable[[str], date]]] = {
    "date": (_DAYS, date.fromisoformat),
    "datetime": (_MOMENTS, datetime.fromisoformat),
}
_READ = {
    "date": _date,
    "datetime": _datetime,
    "time": _time,
    "duration": _timedelta,
    "percent": _fraction,
}
