"""One item of a finished reply as it came, for people who want to see it."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare.replies import position


class _Level(Struct):
    responses: list[Raw] | None = None
    results: list[Raw] | None = None


class _Envelope(_Level):
    result: _Level | None = None


class _Item(Struct):
    id: Any = None
    index: Any = None
    external_reference: Any = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ITEM = msgspec.json.Decoder(_Item)


def raw_item(body: bytes, index: int, *, reference: str | None = None) -> str | None:
    """The item with this position in the request, as JSON laid out; None if it is not found.

    reference: the item that names no position is found by its reference. It is not found, either,
    in a reply of an unusual shape or a damaged one, which `replies.decode` can still read.
    """
    try:
        envelope = _ENVELOPE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    inner = envelope.result or envelope
    items = [(item, _named(item)) for item in inner.responses or inner.results or ()]
    found = next((item for item, (place, _) in items if place == index), None)
    if found is None and reference is not None:
        found = next((item for item, named in items if named == (None, reference)), None)
    return None if found is None else msgspec.json.format(bytes(found), indent=2).decode()


def _named(item: Raw) -> tuple[int | None, Any]:
    """The position and the reference that an item names."""
    try:
        found = _ITEM.decode(item)
    except msgspec.DecodeError:  # not an object
        return None, None
    index = position(found.index)
    return position(found.id) if index is None else index, found.external_reference
