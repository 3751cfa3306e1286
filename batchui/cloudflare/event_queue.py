"""Batch events, as a Cloudflare Queue delivers them: which request of which model is how far.

They carry no answers, come at least once, and in any order. What is not recognised is passed over.
"""

import base64
import binascii
import re
from typing import Any, NamedTuple, Protocol

import msgspec

# At one time. Cloudflare allows 100.
MOST_EVENTS = 100
# How long nobody else gets what was pulled, in milliseconds.
HIDDEN_FOR = 60_000
QUEUED, SUCCEEDED, FAILED = "queued", "succeeded", "failed"
ENDED = (SUCCEEDED, FAILED)
_TYPE = re.compile(r"cf\.workersAi\.model\.batch\.(queued|succeeded|failed)")
_QUEUE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BatchEvent(NamedTuple):
    """A request was queued, or has ended. kind: QUEUED, SUCCEEDED or FAILED."""

    kind: str
    request_id: str
    model: str


class Pulled(NamedTuple):
    """What one pull brought. leases: of all messages, also of those that say nothing of batches."""

    events: list[BatchEvent]
    leases: list[str]


class EventClient(Protocol):
    """A client that can pull events. Both raise what `BatchClient.models` raises."""

    def pull_events(self, queue_id: str) -> Pulled:
        """Some events that wait in a queue. They come again unless they are acknowledged."""

    def acknowledge(self, queue_id: str, leases: list[str]) -> None:
        """Let messages not come again."""


def is_queue_id(text: str) -> bool:
    """Whether a text can be the id of a queue, and so a part of an address."""
    return bool(_QUEUE_ID.fullmatch(text))


def read(result: bytes) -> Pulled:
    """The events in the result of a pull."""
    found = msgspec.json.decode(result)
    messages = found.get("messages") if isinstance(found, dict) else None
    events: list[BatchEvent] = []
    leases: list[str] = []
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and isinstance(message.get("lease_id"), str):
            leases.append(message["lease_id"])
            event = _event(_body(message.get("body")))
            events += [event] if event else []
    return Pulled(events, leases)


def _body(body: Any) -> Any:
    """The body of a message: an object, or JSON as text, which may be in base64."""
    if not isinstance(body, str):
        return body
    for text in (body, _from_base64(body)):
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError):
            continue
    return None


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _event(found: Any) -> BatchEvent | None:
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        return None
    kind = _TYPE.fullmatch(found["type"])
    source, payload = (found.get(name) or {} for name in ("source", "payload"))
    if not kind or not isinstance(source, dict) or not isinstance(payload, dict):
        return None
    request_id, model = payload.get("requestId"), source.get("modelName")
    if not isinstance(request_id, str) or not request_id:
        return None
    return BatchEvent(kind[1], request_id, model if isinstance(model, str) else "")
