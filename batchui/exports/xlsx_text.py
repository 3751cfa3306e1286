"""Texts as a workbook can hold them: escapes, and the longest that a cell takes.

XML has no control characters, so Excel writes them as `_x0000_`, and a text that looks like that
as `_x005F_x0000_` (ECMA-376, ST_Xstring). It counts a cell in UTF-16 units and refuses one of more
than 32,767; near that limit, other programs met refusals of texts that were shorter before their
escapes, so these count as they are written.
"""

import re
from bisect import bisect_right

# In UTF-16 units. Excel offers to repair a file with a longer cell.
LONGEST_TEXT = 32_767
# What an escape adds to its character.
_ADDED = 6
# A text of so many characters fits whatever they are.
SURELY_FITS = LONGEST_TEXT // (1 + _ADDED)

# XML parsers make a line feed of a carriage return, so that is escaped too.
_impossible = r"\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff"
# Or a `_` that looks like the beginning of an escape, or would, as the next one begins with `_`.
_escaped = re.compile(rf"[{_impossible}]|_(?=x[0-9a-fA-F]{{4}}[_{_impossible}])")
# Nearly all texts have none of these. Going through what they have takes a fifth of a search.
_usual = re.compile(r"[\t\n -^`-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*+").fullmatch
_beyond_utf16 = re.compile(r"[\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """The text with what XML cannot have as `_xHHHH_`."""
    return text if _usual(text) else _escaped.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return f"_x{ord(found[0]):04X}_"


def units(text: str) -> int:
    """How long Excel counts a text, as it is written."""
    wide = 0 if text.isascii() else len(_beyond_utf16.findall(text))
    return len(text) + wide + _ADDED * len(_escaped.findall(text))


def is_too_long(text: str) -> bool:
    """Whether a cell cannot hold the text."""
    return len(text) > SURELY_FITS and units(text) > LONGEST_TEXT


def cut(text: str) -> str:
    """As much of the beginning of a text as a cell can hold."""
    ends = range(min(len(text), LONGEST_TEXT) + 1)
    return text[: bisect_right(ends, LONGEST_TEXT, key=lambda end: units(text[:end])) - 1]
