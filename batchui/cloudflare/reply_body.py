"""Takes the body of a reply apart: its envelope, and its items one by one.

A body as the API documents it is decoded at once. Any other is walked through, value by value, so
that an item that is broken, or of an unusual shape, costs nothing but itself. A body with far more
items than were asked for is refused before they are in memory.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare import tolerant_json
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.json_scanner import Broken, Scanner
from batchui.cloudflare.tolerant_json import DAMAGED

# More objects than this are not decoded at once: each takes about 100 bytes. `{},` is the shortest.
MOST_AT_ONCE = 1_000_000
SHORTEST_OBJECT = 3
# A larger body is decoded at once or not at all: walking through it takes seconds.
LONGEST_WALK = 128 * 1024 * 1024
# A value that is read as a whole: an id, a reference, the reason of a failure.
LONGEST_VALUE = 64 * 1024


class Damaged(Exception):
    """The body is not a JSON object, or not a whole one. str() says why."""


class TooManyItems(BadReply):
    """A reply with far more items than were sent."""


class Item(Struct, gc=False):
    """One item, as it stands in the reply."""

    id: int | str | None = None
    index: int | str | None = None
    success: bool | None = None
    external_reference: str | None = None
    error: Raw = Raw()
    errors: Raw = Raw()
    message: Raw = Raw()
    result: Raw = Raw()
    usage: Raw = Raw()


class BrokenItem(Struct, gc=False):
    """An item that cannot be decoded, with as much of it as could be read."""

    id: Any = None
    index: Any = None
    external_reference: str | None = None


# None: it is not an object.
AnyItem = Item | BrokenItem | None


@dataclass(frozen=True)
class Level:
    """The reply, or the `result` in it. items: None if it has no array of items.

    usage and reasons: raw JSON, b"" for none.
    """

    items: list[AnyItem] | None
    status: str | None
    request_id: str | None
    usage: bytes
    reasons: tuple[bytes, ...]


class _Level(Struct):
    responses: list[Item] | None = None
    results: list[Item] | None = None
    status: str | None = None
    request_id: str | None = None
    usage: Raw = Raw()
    error: Raw = Raw()
    errors: Raw = Raw()
    message: Raw = Raw()


class _Envelope(_Level):
    result: _Level | None = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)
_ITEM = msgspec.json.Decoder(Item)
_ANY = msgspec.json.Decoder(Any)
_RAW = msgspec.json.Decoder(Raw)
_STR = msgspec.json.Decoder(str)

_CONTAINERS = (b"responses", b"results")
_REASONS = (b"error", b"errors", b"message")
_NAMES = frozenset((b"status", b"request_id", b"usage", *_REASONS))


def open_body(body: bytes, *, most: int) -> tuple[Level, Level]:
    """The envelope and the inner result. Without an envelope both are the same.

    Raises Damaged, and TooManyItems for more than `most` items.
    """
    why = ""
    if len(body) <= SHORTEST_OBJECT * MOST_AT_ONCE or body.count(b"{") <= MOST_AT_ONCE:
        try:
            found = _ENVELOPE.decode(body)
        except DAMAGED as exc:
            why = str(exc)
        else:
            envelope = _decoded(found, most)
            return envelope, envelope if found.result is None else _decoded(found.result, most)
    if len(body) > LONGEST_WALK:
        raise Damaged(why or "too many objects to decode them at once")
    try:
        scanner = Scanner(body)
        walked, inner = _walked(scanner, most)
        scanner.end()
    except Broken as exc:
        raise Damaged(why or str(exc)) from None
    return walked, inner or walked


def small(raw: Raw | bytes) -> Any:
    """A value, decoded. None if it is longer than LONGEST_VALUE, or broken."""
    if not raw or len(raw) > LONGEST_VALUE:
        return None
    try:
        return tolerant_json.decode(_ANY, bytes(raw))
    except DAMAGED:
        return None


def _decoded(level: _Level, most: int) -> Level:
    return Level(
        items=_chosen(level.responses, level.results, most),
        status=level.status,
        request_id=level.request_id,
        usage=bytes(level.usage),
        reasons=(bytes(level.error), bytes(level.errors), bytes(level.message)),
    )


def _chosen(
    responses: "list[Any] | None", results: "list[Any] | None", most: int
) -> list[AnyItem] | None:
    """Of two arrays the first one with items."""
    items = responses or results
    if items is None:
        items = responses
    if items and len(items) > most:
        raise _too_many(most)
    return items


# -- walking --------------------------------------------------------------------------------------


def _walked(scanner: Scanner, most: int, *, is_inner: bool = False) -> tuple[Level, Level | None]:
    """The level at which the scanner is, and the `result` in it if that is an object."""
    found: defaultdict[bytes, bytes] = defaultdict(bytes)
    arrays: dict[bytes, list[AnyItem]] = {}
    inner: Level | None = None
    for name in scanner.members():
        if name == b"result" and not is_inner and scanner.kind() == b"{":
            inner, _ = _walked(scanner, most, is_inner=True)
        elif name in _CONTAINERS and scanner.kind() == b"[":
            arrays[name] = list(_items(scanner, most))
        elif name in _NAMES:
            found[name] = scanner.value()
    status, request_id = (small(found[name]) for name in (b"status", b"request_id"))
    level = Level(
        items=_chosen(arrays.get(b"responses"), arrays.get(b"results"), most),
        status=status if isinstance(status, str) else None,
        request_id=request_id if isinstance(request_id, str) else None,
        usage=found[b"usage"],
        reasons=tuple(found[name] for name in _REASONS),
    )
    return level, inner


def _items(scanner: Scanner, most: int) -> Iterator[AnyItem]:
    for number, _ in enumerate(scanner.elements(), 1):
        if number > most:
            raise _too_many(most)
        yield _item(scanner.value())


def _item(raw: bytes) -> AnyItem:
    if not raw.startswith(b"{"):
        return None
    try:
        return tolerant_json.decode(_ITEM, raw)
    except DAMAGED:
        return _item_of_members(raw)


def _item_of_members(raw: bytes) -> Item | BrokenItem:
    """An item that cannot be decoded at once: from those of its members that can be."""
    found: defaultdict[bytes, bytes] = defaultdict(bytes)
    try:
        scanner = Scanner(raw)
        for name in scanner.members():
            found[name] = scanner.value()
        result = tolerant_json.decode(_RAW, found.get(b"result", b"null"))
    except (Broken, *DAMAGED):
        broken = BrokenItem(small(found[b"id"]), small(found[b"index"]))
        broken.external_reference = _text(found[b"external_reference"])
        return broken
    return Item(
        id=small(found[b"id"]),
        index=small(found[b"index"]),
        success=small(found[b"success"]),
        external_reference=_text(found[b"external_reference"]),
        error=Raw(found[b"error"]),
        errors=Raw(found[b"errors"]),
        message=Raw(found[b"message"]),
        result=result,
        usage=Raw(found[b"usage"]),
    )


def _text(raw: bytes) -> str | None:
    """A reference as text, however long. One that is not a text is its JSON."""
    if raw.startswith(b'"'):
        with suppress(*DAMAGED):
            return tolerant_json.decode(_STR, raw)
    value = small(raw)
    return None if value is None else msgspec.json.encode(value).decode()


def _too_many(most: int) -> TooManyItems:
    return TooManyItems(
        "Cloudflare's reply has far more answers than rows were sent. Nothing of it was used.",
        detail=f"more than {most:,} items",
    )
