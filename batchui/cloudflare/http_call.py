"""Makes one HTTP call and returns its result as a value. Faults of the network are not raised.

An exception of httpx contains its request, and with it the token. No such exception leaves this
module, not even as the context of another one.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, BinaryIO, Literal

import httpx

from batchui.cloudflare.bodies import (
    NOT_IN_TIME,
    PIECE,
    SMALL,
    Landing,
    OverLimit,
    Unreadable,
    read_body,
)
from batchui.cloudflare.redactor import Redactor

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
# The header that our Worker gives every reply (cloudflare-worker/worker.js).
MARK = "batchui-worker"


@dataclass(frozen=True)
class HttpReply:
    """An HTTP reply. body: None if it went to the spool. ending: its last piece that is not blank.

    retry_after: that header as it was sent. is_marked: whether it has the mark of our Worker.
    """

    status: int
    body: bytes | None = field(repr=False)
    retry_after: str | None
    ending: bytes = field(default=b"", repr=False)
    is_marked: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether the status is a 2xx."""
        return 200 <= self.status < 300


@dataclass(frozen=True)
class HttpFault:
    """A call without a usable reply.

    kind: "no place": no connection or thread was free. "not sent": no connection could be made.
    "broken": it broke. "unreadable": a 2xx did not come whole. "too large": it has more than
    max_bytes. status: of that 2xx.
    """

    kind: Literal["no place", "not sent", "broken", "unreadable", "too large"]
    detail: str = field(repr=False)
    status: int | None = None


@dataclass(frozen=True)
class Call:
    """A request. max_bytes: of the unpacked reply. seconds: for sending it and for the reply."""

    method: Literal["GET", "POST", "PUT"]
    url: str
    seconds: float
    content: bytes | None = field(default=None, repr=False)
    max_bytes: int = SMALL


class NoThread(Exception):
    """The system starts no more threads now."""


class CuttableClient:
    """A client with one connection, which can be cut when a call takes too long.

    httpx limits each read and not the whole: a server that sends a byte of its head each minute
    would hold a thread for hours.
    """

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.was_cut = False
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Close the client."""
        self.http.close()

    def note(self, event: str, info: dict[str, Any]) -> None:
        """Remember the socket, when httpcore tells of a new connection, also of one by a proxy."""
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self.was_cut:  # while it was being made
                self._shut()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Cut the connection after so many seconds, unless the block has ended.

        Raises NoThread if nothing can watch the time; the block is not begun then.
        """
        self.was_cut = False
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        try:
            timer.start()
        except RuntimeError as problem:
            raise NoThread(str(problem)) from problem
        try:
            yield
        finally:
            timer.cancel()
            timer.join()  # else it could cut the next call

    def _cut(self) -> None:
        self.was_cut = True
        self._shut()

    def _shut(self) -> None:
        """End the call under way: what waits for the other side gets an error."""
        if self._socket is not None:
            with suppress(OSError):
                # Not that of SSLSocket, which another thread may be reading from.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def make_call(
    client: CuttableClient, call: Call, redactor: Redactor, spool: BinaryIO | None = None
) -> HttpReply | HttpFault:
    """Make the call once, within `call.seconds`.

    The body of a 2xx over SMALL bytes goes to `spool`, if there is one; so does what came of a body
    that cannot be used. Nothing that is returned or spooled has a secret that `redactor` finds.
    Raises only what `spool` raises.
    """
    try:
        with client.within(call.seconds):
            return _make(client, call, redactor, spool)
    except NoThread as exc:
        return HttpFault("no place", str(exc))


def _make(
    client: CuttableClient, call: Call, redactor: Redactor, spool: BinaryIO | None
) -> HttpReply | HttpFault:
    ends = time.monotonic() + call.seconds
    try:
        request = client.http.build_request(
            call.method,
            call.url,
            content=call.content if call.content is None else _Pieces(call.content),
            headers=_headers(call),
            extensions={"trace": client.note},
        )
        response = client.http.send(request, stream=True)
    except _NOT_SENT as exc:
        return HttpFault("not sent", redactor.text(_named(exc, client)))
    except _BROKEN as exc:
        return HttpFault("broken", redactor.text(_named(exc, client)))
    try:
        if not response.is_success:
            return _unsuccessful(response, Landing(redactor, max_bytes=SMALL), ends)
        landing = Landing(redactor, max_bytes=call.max_bytes, spool=spool)
        try:
            read_body(response, landing, ends=ends)
        except (Unreadable, httpx.HTTPError) as exc:
            landing.spill()
            return HttpFault(
                "too large" if isinstance(exc, OverLimit) else "unreadable",
                redactor.text(_named(exc, client)),
                response.status_code,
            )
        landing.end()
    finally:
        response.close()
    return _reply(response, landing)


class _Pieces:
    """A body in pieces. httpcore copies all that is left of what it is given at each send."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        content = self._content
        return (content[at : at + PIECE] for at in range(0, len(content), PIECE))


def _headers(call: Call) -> dict[str, str]:
    if call.content is None:
        return {}
    # Else httpx would send pieces without saying how many bytes they are.
    return {"Content-Type": "application/json", "Content-Length": str(len(call.content))}


def _unsuccessful(response: httpx.Response, landing: Landing, ends: float) -> HttpReply:
    """The reply to a call that failed, with as much of its body as can be read."""
    with suppress(Unreadable, httpx.HTTPError):
        read_body(response, landing, ends=ends)
    landing.end()
    return _reply(response, landing)


def _reply(response: httpx.Response, landing: Landing) -> HttpReply:
    return HttpReply(
        status=response.status_code,
        body=landing.small,
        retry_after=response.headers.get("retry-after"),
        ending=landing.last,
        is_marked=MARK in response.headers,
    )


def _named(exc: Exception, client: CuttableClient) -> str:
    name = "" if isinstance(exc, Unreadable) else f"{type(exc).__name__}: "
    told = f"{name}{exc}".removesuffix(": ")
    return f"{NOT_IN_TIME} ({told})" if client.was_cut else told


def trusted_by(address: str) -> ssl.SSLContext:
    """The certificates that calls to this address trust: those of httpx; for plain http, none.

    They are read once, which takes 20 ms, also where several threads begin at the same moment.
    """
    if not address.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with _reading:
        return _certificates()


_reading = threading.Lock()


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
