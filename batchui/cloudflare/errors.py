"""The ways in which a call to Cloudflare can fail, by whether it is safe to try again.

CloudflareError    any of these; .user_message for the page, str() for the log
├── NotSent        the call had no effect: it is safe to try again
├── MaybeSent      Cloudflare may have accepted it: a second try may be paid for twice
├── Busy           not accepted now, perhaps later: wait, then try again
├── Refused        final for this request
│   ├── TooLarge   send fewer rows (3006, HTTP 413)
│   └── Gone       Cloudflare no longer has the request (5504)
└── BadReply       a reply that cannot be used: ask again later
    └── Oversized  a reply larger than can be read

No error contains an API token. Texts from outside are cleaned here. The client raises outside its
`except` blocks, so that no exception of httpx is chained to one of these: such an exception has the
request in it, and with it the token.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from batchui.cloudflare.redaction import LONGEST_QUOTE, as_it_came, clean, error_text, quote

LONGEST_WAIT_SECONDS = 86_400.0
# The code of a request that was accepted, and found invalid before any model was asked.
FOUND_INVALID = 3030
# The codes that say that Cloudflare does not let the caller in: because of the token, or of the
# account. The reference has 10000, 9109, 7003 and 1000; the others are what its gateway says of a
# header (6003, 9106, 10001) or an address (7000) that is not well formed.
TOKEN_CODES = (10000, 9109, 6003, 9106, 10001)
ACCOUNT_CODES = (7003, 7000, 1000)
LOCKED_OUT_CODES = (*TOKEN_CODES, *ACCOUNT_CODES)


class CloudflareError(Exception):
    """A call that failed.

    user_message: a few sentences for the page: what happened, whether it passes, and what people
    can do. What batchui does next is not in it: whoever decides that says so.
    detail: for the log. code: Cloudflare's own, or None. http_status: None if no reply came. wait:
    seconds that Cloudflare asks to wait; None if it names no time. raw: the beginning of a reply
    that was not recognised, as it came, for "Technical details"; "" if it was.
    """

    def __init__(
        self,
        user_message: str,
        *,
        detail: str = "",
        code: int | None = None,
        http_status: int | None = None,
        wait: float | None = None,
        raw: str = "",
    ) -> None:
        super().__init__(user_message)
        self.wait = wait
        self.raw = raw
        self.user_message = user_message
        self.detail = detail
        self.code = code
        self.http_status = http_status

    def __str__(self) -> str:
        facts = [f"HTTP {self.http_status}"] if self.http_status is not None else []
        facts += [f"code {self.code}"] if self.code is not None else []
        text = self.detail or self.user_message
        return f"{text} ({', '.join(facts)})" if facts else text


class NotSent(CloudflareError):
    """The call had no effect: it is safe to make it again."""


class MaybeSent(CloudflareError):
    """The request may be in Cloudflare's queue: a second one may be paid for twice."""


class Busy(CloudflareError):
    """Certainly not accepted now, and perhaps accepted later.

    until_midnight: wait until 00:00 UTC. needs_person: wait until a person has corrected something.
    """

    def __init__(
        self,
        user_message: str,
        *,
        wait: float | None = None,
        until_midnight: bool = False,
        needs_person: bool = False,
        **more: Any,
    ) -> None:
        super().__init__(user_message, wait=wait, **more)
        self.until_midnight = until_midnight
        self.needs_person = needs_person


class Refused(CloudflareError):
    """Final for this request: the same request will be refused again."""


class TooLarge(Refused):
    """The request is larger than Cloudflare accepts: send fewer rows at a time."""


class Gone(Refused):
    """Cloudflare does not have the request, or no longer has its result."""


class BadReply(CloudflareError):
    """A reply that cannot be used: nothing is lost, ask again later."""


class Oversized(BadReply):
    """A reply larger than can be read. It will hardly be smaller later."""


