"""Typed cells -> lines of JSON arrays.

A cell is a text, a number, a boolean, or an object that says what it is: `{"date": "2026-05-01"}`,
`{"datetime": …}`, `{"time": …}`, `{"duration": …}`, `{"percent": "25%"}`,
`{"shown": "00123", "number": 123}`. Blank is `""`. A million rows have millions of cells, so whole
columns are encoded at once, and nothing is called for a single cell but where it is a date.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import islice
from math import isfinite
from typing import Any

import msgspec

# A block has about so many cells: enough to make the loop cheap, few enough to be small.
CELLS_AT_ONCE = 20_000

_encode_lines = msgspec.json.Encoder(decimal_format="number").encode_lines
# Types of cells that msgspec writes as lines have them.
PLAIN = {str, int, bool, msgspec.Raw}
# Blanks at the end of a row. A quotation mark inside a text has a backslash before it, so `,""`
# followed by another blank or the end is no text.
BLANKS_AT_END = re.compile(rb'(?<!,"")(?:,"")++(?=\]\n)')
FILLED = re.compile(rb"^\[(?!\])", re.MULTILINE)  # a row that is not blank
NULL = re.compile(rb"^null$", re.MULTILINE)
BLANK_LINE = b'""\n'
# Whole numbers as floats are written from WITH_EXPONENT on: 1.2e17. And fractions with more digits
# than a spreadsheet shows: 0.30000000000000004.
WITH_EXPONENT = 10**16
LARGE = re.compile(rb"^-?[\d.]++e\d+$", re.MULTILINE)
LARGE_OR_LONG = re.compile(rb"^-?(?:[\d.]++e\d+|(?=[\d.]{17})\d++\.\d++(?:e-\d+)?)$", re.MULTILINE)
SHOWN_DIGITS = 15
# Larger ones stay as they are: 1e300 has no more meaning with 300 digits.
MOST_DIGITS = 40


def percent(text: str) -> msgspec.Raw:
    """The cell for a percentage, as shown: `25%`."""
    return _tagged(b"percent", text)


def padded(shown: str, number: str) -> msgspec.Raw:
    """The cell for a whole number that is shown with zeros (or marks) around it."""
    return msgspec.Raw(b'{"shown":%b,"number":%b}' % (msgspec.json.encode(shown), number.encode()))


def number(digits: str) -> msgspec.Raw:
    """The cell for a whole number, exactly, however long; a text where no program can hold it."""
    return msgspec.Raw((digits if is_number(digits) else f'"{digits}"').encode())


def is_number(text: str) -> bool:
    """Whether programs can hold this number; most read none beyond 1.8e308."""
    return isfinite(float(text))


def duration(value: timedelta) -> msgspec.Raw:
    """The cell for a duration, as hours, minutes and seconds: `30:00:00`."""
    sign = "-" if value < timedelta() else ""
    value = abs(value)
    minutes, seconds = divmod(value.days * 86_400 + value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{value.microseconds:06}".rstrip("0") if value.microseconds else ""
    return _tagged(b"duration", f"{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}")


def _tagged(tag: bytes, text: str) -> msgspec.Raw:
    return msgspec.Raw(b'{"%b":"%b"}' % (tag, text.encode()))


def _clock(tag: bytes, text: str) -> msgspec.Raw:
    """A date or time in ISO form, without zeros at the end of the fraction of its second."""
    if "." in text:
        seconds, _, rest = text.partition(".")
        fraction = rest[:6].rstrip("0")
        text = f"{seconds}.{fraction}{rest[6:]}"
    return _tagged(tag, text)


def _datetime(value: datetime) -> msgspec.Raw:
    return _clock(b"datetime", value.isoformat(" "))


def _date(value: date) -> msgspec.Raw:
    return _tagged(b"date", value.isoformat())


def _time(value: time) -> msgspec.Raw:
    return _clock(b"time", value.isoformat())


TEMPORAL: dict[type, Callable[[Any], msgspec.Raw]] = {
    datetime: _datetime,
    date: _date,
    time: _time,
    timedelta: duration,
}
# The tags, and the bytes of a line that has no fraction of a second and no time zone.
WHOLE = {
    datetime: (b"datetime", len(b'"2026-05-01T12:30:15"\n')),
    date: (b"date", len(b'"2026-05-01"\n')),
    time: (b"time", len(b'"12:30:15"\n')),
}


def lines(rows: Sequence[Sequence[object]], *, left: int = 0, as_shown: bool = False) -> bytes:
    """One line of JSON for each of `rows`, all equally long. Blanks at their end are left out.

    A cell: str, int, float, bool, Decimal, None (blank), a date or time, or a Raw made here. NaN is
    a blank. left: how many blank cells stand before each row. as_shown: as spreadsheets show them,
    floats with 15 digits, and days among moments at midnight.
    """
    if not rows[0]:
        return b"[]\n" * len(rows)
    columns = [_exact(column, as_shown=as_shown) for column in zip(*rows, strict=True)]
    made = _without_blanks(_encode_lines(list(zip(*columns, strict=True))))
    return FILLED.sub(b"[" + b'"",' * left, made) if left else made


def joined(columns: Sequence[Sequence[bytes]]) -> bytes:
    """The lines of cells that are encoded, column by column."""
    return _without_blanks(b"[" + b"]\n[".join(map(b",".join, zip(*columns, strict=True))) + b"]\n")


def _without_blanks(made: bytes) -> bytes:
    """The lines without the blanks at their ends."""
    if b'""]\n' not in made:
        return made
    return BLANKS_AT_END.sub(b"", made).replace(b'[""]\n', b"[]\n")


def _exact(column: Sequence[Any], *, as_shown: bool) -> Sequence[object]:
    """A column as msgspec has to get it, so that its cells are written as lines have them.

    Most columns are texts, or whole numbers that a workbook has as floats: nothing is made of them.
    """
    kinds = set(map(type, column))
    if kinds <= PLAIN:
        return column
    if (
        kinds == {float}
        and all(map(float.is_integer, column))
        and max(map(abs, column)) < WITH_EXPONENT
    ):
        return list(map(int, column))
    return list(map(msgspec.Raw, encoded(column, as_shown=as_shown)))


def encoded(column: Sequence[object], *, as_shown: bool = False) -> list[bytes]:
    """The JSON of each cell of a column; see `lines`.

    One text has all of them, a line each. A line that begins and ends without a quotation mark is
    no text, so numbers can be changed by their lines.
    """
    kinds = set(map(type, column))
    if as_shown and date in kinds and datetime in kinds:
        column = [_at_midnight(cell) if type(cell) is date else cell for cell in column]
        kinds.remove(date)
    if made := _all_temporal(column, kinds):
        return made
    if not kinds.isdisjoint(TEMPORAL):
        column = [TEMPORAL[type(cell)](cell) if type(cell) in TEMPORAL else cell for cell in column]
    text = _encode_lines(column)
    if float in kinds or Decimal in kinds:
        text = _tidy_numbers(text, as_shown=as_shown)
    if b"null\n" in text:  # None, and NaN
        text = NULL.sub(b'""', text)
    made = text.split(b"\n")
    made.pop()
    return made


def _all_temporal(column: Sequence[object], kinds: set[type]) -> list[bytes] | None:
    """The JSON of the cells of a column with one kind of date or time, and blanks beside them.

    It takes a twentieth of the time of one cell after the other. None: the column has other texts,
    or fractions of seconds or time zones, which msgspec writes in another way.
    """
    temporal = kinds - {str}
    if len(temporal) != 1 or not (whole := WHOLE.get(temporal.pop())):
        return None
    if str in kinds and any(type(cell) is str and cell for cell in column):
        return None
    text = _encode_lines(column)
    tag, size = whole
    blanks = text.count(BLANK_LINE)
    if len(text) != size * (len(column) - blanks) + len(BLANK_LINE) * blanks:
        return None
    start = b'{"%b":' % tag
    lines = start + text.replace(b"T", b" ").replace(b"\n", b"}\n" + start)
    if blanks:
        lines = lines.replace(start + b'""}', b'""')
    return lines.split(b"\n")[:-1]


def _at_midnight(day: date) -> datetime:
    """A day among moments: calamine leaves out the time of one that is at midnight."""
    return datetime(day.year, day.month, day.day)  # noqa: DTZ001  a spreadsheet has no zones


def _tidy_numbers(encoded: bytes, *, as_shown: bool) -> bytes:
    encoded = encoded.replace(b".0\n", b"\n")
    return LARGE_OR_LONG.sub(_shown, encoded) if as_shown else LARGE.sub(_whole, encoded)


def _shown(found: re.Match[bytes]) -> bytes:
    """The number with the digits that a spreadsheet shows; the largest of all would be none so."""
    shown = f"{float(found[0]):.{SHOWN_DIGITS}g}"
    return _digits(Decimal(shown)) if is_number(shown) else found[0]


def _whole(found: re.Match[bytes]) -> bytes:
    return _digits(Decimal(found[0].decode()))


def _digits(value: Decimal) -> bytes:
    """A number without an exponent, if it is whole and not very large."""
    if value.adjusted() < MOST_DIGITS and value == value.to_integral_value():
        return f"{value:f}".encode()
    return str(value).encode()


def blocks(rows: Iterable[Sequence[object]], *, width: int) -> Iterator[list[Any]]:
    """The rows in blocks of about CELLS_AT_ONCE cells."""
    size = max(1, CELLS_AT_ONCE // max(1, width))
    iterator = iter(rows)
    while block := list(islice(iterator, size)):
        yield block
