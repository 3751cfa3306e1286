"""Reads a finished reply, item by item.

Items come in one of two arrays (`responses[]` with `id`, `results[]` with `index`), with the
envelope of the API or, through the binding of a Worker, without it. All of these are read, from any
model. Answers stay raw JSON: they are not turned into Python objects. What is broken in one item
costs the row of that item alone (see `reply_body.py`).
"""

from typing import Any, Literal

import msgspec
from msgspec import Struct

from batchui.cloudflare import tolerant_json
from batchui.cloudflare.answers import read_answer
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.json_in_text import unwrapped
from batchui.cloudflare.json_scanner import depth
from batchui.cloudflare.redaction import as_it_came, clean, error_text, quote
from batchui.cloudflare.reply_body import (
    AnyItem,
    BrokenItem,
    Damaged,
    Item,
    Level,
    open_body,
    small,
)

UNDER_WAY = frozenset({"queued", "running"})
FAILED = frozenset({"failed", "error"})

# What is nested deeper is not kept: a page or a download could not show it.
DEEPEST_ANSWER = 100
# Bytes: nothing shorter can be nested so deep.
SHALLOW = 2 * DEEPEST_ANSWER
_QUOTE = ord('"')
# What the text of JSON begins with: a bracket, a code fence, a blank or an escaped line break.
_MAY_BE_JSON = (b"{", b"[", b"`", b" ", b"\\")
# Of a reply that is read without knowing how many items were sent.
MOST_ITEMS = 1_000_000

EMPTY = "The model's answer is empty. Retry this row, or ask more plainly."
_BROKEN = (
    "Cloudflare's answer for this row cannot be read: it is damaged, or nested too deep. Retry "
    "this row."
)


class Usage(Struct, frozen=True):
    """The tokens that Cloudflare counted: read (prompt) and written (completion)."""

    prompt_tokens: int
    completion_tokens: int


class _Written(Struct, gc=False):
    completion_tokens: int | None = None
    output_tokens: int | None = None


_WRITTEN = msgspec.json.Decoder(_Written)


class ItemReply(Struct, frozen=True, gc=False):
    """What came back for one item.

    index: its position in the array that was sent, None if the reply names none.
    status: `empty` is a success with nothing in it.
    answer: one line of raw JSON in UTF-8, or None. An answer without content, like `{"names":[]}`
    (parsed, or as text), is kept.
    error: a sentence on a failed or empty item. reference: the external_reference in the reply.
    usage: a raw JSON object, if this item has one of its own.
    broken: it failed because the reply is broken at this item.
    cut: whether the answer ended at the limit of its length; None: the reply does not say.
    """

    index: int | None
    status: Literal["answered", "empty", "failed"]
    answer: bytes | None = None
    error: str | None = None
    reference: str | None = None
    usage: bytes | None = None
    broken: bool = False
    cut: bool | None = None


class Reply(Struct, frozen=True):
    """A finished reply. items: in the order of the reply, which differs from the order sent."""

    items: list[ItemReply]
    usage: Usage | None = None


class State(Struct, frozen=True):
    """How far a request is, according to a poll. reason: why it failed, cleaned."""

    finished: bool
    status: str | None = None
    request_id: str | None = None
    reason: str = ""


def decode(body: bytes, *, request_id: str | None = None, most: int = MOST_ITEMS) -> Reply:
    """Read a finished reply. Raises BadReply, with the reason, if `body` is not one.

    request_id: if given, a reply that names another one is a BadReply too. most: a reply with more
    items raises TooManyItems, before they are in memory. A broken item that does not tell its
    position is left out.
    """
    envelope, result = _open(body, most=most)
    state = _state(envelope, result)
    if not state.finished:
        raise BadReply(
            f"Cloudflare's reply has no answers.{quote(state.reason)}",
            detail=f"not a finished reply: status {state.status!r}, reason {state.reason!r}",
        )
    if request_id is not None:
        check_request(state, asked=request_id)
    items = [_item(item) for item in result.items or []]
    return Reply(
        items=[item for item in items if item is not _NOBODYS], usage=usage_in(result.usage)
    )


def read_result(raw: bytes) -> ItemReply:
    """What came back for a single item that was asked at once: the `result` of `BatchClient.run`.

    Its `index` and `reference` are None.
    """
    item = Item(success=True, result=msgspec.Raw(raw))
    try:
        return _whole_item(item)
    except tolerant_json.DAMAGED:
        return ItemReply(None, "failed", error=_BROKEN, broken=True)


def usage_of(raw: bytes | None) -> Usage:
    """The tokens in a `usage` object (raw JSON); noughts where it names none."""
    return usage_in(raw or b"") or Usage(0, 0)


def written_tokens(raw: bytes | None) -> int:
    """The tokens that a `usage` object (raw JSON) counts as written; 0 where it names none."""
    try:
        usage = _WRITTEN.decode(raw or b"")
    except tolerant_json.DAMAGED:  # odd numbers, or no object
        return usage_of(raw).completion_tokens
    return usage.completion_tokens or usage.output_tokens or 0


