"""Reads a JSON text value by value, with the text of each as it was written.

The decoder of the standard library says where a value ends. So only one value is in memory, and its
numbers are not touched.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, NoReturn

from batchui.prompts.problems import LINE_LIMIT, BadInput, place, quoted
from batchui.prompts.reading.decoding import Decoder, detect
from batchui.prompts.reading.sniffing import HEAD_BYTES

WHITESPACE = re.compile(r"[ \t\r\n]*+")
# Python turns no more digits into a whole number (sys.int_info); other programs take fewer.
DIGITS = "4,300"


class Value(NamedTuple):
    """A value, and its text in the file."""

    value: Any
    text: str


class JsonText:
    """The values of a stream, from its beginning.

    done: how many bytes were read. item: the number of the item that is read, for the sentences; 0
    outside a list.
    """

    def __init__(self, stream: BinaryIO) -> None:
        head = stream.read(HEAD_BYTES)
        self._stream = stream
        self._final = len(head) < HEAD_BYTES
        self._decoder = Decoder(detect(head, whole=self._final))
        self._decode = json.JSONDecoder(parse_constant=_no_constant).raw_decode
        self._text = self._decoder.decode(head, final=self._final, rest="", line=1)
        self._at = 0
        self._line = 1  # where `_text` begins
        self.done = len(head)
        self.item = 0

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            found = WHITESPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if self._final:
                return ""
            self._more()

    def take(self, expected: str) -> str:
        """The next character, which has to be one of these. Raises BadInput if it is not."""
        char = self.peek()
        if not char:
            self._ends_early()
        if char not in expected:
            wanted = " or ".join(quoted(one) for one in expected)
            self._refuse(f"{wanted} is expected here, not {quoted(char)}")
        self._at += 1
        return char

    def value(self, limit: int = LINE_LIMIT) -> Value:
        """The next value. Raises BadInput if it is no JSON, or longer than `limit` characters."""
        self.peek()
        before = None
        while True:
            try:
                value, end = self._decode(self._text, self._at)
            except json.JSONDecodeError as exc:
                failure = (exc.msg, exc.pos - self._at)
                if self._final:
                    self._refuse_cut_off(exc)
                if failure == before and "nterminated" not in exc.msg:
                    self._refuse(_lower(exc.msg), at=exc.pos)
                before = failure
            except RecursionError:
                self._refuse("its lists and objects are nested too deeply")
            except _NoConstant as exc:
                self._refuse(f"{exc} is no number; write null, or leave it out")
            except ValueError:  # of int()
                self._refuse(f"it has a number with more than {DIGITS} digits")
            else:
                # A number at the end of what was read may have more digits.
                if end < len(self._text) or self._final or self._text[self._at] in '[{"':
                    text = self._text[self._at : end]
                    self._at = end
                    return Value(value, text)
            if len(self._text) - self._at > limit:
                raise BadInput(
                    f"{self._place(self._at)}: what begins here is longer than "
                    f"{limit // 1_000_000:,} MB, too long for one row. Shorten it, or remove it."
                )
            self._more()

    def items(self) -> Iterator[Value]:
        """The values of a list, up to its end."""
        self.take("[")
        self.item = 0
        closed = self.peek() == "]" and self.take("]") == "]"
        while not closed:
            self.item += 1
            yield self.value()
            closed = self.take(",]") == "]"
        self.item = 0

    def several(self) -> Iterator[Value]:
        """All values from here to the end of the file, with blanks or nothing between them."""
        while self.peek():
            self.item += 1
            yield self.value()

    def end(self) -> None:
        """Raises BadInput if there is more than blanks."""
        self.item = 0
        char = self.peek()
        if char:
            self._refuse(f"the document has ended, and {quoted(char)} follows")

    def _more(self) -> None:
        """Read as much again as is not used yet, so that a long value is tried only a few times."""
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        self._at = 0
        data = self._stream.read(max(HEAD_BYTES, len(rest)))
        self._final = not data
        self.done += len(data)
        self._text = rest + self._decoder.decode(
            data, final=self._final, rest=rest, line=self._line
        )

    def _place(self, at: int) -> str:
        line = self._line + self._text.count("\n", 0, at)
        return f"Item {self.item:,} (line {line:,})" if self.item else place(line=line)

    def _refuse(self, what: str, *, at: int | None = None) -> NoReturn:
        where = self._place(self._at if at is None else at)
        raise BadInput(f"{where}: this is no JSON ({what}). Correct it, and upload the file again.")

    def _refuse_cut_off(self, exc: json.JSONDecodeError) -> NoReturn:
        rest = self._text[exc.pos :].strip()
        if not rest or "nterminated" in exc.msg:
            self._ends_early()
        self._refuse(_lower(exc.msg), at=exc.pos)

    def _ends_early(self) -> NoReturn:
        raise BadInput(
            f"{self._place(len(self._text))}: the file ends in the middle. It was not copied or "
            "downloaded whole. Get it again, and upload that."
        )


class _NoConstant(ValueError):
    """A word that is no JSON, although Python writes it."""


def _no_constant(word: str) -> NoReturn:
    raise _NoConstant(word)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
