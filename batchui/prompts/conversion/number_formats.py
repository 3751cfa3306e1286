"""How a spreadsheet shows a number: as a percentage, or filled up with zeros."""

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import msgspec

from batchui.prompts.conversion import cells

# From a number as the file has it to its cell; None if it is shown like any other number.
Show = Callable[[str], msgspec.Raw | None]

# ECMA-376, 18.8.30: formats that a workbook uses without writing them down.
BUILT_IN = {9: "0%", 10: "0.00%"}
# A text in quotation marks, a character behind a backslash, a colour or condition, room as wide as
# a character, a character to repeat.
LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[[^\]]*\]|_.|\*.')
MARKS = frozenset("-+()/ ")
MOST_CODE = 255


def show(code: str) -> Show | None:
    """What a format code such as `0.00%` or `00000` does to numbers; None for all others.

    Of a code with several sections, the first counts: that for positive numbers.
    """
    first = code[:MOST_CODE].partition(";")[0]
    plain = LITERAL.sub("", first)
    if "%" in plain:
        fraction = plain.partition(".")[2]
        decimals = sum(map(fraction.count, "0#?"))
        return lambda number: _percent(number, decimals)
    template = _template(first)
    if template is None or template.count(None) < 2:
        return None
    return lambda number: _padded(number, template)


def percent(number: str, decimals: int) -> str | None:
    """The text of a percentage: ("0.25", 0) -> "25%". None if that is no number."""
    try:
        value = Decimal(number) * 100
        return f"{value.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP):f}%"
    except InvalidOperation:
        return None


def _percent(number: str, decimals: int) -> msgspec.Raw | None:
    shown = percent(number, decimals)
    return None if shown is None else cells.percent(shown)


def _template(code: str) -> list[str | None] | None:
    """The characters of a code that has only zeros and marks; None stands for a digit."""
    template: list[str | None] = []
    at = 0
    while at < len(code):
        literal = LITERAL.match(code, at)
        if literal:
            template.extend(literal[1] or literal[2] or "")
            at = literal.end()
            continue
        if code[at] != "0" and code[at] not in MARKS:
            return None
        template.append(None if code[at] == "0" else code[at])
        at += 1
    return template


def _padded(number: str, template: list[str | None]) -> msgspec.Raw | None:
    """The digits in the places of a template. What is too long stands at its first place."""
    if not number.isdigit():
        return None
    places = template.count(None)
    whole = number.lstrip("0")
    digits = whole.zfill(places)
    extra = len(digits) - places
    waiting = iter([digits[: extra + 1], *digits[extra + 1 :]])
    shown = "".join(next(waiting) if mark is None else mark for mark in template)
    return cells.padded(shown, whole or "0")