def state_of(body: bytes) -> State:
    """How far a request is, read from the 2xx of a poll. Raises BadReply for no JSON object."""
    return _state(*_open(body, most=MOST_ITEMS))


def check_request(state: State, *, asked: str) -> None:
    """Raise BadReply for a reply that names another request than the one asked for."""
    if state.request_id not in (None, asked):
        raise BadReply(
            "Cloudflare answered about another request. Nothing is lost.",
            detail=f"asked for {asked}, was told about {clean(str(state.request_id))}",
        )


def _open(body: bytes, *, most: int) -> tuple[Level, Level]:
    try:
        return open_body(body, most=most)
    except Damaged as exc:
        why = str(exc)
    raise BadReply(
        "Cloudflare's reply cannot be read: it is damaged, or not from Cloudflare.",
        detail=f"{clean(why)}; {len(body):,} bytes",
        raw=as_it_came(body),
    )


def _state(envelope: Level, result: Level) -> State:
    """How far the request is: finished if there is an array, unless the status says otherwise."""
    status = result.status.strip().lower() if result.status is not None else None
    finished = result.items is not None and status not in UNDER_WAY
    if status in FAILED and not result.items:
        finished = False
    reasons = [
        error_text([small(reason) for reason in level.reasons]) for level in (result, envelope)
    ]
    return State(
        finished=finished,
        status=status,
        request_id=result.request_id,
        reason=clean(reasons[0] or reasons[1]),
    )


# A broken item that does not tell its position.
_NOBODYS = ItemReply(None, "failed", broken=True)


def _item(item: AnyItem) -> ItemReply:
    if item is None:
        return ItemReply(index=None, status="failed", error=_failure(""))
    if isinstance(item, BrokenItem):
        return _broken(item)
    try:
        return _whole_item(item)
    except tolerant_json.DAMAGED:
        return _broken(item)


def _broken(item: Item | BrokenItem) -> ItemReply:
    index, reference = _index(item), item.external_reference
    if index is None:
        return _NOBODYS
    return ItemReply(index, "failed", error=_BROKEN, reference=reference, broken=True)


def _whole_item(item: Item) -> ItemReply:
    index = item.id if item.index is None and type(item.id) is int else _index(item)
    reference = item.external_reference
    if item.success is not True:
        reason = error_text([small(item.error), small(item.errors), small(item.message)])
        if item.success is False or (reason and not item.result):
            error = _failure(reason or error_text(small(item.result)))
            return ItemReply(index, "failed", error=error, reference=reference)
    found = read_answer(item.result)
    answer = found.answer
    usage = found.usage
    if usage is None and item.usage:
        usage = tolerant_json.one_line(item.usage)
    if (answer and answer[0] != _QUOTE and _is_too_deep(answer)) or (
        usage and len(usage) > SHALLOW and _is_too_deep(usage)
    ):
        return _broken(item)
    if answer is not None and not says_nothing(answer):
        return ItemReply(index, "answered", answer, None, reference, usage, False, found.cut)
    why = found.why or EMPTY
    return ItemReply(index, "empty", answer, why, reference, usage, False, found.cut)


def says_nothing(answer: bytes) -> bool:
    """Whether an answer has no content; also one that is the text of JSON without content."""
    if tolerant_json.is_nothing(answer):
        return True
    # With a letter right after the quotation mark it is no JSON, which saves decoding most answers.
    if answer[:1] != b'"' or answer[1:2] not in _MAY_BE_JSON:
        return False
    inner = unwrapped(answer)
    return inner is not answer and tolerant_json.is_nothing(inner)


def _is_too_deep(raw: bytes) -> bool:
    # Looking for half as many of one sign is much faster than finding the depth.
    return (
        len(raw) > SHALLOW
        and (_has_many(raw, b"[") or _has_many(raw, b"{"))
        and depth(raw) > DEEPEST_ANSWER
    )


def _has_many(raw: bytes, sign: bytes) -> bool:
    at = -1
    for _ in range(DEEPEST_ANSWER // 2):
        at = raw.find(sign, at + 1)
        if at < 0:
            return False
    return True


def _index(item: Item | BrokenItem) -> int | None:
    index = position(item.index)
    return position(item.id) if index is None else index


def position(value: Any) -> int | None:
    """An `index` or `id` as a position; None if it is none. Some models write it as text."""
    if type(value) is int:  # not a bool
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return None


def _failure(reason: str) -> str:
    why = quote(clean(reason)) or " Cloudflare gives no reason."
    return f"The model could not answer this row.{why} Retry it, or shorten its text."


def usage_in(raw: bytes | msgspec.Raw) -> Usage | None:
    """The tokens that a `usage` object (raw JSON) names; None if it is none.

    A Responses object has other names for them.
    """
    usage = small(raw)
    if not isinstance(usage, dict):
        return None
    return Usage(
        prompt_tokens=_count(usage, "prompt_tokens", "input_tokens"),
        completion_tokens=_count(usage, "completion_tokens", "output_tokens"),
    )


def _count(usage: dict[str, Any], *names: str) -> int:
    counts = (usage.get(name) for name in names)
    return next((int(n) for n in counts if isinstance(n, int | float) and n > 0), 0)
