"""Finds where the values of a JSON text begin and end, without decoding them.

It goes on where a decoder gives up: at NaN, at a value that is broken, at any depth. So one broken
value does not take those beside it with it.
"""

import re
from collections.abc import Iterator

_BLANKS = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
# A number, a word; also what is neither, up to the next sign of JSON.
_SCALAR = re.compile(rb'[^\s,:"\[\]{}]++')
# What stands before the next bracket, strings too, and then that bracket with those that follow it
# at once. A string without an end goes up to that of the text, so that the time grows with the size
# alone.
_BRACKETS = re.compile(
    rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"?[^"\[\]{}]*+)*+(?:([\[{]++)|([\]}]++))',
    re.DOTALL,
)
# To walk past so many brackets takes seconds.
MOST_BRACKETS = 3_000_000


class Broken(Exception):
    """The text is not JSON, or ends too early. str() says where."""


class Scanner:
    """A position in a JSON text, which moves from value to value."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._at = 0
        self._brackets = 0

    def kind(self) -> bytes:
        """The first byte of the next value, b"" at the end: b"{", b"[", b'"', or of a scalar."""
        found = _BLANKS.match(self._text, self._at)
        assert found is not None  # noqa: S101 (it matches nothing, too)
        self._at = found.end()
        return self._text[self._at : self._at + 1]

    def value(self) -> bytes:
        """The next value as it stands there. Moves past it."""
        self.kind()
        begins = self._at
        self._skip()
        return self._text[begins : self._at]

    def members(self) -> Iterator[bytes]:
        """The names of an object, as written between their quotation marks.

        After each the position is at its value. One that is not taken is skipped.
        """
        self._expect(b"{")
        if self._take(b"}"):
            return
        while True:
            if self.kind() != b'"':
                raise self._broken()
            name = self.value()[1:-1]
            self._expect(b":")
            self.kind()
            begins = self._at
            yield name
            if self._at == begins:
                self._skip()
            if self._take(b"}"):
                return
            self._expect(b",")

    def elements(self) -> Iterator[None]:
        """One turn for each element of a list. One that is not taken is skipped."""
        self._expect(b"[")
        if self._take(b"]"):
            return
        while True:
            self.kind()
            begins = self._at
            yield
            if self._at == begins:
                self._skip()
            if self._take(b"]"):
                return
            self._expect(b",")

    def end(self) -> None:
        """Raise Broken if anything but blanks follows."""
        if self.kind():
            raise self._broken()

    def _skip(self) -> None:
        first = self._text[self._at : self._at + 1]
        if first in (b"{", b"["):
            self._at = self._end_of_nested()
            return
        found = (_STRING if first == b'"' else _SCALAR).match(self._text, self._at)
        if found is None:
            raise self._broken()
        self._at = found.end()

    def _end_of_nested(self) -> int:
        at, depth = self._at, 0
        while found := _BRACKETS.match(self._text, at):
            at = found.end()
            self._brackets += 1
            if self._brackets > MOST_BRACKETS:
                raise Broken(f"more than {MOST_BRACKETS:,} lists and objects")
            depth += _levels(found)
            if depth <= 0:
                return at + depth  # before the brackets that close what is around it
        raise self._broken()

    def _take(self, sign: bytes) -> bool:
        if self.kind() != sign:
            return False
        self._at += 1
        return True

    def _expect(self, sign: bytes) -> None:
        if not self._take(sign):
            raise self._broken()

    def _broken(self) -> Broken:
        return Broken(f"JSON is broken after byte {self._at:,} of {len(self._text):,}")


def depth(raw: bytes) -> int:
    """How deep lists and objects are nested in JSON: 0 for a scalar."""
    at = deepest = now = 0
    while found := _BRACKETS.match(raw, at):
        at = found.end()
        now += _levels(found)
        deepest = max(deepest, now)
    return deepest


def _levels(found: re.Match[bytes]) -> int:
    """How many levels deeper it is after these brackets."""
    which = found.lastindex or 0
    begins, ends = found.span(which)
    return ends - begins if which == 1 else begins - ends
