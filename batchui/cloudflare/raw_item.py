"""One item of a finished reply as it came, for people who want to see it."""

from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct


class _Level(Struct):
    responses: list[Raw] | None = None
    results: list[Raw] | None = None


class _Envelope(_Level):
    result: _Level | None = None


class _Item(Struct):
    id: int | str | None = None
    index: int | str | None = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ITEM = msgspec.json.Decoder(_Item)


def raw_item(body: bytes, index: int) -> str | None:
    """The item with this position in the request, as JSON laid out; None if it is not found.

    It is not found, either, in a reply of an unusual shape or a damaged one, which `replies.decode`
    can still read.
    """
    try:
        envelope = _ENVELOPE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    inner = envelope.result or envelope
    found = next((item for item in _items(inner) if _index(item) == str(index)), None)
    return None if found is None else msgspec.json.format(bytes(found), indent=2).decode()


def _items(level: _Level) -> Sequence[Raw]:
    return level.responses or level.results or ()


def _index(item: Raw) -> str | None:
    try:
        found = _ITEM.decode(item)
    except msgspec.DecodeError:  # not an object, or numbered in another way
        return None
    index = found.id if found.index is None else found.index
    return None if index is None else str(index)
