"""What the cells of a column have in common: their kind, and how long they are."""

import re
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum, auto
from itertools import compress
from unicodedata import east_asian_width

import msgspec

from batchui.exports.rows import Cell, cell_text
from batchui.exports.typed_values import have_values

# In characters: how wide a column is counted at most.
WIDEST = 60
# The digits of a number that every program keeps; Excel shows no more.
MOST_DIGITS = 15
# Behind the point: a format of Excel has no more.
MOST_DECIMALS = 30
# Doubles have all whole numbers up to this one.
_ALL_DOUBLES = 2**53
_INT64 = range(-(2**63), 2**63)


class Kind(Enum):
    """What all cells of a column are, but for blank ones."""

    BLANK = auto()  # there are no others
    BOOLEAN = auto()
    INTEGER = auto()  # int64
    NUMBER = auto()  # a double, exactly
    PERCENT = auto()
    DATE = auto()
    DATETIME = auto()
    NUMBERS = auto()  # JSON lists of numbers
    TEXT = auto()
    _LONG = auto()  # of int64, but not all doubles: does not go with NUMBER


_of_values = {"date": Kind.DATE, "datetime": Kind.DATETIME, "percent": Kind.PERCENT}
_integers = re.compile(rf"(?:(?:0|-?[1-9][0-9]{{0,{MOST_DIGITS - 1}}})?\n)*").fullmatch
_decimal = re.compile(rf"-?(?:0|[1-9][0-9]*)\.[0-9]{{1,{MOST_DECIMALS}}}").fullmatch
_signs = str.maketrans("", "", "-.")
_decode_numbers = msgspec.json.Decoder(list[float]).decode


class Column:
    """What is known about a column from the cells that it was shown (`note`, `measure`).

    untyped: its texts may be numbers. They are if every one of them is a plain decimal number of at
    most MOST_DIGITS digits, so that no program changes its value: `12`, `1.50`, `-0.0`. One
    `00123`, `+5`, `1e5`, `-0` or long id makes all of them texts. lists: its texts may be lists of
    numbers in JSON.
    longest: the characters of its longest text. width: of the widest cell in letters of one width,
    at most WIDEST.
    """

    def __init__(self, *, untyped: bool, lists: bool = False) -> None:
        self._untyped = untyped
        self._lists = lists
        self._kinds: set[Kind] = set()
        self.longest = 0
        self.width = 0

    @property
    def kind(self) -> Kind:
        """The kind that all cells so far have."""
        kinds = self._kinds
        if not kinds:
            return Kind.BLANK
        if kinds <= {Kind.INTEGER, Kind._LONG}:
            return Kind.INTEGER
        if kinds == {Kind.INTEGER, Kind.NUMBER}:
            return Kind.NUMBER
        return kinds.copy().pop() if len(kinds) == 1 else Kind.TEXT

    def note(self, cells: Sequence[Cell], texts: Sequence[str]) -> None:
        """Take the kind of these cells into account. texts: of the same (`rows.column_texts`)."""
        if Kind.TEXT in self._kinds:
            return
        types = set(map(type, cells))
        if types == {str}:
            self._note_texts(texts)
            return
        if str in types:
            self._note_texts([cell for cell in cells if isinstance(cell, str)])
            is_other = [not isinstance(cell, str) for cell in cells]
            cells, texts = list(compress(cells, is_other)), list(compress(texts, is_other))
        self._kinds |= _kinds(cells, texts, types - {str})

    def measure(self, texts: Sequence[str]) -> None:
        """Take the lengths of these texts, at least one, into account."""
        longest = max(map(len, texts))
        self.longest = max(self.longest, longest)
        if self.width < WIDEST:
            wide = longest if "".join(texts).isascii() else max(map(width, texts))
            self.width = min(WIDEST, max(self.width, wide))

    def _note_texts(self, texts: Sequence[str]) -> None:
        if not any(texts):
            return
        if self._untyped and _are_integers(texts):
            self._kinds.add(Kind.INTEGER)
        elif self._untyped and all(map(_is_number, texts)):
            self._kinds.add(Kind.NUMBER)
        elif self._lists and all(map(_is_list, texts)):
            self._kinds.add(Kind.NUMBERS)
        else:
            self._kinds.add(Kind.TEXT)


def width(text: str) -> int:
    """How wide a text is, in letters of one width; a Chinese letter is two.

    Only the first WIDEST characters count.
    """
    text = text[:WIDEST]
    if text.isascii():
        return len(text)
    return len(text) + sum(east_asian_width(sign) in ("W", "F") for sign in text)


def _are_integers(texts: Sequence[str]) -> bool:
    joined = "\n".join(texts) + "\n"
    return _integers(joined) is not None and joined.count("\n") == len(texts)


def _is_number(text: str) -> bool:
    """Whether a text is blank, or a plain decimal number; see Column."""
    if _decimal(text):
        return digits(text) <= MOST_DIGITS
    return _are_integers([text])


def digits(number: str) -> int:
    """How many digits of a decimal number count: those from the first that is no zero."""
    return len(number.replace(".", "").lstrip("-0"))


def _is_list(text: str) -> bool:
    if text and not text.startswith("["):
        return False
    try:
        return not text or bool(_decode_numbers(text))
    except msgspec.DecodeError:
        return False


def _kinds(cells: Sequence[Cell], texts: Sequence[str], types: set[type]) -> set[Kind]:
    """The kinds of these cells, none of which is a text. texts, types: of the same.

    What most columns have is found for all cells at once.
    """
    if types == {bool}:
        return {Kind.BOOLEAN}
    if types == {int}:  # no other one is further from zero
        cells = [min(cells), max(cells)]  # type: ignore[type-var]
    elif types == {Decimal} and _are_short(texts):
        return {Kind.NUMBER}
    elif types == {dict}:
        first, *others = set(map(next, map(iter, cells)))  # type: ignore[arg-type]
        if not others:
            return {_kind_of(first, texts)}
    return set(map(_kind, cells))


def _are_short(numbers: Sequence[str]) -> bool:
    """Whether all of these have at most MOST_DIGITS digits, and no exponent."""
    return max(map(len, numbers)) <= MOST_DIGITS and "".join(numbers).translate(_signs).isdigit()


def _kind(cell: Cell) -> Kind:
    """The kind of a cell that is no text."""
    if isinstance(cell, bool):
        return Kind.BOOLEAN
    if isinstance(cell, int):
        if abs(cell) <= _ALL_DOUBLES:
            return Kind.INTEGER
        return Kind._LONG if cell in _INT64 else Kind.TEXT
    if isinstance(cell, dict):
        return _kind_of(next(iter(cell)), [cell_text(cell)])
    return Kind.NUMBER if not isinstance(cell, str) and is_double(cell) else Kind.TEXT


def _kind_of(name: str, texts: Sequence[str]) -> Kind:
    """The kind of cells that are dicts with this name and these texts."""
    kind = _of_values.get(name, Kind.TEXT)
    return kind if kind is not Kind.TEXT and have_values(name, texts) else Kind.TEXT


def is_double(number: Decimal | float) -> bool:
    """Whether a double is exactly this number, as it would be written."""
    double = repr(float(number))
    return double == str(number) or Decimal(double) == Decimal(str(number))
