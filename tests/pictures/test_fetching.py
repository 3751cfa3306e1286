"""What is asked of a host, and what its replies mean."""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from batchui.pictures import fetching
from batchui.pictures.fetching import fetch
from batchui.pictures.problems import LARGEST_SOURCE, NoPicture
from tests.cloudflare.server import (
    ScriptedServer,
    cut,
    dripping,
    raw,
    reply,
    scripted_server,
    truncated,
    truncated_chunks,
    until_close,
)
from tests.pictures.network import certified, listening, trusting

# Seconds that are enough to open a connection on a machine that is busy, and not for what is slow.
TIME_TO_GET_THERE = 1.5


def fetched(server: ScriptedServer, target: str = "/a.jpg?sig=secret", **more: float) -> bytes:
    return fetch(f"http://{server.address}{target}", allowed=[server.address], **more)


def problem_of(server: ScriptedServer, **more: float) -> NoPicture:
    """Why there is no picture. Neither it nor what is chained to it has the whole address."""
    with pytest.raises(NoPicture) as raised:
        fetched(server, **more)
    told = raised.value
    assert "secret" not in str(told)
    assert "a.jpg" not in str(told)
    assert told.__suppress_context__ or told.__context__ is None
    return told


def test_a_picture_is_fetched_with_one_plain_request(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    server.script(reply(200, b"picture", Set_Cookie="a=b"))
    assert fetched(server, "/a.jpg?b=c#d") == b"picture"
    assert fetched(server, "/a.jpg?b=c#d") == b"picture"
    assert {one.path for one in server.received} == {"/a.jpg?b=c"}
    assert server.received[1].headers == {
        "host": server.address,
        "user-agent": "batchui",
        "accept": "image/*, */*;q=0.5",
        "accept-encoding": "identity",
        "connection": "close",
    }


def test_a_body_without_a_length_is_read_to_its_end(server: ScriptedServer) -> None:
    server.script(until_close(b"picture"))
    assert fetched(server) == b"picture"
    server.script(
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n0\r\n\r\n")
    )
    assert fetched(server) == b"picture"


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (300, "leads elsewhere"),
        (301, "The address at “127.0.0.1” leads elsewhere (HTTP 301). Put the address that it"),
        (308, "leads elsewhere"),
        (399, "leads elsewhere"),
        (404, "“127.0.0.1” has no such picture (HTTP 404). Correct the address"),
        (410, "has no such picture (HTTP 410)"),
        (401, "does not give the picture to everybody (HTTP 401)"),
        (403, "“127.0.0.1” does not give the picture to everybody (HTTP 403)"),
        (400, "“127.0.0.1” gave no picture (HTTP 400)"),
        (451, "gave no picture (HTTP 451)"),
        (203, "gave no picture (HTTP 203)"),
    ],
)
def test_a_reply_that_stays_as_it_is_is_told_and_not_asked_for_again(
    server: ScriptedServer, status: int, sentence: str
) -> None:
    server.script(reply(status, b"picture", Location=f"http://{server.address}/other"))
    told = problem_of(server)
    assert sentence in str(told)
    assert not told.passes
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503, 599])
def test_a_busy_host_is_asked_three_times(server: ScriptedServer, status: int) -> None:
    server.script(reply(status))
    told = problem_of(server)
    assert f"“127.0.0.1” cannot send it now (HTTP {status}). Try again later." in str(told)
    assert told.passes
    assert len(server.received) == 3


def test_the_pauses_between_tries_are_short_and_grow(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, pauses: tuple[float, ...]
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(fetching, "PAUSES", pauses)
    monkeypatch.setattr(fetching.time, "sleep", waited.append)
    server.script(reply(503))
    problem_of(server)
    assert waited == [0.5, 1.5]


def test_nobody_waits_for_a_try_that_would_be_too_late(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "PAUSES", (5.0, 5.0))
    server.script(reply(503))
    began = time.monotonic()
    assert problem_of(server, seconds=4).passes
    assert time.monotonic() - began < 2
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "broken",
    [
        cut(),
        cut(reset=True),
        raw(b"nonsense\r\n\r\n"),
        truncated(b"picture", keep=3),
        truncated(b"picture", keep=0),
        truncated_chunks(b"picture"),
    ],
)
def test_a_connection_that_breaks_is_made_anew(server: ScriptedServer, broken: Callable) -> None:
    server.script(broken, broken, reply(200, b"picture"))
    assert fetched(server) == b"picture"
    server.script(broken)
    told = problem_of(server)
    assert str(told) == "“127.0.0.1” could not be reached, or broke off. Try again later."
    assert told.passes


