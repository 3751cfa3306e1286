"""A call ends after a total time, however the other side spends it."""

import io
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from batchui.cloudflare import client as clients
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, MaybeSent, NotSent
from batchui.cloudflare.http_call import Call, CuttableClient, HttpFault, make_call
from batchui.cloudflare.redactor import Redactor
from tests.cloudflare.conftest import ACCOUNT, MODEL, REQUEST_ID, TOKEN, queued
from tests.cloudflare.server import Act, Handler, ScriptedServer, dripping, reply, self_signed

SECONDS = 0.8
# What drips does so for as long as this, unless the client hangs up before.
FOR_EVER = 30.0
# The machine may be busy; without a deadline it would be FOR_EVER.
SOON = 15.0
# No single read or write takes so long that it would end the call.
PATIENT = httpx.Timeout(20)
IN_TIME = "the reply was not finished in time"
HEAD = b"HTTP/1.1 200 OK\r\nX-Slow: "

Accepted = Callable[[socket.socket], None]


def drip(write: Callable[[bytes], object], *, every: float = 0.05) -> None:
    """A head that gets a byte longer every so often, until the other side hangs up."""
    ends = time.monotonic() + FOR_EVER
    with suppress(OSError):
        write(HEAD)
        while time.monotonic() < ends:
            write(b"x")
            time.sleep(every)


def dripping_head() -> Act:
    def act(handler: Handler) -> None:
        drip(handler.wfile.write)
        handler.close_connection = True

    return act


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


@contextmanager
def listening(accepted: Accepted) -> Iterator[int]:
    """A server that does something with one connection. Yields its port."""

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with closing(connection):
                accepted(connection)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[RestClient]:
    with RestClient(
        account_id=ACCOUNT,
        token=TOKEN,
        base_url=server.base_url,
        timeout=PATIENT,
        max_connections=1,
        seconds=SECONDS,
    ) as made:
        yield made


def test_a_head_that_drips_ends_at_the_deadline(server: ScriptedServer, client: RestClient) -> None:
    server.script(dripping_head())
    for error, call in (
        (MaybeSent, lambda: client.submit(MODEL, b"{}")),
        (NotSent, lambda: client.poll(MODEL, REQUEST_ID, io.BytesIO())),
        (NotSent, client.test_connection),
    ):
        with within(SOON), pytest.raises(error, match=f"^broken: {IN_TIME} \\("):
            call()


def test_a_body_that_drips_ends_at_the_deadline_of_the_whole_call(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(dripping(b"{" * 600, every=0.05))
    with within(SOON), pytest.raises(BadReply, match=f"^unreadable: {IN_TIME}"):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    with within(SOON), pytest.raises(MaybeSent, match=f"^unreadable: {IN_TIME}"):
        client.submit(MODEL, b"{}")


def test_a_transport_without_a_socket_has_the_deadline_for_its_body() -> None:
    class Dripping(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            def drips() -> Iterator[bytes]:
                for _ in range(600):
                    time.sleep(0.05)
                    yield b"{"

            return httpx.Response(200, content=drips())

    with (
        RestClient(
            account_id=ACCOUNT,
            token=TOKEN,
            base_url="http://sandbox.test",
            transport=Dripping(),
            seconds=SECONDS,
        ) as client,
        within(SOON),
        pytest.raises(BadReply, match=IN_TIME),
    ):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())


def test_a_call_that_ended_in_time_is_not_cut_afterwards(
    server: ScriptedServer, client: RestClient
) -> None:
    """Nor is the next one on the same connection."""
    server.script(reply(200, queued()))
    for _ in range(3):
        assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == "queued"
        time.sleep(SECONDS * 0.7)
    assert server.connections == 1
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]


def test_a_call_after_one_that_was_cut_is_made_as_usual(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(dripping_head(), reply(200, queued()))
    with pytest.raises(NotSent):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    server.script(reply(200, b"<html>"))
    with pytest.raises(BadReply) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert IN_TIME not in str(caught.value)
    server.script(reply(200, queued()))
    assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == "queued"


# -- TLS ----------------------------------------------------------------------------------------


def call_to(port: int, pem: Path, *, proxy: str | None = None) -> HttpFault:
    """A call to https://localhost by somebody who trusts the certificate; it must fail."""
    trusted = ssl.create_default_context(cafile=str(pem))
    client = CuttableClient(
        httpx.Client(verify=trusted, timeout=PATIENT, proxy=proxy, trust_env=False)
    )
    with closing(client), within(SOON):
        fault = make_call(
            client, Call("GET", f"https://localhost:{port}/", seconds=SECONDS), Redactor()
        )
    assert isinstance(fault, HttpFault)
    return fault


def dripping_by_tls(context: ssl.SSLContext, *, after: float = 0.0) -> Accepted:
    def accepted(connection: socket.socket) -> None:
        time.sleep(after)
        with closing(context.wrap_socket(connection, server_side=True)) as secured:
            drip(secured.sendall)

    return accepted


def test_without_a_thread_that_watches_the_time_nothing_is_sent(
    server: ScriptedServer, client: RestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_thread(_: threading.Timer) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as limited:
        limited.setattr(threading.Timer, "start", no_thread)
        with pytest.raises(NotSent, match=r"^no place: "):
            client.submit(MODEL, b"{}")
    assert server.received == []
    server.script(reply(200, queued()))
    assert client.submit(MODEL, b"{}").request_id == REQUEST_ID


@pytest.mark.parametrize("after", [0.0, 2 * SECONDS], ids=["at once", "after the deadline"])
def test_a_head_that_drips_through_tls_ends_whenever_the_handshake_was_done(
    tmp_path: Path, after: float
) -> None:
    context = self_signed(tmp_path)
    with listening(dripping_by_tls(context, after=after)) as port:
        fault = call_to(port, tmp_path / "certificate.pem")
    assert fault.kind == "broken"
    assert IN_TIME in fault.detail


def test_a_head_that_drips_through_a_proxy_ends_as_well(tmp_path: Path) -> None:
    through_tls = dripping_by_tls(self_signed(tmp_path))

    def tunnel(connection: socket.socket) -> None:
        connection.recv(10_000)
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        through_tls(connection)

    with listening(tunnel) as port:
        fault = call_to(1, tmp_path / "certificate.pem", proxy=f"http://127.0.0.1:{port}")
    assert fault.kind == "broken"
    assert IN_TIME in fault.detail


def test_a_call_may_take_two_and_a_half_minutes() -> None:
    assert clients.LONGEST_CALL_SECONDS == 150
