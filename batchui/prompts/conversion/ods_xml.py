"""What calamine does not tell about the cells of an ODS file, found in its content.xml.

One part has all sheets. Rows and cells say how often they are repeated, so their places have to be
counted. Plain searches come first: in most files there is nothing of interest.
"""

import re
from collections.abc import Callable, Generator, Iterator
from datetime import timedelta
from functools import partial
from html import unescape
from itertools import repeat
from typing import BinaryIO

import msgspec

from batchui.prompts.conversion import cells
from batchui.prompts.conversion.number_formats import percent
from batchui.prompts.conversion.places import place
from batchui.prompts.conversion.sheet_xml import CHUNK_BYTES, MOST_BYTES, Correction, Findings

TABLE = re.compile(rb"<table:table[ >]")
ROW = re.compile(rb"<table:table-row(?=[ />])([^<>]*)>")
CELL = re.compile(rb"<table:(?:covered-)?table-cell(?=[ />])([^<>]*)>")
ROWS_REPEATED = re.compile(rb'table:number-rows-repeated="(\d{1,7})"')
COLUMNS_REPEATED = re.compile(rb'table:number-columns-repeated="(\d{1,5})"')
HIDDEN = re.compile(rb'table:visibility="(?:collapse|filter)"')
ERROR = b'calcext:value-type="error"'
VALUE = re.compile(rb'office:value="([^"]*)"')
SHOWN = re.compile(rb"<text:p>([^<]{0,400})</text:p>")
DURATION = re.compile(
    rb'office:time-value="(-?)PT(\d{1,7})H(\d{1,2})M(\d{1,2})(?:[.,](\d{1,6}))?\d*S"'
)
# A tab and a line break within a paragraph, which calamine leaves out.
BREAK = re.compile(rb"<text:(?:tab|line-break)")
NOTE = re.compile(rb"<office:annotation[ >].*?</office:annotation>", re.DOTALL)
PARAGRAPH = re.compile(rb"<text:([ph])(?: [^<>]*)?(?:/>|>(.*?)</text:\1>)", re.DOTALL)
IN_PARAGRAPH = re.compile(rb'<text:(tab|line-break|s)(?: text:c="(\d{1,3})")?[^<>]*/>|<[^<>]*>')
PADDED = re.compile(r"0\d+|[(+]?\d+[-+()/ ][-+()/ \d]*")
BLANK_OR_MARK = re.compile(r"\D")
LONG = re.compile(r"-?\d{16,400}")
FRACTION = re.compile(r"[.,](\d+)\s*%")
# One of these is in every file with a cell or row that is of interest.
# Words are found twice as quickly as patterns, and long ones faster than short ones.
WORDS = (ERROR, b'table:visibility="', b'office:value-type="time"')
LONG_NUMBER = re.compile(rb'office:value="-?\d{16}')
# Only where a style shows numbers so, the cell that is looked for can be there.
PERCENT_STYLE, PERCENT_WORD = b"<number:percentage-style", b'office:value-type="percentage"'
PADDED_STYLE = re.compile(rb'<number:number [^<>]*min-integer-digits="(?:[2-9]|\d\d)')
PADDED_TEXT = re.compile(rb"<text:p>0\d")
MARKED_STYLE = re.compile(PADDED_STYLE.pattern + rb"[^<>]*><number:embedded-text")
MARKED_TEXT = re.compile(rb"<text:p>[(+]?\d+[-+()/ ]")
STYLES_END = b"<office:spreadsheet"
LONGEST_SIGN = 64


