"""Patterns for the few tags of a sheet that matter, and the names of its columns.

They are for well-formed XML, in which an attribute's value may hold a `>`, never a `<` (XML 1.0,
2.3), and for text in which comments and the like are blanked.
"""

import re
from functools import lru_cache

from batchui.exports.sheets import MOST_COLUMNS, MOST_ROWS
from batchui.exports.workbook.cannot_write import DOCTYPE, TOO_LONG, CannotWrite, unreadable

LAST_ROW, LAST_COLUMN = MOST_ROWS, MOST_COLUMNS
# Tags in one row: 16,384 cells of rich text have 300,000. Each takes time, and those within others
# memory.
MOST_TAGS = 500_000

_ATTRIBUTES = rb"""(?=[\s/>])[^"'<>]*+(?:"[^"<]*+"[^"'<>]*+|'[^'<]*+'[^"'<>]*+)*+"""
_attribute = re.compile(rb"""\s([^\s=<>"'/]+)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""").finditer
_reference = re.compile(rb"([A-Za-z]{1,3})([0-9]{1,7})").fullmatch
_ENDS = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
_hidden = re.compile(rb"<!--|<!\[CDATA\[|<\?|<!").search

_PREFIX = rb"""(?:[^\s<>/:"'=]+:)?"""
# The start tags of the sheet and of its rows; the prefix (`x:`, or nothing) is that of all others.
WORKSHEET = re.compile(rb"<(%bworksheet)(%b)>" % (_PREFIX, _ATTRIBUTES))
SHEET_DATA = re.compile(rb"<(%b)sheetData(%b)>" % (_PREFIX, _ATTRIBUTES))


class Tags:
    """What to look for in a sheet whose elements have this prefix."""

    def __init__(self, prefix: bytes) -> None:
        self.prefix = prefix
        name = re.escape(prefix)
        attributes = (name, _ATTRIBUTES)
        # The first group is the row's number where it is the first attribute, as usual. Groups that
        # may be missing are not possessive (`?+`): Python 3.11.0 to 3.11.4, Debian 12's among them,
        # then take a wrong way back.
        self.row = re.compile(rb'\s*+<%brow(?:\s+r="([0-9]{1,7})"(?=[\s/>]))?(%b)>' % attributes)
        self.row_end = re.compile(rb"</%brow\s*+>" % name)
        self.sheet_data_end = re.compile(rb"\s*+</%bsheetData\s*+>" % name)
        # Groups: letters and digits of the reference, and the style, where they come first, as
        # usual; then all other attributes.
        self.cell = re.compile(
            rb'<%bc(?: r="([A-Z]{1,3})([0-9]{1,7})"(?=[\s/>]))?(?: s="([0-9]+)"(?=[\s/>]))?(%b)>'
            % attributes
        )
        self.cell_end = re.compile(rb"</%bc\s*+>" % name)
        self.formula = re.compile(rb"<%bf(%b)>" % attributes)
        self.dimension = re.compile(rb"<%bdimension(%b)>" % attributes)
        self.extension = re.compile(rb"<%bextLst(%b)>" % attributes)
        self.extension_end = re.compile(rb"</%bextLst\s*+>" % name)
        # Nearly all rows of nearly all files: every cell begins with its reference, in capitals,
        # which says the number of the row (the first group), and ends itself or holds one value.
        # The cells are between the other groups, which are empty.
        self.usual_row = re.compile(
            (
                rb'\s*+<Xrow r="([0-9]{1,7})"ATTRIBUTES>()(?:<Xc r="[A-Z]{1,3}\1"[^<]*+(?:'
                rb"<Xv>[^<]*+</Xv></Xc>|<Xis><Xt[^<]*+</Xt></Xis></Xc>"
                rb"|<Xf[^<]*+</Xf><Xv>[^<]*+</Xv></Xc>|(?<=/>)))*+()</Xrow>"
            )
            .replace(b"X", name)
            .replace(b"ATTRIBUTES", _ATTRIBUTES)
        )
        self.usual_cell = re.compile(rb'<%bc r="([A-Z]{1,3})' % name)
        self.usual_cell_start = b'<%bc r="' % prefix
        self.usual_cell_ends = tuple(
            b"</%b%b></%bc>" % (prefix, tag, prefix) for tag in (b"v", b"is")
        )
        self.new_row_end = b"</%brow>" % prefix


def attributes_of(tag: bytes) -> dict[bytes, bytes]:
    """The attributes in a start tag, by their names as written."""
    return {found[1]: found[2] if found[3] is None else found[3] for found in _attribute(tag)}


def with_attribute(tag: bytes, name: bytes, value: bytes | None) -> bytes:
    """The tag with another value for an attribute that it has, or without it for None."""
    for found in _attribute(tag):
        if found[1] == name:
            new = b"" if value is None else b' %b="%b"' % (name, value)
            return tag[: found.start()] + new + tag[found.end() :]
    return tag


def blanked(raw: bytes) -> tuple[bytes, int]:
    """XML with blanks for comments, CDATA and processing instructions, and how much of it is sure.

    What begins there and does not end within `raw` is not sure. The length stays the same. Raises
    CannotWrite for a DOCTYPE, and where there are more than MOST_TAGS.
    """
    found = _hidden(raw)
    if found is None:
        return raw, len(raw)
    seen = bytearray(raw)
    for _ in range(MOST_TAGS):
        start, opening = found.start(), found[0]
        if opening == b"<!" and len(raw) - start >= len(b"<![CDATA["):
            raise unreadable(DOCTYPE)
        end = raw.find(_ENDS[opening], found.end()) if opening in _ENDS else -1
        if end < 0:
            return bytes(seen), start
        end += len(_ENDS[opening])
        seen[start:end] = b" " * (end - start)
        found = _hidden(raw, end)
        if found is None:
            return bytes(seen), len(raw)
    raise CannotWrite(TOO_LONG)


def place_of(cell: re.Match[bytes]) -> tuple[int, int] | None:
    """Row and column of a cell, found by `Tags.cell`; None if it does not say them."""
    letters, digits, _, others = cell.groups()
    if letters is not None:
        return int(digits), column_number(letters)
    reference = attributes_of(others).get(b"r")
    return None if reference is None else place(reference)


def style_of(cell: re.Match[bytes]) -> str | None:
    """The number of the format of a cell, found by `Tags.cell`."""
    _, _, style, others = cell.groups()
    if style is None and b"s" in others:
        style = attributes_of(others).get(b"s")
    return style.decode() if style and style.isdigit() else None


def place(reference: bytes) -> tuple[int, int]:
    """Row and column, from 1, of a reference like `AB12`, in capitals or not."""
    found = _reference(reference)
    if found is None:
        raise unreadable("The sheet has a cell whose place cannot be read.")
    return int(found[2]), column_number(found[1])


@lru_cache(maxsize=LAST_COLUMN)
def column_number(letters: bytes) -> int:
    """A column's number from 1: `A` is 1, `XFD` 16,384. Raises CannotWrite beyond."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    if number > LAST_COLUMN:
        raise unreadable("The sheet has a cell beyond the last column, XFD.")
    return number


def column_letters(number: int) -> str:
    """A column's letters: 1 is `A`, 16,384 is `XFD`."""
    letters = ""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters
