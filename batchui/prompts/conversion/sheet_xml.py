"""What calamine does not tell about the cells of an XLSX sheet, found in the sheet's XML.

It is read in pieces that stay in the processor's cache. Most have rows and cells in which there is
nothing to find, and a single regular expression sees that. The others are tidied, where no
spreadsheet program wrote them, and searched for one thing after the other.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from batchui.prompts.conversion import cells
from batchui.prompts.conversion.number_formats import Show
from batchui.prompts.conversion.places import position
from batchui.prompts.conversion.tidy_xml import Tidier

CHUNK_BYTES = 1 << 16
# A row without an end is searched in pieces of this size.
MOST_BYTES = 8 << 20

# (row, column, cell), from 0, in the order of rows.
Correction = tuple[int, int, msgspec.Raw]


@dataclass
class Findings:
    """How many of what, and the first: a row's number, or a place such as C17."""

    hidden_rows: int = 0
    first_hidden_row: int | None = None
    errors: int = 0
    first_error: str | None = None
    uncalculated: int = 0
    first_uncalculated: str | None = None


class SheetXml:
    """One sheet. `corrections` goes through it, and `findings` has the rest when it has ended."""

    def __init__(self, stream: BinaryIO, styles: Mapping[int, Show]) -> None:
        self._stream = stream
        self._styles = styles
        self.findings = Findings()

    def corrections(self) -> Iterator[Correction]:
        """The cells that calamine has otherwise than the sheet shows them, row by row."""
        patterns = tidy = None
        for piece in self._chunks():
            patterns = patterns or _Patterns(_prefix(piece), self._styles)
            tidy = tidy or Tidier(_prefix(piece))
            if patterns.plain_rows(piece):
                tidy.passed(piece)
                found = self._shown_otherwise(piece, patterns)
            else:
                found = self._strange(tidy(piece), patterns)
            for row, column in sorted(found):
                yield row, column, found[row, column]

    def _chunks(self) -> Iterator[bytes]:
        """Pieces of the XML that end between two rows."""
        rest = b""
        while data := self._stream.read(CHUNK_BYTES):
            text = rest + data
            end = text.rfind(b"<row")
            if end < 0:
                end = text.rfind(b":row")
            if end <= 0 and len(text) < MOST_BYTES:
                rest = text
                continue
            end = text.rfind(b"<", 0, end + 1) if end > 0 else len(text)
            rest = text[end:]
            yield text[:end]
        yield rest

    def _strange(self, chunk: bytes, patterns: "_Patterns") -> dict[tuple[int, int], msgspec.Raw]:
        """The cells of a piece in which there may be anything."""
        self._note_hidden(chunk, patterns)
        self._note_errors(chunk, patterns)
        self._note_uncalculated(chunk, patterns)
        return {
            **self._long_numbers(chunk, patterns),
            **self._shown_otherwise(chunk, patterns),
        }

    def _note_hidden(self, chunk: bytes, patterns: "_Patterns") -> None:
        if b'hidden="' not in chunk:
            return
        for found in patterns.hidden_row.finditer(chunk):
            self.findings.hidden_rows += 1
            self.findings.first_hidden_row = self.findings.first_hidden_row or int(found[1])

    def _note_errors(self, chunk: bytes, patterns: "_Patterns") -> None:
        if b't="e"' not in chunk:
            return
        for found in patterns.error.finditer(chunk):
            self.findings.errors += 1
            self.findings.first_error = self.findings.first_error or found[1].decode()

    def _note_uncalculated(self, chunk: bytes, patterns: "_Patterns") -> None:
        if patterns.formula not in chunk:
            return
        for found in patterns.uncalculated.finditer(chunk):
            self.findings.uncalculated += 1
            first = self.findings.first_uncalculated or found[1].decode()
            self.findings.first_uncalculated = first

    def _long_numbers(
        self, chunk: bytes, patterns: "_Patterns"
    ) -> dict[tuple[int, int], msgspec.Raw]:
        if not patterns.long.search(chunk):
            return {}
        return {
            position(found[1], found[2]): cells.number(str(int(found[4])))
            for found in patterns.long_number.finditer(chunk)
            if b't="' not in found[3] or b't="n"' in found[3]
        }

    def _shown_otherwise(
        self, chunk: bytes, patterns: "_Patterns"
    ) -> dict[tuple[int, int], msgspec.Raw]:
        made = {}
        if patterns.styled:
            for found in patterns.styled.finditer(chunk):
                if b't="' in found[3] and b't="n"' not in found[3]:
                    continue
                cell = self._styles[int(found[4])](found[5].decode())
                if cell is not None:
                    made[position(found[1], found[2])] = cell
        return made


class _Patterns:
    """Regular expressions for the names of tags in this sheet: `c`, or `x:c` with a prefix `x:`.

    plain_rows: matches a piece of whole rows, tidy and not hidden, with no formula, error or long
    number in them. It says nothing about styles.
    """

    def __init__(self, x: bytes, styles: Mapping[int, Show]) -> None:
        cell = rb'<%bc r="([A-Z]{1,3})(\d{1,7})"' % x
        value = rb"(?:<%bf[^<>]*>(?:[^<]*</%bf>)?)?<%bv>" % (x, x, x)
        none = rb"<%bv></%bv>|<%bv ?/>|" % (x, x, x)
        # In its attributes is no `e` but that of `t="inlineStr"`: an error has `t="e"`.
        plain_cell = (
            rb'<Xc r="[A-Z][^<>/e]*+'
            rb"(?:><Xv>(?!-?\d{16})[^<]*+</Xv></Xc>|"
            rb'eStr"><Xis><Xt[^<>]*+>[^<]*+</Xt></Xis></Xc>|/>)'
        )
        row_tag = rb'<Xrow r="\d[^<>h]*+(?:h(?!idden="[1t])[^<>h]*+)*+>'
        plain_rows = rb"(?:%b(?:%b)*+</Xrow>)++" % (row_tag, plain_cell)
        self.plain_rows = re.compile(plain_rows.replace(b"X", x)).fullmatch
        self.formula = b"><%bf" % x
        self.hidden_row = re.compile(rb'<%brow r="(\d{1,7})"[^<>]*? hidden="(?:1|true)"' % x)
        self.error = re.compile(rb'<%bc r="([A-Z]{1,3}\d{1,7})"[^<>]*? t="e"' % x)
        self.uncalculated = re.compile(
            rb'<%bc r="([A-Z]{1,3}\d{1,7})"[^<>]*><%bf(?:[^<>]*/>|[^<>]*>[^<]*</%bf>)(?:%b)</%bc>'
            % (x, x, x, none, x)
        )
        # From a float's 16th digit on, a number may not be what the file has.
        self.long = re.compile(rb"<%bv>-?\d{16}" % x)
        self.long_number = re.compile(cell + rb"([^<>]*)>" + value + rb"(-?\d{16,400})<")
        self.styled: re.Pattern[bytes] | None = None
        if styles:
            numbers = b"|".join(str(number).encode() for number in styles)
            self.styled = re.compile(
                cell + rb'([^<>]*? s="(%b)"[^<>]*)>' % numbers + value + rb"([^<]{1,400})<"
            )


def _prefix(first: bytes) -> bytes:
    """The prefix of the tags of a sheet that begins so: `x:`, or nothing."""
    found = re.search(rb"<(\w+:)?sheetData", first)
    return (found[1] if found else None) or b""
