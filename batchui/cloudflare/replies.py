"""Reads a finished reply, item by item.

Items come in one of two arrays (`responses[]` with `id`, `results[]` with `index`), with the
envelope of the API or, through the binding of a Worker, without it. All of these are read, from any
model. Answers stay raw JSON: they are not turned into Python objects.
"""

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from batchui.cloudflare import tolerant_json
from batchui.cloudflare.answers import read_answer
from batchui.cloudflare.errors import BadReply
from batchui.cloudflare.redaction import clean, error_text, quote
from batchui.cloudflare.tolerant_json import Other, Scalar, one_line

UNDER_WAY = frozenset({"queued", "running"})
FAILED = frozenset({"failed", "error"})

_EMPTY = "The model's answer is empty. Retry this row, or ask more plainly."


class Usage(Struct, frozen=True):
    """The tokens that Cloudflare counted: read (prompt) and written (completion)."""

    prompt_tokens: int
    completion_tokens: int


class ItemReply(Struct, frozen=True, gc=False):
    """What came back for one item.

    index: its position in the array that was sent, None if the reply names none.
    status: `empty` is a success with nothing in it.
    answer: one line of raw JSON in UTF-8, or None. An answer without content, like `{"names":[]}`,
    is kept.
    error: a sentence on a failed or empty item. reference: the external_reference in the reply.
    usage: a raw JSON object, if this item has one of its own.
    """

    index: int | None
    status: Literal["answered", "empty", "failed"]
    answer: bytes | None = None
    error: str | None = None
    reference: str | None = None
    usage: bytes | None = None


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


def decode(body: bytes, *, request_id: str | None = None) -> Reply:
    """Read a finished reply. Raises BadReply, with the reason, if `body` is not one.

    request_id: if given, a reply that names another one is a BadReply too.
    """
    envelope, result = _open(body)
    state = _state(envelope, result)
    if not state.finished:
        raise BadReply(
            f"Cloudflare's reply has no answers.{quote(state.reason)} batchui asks again.",
            detail=f"not a finished reply: status {state.status!r}, reason {state.reason!r}",
        )
    if request_id is not None:
        check_request(state, asked=request_id)
    return Reply(items=[_item(item) for item in _container(result) or []], usage=_usage(result))


def state_of(body: bytes) -> State:
    """How far a request is, read from the 2xx of a poll. Raises BadReply for no JSON object."""
    return _state(*_open(body))


def check_request(state: State, *, asked: str) -> None:
    """Raise BadReply for a reply that names another request than the one asked for."""
    if state.request_id not in (None, asked):
        raise BadReply(
            "Cloudflare answered about another request. Nothing is lost, and it is asked again by "
            "itself.",
            detail=f"asked for {asked}, was told about {clean(str(state.request_id))}",
        )


class _Item(Struct, gc=False):
    id: Any = None
    index: Any = None
    success: Any = None
    external_reference: Any = None
    error: Any = None
    errors: Any = None
    message: Any = None
    result: Raw = Raw()


class _Result(Struct):
    responses: list[_Item | Other] | dict[str, Any] | Scalar = None
    results: list[_Item | Other] | dict[str, Any] | Scalar = None
    status: Any = None
    request_id: Any = None
    usage: Any = None
    error: Any = None
    errors: Any = None
    message: Any = None


class _Envelope(_Result):
    result: _Result | Other = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)


def _open(body: bytes) -> tuple[_Envelope, _Result]:
    """The envelope and the inner result. Without an envelope both are the same."""
    try:
        envelope = tolerant_json.decode(_ENVELOPE, body)
    except tolerant_json.DAMAGED as exc:
        why = str(exc)
    else:
        inner = envelope.result
        return envelope, inner if isinstance(inner, _Result) else envelope
    raise BadReply(
        "Cloudflare's reply cannot be read: it is damaged, or not from Cloudflare. batchui asks "
        "again.",
        detail=f"{clean(why)}; {len(body):,} bytes",
    )


def _container(result: _Result) -> list[_Item | Other] | None:
    lists = [c for c in (result.responses, result.results) if isinstance(c, list)]
    return next((items for items in lists if items), lists[0] if lists else None)


def _state(envelope: _Envelope, result: _Result) -> State:
    """How far the request is: finished if there is an array, unless the status says otherwise."""
    container = _container(result)
    status = result.status.strip().lower() if isinstance(result.status, str) else None
    finished = container is not None and status not in UNDER_WAY
    if status in FAILED and not container:
        finished = False
    reasons = [
        error_text([level.error, level.errors, level.message]) for level in (result, envelope)
    ]
    return State(
        finished=finished,
        status=status,
        request_id=result.request_id if isinstance(result.request_id, str) else None,
        reason=clean(reasons[0] or reasons[1]),
    )


def _item(item: _Item | Other) -> ItemReply:
    if not isinstance(item, _Item):
        return ItemReply(index=None, status="failed", error=_failure(""))
    index = _position(item.index)
    index = _position(item.id) if index is None else index
    reference = item.external_reference
    if not (reference is None or isinstance(reference, str)):
        reference = msgspec.json.encode(reference).decode()
    if item.success is not True:
        reason = error_text([item.error, item.errors, item.message])
        if item.success is False or (reason and not item.result):
            error = _failure(reason or _reason_in(item.result))
            return ItemReply(index, "failed", error=error, reference=reference)
    found = read_answer(item.result)
    if found.answer is not None and not tolerant_json.is_nothing(found.answer):
        return ItemReply(index, "answered", found.answer, None, reference, found.usage)
    return ItemReply(index, "empty", found.answer, found.why or _EMPTY, reference, found.usage)


def _position(value: Any) -> int | None:
    """`index` or `id` as a position. Some models write it as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _failure(reason: str) -> str:
    why = quote(clean(reason)) or " Cloudflare gives no reason."
    return f"The model could not answer this row.{why} Retry it, or shorten its text."


def _reason_in(result: Raw) -> str:
    """The reason of a failed item that has it in its result."""
    try:
        return error_text(msgspec.json.decode(one_line(result)))
    except tolerant_json.DAMAGED:
        return ""


def _usage(result: _Result) -> Usage | None:
    """The tokens of the whole reply. A Responses object has other names for them."""
    usage = result.usage
    if not isinstance(usage, dict):
        return None
    return Usage(
        prompt_tokens=_count(usage, "prompt_tokens", "input_tokens"),
        completion_tokens=_count(usage, "completion_tokens", "output_tokens"),
    )


def _count(usage: dict[str, Any], *names: str) -> int:
    counts = (usage.get(name) for name in names)
    return next((int(n) for n in counts if isinstance(n, int | float) and n > 0), 0)
