"""One HTTP call and what came of it, as a value: nothing here raises for the network.

An exception of httpx holds its request, and with it the token. None leaves this module, not even as
the context of another.
"""

import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO, Literal

import httpx

from batchui.cloudflare.bodies import SMALL, Landing, Unreadable, read_body

# Raised before a connection is there, or for a proxy that gave none: nothing was sent.
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.InvalidURL,
    UnicodeError,
)
# Raised at any later moment, also where a kept connection turns out closed: who knows.
# (OSError: what a transport other than httpx's own may raise.)
_BROKEN = (httpx.HTTPError, OSError)


@dataclass(frozen=True)
class HttpReply:
    """An HTTP reply. body: None when it went to the spool. ending: its last bytes."""

    status: int
    body: bytes | None = field(repr=False)
    retry_after: str | None
    ending: bytes = field(default=b"", repr=False)

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300


@dataclass(frozen=True)
class HttpFault:
    """No usable reply: no connection was free or could be made, it broke, or a 2xx is not whole."""

    kind: Literal["no place", "not sent", "broken", "unreadable"]
    detail: str = field(repr=False)
    status: int | None = None


@dataclass(frozen=True)
class Call:
    """What to send. max_bytes: of the unpacked reply. seconds: for reading its body."""

    method: Literal["GET", "POST"]
    url: str
    content: bytes | None = field(default=None, repr=False)
    max_bytes: int = SMALL
    seconds: float = 180.0


def make_call(
    http: httpx.Client, call: Call, spool: BinaryIO | None = None
) -> HttpReply | HttpFault:
    """Make the call once. A 2xx body over SMALL goes to `spool`, where there is one.

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
    """An error's status counts, whatever can be read of its body."""
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
    """The certificates httpx trusts, read once: reading them is most of the cost of a client."""
    return httpx.create_ssl_context(trust_env=False)
