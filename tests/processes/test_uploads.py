"""The web server while large bodies come in: whose they are, and what others may send."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest

from batchui.processes.serving import IN_MEMORY
from tests.processes.served_site import MOST_BYTES
from tests.processes.test_serving import PATIENCE, Site, running_site, waiting
from tests.project.helpers import until

pytestmark = pytest.mark.processes
LARGE = IN_MEMORY + 50_000


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


def begun(site: Site, length: int, *, who: str, path: str = "/body") -> socket.socket:
    """A connection on which the head of an upload was sent, and its first byte."""
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nWho: {who}\r\n"
    return site.connect(f"{head}Content-Length: {length}\r\n\r\nx".encode())


def asked_for(site: Site) -> list[str]:
    found: list[str] = json.loads(site.get("/asked"))
    return found


@pytest.mark.parametrize(("who", "kept"), [("removed", 0), ("ana", LARGE)])
def test_what_somebody_sends_who_was_removed_is_thrown_away(
    site: Site, who: str, kept: int
) -> None:
    with begun(site, LARGE, who=who) as client:
        until(lambda: who in asked_for(site), seconds=PATIENCE)
        for _ in range(3):
            client.sendall(b"x" * 1_000)
            site.get("/")  # meanwhile it is read
        client.sendall(b"x" * (LARGE - 3_001))
        with client.makefile("rb") as answer:
            assert json.dumps([str(LARGE), kept]).encode() in answer.read()
    assert asked_for(site).count(who) == 1


def test_who_sends_little_is_not_asked_for(site: Site) -> None:
    with begun(site, IN_MEMORY, who="guest") as client:
        client.sendall(b"x" * (IN_MEMORY - 1))
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")
    assert "guest" not in asked_for(site)


def test_what_came_of_an_upload_goes_when_its_client_does(site: Site) -> None:
    pid = int(site.get("/pid"))
    with begun(site, LARGE, who="ana") as client:
        time.sleep(0.2)  # so that its sender is asked for; a thread remembers its last task
        client.sendall(b"x" * (LARGE - 10_000))
        until(lambda: waiting(pid), seconds=PATIENCE)
    until(lambda: not waiting(pid), seconds=PATIENCE)


def test_what_others_are_about_to_send_takes_room(site: Site) -> None:
    def kept(length: int) -> int:
        with closing(HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)) as connection:
            connection.request("POST", "/shared", b"x" * length)
            answer: list[int] = json.loads(connection.getresponse().read())
            return answer[1]

    with begun(site, LARGE, who="ana"):
        assert kept(MOST_BYTES - LARGE) == MOST_BYTES - LARGE
        assert kept(MOST_BYTES - LARGE + 2) == 0
    until(lambda: kept(MOST_BYTES), seconds=PATIENCE)
