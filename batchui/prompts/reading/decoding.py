"""Finds the encoding of a file, and turns its bytes into text, one chunk at a time.

Sure signs come first: a byte order mark, the zero bytes of UTF-16, text that is valid UTF-8. A code
page is guessed only if there is none of them.
"""

import codecs
import re
from collections.abc import Callable

from batchui.prompts.problems import BadInput, Problem
from batchui.prompts.reading.code_pages import CODE_PAGES, NAMES
from batchui.prompts.reading.guessing import Evidence

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SAVE_AS_UTF8 = "Save it as UTF-8 (in Excel: “CSV UTF-8”) and upload it again"

# The first bytes of files that no module reads, what such a file is, and what to do about it. (What
# can be converted is never asked whether it is text.)
MAGIC = (
    (b"%PDF-", "a PDF document", "Copy its table into a spreadsheet, save that"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "Unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive", "Unpack it"),
    (b"SQLite format 3\x00", "a SQLite database", "Save the table you need as CSV"),
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)", "Copy its rows into a spreadsheet, save that"),
    (b"\xff\xd8\xff", "a picture (JPEG)", "Copy its rows into a spreadsheet, save that"),
    (b"{\\rtf", "a rich text document (RTF)", "Save it as plain text"),
)
TAR = b"ustar"
# Control characters that text does not have. If more than one byte in thirty is one, it is no text.
CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
RUBBISH_SHARE = 1 / 30
# So many bytes show whether it is UTF-16 or 32.
SAMPLE_BYTES = 4096
NOT_ASCII_TEXT = re.compile(rb"[^\0\t\r\n -~]")
CONTROL_IN_TEXT = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")


class NotUnicode(BadInput):
    """The error for a byte that the encoding does not know.

    perhaps_other: the file may be in a code page. False if most bytes beyond ASCII are proper
    UTF-8: then only one place is damaged, and a code page would spoil all other accents.
    """

    def __init__(self, byte: int, *, encoding: str, line: int, perhaps_other: bool) -> None:
        problem = Problem(
            f"the byte 0x{byte:02X} has no meaning in {NAMES[encoding]}, the encoding of the rest "
            f"of the file. {SAVE_AS_UTF8}.",
            line=line,
        )
        super().__init__(str(problem), problem=problem)
        self.perhaps_other = perhaps_other


def refuse_binary(head: bytes) -> None:
    """Raise BadInput, with the kind of file, if `head` is not the beginning of a text."""
    if head[257:262] == TAR:
        raise BadInput(
            "This file is a tar archive, not text. Unpack it, then upload what is in it."
        )
    for magic, what, advice in MAGIC:
        if head.startswith(magic):
            raise BadInput(f"This file is {what}, not text. {advice}, then upload that.")
    if not _marked(head) and len(CONTROL.findall(head)) > len(head) * RUBBISH_SHARE:
        raise BadInput(
            "This file is not text: it is full of bytes that no text contains. Open it in the "
            "program that made it, save it as CSV, and upload that."
        )


def detect(head: bytes, *, whole: bool) -> str:
    """The encoding of a file that begins with `head`: a key of NAMES.

    Raises NotUnicode for UTF-8 that is damaged in one place.
    """
    if marked := _marked(head):
        return marked
    try:
        Decoder("utf-8").decode(head, final=whole, rest="", line=1)
    except NotUnicode as exc:
        if not exc.perhaps_other:
            raise
        evidence = Evidence()
        evidence.add(head)
        return evidence.guess()
    return "utf-8"


def _marked(head: bytes) -> str | None:
    """The encoding named by a byte order mark or shown by the zero bytes of UTF-16 and 32."""
    for mark, encoding in BOMS:
        if head.startswith(mark):
            return encoding
    sample = head[:SAMPLE_BYTES]
    if 0 not in sample or (len(sample) % 2 and len(sample) == len(head)):
        return None
    return _looks_utf32(sample) or _looks_utf16(sample)


def _looks_utf32(sample: bytes) -> str | None:
    """The byte order of UTF-32 without a mark; None if it is something else.

    At least one byte in four is zero, always the same one: nothing else can be decoded so.
    """
    if len(sample) % 4 == 0:
        for encoding in ("utf-32-le", "utf-32-be"):
            try:
                text = sample.decode(encoding)
            except UnicodeDecodeError:
                continue
            if not CONTROL_IN_TEXT.search(text):
                return encoding
    return None


def _looks_utf16(sample: bytes) -> str | None:
    """The byte order of UTF-16 without a mark; None if it is something else.

    In Latin text nearly every second byte is zero, and the others are not. In the others, a zero
    stands beside most line breaks, always on the same side, and of all bytes more than a tenth
    are no ASCII text. (A text in ASCII with zeros in it is damaged.)
    """
    even, odd = sample[0::2], sample[1::2]
    pairs = len(odd)
    foreign = len(NOT_ASCII_TEXT.findall(sample)) > 0.1 * len(sample)
    for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        breaks = [top for top, byte in zip(high, low, strict=False) if byte in b"\r\n"]
        if low.count(0) <= 0.05 * pairs and (
            high.count(0) >= 0.6 * pairs or (foreign and breaks.count(0) * 2 > len(breaks))
        ):
            return encoding
    return None


class Decoder:
    """Turns bytes into text, chunk by chunk. Raises BadInput, with the line, for other bytes."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._decode: Callable[[bytes, bool], str] = codecs.getincrementaldecoder(encoding)().decode
        self._plain = True
        self._started = False

    def decode(self, data: bytes, *, final: bool, rest: str, line: int) -> str:
        """The text of the next chunk, without a byte order mark, or several.

        rest: earlier text that is not used yet. line: where it begins; errors count from there.
        """
        try:
            text = self._decode(data, final)
        except UnicodeDecodeError as exc:
            raise self._not_unicode(exc, rest, line) from None
        if "\0" in text:
            at = line + line_breaks(rest + text[: text.index("\0")])
            raise BadInput.at(
                "there is a NUL byte, which no text contains; the file is damaged or not a text "
                f"file. {SAVE_AS_UTF8}.",
                line=at,
            )
        self._plain = self._plain and text.isascii()
        if not self._started and text:
            self._started = True
            return text.lstrip("\ufeff")
        return text

    def _not_unicode(self, exc: UnicodeDecodeError, rest: str, line: int) -> NotUnicode:
        before = exc.object[: exc.start].decode(self.encoding, "replace")
        return NotUnicode(
            exc.object[exc.start] if exc.start < len(exc.object) else 0,
            encoding=self.encoding,
            line=line + line_breaks(rest + before),
            perhaps_other=self._perhaps_other(exc.object),
        )

    def _perhaps_other(self, data: bytes) -> bool:
        if self.encoding != "utf-8":
            return self.encoding in CODE_PAGES
        text = data.decode("utf-8", "replace")
        broken = text.count("\ufffd")
        proper = sum(not char.isascii() for char in text) - broken
        return self._plain and proper < broken


def line_breaks(text: str) -> int:
    """The number of line breaks (LF, CR LF or CR) in `text`."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
