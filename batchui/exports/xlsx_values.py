"""Numbers, dates and times as a workbook has them: a number, and the format that shows it."""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from batchui.exports.column_kinds import MOST_DECIMALS, MOST_DIGITS, digits, is_double
from batchui.exports.rows import cell_text
from batchui.exports.typed_values import value_of

# Day 0. Excel has a day that never was, 29 February 1900, and other programs do not; so the days
# before it would not be the same everywhere.
_DAY_0 = datetime.fromisoformat("1899-12-30")
_FIRST_DAY = datetime.fromisoformat("1900-03-01")
_DAY = timedelta(days=1)
# Without a format, Excel shows so many characters of a number.
_GENERAL = 11
_plain = re.compile(r"-?([0-9]+)(?:\.([0-9]+))?")


class _Exact(float):
    """A number that is written with as many digits as it has; xlsxwriter writes 16."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


def number(text: str) -> tuple[float, str] | None:
    """The number of this text, which is JSON, and its format ("": none is needed).

    None: no number of a workbook is the same, or Excel would show another: a whole number of more
    than 15 digits, or one that is no double.
    """
    found = _plain.fullmatch(text)
    if found and digits(text) <= MOST_DIGITS:
        decimals = found[2] or ""
        is_shown = len(text) <= _GENERAL and not decimals.endswith("0")
        return float(text), "" if is_shown else _decimals(len(decimals))
    if (found and not found[2]) or not is_double(Decimal(text)):
        return None
    return _Exact(text), ""


def typed(cell: dict[str, Any]) -> tuple[float, str] | None:
    """The number and the format of a date, a time, a percentage or a padded number.

    None: a workbook has no such value, so the cell stays its text.
    """
    if "number" in cell:
        return _padded(cell_text(cell), cell["number"])
    value = value_of(cell)
    if isinstance(value, Decimal):
        return _percentage(cell_text(cell), value)
    if isinstance(value, datetime):
        return _day(value, "yyyy-mm-dd hh:mm:ss")
    if isinstance(value, date):
        return _day(datetime.combine(value, time()), "yyyy-mm-dd")
    if isinstance(value, time):
        passed = datetime.combine(_DAY_0, value) - _DAY_0
        return _timed(passed, "hh:mm:ss")
    return None if value is None else _timed(value, "[h]:mm:ss")


def _padded(shown: str, value: Any) -> tuple[float, str] | None:
    found = _plain.fullmatch(shown)
    if not found or len(shown) > MOST_DECIMALS or digits(shown) > MOST_DIGITS:
        return None
    if Decimal(shown) != Decimal(cell_text(value)):
        return None
    return float(shown), re.sub("[0-9]", "0", shown.removeprefix("-"))


def _percentage(shown: str, value: Decimal) -> tuple[float, str] | None:
    text = shown.rstrip("%")
    if digits(text) > MOST_DIGITS:
        return None
    return float(value), _decimals(len(text.partition(".")[2])) + "%"


def _day(value: datetime, how: str) -> tuple[float, str] | None:
    return _timed(value - _DAY_0, how) if value >= _FIRST_DAY else None


def _timed(passed: timedelta, how: str) -> tuple[float, str] | None:
    """So many days. Formats show thousandths of a second at most."""
    if passed.microseconds % 1_000:
        return None
    return passed / _DAY, f"{how}.000" if passed.microseconds else how


def _decimals(number: int) -> str:
    return f"0.{'0' * number}" if number else "0"
