"""A real HTTP server on a free port that answers by script, and misbehaves on request."""

import json
import socket
import ssl
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Act = Callable[["Handler"], None]


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    peer: tuple[str, int]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer(ThreadingHTTPServer):
    """A server that answers by script. mark: a header of every whole answer; "" for none."""

    mark = ""
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.acts: deque[Act] = deque()
        self.received: list[Received] = []
        self.connections = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def base_url(self) -> str:
        return f"http://{self.address}/client/v4"

    def script(self, *acts: Act) -> None:
        """One act a request, in order; the last one stays for every request after it."""
        self.acts = deque(acts)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections are cut on purpose here: nothing to print."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ScriptedServer

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def answer(self) -> None:
        acts = self.server.acts
        act = acts.popleft() if len(acts) > 1 else acts[0]
        if not getattr(act, "leaves_body", False):
            self.take_body()
        act(self)

    do_GET = do_POST = do_PUT = answer  # noqa: N815

    def end_headers(self) -> None:
        if mark := getattr(self.server, "mark", ""):
            self.send_header(mark, "1")
        super().end_headers()

    def take_body(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(self.command, self.path, headers, body, self.client_address)
        self.server.received.append(received)

    def hang_up(self, *, reset: bool = False) -> None:
        self.close_connection = True
        if reset:
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        with suppress(OSError):
            self.wfile.flush()
        # http.server's own closing shuts down politely; a reset must not.
        self.connection.close() if reset else self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Quiet."""


def reply(status: int = 200, body: Any = b"", **headers: str) -> Act:
    """A plain answer; `body` is bytes, or anything JSON can hold. retry_after="5" is a header."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def act(handler: Handler) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return act


def error(code: int | None, status: int, message: str = "Something", **headers: str) -> Act:
    """Cloudflare's error envelope."""
    told = {"message": message} if code is None else {"code": code, "message": message}
    envelope = {"success": False, "errors": [told], "result": None, "messages": []}
    return reply(status, envelope, **headers)


def raw(content: bytes) -> Act:
    """These bytes instead of an HTTP answer, then the connection is closed."""

    def act(handler: Handler) -> None:
        handler.wfile.write(content)
        handler.hang_up()

    return act


def truncated(body: bytes, *, keep: int, status: int = 200) -> Act:
    """Content-Length promises all of `body`; `keep` bytes come."""
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    return raw(head + body[:keep])


def truncated_chunks(body: bytes) -> Act:
    """A chunked body whose last chunk never comes."""
    chunk = b"%x\r\n%b\r\n" % (len(body), body)
    return raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)


def until_close(body: bytes) -> Act:
    """No length at all: the body ends where the connection does, whole or not."""
    return raw(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body)


def cut(*, before_body: bool = False, reset: bool = False) -> Act:
    """The connection is closed without an answer, the request's body read or not."""

    def act(handler: Handler) -> None:
        handler.hang_up(reset=reset)

    act.leaves_body = before_body  # type: ignore[attr-defined]
    return act


def after(seconds: float, then: Act) -> Act:
    def act(handler: Handler) -> None:
        time.sleep(seconds)
        with suppress(OSError):
            then(handler)

    return act


def dripping(body: bytes, *, every: float) -> Act:
    """A body that comes byte by byte, with a pause after each."""

    def act(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        with suppress(OSError):
            for byte in body:
                handler.wfile.write(bytes([byte]))
                time.sleep(every)

    return act


def then_hang_up(first: Act) -> Act:
    """A usual answer that promises to keep the connection, which is then closed while idle."""

    def act(handler: Handler) -> None:
        first(handler)
        handler.hang_up()

    return act


def self_signed(folder: Path) -> ssl.SSLContext:
    """TLS with a certificate for localhost that nobody vouches for. Its file is in `folder`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = folder / "certificate.pem"
    pem.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    return context


@contextmanager
def scripted_server(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