def error_for(
    http_status: int,
    body: bytes,
    retry_after: str | None,
    *,
    submitting: bool,
    rulings: "Rulings | None" = None,
    server: str = "",
    strange: bool = False,
) -> CloudflareError:
    """The error that an unsuccessful reply means: by Cloudflare's code, else by HTTP status.

    body: as far as it was read, JSON or not. retry_after: that header, seconds or a date.
    submitting: whether the call may be paid for twice if it is repeated (submit, run). If so, an
    unclear reply is a MaybeSent; for polls and look-ups it is a BadReply.
    rulings: of what was called, at `server`; the default is the REST API. strange: whether it is
    certain that something else answered.

    A 2xx without a known code is unclear. The codes are those of Cloudflare's table of errors, and
    LOCKED_OUT_CODES. An error that has none of the codes in `rulings` keeps the reply as it came
    (`raw`).
    """
    rulings = rulings or REST
    named = [] if strange else _errors_named(body)
    code, message = next(
        (one for one in named if one[0] in rulings.by_code), named[0] if named else (None, "")
    )
    reason = clean(message)
    ruling = rulings.strange if strange else rulings.by_code.get(code)
    if ruling is None:
        explained = bool(reason) or code is not None
        ruling = _by_status(http_status, rulings, submitting=submitting, explained=explained)
    if ruling is _UNCLEAR:
        ruling = _UNCONFIRMED if submitting else _UNUSABLE
    opening = clean(body[:LONGEST_QUOTE].decode("utf-8", "replace"))
    return ruling.kind(
        ruling.sentence.format(reason=quote(reason), status=http_status, server=server),
        detail=reason or f"no error code or message; the body begins: {opening!r}",
        code=code,
        http_status=http_status,
        wait=_longer(_seconds(retry_after), ruling.least_wait),
        raw="" if code in rulings.by_code else as_it_came(body),
        **ruling.extras,
    )


def code_in(body: bytes) -> int | None:
    """The code in a reply that tells of errors: the first known one, else the first; or None."""
    codes = [code for code, _ in _errors_named(body) if code is not None]
    return next((code for code in codes if code in _BY_CODE), codes[0] if codes else None)


_LOOSE_CODE = re.compile(rb'"code"\s*:\s*"?(\d{3,6})\b')


def _errors_named(body: bytes) -> list[tuple[int | None, str]]:
    """Every (code, message) in an error body, [] if it is not Cloudflare's error envelope.

    Without any in the envelope, those in its `result` count.
    """
    try:
        envelope = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A body that is cut short may still name its code.
        loose = _LOOSE_CODE.search(body) if body.lstrip().startswith(b"{") else None
        return [(int(loose[1]), "")] if loose else []
    if not isinstance(envelope, dict):
        return []
    inner = envelope.get("result")
    return _errors_at(envelope) or (_errors_at(inner) if isinstance(inner, dict) else [])


def _errors_at(level: dict[str, Any]) -> list[tuple[int | None, str]]:
    listed = level.get("errors")
    errors = listed if isinstance(listed, list) and listed else [level.get("error")]
    return [(_code(error), error_text(error)) for error in errors if error]


