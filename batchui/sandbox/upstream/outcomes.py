"""What a call of an upstream came to: for the item, for its request, for the upstream."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from batchui.sandbox.upstream import questions, results
from batchui.sandbox.upstream.http_calls import Broken, HttpReply, Line, Unreached

LONGEST_WAIT = 3_600.0
_LONGEST_REASON = 300
# A shorter key is a word that somebody made up for a server that wants none, as “ollama” is. It may
# be in an answer.
_SHORTEST_SECRET = 12
_SHORTEST_IN_ERRORS = 4


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to an item. result: JSON. read, written: tokens, as the upstream counted them."""

    result: bytes = field(repr=False)
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Unaskable:
    """The upstream cannot be asked this item, and was not."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """This item has no answer, and would have none if it were asked again."""

    reason: str


@dataclass(frozen=True, slots=True)
class Faulty:
    """This try brought no usable answer; another one may."""

    reason: str


@dataclass(frozen=True, slots=True)
class NoModel:
    """The upstream does not have the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class Away:
    """The upstream answers nobody now. wait: seconds that it asks for; None if it names none.

    asked: whether it had the item, which may then be the cause.
    """

    reason: str
    wait: float | None = None
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Refusing:
    """The upstream answers nobody until a person has corrected something: key, address, account."""

    reason: str


Unanswered = Unaskable | Failed | Faulty | NoModel | Away | Refusing
Outcome = Answered | Unanswered


def ask(line: Line, raw: bytes, *, name: str, seconds: float) -> Outcome:
    """Ask the upstream one item (JSON, as it was sent) of the model `name`."""
    upstream = line.upstream
    try:
        question = questions.question(questions.read(raw), model=upstream.model_for(name))
    except questions.CannotAsk as exc:
        return Unaskable(f"This item cannot be asked: {exc}")
    try:
        reply = line.call("POST", question.path, question.body, seconds=seconds)
    except Unreached as exc:
        return Away(str(exc))
    except Broken as exc:
        return Faulty(str(exc))
    if not 200 <= reply.status < 300:
        return meaning(line, reply)
    try:
        return Answered(*results.read(question.form, _without_key(upstream.key, reply.body)))
    except results.NoResult as exc:
        return Faulty(_without(upstream.key, f"{upstream.server} gave no usable answer: {exc}"))


def meaning(line: Line, reply: HttpReply) -> Failed | Faulty | NoModel | Away | Refusing:
    """What a reply without success means."""
    upstream, status = line.upstream, reply.status
    told = _message(reply.body, key=upstream.key)
    reason = f"{upstream.server} answered HTTP {status}" + (f": {told}" if told else "")
    if status in {429, 502, 503}:
        return Away(reason, wait=_seconds(reply.retry_after), asked=True)
    if status == 404 and told:
        return NoModel(reason)
    if status in {401, 402, 403, 407} or 300 <= status < 400:
        return Refusing(reason)
    if status in {404, 405}:
        return Refusing(f"{reason}, so there is no API like OpenAI's at {upstream.url}")
    is_final = (400 <= status < 500 and status not in {408, 409, 425}) or status == 501
    return Failed(reason) if is_final else Faulty(reason)


def _message(body: bytes, *, key: str) -> str:
    """The message of an error in JSON, on one line, without the key; "" if the body has none."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return ""
    text = _without(key, results.error_in(found))  # before it is cut, which may leave half a key
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= _LONGEST_REASON else f"{flat[:_LONGEST_REASON]}…"


def _seconds(retry_after: str) -> float | None:
    """Retry-After (seconds, or a date) as seconds from now, at most an hour."""
    text = retry_after.strip()
    try:
        if text.isascii() and text.isdigit():
            wait = float(text)
        else:
            moment: Any = parsedate_to_datetime(text)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            wait = (moment - datetime.now(UTC)).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT)


def _without(key: str, text: str) -> str:
    """A text for people without the key, which some servers repeat in their errors."""
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_IN_ERRORS else text


def _without_key(key: str, body: bytes) -> bytes:
    """An answer without the key, if it is one that nobody could write by chance."""
    if len(key) < _SHORTEST_SECRET:
        return body
    quoted = msgspec.json.encode(key)[1:-1]
    for written in (key.encode(), quoted, quoted.replace(b"/", rb"\/")):
        body = body.replace(written, b"[key]")
    return body
