"""What broke and when decides: before the connection nothing was sent, later nobody knows."""

import io
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from batchui.cloudflare import caller
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, MaybeSent, NotSent
from tests.cloudflare.conftest import ACCOUNT, MODEL, QUICK, REQUEST_ID, TOKEN, queued
from tests.cloudflare.server import (
    Act,
    ScriptedServer,
    after,
    cut,
    raw,
    reply,
    scripted_server,
    self_signed,
    then_hang_up,
    truncated,
    truncated_chunks,
)

IN_TIME = "the reply was not finished in time"
BIG_BODY = b'{"requests": ["' + b"x" * 8_000_000 + b'"]}'


@contextmanager
def client_of(base_url: str, **options: object) -> Iterator[RestClient]:
    settings = {"account_id": ACCOUNT, "token": TOKEN, "base_url": base_url, "timeout": QUICK}
    with RestClient(**{**settings, **options}) as client:  # type: ignore[arg-type]
        yield client


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[RestClient]:
    with client_of(server.base_url, seconds=1) as client:
        yield client


def both_fail_as_not_sent(client: RestClient) -> NotSent:
    with pytest.raises(NotSent):
        client.submit(MODEL, b"{}")
    with pytest.raises(NotSent) as caught:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert "nothing was sent" in caught.value.user_message
    return caught.value


@pytest.mark.parametrize(
    ("called", "subject", "advice"),
    [
        ("", "Cloudflare", " Check this server's internet connection."),
        ("the sandbox", "The sandbox", ""),
    ],
)
def test_nobody_listening_is_not_sent(called: str, subject: str, advice: str) -> None:
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with client_of(f"http://127.0.0.1:{port}", called=called) as client:
            error = both_fail_as_not_sent(client)
    reached = f"{subject} could not be reached at 127.0.0.1:{port}"
    assert error.user_message == f"{reached}: nothing was sent.{advice}"
    assert "ConnectError" in str(error)


def test_a_name_that_does_not_exist_is_not_sent() -> None:
    with client_of("http://no-such-host.invalid/client/v4") as client:
        assert "no-such-host.invalid" in both_fail_as_not_sent(client).user_message


def test_a_server_that_speaks_no_tls_is_not_sent(server: ScriptedServer) -> None:
    server.script(reply(200, queued()))
    with client_of(f"https://{server.address}/client/v4") as client:
        both_fail_as_not_sent(client)
    assert server.received == []


def test_a_server_that_cannot_prove_its_name_is_sent_nothing(tmp_path: Path) -> None:
    with scripted_server(self_signed(tmp_path)) as server:
        server.script(reply(200, queued()))
        port = server.server_address[1]
        with client_of(f"https://localhost:{port}/client/v4") as client:
            assert "CERTIFICATE_VERIFY_FAILED" in str(both_fail_as_not_sent(client))
        assert server.received == []


def test_a_connection_that_is_not_accepted_in_time_is_not_sent() -> None:
    with closing(socket.socket()) as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        # The queue of a listener that never accepts is full after a few.
        waiting = [socket.socket() for _ in range(4)]
        try:
            for one in waiting:
                one.setblocking(False)
                one.connect_ex(deaf.getsockname())
            timeout = httpx.Timeout(connect=0.2, read=0.2, write=0.2, pool=0.2)
            with client_of(f"http://127.0.0.1:{deaf.getsockname()[1]}", timeout=timeout) as client:
                assert "ConnectTimeout" in str(both_fail_as_not_sent(client))
        finally:
            for one in waiting:
                one.close()


def test_no_free_connection_in_time_is_not_sent(server: ScriptedServer) -> None:
    server.script(after(0.4, reply(200, queued())))
    timeout = httpx.Timeout(connect=1, read=2, write=1, pool=0.05)
    with client_of(server.base_url, timeout=timeout, max_connections=1) as client:
        first = threading.Thread(target=client.submit, args=(MODEL, b"{}"))
        first.start()
        while not server.received:
            time.sleep(0.005)
        with pytest.raises(NotSent, match="every connection is in use") as caught:
            client.submit(MODEL, b"{}")
        assert caught.value.user_message.endswith("as many calls as it may at one time.")
        first.join()
    assert len(server.received) == 1


BROKEN_WITHOUT_AN_ANSWER = {
    "cut before the body is read": cut(before_body=True),
    "reset before the body is read": cut(before_body=True, reset=True),
    "cut after the body was read": cut(),
    "reset after the body was read": cut(reset=True),
    "no answer in time": after(0.8, reply(200, queued())),
    "not HTTP": raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "half a head": raw(b"HTTP/1.1 200 OK\r\nContent-Le"),
    "an endless head": raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000),
}


@pytest.mark.parametrize("act", BROKEN_WITHOUT_AN_ANSWER.values(), ids=BROKEN_WITHOUT_AN_ANSWER)
def test_a_connection_that_breaks_later_may_have_sent_and_a_poll_is_made_again(
    server: ScriptedServer, client: RestClient, act: Act
) -> None:
    server.script(act)
    with pytest.raises(MaybeSent) as unsure:
        client.submit(MODEL, b"{}")
    with pytest.raises(MaybeSent):
        client.run(MODEL, b"{}")
    with pytest.raises(NotSent) as lost:
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert "It may have them already." in unsure.value.user_message
    assert lost.value.user_message.endswith("broke before an answer came. Nothing is lost.")


