"""Reads the XML of a sheet as a stream of rows, byte for byte.

Only the tags that matter are looked for; what lies between is handed on as it was. Whoever writes
the bytes again checks that they are well-formed (`elements.py`).
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from batchui.exports.workbook.cannot_write import NO_ROWS, TOO_LONG, CannotWrite, unreadable
from batchui.exports.workbook.tags import (
    LAST_ROW,
    MOST_TAGS,
    SHEET_DATA,
    WORKSHEET,
    Tags,
    attributes_of,
    blanked,
    place_of,
)

# What stands before the rows; or one row, with what stands before it. 16,384 cells of 400 bytes
# are 7 MB.
LARGEST_PIECE = 16_000_000
# The start tags of the sheet and of its rows. Excel writes 1,000 bytes.
LARGEST_OPENING = 100_000

_SLASH = ord("/")
_BOM = b"\xef\xbb\xbf"
_encoding = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)""").match
_digits = re.compile(rb"[0-9]{1,7}").fullmatch


class Row(NamedTuple):
    """A row of the sheet.

    raw: its bytes, with the blanks and comments before it. tag: where its start tag ends in them.
    body: where its end tag begins; 0 for a row without one (`<row/>`). cells: what is between, with
    comments and the like blanked. is_usual: it is as programs usually write it (`Tags.usual_row`).
    """

    number: int
    raw: bytes
    tag: int
    body: int
    cells: bytes
    is_usual: bool


class SheetXml:
    """The XML of a sheet: `head`, then `rows()`, then `tail()`, each read once and in this order.

    Together they are the bytes of the sheet; only `<sheetData/>` becomes two tags. chunks: those
    bytes, cut anywhere. opening, closing: what makes a document of some of its rows. Raises
    CannotWrite for a sheet that is not in UTF-8, has a DOCTYPE, or has pieces of more than
    LARGEST_PIECE bytes.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._raw = self._seen = b""
        self.head = self._read_head()

    def rows(self) -> Iterator[Row]:
        """The rows, from the top. Raises CannotWrite unless their numbers ascend."""
        find_usual = self.tags.usual_row.match
        number = 0
        while True:
            raw, seen, at = self._raw, self._seen, 0
            while True:
                usual = find_usual(seen, at)
                if usual:
                    found, tag, body, end = usual, usual.start(2), usual.start(3), usual.end()
                elif other := self._row_at(seen, at):
                    found, tag, body, end = other
                else:
                    break
                if end - at > MOST_TAGS and seen.count(b"<", at, end) > MOST_TAGS:
                    raise CannotWrite(TOO_LONG)
                cells = seen[tag:body]
                before = number
                number = int(found[1]) if found[1] else self._number(found[2], cells, before)
                if not before < number <= LAST_ROW:
                    raise unreadable(
                        f"The rows of the sheet are not in order after row {before:,}."
                    )
                yield Row(number, raw[at:end], tag - at, body - at, cells, usual is not None)
                at = end
            self._drop(at)
            if self.tags.sheet_data_end.match(self._seen):
                return
            self._more()

    def tail(self) -> Iterator[bytes]:
        """What stands behind the rows, from their end tag on."""
        yield self._raw
        yield from self._chunks

    def _row_at(self, seen: bytes, at: int) -> tuple[re.Match[bytes], int, int, int] | None:
        """A row in any writing: its start tag and where that ends, its cells end, and it ends.

        None: it is not all there, or there is none.
        """
        tag = self.tags.row.match(seen, at)
        if tag is None:
            return None
        start = tag.end()
        if seen[start - 2] == _SLASH:
            return tag, start, at, start
        end = self.tags.row_end.search(seen, start)
        return (tag, start, end.start(), end.end()) if end else None

    def _read_head(self) -> bytes:
        self._more()
        self._refuse_encoding()
        while (found := SHEET_DATA.search(self._seen)) is None:
            self._more()
        sheet = WORKSHEET.search(self._seen, 0, found.start())
        if sheet is None:
            raise unreadable(NO_ROWS)
        self.tags = Tags(found[1])
        closing = b"</%bsheetData>" % found[1]
        head = self._raw[: found.end()]
        self._drop(found.end())
        if head.endswith(b"/>"):
            head = head[:-2] + b">"
            self._raw, self._seen = closing + self._raw, closing + self._seen
        self.opening = sheet[0] + head[found.start() :]
        if len(self.opening) > LARGEST_OPENING:
            raise CannotWrite(TOO_LONG)
        self.closing = closing + b"</%b>" % sheet[1]
        return head

    def _refuse_encoding(self) -> None:
        while len(self._raw) < len(_BOM + b"<?") or b">" not in self._raw:
            self._more()
        declared = _encoding(self._raw.removeprefix(_BOM))
        if b"\0" in self._raw[:4] or (declared and declared[1].lower() not in (b"utf-8", b"utf8")):
            raise unreadable("The sheet is not in UTF-8.")

    def _more(self) -> None:
        """Read at least as much as is there already. Raises CannotWrite if there is no more."""
        if len(self._raw) > LARGEST_PIECE:
            raise CannotWrite(TOO_LONG)
        pieces = [self._raw]
        wanted = max(1, len(self._raw))
        for chunk in self._chunks:
            pieces.append(chunk)
            wanted -= len(chunk)
            if wanted <= 0:
                break
        if len(pieces) == 1:
            raise unreadable(NO_ROWS)
        self._raw = b"".join(pieces)
        self._seen = self._look()

    def _drop(self, at: int) -> None:
        self._raw, self._seen = self._raw[at:], self._seen[at:]

    def _look(self) -> bytes:
        seen, sure = blanked(self._raw)
        return seen[:sure]

    def _number(self, attributes: bytes, cells: bytes, before: int) -> int:
        """The number of a row: as it says, or as its first cell says, or one more than before."""
        declared = attributes_of(attributes).get(b"r")
        if declared is not None:
            return int(declared) if _digits(declared) else 0
        first = self.tags.cell.search(cells)
        stated = place_of(first) if first else None
        return before + 1 if stated is None else stated[0]
