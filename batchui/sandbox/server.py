"""The sandbox's HTTP/1.1 server: threads, keep-alive, and connections that can be cut."""

import contextlib
import errno
import re
import signal
import socket
import sqlite3
import struct
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn
from typing import Any

from batchui.sandbox import binding
from batchui.sandbox.http_messages import Request, Response, read_body, split_target
from batchui.sandbox.options import Options
from batchui.sandbox.wire import Sandbox

_WAIT_FOR_THREADS = 0.5  # seconds
# Between two looks at whether it is asked to stop: in a test, and where it rests all day.
_SECONDS_BETWEEN_CHECKS, _SECONDS_BETWEEN_CALM_CHECKS = 0.02, 0.2
_PORT = re.compile(r":[0-9]*\Z")
_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "[::1]"})


def serve(*, host: str, port: int, options: Options, hint: str = "") -> int:
    """Serve until SIGTERM or Ctrl-C. Returns the exit status. Call it in the main thread.

    hint: printed when it listens, after its address.
    The status is 2 if it cannot start (port in use, file not usable), with the reason on stderr;
    else 0.
    """
    try:
        sandbox = Sandbox(options)
    except (OSError, sqlite3.Error) as exc:
        return _refuse(f"The sandbox cannot use its file {options.data}: {exc}.")
    try:
        server = SandboxServer((host, port), sandbox)
    except (OSError, OverflowError) as exc:
        sandbox.close()
        if isinstance(exc, OSError) and exc.errno == errno.EADDRINUSE:
            return _refuse(f"Port {port} on {host} is in use. Stop what uses it or choose another.")
        return _refuse(f"The sandbox cannot listen on {host}, port {port}: {exc}.")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with server.running(_SECONDS_BETWEEN_CALM_CHECKS):
        told = "No AI model runs here."
        if options.upstream:
            told = f"Its answers come from {options.upstream.model} at {options.upstream.server}."
        sys.stdout.write(f"The sandbox listens on {server.base_url}. {told}\n{hint}")
        sys.stdout.flush()
        stop.wait()
    return 0


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{sentence}\n")
    return 2


class SandboxServer(ThreadingMixIn, TCPServer):
    """The HTTP server of a sandbox, which it closes in the end. Port 0 means any free port."""

    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], sandbox: Sandbox) -> None:
        """Raises OSError if it cannot listen there, OverflowError for an impossible port."""
        super().__init__(address, _Handler)
        self.sandbox = sandbox
        # Somebody who lets it listen on a name of this machine calls it by that name.
        self.names = _THIS_MACHINE | {address[0].lower()}
        if sandbox.context.options.binding:
            self.names |= {binding.HOST}
        self._talking: dict[socket.socket, threading.Thread] = {}

    @property
    def root_url(self) -> str:
        """The address of the server, without a path."""
        host, port = self.socket.getsockname()
        return f"http://{host}:{port}"

    @property
    def base_url(self) -> str:
        """The address of the API, with the base path of the real one."""
        return f"{self.root_url}/client/v4"

    @contextlib.contextmanager
    def running(self, between_checks: float = _SECONDS_BETWEEN_CHECKS) -> Iterator[None]:
        """Answer calls while the context lasts; then close everything within a second."""
        accepting = threading.Thread(target=self.serve_forever, args=(between_checks,), daemon=True)
        accepting.start()
        try:
            yield
        finally:
            self.sandbox.context.stop.set()
            self.shutdown()
            self._hang_up()
            self.server_close()
            self.sandbox.close()

    def service_actions(self) -> None:
        """Forget old requests, also where no new ones come. The server calls it all the time."""
        with contextlib.suppress(sqlite3.Error):  # such as a full disk; a minute later again
            self.sandbox.context.store.clean()

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        self._talking[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        self._talking.pop(request, None)
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER):
            self.close_request(request)  # shutting down first would send FIN, not RST
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print a traceback, unless the caller hung up."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _hang_up(self) -> None:
        threads = list(self._talking.items())
        for connection, _ in threads:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + _WAIT_FOR_THREADS
        for _, thread in threads:
            thread.join(max(0, deadline - time.monotonic()))


