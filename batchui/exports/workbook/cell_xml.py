"""Writes values as cells of a sheet, with their text in them ("inline strings")."""

import math
import re
from collections.abc import Sequence
from decimal import Decimal

Value = None | str | int | float | Decimal | bool

# Excel offers to repair a file with a longer cell. It counts UTF-16 units, and where the text is
# near the limit, as it is escaped.
LONGEST_TEXT = 32_767
# Doubles hold every integer below. Excel keeps numbers as doubles.
EXACT_INTEGERS = 2**53

_UNWRITABLE = r"\0-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff"
# Markup, what XML cannot hold, and a `_` that would look like the beginning of an escape.
_special = re.compile(rf"[&<>{_UNWRITABLE}]|_(?=x[0-9A-Fa-f]{{4}}[_{_UNWRITABLE}])")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# What is left of an escape that was cut: nothing that ends one.
_torn = re.compile(r"(?:&[a-z]*|(?<!_x[0-9A-Fa-f]{4})_(?:x[0-9A-Fa-f]{0,4})?)\Z")


class CellWriter:
    """Writes the cells of some columns.

    letters: of the columns. prefix: of the sheet's elements, `x:` or nothing. cut: how many cells
    had more text than LONGEST_TEXT, and lost what was beyond.
    """

    def __init__(self, letters: Sequence[str], prefix: str) -> None:
        self.cut = 0
        self._starts = [f'<{prefix}c r="{column}' for column in letters]
        self._end = f"</{prefix}c>"
        self._text = f' t="inlineStr"><{prefix}is><{prefix}t xml:space="preserve">'
        self._text_end = f"</{prefix}t></{prefix}is>{self._end}"
        self._number = f"><{prefix}v>"
        self._number_end = f"</{prefix}v>{self._end}"
        self._truth = f' t="b"{self._number}'

    def cell(self, at: int, row: int, value: Value, style: str | None = None) -> str:
        """The cell of a value in the column at this index; nothing for None and for no text.

        Numbers that Excel cannot hold are written as text. style: the number of a cell format.
        """
        if value is None or value == "":
            return ""
        start = f'{self._starts[at]}{row}"'
        if style is not None:
            start = f'{start} s="{style}"'
        if not isinstance(value, str):
            if isinstance(value, bool):
                return f"{start}{self._truth}{value:d}{self._number_end}"
            if is_number(value):
                return f"{start}{self._number}{value}{self._number_end}"
            value = str(Decimal(value))
        return f"{start}{self._text}{self._escaped(value)}{self._text_end}"

    def _escaped(self, text: str) -> str:
        text = escaped(text)
        if utf16_units(text) > LONGEST_TEXT:
            self.cut += 1
            return cut(text)
        return text


def is_number(value: float | Decimal) -> bool:
    """Whether a spreadsheet can hold this number: not an integer beyond 2^53, NaN or infinity."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Decimal) and not value.is_finite():
        return False
    return abs(value) < EXACT_INTEGERS


def escaped(text: str) -> str:
    """Text as XLSX has it (ECMA-376 part 1, 22.9.2.19): `_x0001_` for what XML cannot hold.

    Every kind of line end becomes the one of XLSX, a line feed.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _special.sub(_escape, text) if _special.search(text) else text


def cut(text: str) -> str:
    """Escaped text with at most LONGEST_TEXT UTF-16 units, ending between two characters."""
    short = text.encode("utf-16-le")[: 2 * LONGEST_TEXT].decode("utf-16-le", "ignore")
    return _torn.sub("", short)


def utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _escape(found: re.Match[str]) -> str:
    return _MARKUP.get(found[0]) or f"_x{ord(found[0]):04X}_"
