"""Which hosts are opened, and at which address."""

import socket
import threading
import time

import pytest

from batchui.pictures.fetching import fetch
from batchui.pictures.problems import NoPicture
from tests.cloudflare.server import ScriptedServer, reply
from tests.pictures.network import Names, lead_to

NOT_PUBLIC = "is not on the public internet"


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "localhost", "LOCALHOST", "localhost.", "0.0.0.0", "[::1]", "[::]"),
        *("2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.1", "①②⑦.⓪.⓪.①"),
        *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[::127.0.0.1]"),
        *("169.254.169.254", "[fe80::1]", "10.1.2.3"),
    ],
)
def test_this_machine_and_its_network_are_not_opened(server: ScriptedServer, host: str) -> None:
    server.script(reply(200, b"secret"))
    port = server.server_address[1]
    with pytest.raises(NoPicture, match=NOT_PUBLIC) as raised:
        fetch(f"http://{host}:{port}/")
    assert not raised.value.passes
    assert server.connections == 0


def test_an_allowed_host_does_not_open_another_way_to_write_it(server: ScriptedServer) -> None:
    port = server.server_address[1]
    with pytest.raises(NoPicture, match=NOT_PUBLIC):
        fetch(f"http://2130706433:{port}/", allowed=["127.0.0.1", f"127.0.0.1:{port + 1}"])
    assert server.connections == 0


def test_an_allowed_port_does_not_open_another(server: ScriptedServer) -> None:
    with pytest.raises(NoPicture, match=NOT_PUBLIC):
        fetch(f"http://{server.address}/", allowed=["127.0.0.1:1"])
    assert server.connections == 0


def test_a_host_with_one_private_address_among_its_addresses_is_not_opened(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names(monkeypatch, ["93.184.216.34", "10.0.0.1"])
    meant = lead_to(monkeypatch, server.server_address)
    with pytest.raises(NoPicture, match="^“pictures.example” " + NOT_PUBLIC):
        fetch("http://pictures.example/a")
    assert not meant


def test_a_public_host_is_opened_at_the_address_that_was_looked_at(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    meant = lead_to(monkeypatch, server.server_address)
    server.script(reply(503), reply(200, b"picture"))
    assert fetch("http://Pictures.example/a") == b"picture"
    # Both tries, and the name was looked up once.
    assert meant == [("93.184.216.34", 80)] * 2
    assert names.asked == [(b"pictures.example", 80)]
    assert server.received[0].headers["host"] == "pictures.example"


def test_the_next_address_of_a_host_is_tried_when_one_takes_no_connection(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names(monkeypatch, ["93.184.216.34", "93.184.216.35", "93.184.216.36"])
    meant = lead_to(monkeypatch, server.server_address, refusing=("93.184.216.34",))
    server.script(reply(200, b"picture"))
    assert fetch("http://pictures.example/") == b"picture"
    assert [peer[0] for peer in meant] == ["93.184.216.34", "93.184.216.35"]


@pytest.mark.parametrize(("seconds", "patience"), [(20, 5), (3, 3)])
def test_no_address_of_a_host_takes_all_the_time(
    monkeypatch: pytest.MonkeyPatch, seconds: float, patience: float
) -> None:
    patient: list[float | None] = []

    def connect(self: socket.socket, _: object) -> None:
        patient.append(self.gettimeout())
        raise TimeoutError

    monkeypatch.setattr(socket.socket, "connect", connect)
    Names(monkeypatch, ["93.184.216.34", "93.184.216.35"])
    with pytest.raises(NoPicture, match="did not send the picture in time"):
        fetch("http://pictures.example/", seconds=seconds)
    assert patient == [pytest.approx(patience, abs=0.5)] * 6


def test_a_machine_without_ipv6_uses_the_other_address(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    Names(monkeypatch, ["2606:4700::1111", "93.184.216.34"])
    lead_to(monkeypatch, server.server_address)
    server.script(reply(200, b"picture"))
    real = socket.socket.__init__

    def without_ipv6(self: socket.socket, family: int = -1, *more: object, **named: object) -> None:
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        real(self, family, *more, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "__init__", without_ipv6)
    assert fetch("http://pictures.example/") == b"picture"


@pytest.mark.parametrize("code", [socket.EAI_NONAME, socket.EAI_NODATA])
def test_a_host_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    Names(monkeypatch, socket.gaierror(code, "no"))
    with pytest.raises(NoPicture, match=r"^There is no host “gone.example”\. Correct") as raised:
        fetch("http://gone.example/?sig=secret")
    assert not raised.value.passes


@pytest.mark.parametrize("problem", [socket.gaierror(socket.EAI_AGAIN, "later"), OSError(24, "")])
def test_a_look_up_that_fails_for_now_passes(
    monkeypatch: pytest.MonkeyPatch, problem: OSError
) -> None:
    Names(monkeypatch, problem)
    with pytest.raises(NoPicture, match=r"“a.example” could not be looked up. Try again") as raised:
        fetch("http://a.example/")
    assert raised.value.passes


def test_no_thread_left_to_look_up_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    with pytest.raises(NoPicture, match="could not be looked up") as raised:
        fetch("http://a.example/")
    assert raised.value.passes


def test_a_slow_name_server_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: ended.wait(10) and [])
    began = time.monotonic()
    with pytest.raises(NoPicture, match="could not be looked up") as raised:
        fetch("http://slow.example/", seconds=0.2)
    assert 0.15 < time.monotonic() - began < 8
    assert raised.value.passes
    ended.set()


def test_a_host_without_any_address_is_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    Names(monkeypatch, [])
    with pytest.raises(NoPicture, match="could not be reached"):
        fetch("http://a.example/")
