"""Makes one HTTP call and returns its result as a value. Faults of the network are not raised.

An exception of httpx contains its request, and with it the token. No such exception leaves this
module, not even as the context of another one.
"""

import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO, Literal

import httpx

from batchui.cloudflare.bodies import SMALL, Landing, Unreadable, read_body

# Raised before there is a connection, or by a proxy that made none: nothing was sent.
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    UnicodeError,
)
# Raised at any later moment, or when a kept connection was closed: nobody knows what was sent.
# OSError may come from a transport that is not httpx's own.
_BROKEN = (httpx.HTTPError, OSError)


@dataclass(frozen=True)
class HttpReply:
    """An HTTP reply. body: None if it went to the spool. ending: its last piece that is not blank.

    retry_after: that header as it was sent.
    """

    status: int
    body: bytes | None = field(repr=False)
    retry_after: str | None
    ending: bytes = field(default=b"", repr=False)

    @property
    def succeeded(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class HttpFault:
    """A call without a usable reply.

    kind: "no place": no connection was free. "not sent": none could be made. "broken": it broke.
    "unreadable": a 2xx did not come whole. status: of that 2xx.
    """

    kind: Literal["no place", "not sent", "broken", "unreadable"]
    detail: str = field(repr=False)
    status: int | None = None


@dataclass(frozen=True)
class Call:
    """A request. max_bytes: of the unpacked reply. seconds: for reading its body."""

    method: Literal["GET", "POST"]
    url: str
    content: bytes | None = field(default=None, repr=False)
    max_bytes: int = SMALL
    seconds: float = 180.0


def make_call(
    http: httpx.Client, call: Call, spool: BinaryIO | None = None
) -> HttpReply | HttpFault:
    """Make the call once. The body of a 2xx over SMALL bytes goes to `spool`, if there is one.

    Raises only what `spool` raises.
    """
    try:
        headers = {"Content-Type": "application/json"} if call.content is not None else None
        request = http.build_request(call.method, call.url, content=call.content, headers=headers)
        response = http.send(request, stream=True)
    except _NOT_SENT as exc:
        return HttpFault("not sent", _named(exc))
    except _BROKEN as exc:
        return HttpFault("broken", _named(exc))
    try:
        if not response.is_success:
            return _unsuccessful(response, seconds=call.seconds)
        landing = Landing(max_bytes=call.max_bytes, spool=spool)
        read_body(response, landing, seconds=call.seconds)
    except Unreadable as exc:
        return HttpFault("unreadable", str(exc), response.status_code)
    except httpx.HTTPError as exc:
        return HttpFault("unreadable", _named(exc), response.status_code)
    finally:
        response.close()
    return _reply(response, landing)


def _unsuccessful(response: httpx.Response, *, seconds: float) -> HttpReply:
    """The reply to a call that failed, with as much of its body as can be read."""
    landing = Landing(max_bytes=SMALL)
    with suppress(Unreadable, httpx.HTTPError):
        read_body(response, landing, seconds=seconds)
    return _reply(response, landing)


def _reply(response: httpx.Response, landing: Landing) -> HttpReply:
    return HttpReply(
        status=response.status_code,
        body=landing.small,
        retry_after=response.headers.get("retry-after"),
        ending=landing.last,
    )


def _named(exc: Exception) -> str:
    return f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__


@cache
def certificates() -> ssl.SSLContext:
    """The certificates that httpx trusts. They are read once, because reading them is slow."""
    return httpx.create_ssl_context(trust_env=False)