class OdsXml:
    """The whole workbook. Its sheets are asked for one after the other, in their order.

    opened: opens content.xml. styles: the beginning of styles.xml.
    """

    def __init__(self, opened: Callable[[], BinaryIO], styles: bytes) -> None:
        with opened() as stream:
            styles += _until(stream, STYLES_END)
        self._words = (*WORDS, PERCENT_WORD) if PERCENT_STYLE in styles else WORDS
        self._patterns = [BREAK, LONG_NUMBER]
        if PADDED_STYLE.search(styles):
            self._patterns.append(PADDED_TEXT)
        if MARKED_STYLE.search(styles):
            self._patterns.append(MARKED_TEXT)
        self._opened = opened
        self._events = self._read() if self._has_any() else repeat(None)
        self.findings = Findings()

    def _has_any(self) -> bool:
        """Whether anything in the workbook is of interest."""
        rest = b""
        with self._opened() as stream:
            while data := stream.read(CHUNK_BYTES):
                if self._is_of_interest(rest + data):
                    return True
                rest = data[-LONGEST_SIGN:]
        return False

    def _is_of_interest(self, text: bytes) -> bool:
        return any(word in text for word in self._words) or any(
            pattern.search(text) for pattern in self._patterns
        )

    def corrections(self) -> Iterator[Correction]:
        """The cells of the next sheet that calamine has otherwise than the sheet shows them.

        When they have ended, `findings` has the rest about that sheet.
        """
        return iter(partial(next, self._events), None)

    def _read(self) -> Iterator[Correction | None]:
        """The cells of all sheets, and None where a sheet ends."""
        row: int | None = None  # before the first sheet
        for rows in self._pieces():
            if rows is None:
                if row is not None:
                    yield None
                row, self.findings = 0, Findings()
            elif row is not None:
                row = yield from self._rows(rows, row)
        yield None

    def _pieces(self) -> Iterator[bytes | None]:
        """Pieces that end between two rows, and None where a sheet begins."""
        rest = b""
        with self._opened() as stream:
            while data := stream.read(CHUNK_BYTES):
                text = rest + data
                end = max(text.rfind(b"<table:table-row"), text.rfind(b"<table:table "))
                if end <= 0 and len(text) < MOST_BYTES:
                    rest = text
                    continue
                rest, text = (text[end:], text[:end]) if end > 0 else (b"", text)
                yield from _by_sheet(text)
        yield from _by_sheet(rest)

    def _rows(self, text: bytes, row: int) -> Generator[Correction, None, int]:
        """The cells of these rows, the first of which is `row`. Returns the row after them."""
        if not self._is_of_interest(text):
            return row + sum(_times(ROWS_REPEATED, found[1]) for found in ROW.finditer(text))
        for attributes, content in _elements(ROW, text):
            times = _times(ROWS_REPEATED, attributes)
            if HIDDEN.search(attributes):
                self.findings.first_hidden_row = self.findings.first_hidden_row or row + 1
                self.findings.hidden_rows += times
            if self._is_of_interest(content):
                made = list(self._cells(content, row, times))
                for more in range(times) if made else ():
                    for column, cell in made:
                        yield row + more, column, cell
            row += times
        return row

    def _cells(self, row: bytes, number: int, times: int) -> Iterator[tuple[int, msgspec.Raw]]:
        column = 0
        for attributes, content in _elements(CELL, row):
            repeated = _times(COLUMNS_REPEATED, attributes)
            if ERROR in attributes:
                self.findings.first_error = self.findings.first_error or place(number, column)
                self.findings.errors += times * repeated
            cell = _cell(attributes, content)
            if cell is not None:
                yield from ((column + more, cell) for more in range(repeated))
            column += repeated


def _by_sheet(text: bytes) -> Iterator[bytes | None]:
    first, *others = TABLE.split(text)
    yield first
    for rows in others:
        yield None
        yield rows


def _until(stream: BinaryIO, end: bytes) -> bytes:
    """The beginning of a stream, up to `end` or MOST_BYTES."""
    text = b""
    while end not in text and len(text) < MOST_BYTES and (data := stream.read(CHUNK_BYTES)):
        text += data
    return text


def _elements(tag: re.Pattern[bytes], text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The attributes of each start tag, and the text from there to the next."""
    before: re.Match[bytes] | None = None
    for found in tag.finditer(text):
        if before:
            yield before[1], text[before.end() : found.start()]
        before = found
    if before:
        yield before[1], text[before.end() :]


def _times(repeated: re.Pattern[bytes], attributes: bytes) -> int:
    found = repeated.search(attributes)
    return int(found[1]) if found else 1


def _cell(attributes: bytes, content: bytes) -> msgspec.Raw | None:
    """The cell as it is shown; None if calamine has it so."""
    if b'office:value-type="time"' in attributes:
        return _duration(attributes)
    if BREAK.search(content):
        return _text(content)
    value = VALUE.search(attributes)
    if not value:
        return None
    number = value[1].decode()
    shown = SHOWN.search(content)
    text = shown[1].decode().strip() if shown else ""
    if b'office:value-type="percentage"' in attributes:
        fraction = FRACTION.search(text)
        percentage = percent(number, len(fraction[1]) if fraction else 0)
        return None if percentage is None else cells.percent(percentage)
    if _is_padded(text, number):
        return cells.padded(text, number)
    return cells.number(str(int(number))) if LONG.fullmatch(number) else None


def _is_padded(text: str, number: str) -> bool:
    """Whether this is a whole number with zeros before it or marks in it: 00123, 123-45-6789.

    Blanks alone are none: they stand between thousands.
    """
    if not PADDED.fullmatch(text) or not number.isdigit():
        return False
    digits = BLANK_OR_MARK.sub("", text)
    is_grouped = digits == text.replace(" ", "") and not digits.startswith("0")
    return not is_grouped and int(digits) == int(number)


def _text(content: bytes) -> msgspec.Raw:
    """The text of a cell, with its tabs and line breaks."""
    paragraphs = (found[2] or b"" for found in PARAGRAPH.finditer(NOTE.sub(b"", content)))
    text = b"\n".join(IN_PARAGRAPH.sub(_blank, paragraph) for paragraph in paragraphs)
    return msgspec.Raw(msgspec.json.encode(unescape(text.decode())))


def _blank(tag: re.Match[bytes]) -> bytes:
    blank = {b"tab": b"\t", b"line-break": b"\n", b"s": b" "}.get(tag[1] or b"", b"")
    return blank * int(tag[2] or 1)


def _duration(attributes: bytes) -> msgspec.Raw | None:
    """A time of more than a day, or below zero, which is none of a day."""
    found = DURATION.search(attributes)
    if not found or (not found[1] and int(found[2]) < 24):
        return None
    fraction = int((found[5] or b"").ljust(6, b"0"))
    hours, minutes, seconds = map(int, found.group(2, 3, 4))
    value = timedelta(hours=hours, minutes=minutes, seconds=seconds, microseconds=fraction)
    return cells.duration(-value if found[1] else value)
