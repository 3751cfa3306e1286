"""The errors of a team's own model server, in sentences that speak of it and not of Cloudflare.

They are the same classes, so whoever gets one does the same (see `errors.py`).
"""

from dataclasses import dataclass
from typing import Any, Literal

from msgspec import Struct

from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    NotSent,
    Oversized,
    Refused,
    TooLarge,
)
from batchui.cloudflare.redaction import clean

# The sandbox's own codes (`batchui/sandbox/errors.py`).
UNKNOWN_UPSTREAM = 990001
UPSTREAM_REFUSES = 990002
UPSTREAM_AWAY = 990003
ITEM_FAILED = 990004
WRONG_UPSTREAM = 990005
NO_MODEL = 5007
_LOCKED_OUT = (10000, 7003, 9109, 1000)
_MOST_NAMES = 10


class Trial(Struct, frozen=True):
    """What the sandbox found when it tried a server. reason: in words. models: the server's."""

    problem: Literal["", "away", "refuses", "no api", "no model"] = ""
    reason: str = ""
    models: list[str] = []


@dataclass(frozen=True)
class _Ruling:
    """The error of a code. sentence: may have {called} (the server) and {reason} in it."""

    kind: type[CloudflareError]
    sentence: str
    needs_person: bool = False


_CHECK_BOTH = "Ask the person who runs batchui to check its address and its key."
_RULINGS = {
    UNKNOWN_UPSTREAM: _Ruling(
        NotSent, "The sandbox was started again in this moment: nothing was sent to {called}."
    ),
    UPSTREAM_REFUSES: _Ruling(
        Busy, "{Called} does not let batchui in{reason}. " + _CHECK_BOTH, needs_person=True
    ),
    UPSTREAM_AWAY: _Ruling(NotSent, "{Called} does not answer now{reason}. Nothing was asked."),
    ITEM_FAILED: _Ruling(Refused, "{Called} gave no answer{reason}."),
    WRONG_UPSTREAM: _Ruling(
        Busy,
        "The settings of {called} cannot be used{reason}. Ask the person who runs batchui to "
        "correct them.",
        needs_person=True,
    ),
    NO_MODEL: _Ruling(
        Refused,
        "{Called} does not have this model{reason}. Choose another model, then send the rows "
        "again.",
    ),
    3006: _Ruling(
        TooLarge,
        "The sandbox found this part of the file too large. Shorten the longest texts, then send "
        "the rows again.",
    ),
    5504: _Ruling(
        Gone,
        "The sandbox no longer has this result, or does not know it. If that does not change, send "
        "the rows again.",
    ),
    **dict.fromkeys(
        _LOCKED_OUT,
        _Ruling(
            Busy,
            "The sandbox does not accept the token of batchui. Ask the person who runs batchui to "
            "set the same BATCHUI_SANDBOX_TOKEN where the sandbox runs and where batchui runs.",
            needs_person=True,
        ),
    ),
}
# For other codes, and for none, by what the error means already.
_BY_KIND = {
    Oversized: "The answer of {called} is larger than batchui can read.",
    MaybeSent: "The sandbox did not confirm that it accepted these rows{reason}. It may have them "
    "already.",
    Busy: "Something other than the sandbox answered at the address set for it. Ask the person who "
    "runs batchui to check BATCHUI_SANDBOX_URL.",
    Refused: "The sandbox refused this request{reason}. Change the question, the options or the "
    "model, then send the rows again.",
    BadReply: "The answer of the sandbox could not be used{reason}. Nothing is lost.",
}


def in_words(error: CloudflareError, *, called: str) -> CloudflareError:
    """The same error about this server. called: "your local model (localhost:11434)"."""
    reason = clean(error.detail)
    facts: dict[str, Any] = {
        "detail": error.detail,
        "code": error.code,
        "http_status": error.http_status,
        "wait": error.wait,
    }
    ruling = _RULINGS.get(error.code or 0)
    if ruling:
        kind = Busy if error.code == UPSTREAM_AWAY and error.wait is not None else ruling.kind
        more: dict[str, Any] = {"needs_person": ruling.needs_person} if kind is Busy else {}
        return kind(_filled(ruling.sentence, called, reason), **facts, **more)
    for kind, sentence in _BY_KIND.items():
        if isinstance(error, kind):
            more = {"needs_person": error.needs_person} if isinstance(error, Busy) else {}
            said = _filled(sentence, called, reason if error.code is not None else "")
            return type(error)(said, **facts, **more)
    return error  # NotSent: it says what could not be reached


def row_in_words(error: str) -> str:
    """The error of a row, as `replies.py` words it, in words that speak of this server."""
    said = error.replace("Cloudflare says:", "Your model server says:")
    return said.replace("Cloudflare gives no reason.", "Your model server gives no reason.")


def found(trial: Trial, *, called: str, model: str, has_key: bool) -> CloudflareError | None:
    """The error that a trial means; None if all is well."""
    reason = clean(trial.reason)
    match trial.problem:
        case "away":
            sentence = "{Called} cannot be reached{reason}. Start it, or correct its address."
            return NotSent(_filled(sentence, called, reason), detail=reason, code=UPSTREAM_AWAY)
        case "refuses":
            wanted = "Correct the key." if has_key else "It wants a key: enter one."
            sentence = "{Called} does not let batchui in{reason}. " + wanted
            said = _filled(sentence, called, reason)
            return Busy(said, needs_person=True, detail=reason, code=UPSTREAM_REFUSES)
        case "no api":
            sentence = "At the address of {called} is no model server{reason}. Correct the address."
            return BadReply(_filled(sentence, called, reason), detail=reason, code=WRONG_UPSTREAM)
        case "no model":
            said = _filled("{Called} has no model", called, "")
            said += f" “{clean(model, longest=80)}”. {_names(trial.models)}"
            return Busy(said, needs_person=True, detail=reason, code=NO_MODEL)
    return None


def _names(models: list[str]) -> str:
    if not models:
        return "It has none: load one there first."
    shown = [clean(name, longest=80) for name in models[:_MOST_NAMES]]
    more = len(models) - len(shown)
    return f"It has: {', '.join(shown)}" + (f" and {more:,} more." if more else ".")


def _filled(sentence: str, called: str, reason: str) -> str:
    """The sentence with the server and the reason in it."""
    said = f" ({reason.rstrip('.')})" if reason else ""
    return sentence.format(called=called, Called=called[0].upper() + called[1:], reason=said)