@pytest.mark.parametrize("reset", [False, True])
def test_a_large_body_that_cannot_be_written_whole_may_have_been_sent(
    server: ScriptedServer, client: RestClient, reset: bool
) -> None:
    server.script(cut(before_body=True, reset=reset))
    with pytest.raises(MaybeSent):
        client.submit(MODEL, BIG_BODY)


@pytest.mark.parametrize(("seconds", "why"), [(30, "^broken: WriteTimeout"), (0.3, IN_TIME)])
def test_a_large_body_nobody_reads_may_have_been_sent(
    server: ScriptedServer, seconds: float, why: str
) -> None:
    act = after(1.5, cut(before_body=True))
    act.leaves_body = True  # type: ignore[attr-defined]
    server.script(act)
    with (
        client_of(server.base_url, seconds=seconds) as client,
        pytest.raises(MaybeSent, match=why),
    ):
        client.submit(MODEL, BIG_BODY)


CUT_ANSWERS = {
    "cut short": truncated(b'{"result": {"request_id": "x"}}', keep=20),
    "cut before its body": truncated(b'{"result": {"request_id": "x"}}', keep=0),
    "chunks without an end": truncated_chunks(b'{"result": {"request_id": "x"}}'),
}


@pytest.mark.parametrize("act", CUT_ANSWERS.values(), ids=CUT_ANSWERS)
def test_an_answer_cut_short_may_have_been_sent_and_a_poll_is_made_again(
    server: ScriptedServer, client: RestClient, act: Act
) -> None:
    server.script(act)
    with pytest.raises(MaybeSent, match="HTTP 200"):
        client.submit(MODEL, b"{}")
    with pytest.raises(BadReply, match="HTTP 200"):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())


def test_a_submission_never_uses_a_connection_kept_from_before(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, queued()))
    client.poll(MODEL, REQUEST_ID, io.BytesIO())
    for _ in range(3):
        client.submit(MODEL, b"{}")
    assert len({request.peer for request in server.received}) == 4


def test_polls_keep_their_connection(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, queued()))
    for _ in range(5):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert server.connections == 1


@pytest.mark.parametrize(("kept", "connections"), [(0.05, 2), (60.0, 1)])
def test_a_connection_that_was_not_used_for_a_while_is_not_used_again(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, kept: float, connections: int
) -> None:
    """The server may close it at the moment when it is used."""
    monkeypatch.setattr(caller, "KEPT_SECONDS", kept)
    server.script(reply(200, queued()))
    with client_of(server.base_url, max_connections=1) as client:
        for _ in range(2):
            client.poll(MODEL, REQUEST_ID, io.BytesIO())
            time.sleep(0.2)
    assert server.connections == connections


def test_closing_a_client_closes_its_connections_and_it_may_be_used_again(
    server: ScriptedServer,
) -> None:
    server.script(reply(200, queued()))
    with client_of(server.base_url, max_connections=1) as client:
        for connections in (1, 2):
            client.poll(MODEL, REQUEST_ID, io.BytesIO())
            client.poll(MODEL, REQUEST_ID, io.BytesIO())
            assert server.connections == connections
            client.close()


def test_a_transport_that_is_given_stays_open() -> None:
    class Given(httpx.BaseTransport):
        open = True

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(200, stream=httpx.ByteStream(json.dumps(queued()).encode()))

        def close(self) -> None:
            self.open = False

    given = Given()
    with client_of("http://sandbox.test", transport=given) as client:
        client.submit(MODEL, b"{}")
        assert client.poll(MODEL, REQUEST_ID, io.BytesIO()) == "queued"
    assert given.open


def test_an_idle_connection_closed_by_the_server_does_not_disturb_what_comes_next(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(then_hang_up(reply(200, queued())))
    for _ in range(3):
        client.poll(MODEL, REQUEST_ID, io.BytesIO())
        client.submit(MODEL, b"{}")
    assert len(server.received) == 6


def test_many_threads_share_a_client(server: ScriptedServer) -> None:
    server.script(reply(200, queued()))
    seen: list[str | None] = []
    with client_of(server.base_url, max_connections=4, timeout=httpx.Timeout(5)) as client:

        def work() -> None:
            for _ in range(10):
                seen.append(client.poll(MODEL, REQUEST_ID, io.BytesIO()))
                seen.append(client.submit(MODEL, b"{}").status)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == ["queued"] * 160


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            ConnectionResetError(104, "Connection reset by peer"),
            "broken: ConnectionResetError: [Errno 104] Connection reset by peer",
        ),
        (httpx.ReadTimeout(""), "broken: ReadTimeout"),
    ],
)
def test_a_transport_that_breaks_in_its_own_way_is_understood(error: Exception, told: str) -> None:
    class Broken(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise error

    with client_of("http://sandbox.test", transport=Broken()) as client:
        with pytest.raises(MaybeSent) as unsure:
            client.submit(MODEL, b"{}")
        with pytest.raises(NotSent) as lost:
            client.poll(MODEL, REQUEST_ID, io.BytesIO())
    assert str(unsure.value) == str(lost.value) == told


def test_a_transport_that_does_not_check_lengths_is_checked() -> None:
    class Short(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            stream = httpx.ByteStream(b'{"result": {"request_id": "x"}}')
            return httpx.Response(200, headers={"Content-Length": "99"}, stream=stream)

    with (
        client_of("http://sandbox.test", transport=Short()) as client,
        pytest.raises(MaybeSent, match="31 bytes of 99"),
    ):
        client.submit(MODEL, b"{}")