def test_a_host_that_takes_no_connection_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NoPicture, match=r"“127.0.0.1” could not be reached") as raised:
        fetch(f"http://127.0.0.1:{port}/", allowed=["127.0.0.1"])
    assert raised.value.passes


def test_a_picture_of_the_largest_size_is_read_and_one_byte_more_is_not(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LARGEST_SOURCE == 25_000_000
    monkeypatch.setattr(fetching, "LARGEST_SOURCE", 1000)
    for act in (reply, lambda _, body: until_close(body)):
        server.script(act(200, b"p" * 1000))
        assert len(fetched(server)) == 1000
        server.script(act(200, b"p" * 1001))
        told = problem_of(server)
        assert str(told).startswith("The picture at “127.0.0.1” is larger than 25 MB.")
        assert not told.passes


def test_a_length_that_is_too_large_is_refused_before_anything_is_read(
    server: ScriptedServer,
) -> None:
    server.script(raw(f"HTTP/1.1 200 OK\r\nContent-Length: {25_000_001}\r\n\r\n".encode()))
    assert "larger than 25 MB" in str(problem_of(server))


def test_a_body_that_never_ends_is_not_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(one: socket.socket) -> None:
        one.recv(1000)
        one.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"p" * 2000)
        time.sleep(1)

    monkeypatch.setattr(fetching, "LARGEST_SOURCE", 1000)
    with listening(endless) as port, pytest.raises(NoPicture, match="is larger than 25 MB"):
        fetch(f"http://127.0.0.1:{port}/", allowed=["127.0.0.1"], seconds=0.5)


def test_a_host_that_reads_nothing_ends_at_the_deadline() -> None:
    """What is sent is longer than the system keeps for it."""
    over = threading.Event()
    with listening(lambda _: over.wait(30) and None) as port:
        address = f"http://127.0.0.1:{port}/{'a' * 8_000_000}"
        began = time.monotonic()
        with pytest.raises(NoPicture, match="did not send the picture in time"):
            fetch(address, allowed=["127.0.0.1"], seconds=TIME_TO_GET_THERE)
        assert time.monotonic() - began < 20
        over.set()


def dripping_head(one: socket.socket) -> None:
    one.recv(1000)
    one.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    for _ in range(2000):
        one.sendall(b"x")
        time.sleep(0.02)


def silent(one: socket.socket) -> None:
    while one.recv(1000):
        pass


def dripping_handshake(one: socket.socket) -> None:
    one.recv(1000)
    one.sendall(b"\x16\x03\x03\x40\x00")
    dripping_head(one)


@pytest.mark.parametrize(
    ("scheme", "act"),
    [
        ("http", dripping_head),
        ("http", silent),
        ("https", silent),
        ("https", dripping_handshake),
    ],
)
def test_a_slow_head_or_handshake_ends_at_the_deadline(
    scheme: str, act: Callable[[socket.socket], None]
) -> None:
    with listening(act) as port:
        began = time.monotonic()
        with pytest.raises(NoPicture, match=r"“127.0.0.1” did not send the picture in") as raised:
            fetch(f"{scheme}://127.0.0.1:{port}/", allowed=["127.0.0.1"], seconds=TIME_TO_GET_THERE)
        assert TIME_TO_GET_THERE - 0.05 < time.monotonic() - began < 20
    assert raised.value.passes


def test_a_slow_body_ends_at_the_deadline(server: ScriptedServer) -> None:
    server.script(dripping(b"p" * 200, every=0.02))
    began = time.monotonic()
    assert problem_of(server, seconds=0.3).passes
    assert 0.25 < time.monotonic() - began < 3


def test_no_time_at_all_is_too_late(server: ScriptedServer) -> None:
    assert problem_of(server, seconds=0).passes
    assert server.connections == 0


def by_tls(context: ssl.SSLContext) -> bytes:
    with scripted_server(context) as server:
        server.script(reply(200, b"picture"))
        address = f"localhost:{server.server_address[1]}"
        return fetch(f"https://{address}/a?sig=secret", allowed=[address])


def test_a_host_proves_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []
    context = certified(tmp_path, "localhost")
    context.sni_callback = lambda _, name, __: asked.append(name)
    with trusting(monkeypatch, tmp_path / "authority.pem"):
        assert by_tls(context) == b"picture"
    assert asked == ["localhost"]


def test_a_certificate_for_another_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = certified(tmp_path, "other.example")
    with (
        trusting(monkeypatch, tmp_path / "authority.pem"),
        pytest.raises(NoPicture, match="“localhost” could not prove to be that host") as raised,
    ):
        by_tls(context)
    assert not raised.value.passes
    assert raised.value.__suppress_context__


def test_a_certificate_of_a_stranger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoPicture, match="its certificate is not valid"):
        by_tls(certified(tmp_path, "localhost"))