def _code(error: Any) -> int | None:
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit() and len(code) <= 9:
        return int(code)
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _seconds(retry_after: str | None) -> float | None:
    """The header Retry-After (RFC 9110: seconds, or a date) as seconds from now, at most a day."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_WAIT_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max((moment - datetime.now(UTC)).total_seconds(), 0.0), LONGEST_WAIT_SECONDS)


def _longer(asked: float | None, least: float | None) -> float | None:
    return max((wait for wait in (asked, least) if wait is not None), default=None)


@dataclass(frozen=True, eq=False)
class Ruling:
    """The error that a code or status means.

    sentence: may have {reason} (Cloudflare's words), {status} (of HTTP) and {server} in it.
    least_wait: seconds, for Busy.
    """

    kind: type[CloudflareError]
    sentence: str
    extras: dict[str, Any] = field(default_factory=dict)
    least_wait: float | None = None


@dataclass(frozen=True, eq=False)
class Rulings:
    """What replies mean, by what is called.

    locked_out: 401 or 403 with a code or words. unexplained: a refusal with neither. strange:
    certainly the reply of something else. redirected: any 3xx.
    """

    by_code: Mapping[int | None, Ruling]
    locked_out: Ruling
    unexplained: Ruling
    strange: Ruling
    redirected: Ruling


ASK_DIFFERENTLY = "Change the question, the options or the model, then send the rows again."

_UNCLEAR = Ruling(CloudflareError, "")
_UNCONFIRMED = Ruling(
    MaybeSent,
    "Cloudflare did not confirm that it accepted these rows.{reason} It may have them already.",
)
_UNUSABLE = Ruling(
    BadReply,
    "Cloudflare's answer could not be used (HTTP {status}).{reason} Nothing is lost, and this "
    "usually passes. If it goes on for hours, look at www.cloudflarestatus.com.",
)
_REFUSED = Ruling(
    Refused,
    "Cloudflare refused this request.{reason} Waiting does not help. " + ASK_DIFFERENTLY,
)
_NO_MODEL = Ruling(
    Refused,
    "Cloudflare does not offer this model.{reason} Waiting does not help. Choose another model, "
    "then send the rows again.",
)
_MODEL_REFUSED = Ruling(
    Refused,
    "The model cannot do what was asked.{reason} Waiting does not help. Choose another model or "
    "shorten the texts, then send the rows again.",
)
_BATCH_INVALID = Ruling(
    Refused,
    "Cloudflare accepted these rows, then found that this model cannot take such a request.{reason}"
    " Waiting does not help. " + ASK_DIFFERENTLY,
)
_TOO_LARGE = Ruling(
    TooLarge,
    "Cloudflare found this part of the file too large.{reason} Waiting does not help. Shorten the "
    "longest texts, then send the rows again.",
)
_GONE = Ruling(
    Gone,
    "Cloudflare no longer has this result, or does not know it.{reason} If that does not change, "
    "send the rows again.",
)
_LOCKED_OUT = Ruling(
    Busy,
    "Cloudflare does not accept the account id or API token of this connection.{reason} Waiting "
    "does not help. An administrator of your team corrects that under Connections; the token needs "
    "the permissions Workers AI Read and Edit.",
    {"needs_person": True},
)
_NOT_ALLOWED = Ruling(
    Busy,
    "The Cloudflare account may not use this model now.{reason} Waiting does not help. Ask the "
    "person who manages the account to accept the model's terms or change the plan, or choose "
    "another model.",
    {"needs_person": True},
)
_REDIRECTED = Ruling(
    Busy,
    "The address set for Cloudflare's API redirects to another address (HTTP {status}). batchui "
    "does not send the API token there. Ask the person who runs batchui to check the address and "
    "this server's network.",
    {"needs_person": True},
)
_NOT_THE_API = Ruling(
    Busy,
    "Something other than Cloudflare's API answered at the address set for it (HTTP {status}). Ask "
    "the person who runs batchui to check the address and this server's network.",
    {"needs_person": True},
)
_SLOW_DOWN = Ruling(Busy, "Cloudflare asks for fewer calls for a while.{reason} This passes.")
_MINUTE_LIMIT = Ruling(
    Busy,
    "Cloudflare's limit of requests in a minute is reached. This passes after a minute.",
    least_wait=60.0,
)
_DAY_USED_UP = Ruling(
    Busy,
    "Today's free allowance of Workers AI is used up; the next one begins at 00:00 UTC. To go on "
    "at once, change the Cloudflare account to the Workers Paid plan.",
    {"until_midnight": True},
)
_FULL = Ruling(
    Busy,
    "Cloudflare has no room for this model at the moment. This passes. If it takes too long, stop "
    "the batch and run it again with another model.",
)

_BY_CODE: dict[int | None, Ruling] = {
    **dict.fromkeys((3003, 5004, 5006, 3039, 5005, 5019, 5025), _REFUSED),
    **dict.fromkeys((5007, 3042), _NO_MODEL),
    8007: _MODEL_REFUSED,
    **dict.fromkeys((5016, 5018, 3041, 3023, 5035), _NOT_ALLOWED),
    **dict.fromkeys(LOCKED_OUT_CODES, _LOCKED_OUT),
    3006: _TOO_LARGE,
    3021: _MINUTE_LIMIT,
    3036: _DAY_USED_UP,
    **dict.fromkeys((3040, 3050), _FULL),
    **dict.fromkeys((3007, 3008, 5001, 8008), _UNCLEAR),
    FOUND_INVALID: _BATCH_INVALID,
    5504: _GONE,
}
REST = Rulings(
    _BY_CODE,
    locked_out=_LOCKED_OUT,
    unexplained=_NOT_THE_API,
    strange=_NOT_THE_API,
    redirected=_REDIRECTED,
)


def _by_status(status: int, rulings: Rulings, *, submitting: bool, explained: bool) -> Ruling:
    """The meaning of a reply without a known code. explained: it has some code or message.

    A poll that gets a 4xx without a known code is always made again: its answers are paid for, and
    a proxy in between can send such a reply too.
    """
    match status:
        case 413:
            return _TOO_LARGE if submitting else _UNCLEAR
        case 429:
            return _SLOW_DOWN
        case 401 | 402 | 403 | 407:
            return rulings.locked_out if explained else rulings.unexplained
        case 408:
            return _UNCLEAR
    if 300 <= status < 400:
        return rulings.redirected
    if 400 <= status < 500 and submitting:
        return _REFUSED if explained else rulings.unexplained
    return _UNCLEAR
