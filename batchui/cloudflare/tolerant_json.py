"""Reads JSON from outside, even if it is slightly wrong, and keeps values as raw text."""

import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

T = TypeVar("T")

# Added to a field's own type, these let it have any JSON value, so that no reply is refused.
Scalar = bool | int | float | str | None
Other = list[Any] | Scalar

DAMAGED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# A list or object longer than this is something, whatever it consists of.
LONGEST_NOTHING = 64 * 1024

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)"
)
_NO_NUMBER = re.compile(rb"[-+]?(?i:nan|inf(?:inity)?)\b")
# A string goes up to its end, or to that of the text: so the time grows with the size alone.
_STRING_OR_NO_NUMBER = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|' + _NO_NUMBER.pattern, re.DOTALL)
_NUMBERS = re.compile(rb"[\[\s]*[-0-9]")


def decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """Decode `body`, repaired if it must be. Raises the exceptions in DAMAGED.

    NaN and Infinity, which some programs write for numbers, become null. Half of an emoji, cut off
    by the limit of an answer, becomes U+FFFD: JavaScript allows half a surrogate pair in a string.
    msgspec refuses a body with any of these.
    """
    try:
        return decoder.decode(body)
    except msgspec.DecodeError:
        repaired = _repaired(body)
        if repaired == body:
            raise
    return decoder.decode(repaired)


def _repaired(body: bytes) -> bytes:
    if b"\\u" in body:
        body = _ESCAPE.sub(_whole_pairs, body)
    if _NO_NUMBER.search(body):
        body = _STRING_OR_NO_NUMBER.sub(_null_for_no_number, body)
    return body


def _whole_pairs(escape: re.Match[bytes]) -> bytes:
    lone = len(escape[0]) == len(rb"\ud83d")
    return rb"\ufffd" if lone else escape[0]


def _null_for_no_number(found: re.Match[bytes]) -> bytes:
    return found[0] if found[0].startswith(b'"') else b"null"


def one_line(raw: Raw | bytes) -> bytes:
    """A copy of raw JSON on one line, in valid UTF-8. What is not UTF-8 becomes U+FFFD."""
    text = bytes(raw)
    # A JSON string never has line breaks; searching for them is a third of the work.
    if not text.startswith(b'"') and (b"\n" in text or b"\r" in text):
        text = msgspec.json.format(text, indent=-1)
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace").encode()
    return text


def is_nothing(raw: bytes) -> bool:
    """Whether raw JSON is null, a blank string, or a list or object of nothing else.

    A number or a boolean is not nothing, not even 0 or false.
    """
    first = raw[:1]
    if first == b'"':
        # With a letter right after the quotation mark there is no need to decode.
        plain = 0x21 <= raw[1] < 0x7F and raw[1] not in b'"\\'
        return not (plain or msgspec.json.decode(raw, type=str).strip())
    if first not in (b"[", b"{"):
        return not raw or raw == b"null"
    if len(raw) > LONGEST_NOTHING or _NUMBERS.match(raw):
        return False
    try:
        return _hollow(msgspec.json.decode(raw))
    except DAMAGED:
        return False


def _hollow(value: Any) -> bool:
    match value:
        case None:
            return True
        case str():
            return not value.strip()
        case list():
            return all(map(_hollow, value))
        case dict():
            return all(map(_hollow, value.values()))
        case _:
            return False