class _Handler(BaseHTTPRequestHandler):
    """One connection, and the requests that come through it one after another."""

    server: SandboxServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120

    def do_GET(self) -> None:
        self._exchange()

    def do_POST(self) -> None:
        self._exchange()

    def do_PUT(self) -> None:
        self._exchange()

    def do_DELETE(self) -> None:
        self._exchange()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Print nothing: the control address lists the calls."""

    def _exchange(self) -> None:
        try:
            body = self._body()
        except ValueError:
            self.close_connection = True
            self._send(Response(status=400, body=b'{"error":"The body has no proper length."}'))
            return
        if refused := self._refused():
            self._send(refused)
            return
        path, query = split_target(self.path)
        request = Request(
            method=self.command,
            path=path,
            query=query,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            host=self.client_address[0],
        )
        self._send(self.server.sandbox.respond(request))

    def _refused(self) -> Response | None:
        """The answer to what a web page may have sent; None for a program's request.

        A page on a name that its owner points at 127.0.0.1 could read answers: a browser sends that
        name as `Host`. For any other page it sends an `Origin`.
        """
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or _PORT.sub("", hosts[0].strip().lower()) not in self.server.names:
            return Response(status=421, body=b'{"error":"This is the sandbox of another host."}')
        if "Origin" in self.headers:
            return Response(status=403, body=b'{"error":"The sandbox is for programs alone."}')
        return None

    def _body(self) -> bytes | None:
        """The request's body; None if it is larger than the sandbox accepts.

        Raises ValueError if its length, or that of a chunk, is not a number or is below 0, and
        ConnectionError if the body ends early.
        """
        limit = self.server.sandbox.context.options.max_bytes
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunked(limit)
        length = _size(self.headers.get("Content-Length", "0"))
        return read_body(self.rfile, length=length, limit=limit)

    def _chunked(self, limit: int) -> bytes | None:
        kept, too_large = bytearray(), False
        while size := _size(self.rfile.readline(80).split(b";")[0].decode("latin-1"), base=16):
            chunk = read_body(self.rfile, length=size, limit=max(0, limit - len(kept)))
            self.rfile.readline(80)
            too_large = too_large or chunk is None
            kept += chunk or b""
        while self.rfile.readline(8_192) not in {b"\r\n", b"\n", b""}:
            continue
        return None if too_large else bytes(kept)

    def _send(self, response: Response) -> None:
        if response.cut:
            self.close_connection = True
            if response.cut == "reset":
                # No time to linger: closing sends RST.
                now = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, now)
            return
        if response.truncated:
            self.close_connection = True
            body = response.body
            whole = body if isinstance(body, bytes) else b"".join(body)
            self._write(self._head(response, length=len(whole)) + whole[: len(whole) // 2])
        elif isinstance(response.body, bytes):
            self._write(self._head(response, length=len(response.body)) + response.body)
        else:
            self._send_chunks(response, response.body)

    def _send_chunks(self, response: Response, chunks: Iterator[bytes]) -> None:
        self._write(self._head(response, length=None))
        for chunk in chunks:
            self._write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self._write(b"0\r\n\r\n")

    def _head(self, response: Response, *, length: int | None) -> bytes:
        headers = {
            "Date": self.date_time_string(),
            "Content-Type": "application/json",
            **response.headers,
        }
        if length is None:
            headers["Transfer-Encoding"] = "chunked"
        else:
            headers["Content-Length"] = str(length)
        if self.close_connection:
            headers["Connection"] = "close"
        lines = [f"{name}: {value}" for name, value in headers.items()]
        # Cloudflare's own statuses (520 and so on) have no standard name.
        name = self.responses.get(response.status, ("Unknown",))[0]
        first = f"HTTP/1.1 {response.status} {name}"
        return "\r\n".join([first, *lines, "", ""]).encode("latin-1")

    def _write(self, data: bytes) -> None:
        self.connection.sendall(data)


def _size(text: str, *, base: int = 10) -> int:
    """A number of bytes. Raises ValueError if it is not a number or is below 0.

    Reading -1 bytes would wait until the caller closes the connection.
    """
    size = int(text, base)
    if size < 0:
        raise ValueError(f"{size} is below 0")
    return size
