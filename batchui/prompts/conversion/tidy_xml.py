"""Writes the rows and cells of a sheet's XML as Excel does: `<c r="B3" s="1"><v>5</v></c>`.

XML may have attributes in any order and quotes, and blanks between tags; and in OOXML rows and
cells may leave out their places (ECMA-376 part 1, 18.3.1.4 and 18.3.1.73), as small libraries do.
"""

import re
from collections.abc import Iterable

from batchui.prompts.conversion.places import place, position

ATTRIBUTE = re.compile(rb"""(?<![\w:])([\w:]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""")
PLACE = re.compile(rb"([A-Z]{1,3})(\d{1,7})")
ROW = re.compile(rb"\d{1,7}")
# The attributes that say something about the values, in Excel's order.
KEPT = (b"r", b"s", b"t", b"hidden")
BETWEEN = re.compile(rb">\s+<")
# How Excel does not write, with X for the prefix of tags. One after the other they take a quarter
# of the time of one with all.
STRANGE_PLACES = (rb'<Xrow(?=[\s/>])(?! r="\d)', rb'<Xc(?=[\s/>])(?! r="[A-Z])')
STRANGE_VALUES = (rb"<Xv\s[^<>/]*>-?\d", rb">\s+<X[vf][\s>]")


class Tidier:
    """Tidies the pieces of a sheet, one after the other; those that need it, as it takes long.

    prefix: of the sheet's tags, such as `x:`. A piece ends between two rows.
    """

    def __init__(self, prefix: bytes) -> None:
        self._prefix = prefix
        self._row = self._column = -1  # where the last cell is, from 0
        self._strange_places = _compiled(STRANGE_PLACES, prefix)
        self._strange = self._strange_places + _compiled(STRANGE_VALUES, prefix)
        self._tag = re.compile(rb"<%b(row|c)(?=[\s/>])([^<>]*)>" % prefix)
        self._value = re.compile(rb"<%bv\s[^<>/]*>" % prefix)
        self._row_tag = b'<%brow r="' % prefix

    def __call__(self, xml: bytes) -> bytes:
        """The same piece, tidy."""
        if not any(strange.search(xml) for strange in self._strange):
            self.passed(xml)
            return xml
        xml = self._value.sub(b"<%bv>" % self._prefix, BETWEEN.sub(b"><", xml))
        return self._tag.sub(self._tidy, xml)

    def passed(self, xml: bytes) -> None:
        """Take note of the next piece, which is tidy."""
        last = xml.rpartition(self._row_tag)[2].partition(b'"')[0]
        if ROW.fullmatch(last):
            self._row = int(last) - 1
            # How a program writes values does not change in the middle of a sheet. Places may: its
            # first rows are often those of a template.
            self._strange = self._strange_places

    def _tidy(self, found: re.Match[bytes]) -> bytes:
        name, text = found.groups()
        attributes = {key: a or b for key, a, b in ATTRIBUTE.findall(text)}
        said = attributes.get(b"r", b"").upper()
        attributes[b"r"] = self._row_of(said) if name == b"row" else self._cell_of(said)
        kept = b"".join(b' %b="%b"' % (key, attributes[key]) for key in KEPT if key in attributes)
        end = b"/" if text.endswith(b"/") else b""
        return b"<%b%b%b%b>" % (self._prefix, name, kept, end)

    def _row_of(self, said: bytes) -> bytes:
        self._row = int(said) - 1 if ROW.fullmatch(said) else self._row + 1
        self._column = -1
        return b"%d" % (self._row + 1)

    def _cell_of(self, said: bytes) -> bytes:
        found = PLACE.fullmatch(said)
        self._column = position(found[1], found[2])[1] if found else self._column + 1
        return said if found else place(self._row, self._column).encode()


def _compiled(patterns: Iterable[bytes], prefix: bytes) -> list[re.Pattern[bytes]]:
    return [re.compile(pattern.replace(b"X", prefix)) for pattern in patterns]
