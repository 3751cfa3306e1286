"""The web server, and somebody who holds more connections than anybody needs."""

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from batchui.processes.procfs import cpu_seconds
from tests.processes.test_serving import Site, running_site

pytestmark = pytest.mark.processes

MOST, MOST_OF_ONE = 8, 5
# The beginning of a request that never goes on.
BEGUN = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"
# One whose answer is under way for as long as nobody reads it.
UNREAD = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site(MOST_CONNECTIONS=MOST, MOST_OF_ONE=MOST_OF_ONE) as running:
        yield running


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def hold(
    held: ExitStack, site: Site, number: int, *, sent: bytes, address: str
) -> list[socket.socket]:
    return [held.enter_context(site.connect(sent, address=address)) for _ in range(number)]


def is_open(client: socket.socket) -> bool:
    """Whether the server has not closed a connection on which it has nothing to say."""
    client.settimeout(0)
    try:
        return client.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


@pytest.mark.parametrize("sent", [b"", BEGUN], ids=["silent", "begun"])
def test_who_holds_many_connections_loses_the_oldest_and_pages_go_on(
    site: Site, held: ExitStack, sent: bytes
) -> None:
    others = hold(held, site, MOST - MOST_OF_ONE, sent=sent, address="127.0.0.2")
    many = hold(held, site, MOST_OF_ONE + 3, sent=sent, address="127.0.0.1")
    assert site.get("/") == b"page"
    assert [is_open(one) for one in many] == [False] * 4 + [True] * 4
    assert all(map(is_open, others))


def test_many_addresses_together_lose_the_oldest_and_pages_go_on(
    site: Site, held: ExitStack
) -> None:
    [reader] = hold(held, site, 1, sent=UNREAD, address="127.0.0.2")
    reader.recv(1)
    clients = [
        client
        for number in range(3, MOST + 5)
        for client in hold(held, site, 1, sent=BEGUN, address=f"127.0.0.{number}")
    ]
    assert site.get("/") == b"page"
    assert [is_open(one) for one in clients] == [False] * 4 + [True] * 6
    assert is_open(reader)


def test_where_all_wait_for_their_replies_another_of_the_same_address_is_not_let_in(
    site: Site, held: ExitStack
) -> None:
    readers = hold(held, site, MOST_OF_ONE, sent=UNREAD, address="127.0.0.1")
    for reader in readers:
        reader.recv(1)
    with site.connect(b"") as late:
        late.settimeout(10)  # sooner than a client without a head is cut off
        with pytest.raises(ConnectionResetError):
            late.recv(1)
    assert all(map(is_open, readers))


def test_where_all_wait_for_their_replies_somebody_of_another_address_is_let_in_besides(
    held: ExitStack,
) -> None:
    with running_site(MOST_CONNECTIONS=2) as site:
        for number in (2, 3):
            [reader] = hold(held, site, 1, sent=UNREAD, address=f"127.0.0.{number}")
            assert reader.recv(1)
        assert site.get("/") == b"page"
        assert is_open(reader)


def test_behind_a_proxy_its_connections_are_not_those_of_one_client(held: ExitStack) -> None:
    with running_site(BEHIND_PROXY=True, MOST_OF_ONE=1) as site:
        clients = hold(held, site, 5, sent=BEGUN, address="127.0.0.1")
        assert site.get("/") == b"page"
        assert all(map(is_open, clients))


def test_letting_somebody_in_costs_no_more_beside_many_others(held: ExitStack) -> None:
    """Otherwise a page waits until a thousand others were let in one by one."""
    few, many = cpu_to_let_in(held, 200), cpu_to_let_in(held, 900)
    assert many < 2 * (900 / 200) * max(few, 0.02)


def cpu_to_let_in(held: ExitStack, number: int, **constants: float) -> float:
    """The CPU seconds that it takes a web process to let so many clients in."""
    with running_site(MOST_OF_ONE=2 * number, **constants) as site:
        pid = int(site.get("/pid"))
        os.kill(pid, signal.SIGSTOP)
        begun = cpu_seconds(pid)
        clients = hold(held, site, number, sent=b"", address="127.0.0.1")
        os.kill(pid, signal.SIGCONT)
        assert site.get("/") == b"page"
        spent = cpu_seconds(pid) - begun
        for client in clients:
            client.close()
    return spent
