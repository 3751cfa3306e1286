"""One call of an upstream over HTTP. Redirects are not followed; proxies of the environment unused.

Each call has a connection of its own. A model needs longer for one answer than a connection takes
to be made, and a kept one could be closed by the other side just when it is used again.
"""

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from urllib.parse import urlsplit

from batchui.sandbox.upstream.settings import Upstream

SECONDS_TO_CONNECT = 10.0
MAX_REPLY = 16 * 1024 * 1024
_PIECE = 256 * 1024


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole reply, whatever its status. retry_after: that header as it was sent."""

    status: int
    body: bytes = field(repr=False)
    retry_after: str = ""


class Unreached(Exception):
    """No connection could be made, so nothing was asked. str() says why."""


class Broken(Exception):
    """No whole reply came. str() says why. It is unknown whether the other side did anything."""


class Line:
    """The way to one upstream. Safe to use from many threads."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._was_cut = False

    def cut(self) -> None:
        """End the calls under way, which are Broken then, and those to come."""
        with self._lock:
            self._was_cut = True
            for one in self._sockets:
                _shut(one)

    def call(
        self, method: str, path: str, body: bytes | None = None, *, seconds: float
    ) -> HttpReply:
        """Make a call below the upstream's address. seconds: for it all, once it is connected.

        Raises Unreached or Broken.
        """
        connection = self._connection()
        with contextlib.closing(connection):
            try:
                connection.connect()
            except (OSError, HTTPException) as exc:
                raise Unreached(f"{self.upstream.server} cannot be reached: {_told(exc)}") from None
            with self._watched(connection.sock, seconds) as is_late:
                try:
                    return self._exchange(connection, method, path, body)
                except (OSError, HTTPException) as exc:
                    if is_late.is_set():
                        why = f"gave no answer within {seconds:g} s"
                    else:
                        why = f"broke the connection off: {_told(exc)}"
                    raise Broken(f"{self.upstream.server} {why}") from None

    def _connection(self) -> HTTPConnection:
        parts = urlsplit(self.upstream.url)
        host, port = str(parts.hostname), parts.port
        if parts.scheme == "https":
            return HTTPSConnection(host, port, timeout=SECONDS_TO_CONNECT, context=_certificates())
        return HTTPConnection(host, port, timeout=SECONDS_TO_CONNECT)

    @contextlib.contextmanager
    def _watched(self, open_socket: socket.socket, seconds: float) -> Iterator[threading.Event]:
        """Shut the socket when `cut` is called, or after so many seconds: the event is set then.

        A timeout of the socket limits each read, and not the whole: a server that sends a byte each
        minute would hold its place for hours.
        """
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            _shut(open_socket)

        timer = threading.Timer(seconds, give_up)
        timer.daemon = True
        with self._lock:
            self._sockets.add(open_socket)
            if self._was_cut:
                _shut(open_socket)
        try:
            open_socket.settimeout(None)
            try:
                timer.start()
            except RuntimeError:
                raise Unreached("This machine starts no more threads now") from None
            yield is_late
        finally:
            timer.cancel()
            with self._lock:
                self._sockets.discard(open_socket)

    def _exchange(
        self, connection: HTTPConnection, method: str, path: str, body: bytes | None
    ) -> HttpReply:
        headers = {"Accept": "application/json", "User-Agent": "batchui", "Connection": "close"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.upstream.key:
            headers["Authorization"] = f"Bearer {self.upstream.key}"
        connection.request(method, urlsplit(self.upstream.url).path + path, body, headers)
        response = connection.getresponse()
        content = b"".join(_pieces(response))
        return HttpReply(response.status, content, response.headers.get("Retry-After", ""))


def _pieces(response: HTTPResponse) -> Iterator[bytes]:
    """The body. Raises OSError if it is too large, or ends before its length is reached."""
    total = 0
    while piece := response.read(_PIECE):
        total += len(piece)
        if total > MAX_REPLY:
            raise OSError(f"its reply is larger than {MAX_REPLY:,} bytes")
        yield piece
    if response.length:
        raise OSError("its reply is cut short")


def _shut(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        # Not that of SSLSocket, which another thread may be reading from.
        socket.socket.shutdown(one, socket.SHUT_RDWR)


def _told(exc: Exception) -> str:
    """The reason in an exception, without the number of the system."""
    if isinstance(exc, TimeoutError):
        return f"no answer within {SECONDS_TO_CONNECT:g} s"
    return (exc.strerror if isinstance(exc, OSError) else "") or str(exc) or type(exc).__name__


@cache
def _certificates() -> ssl.SSLContext:
    """The certificates that this machine trusts. They are read once, because it is slow."""
    return ssl.create_default_context()
