"""Reads a JSON text value by value, with the text of each as it was written.

The decoder of the standard library says where a value ends, and what is wrong with it. Objects that
follow an object are taken as many at a time as have been read: msgspec tells them apart without
making them. So only a piece of the file is in memory, and no number is touched.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn

import msgspec

from batchui.prompts.problems import LINE_LIMIT, BadInput, place, quoted
from batchui.prompts.reading.decoding import Decoder, detect
from batchui.prompts.reading.format import HEAD_BYTES

WHITESPACE = re.compile(r"[ \t\r\n]*+")
# Python turns no more digits into a whole number (sys.int_info); other programs take fewer.
DIGITS = "4,300"
# No longer objects, in bytes, are taken together: none of their numbers has more digits.
LONGEST_TOGETHER = 4_300
# Line breaks with the blanks around them. They are never inside a string.
LINE_BREAKS = re.compile(rb"[ \t]*+[\r\n][ \t\r\n]*+")
# So many ends of objects are tried, from the last: it may be within the object that is cut off.
ENDS_TRIED = 8

_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


class Value(NamedTuple):
    """A value, and its text in the file, but for line breaks.

    lines: how many `text` has. Each is an object if several were taken together; then `value` is an
    empty one.
    """

    value: Any
    text: bytes
    lines: int = 1


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
        self._tried = False  # whether `_text` was searched for objects to be taken together
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
                    text = self._text[self._at : end].encode()
                    self._at = end
                    return Value(value, _on_one_line(text))
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
            value = self.value()
            yield value
            closed = self.take(",]") == "]"
            if type(value.value) is dict and not closed and (more := self._objects()):
                self.item += more.lines
                yield more
                closed = self.take(",]") == "]"
        self.item = 0

    def _objects(self) -> Value | None:
        """The next objects of a list, as far as they were read; None if they must be read singly.

        What is cut off behind a bracket, and can be read as a list, was not cut within an object.
        """
        end, tries = len(self._text), 0 if self._tried else ENDS_TRIED
        self._tried = True
        for _ in range(tries):
            end = self._text.rfind("}", self._at, end)
            if end < 0:
                return None
            after = WHITESPACE.match(self._text, end + 1)
            if after and self._text.startswith((",", "]"), after.end()):
                try:
                    found = _split(f"[{self._text[self._at : end + 1]}]")
                except (ValueError, RecursionError):
                    continue
                made = _as_lines(found)
                self._at = end + 1 if made else self._at
                return made
        return None

    def several(self) -> Iterator[Value]:
        """All values from here to the end of the file, with blanks or nothing between them."""
        while self.peek():
            self.item += 1
            yield self.value()

    def end(self) -> None:
        """Raises BadInput if there is more than blanks."""
        char = self.peek()
        if char:
            self._refuse(f"the document has ended, and {quoted(char)} follows")

    def _more(self) -> None:
        """Read as much again as is not used yet, so that a long value is tried only a few times."""
        self._line += self._text.count("\n", 0, self._at)
        rest = self._text[self._at :]
        self._at = 0
        self._tried = False
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


def _as_lines(objects: Sequence[msgspec.Raw]) -> Value | None:
    """Objects that are taken together; None if one is none, or too long."""
    if max(map(len, objects)) > LONGEST_TOGETHER:
        return None
    text = b"\n".join(objects)
    breaks = len(objects) - 1
    if b"\r" in text or text.count(b"\n") > breaks:
        text = b"\n".join([_on_one_line(bytes(one)) for one in objects])
    if not text.startswith(b"{") or text.count(b"\n{") != breaks:
        return None
    return Value({}, text, len(objects))


def _on_one_line(text: bytes) -> bytes:
    return LINE_BREAKS.sub(b"", text) if b"\n" in text or b"\r" in text else text


class _NoConstant(ValueError):
    """A word that is no JSON, although Python writes it."""


def _no_constant(word: str) -> NoReturn:
    raise _NoConstant(word)


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
