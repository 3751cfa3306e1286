"""The web server: slow clients, large bodies, an end of a process, and stopping.

No test limits time: where a slow client could hold the site, it holds it for as long as the test
waits.
"""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path

import pytest
from waitress.buffers import OverflowableBuffer, ReadOnlyFileBasedBuffer

from batchui.processes.channels import Channel
from batchui.processes.procfs import cpu_seconds
from tests.processes.served_site import MOST_BYTES
from tests.project.helpers import until

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]
# More than the site has threads.
MANY = 12
PATIENCE = 60


@dataclass
class Site:
    process: subprocess.Popen[bytes]
    port: int

    def get(self, path: str) -> bytes:
        """What comes, once the server has closed the connection: before, it may count as busy."""
        with self.connect(f"GET {path} HTTP/1.0\r\n\r\n".encode()) as client:
            reply = b"".join(iter(partial(client.recv, 65_536), b""))
        head, _, body = reply.partition(b"\r\n\r\n")
        if not head:
            raise ConnectionResetError
        return body

    def post(self, length: int, *, chunked: bool = False) -> tuple[int, bytes]:
        """Send a body of so many bytes. Returns the status and the answer."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            pieces = (b"x" * min(50_000, length - at) for at in range(0, length, 50_000))
            headers = {} if chunked else {"Content-Length": str(length)}
            connection.request("POST", "/body", pieces, headers, encode_chunked=chunked)
            reply = connection.getresponse()
            return reply.status, reply.read()

    def connect(self, sent: bytes, *, address: str = "127.0.0.1") -> socket.socket:
        """A connection on which this was sent, from this address."""
        with ExitStack() as unless_it_fails:
            client = unless_it_fails.enter_context(socket.socket())
            client.bind((address, 0))
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(PATIENCE)
            client.connect(("127.0.0.1", self.port))
            client.sendall(sent)
            unless_it_fails.pop_all()
        return client


@contextmanager
def running_site(**constants: float) -> Iterator[Site]:
    site = _started(constants)
    try:

        def answers() -> bool:
            nonlocal site
            if site.process.poll() is not None:  # another process was quicker to take its port
                site = _started(constants)
            try:
                return site.get("/") == b"page"
            except OSError:
                return False

        until(answers, seconds=PATIENCE)
        yield site
    finally:
        site.process.kill()
        site.process.wait()


def _started(constants: dict[str, float]) -> Site:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "tests.processes.served_site", str(port)]
    return Site(subprocess.Popen([*command, json.dumps(constants)], cwd=ROOT), port)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


HEAD = b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow", id="heads"),
        pytest.param(HEAD + b"\r\nx", id="bodies"),
        pytest.param(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", id="readers"),
    ],
)
def test_slow_clients_hold_no_thread(site: Site, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(site.connect(sent))
        for _ in range(3):
            assert site.get("/") == b"page"


@pytest.mark.parametrize(("length", "chunked"), [(MOST_BYTES, False), (MOST_BYTES // 2, True)])
def test_a_body_that_is_not_too_large_arrives(site: Site, length: int, chunked: bool) -> None:
    answer = json.dumps([str(length), length]).encode()
    assert site.post(length, chunked=chunked) == (200, answer)


def test_a_body_that_is_too_large_is_thrown_away_and_answered(site: Site) -> None:
    length = 100 * MOST_BYTES
    assert site.post(length) == (200, json.dumps([str(length), 0]).encode())


def test_a_chunked_body_that_gets_too_large_is_refused(site: Site) -> None:
    sent = b"POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    # To the byte: what the server leaves unread would reset the connection.
    body = b"fffffff\r\n".ljust(MOST_BYTES, b"x")
    with site.connect(sent + body) as client:
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


def test_a_head_that_is_too_long_is_refused(site: Site) -> None:
    with site.connect(b"GET / HTTP/1.1\r\nX-Long: ".ljust(64 * 1024, b"x")) as client:
        assert client.recv(100).startswith(b"HTTP/1.0 431 ")


def test_what_a_proxy_reports_reaches_the_application(site: Site) -> None:
    with site.connect(b"GET /proxy HTTP/1.0\r\nX-Forwarded-Proto: https\r\n\r\n") as client:
        assert client.makefile("rb").read().endswith(b"\r\n\r\nhttps")


def test_what_follows_the_reply_to_a_head_is_the_next_reply(site: Site) -> None:
    with closing(HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)) as connection:
        for method, length in (("HEAD", 0), ("GET", 100_000), ("HEAD", 0), ("GET", 100_000)):
            connection.request(method, "/long")
            reply = connection.getresponse()
            assert (reply.status, reply.headers["Content-Length"]) == (200, "100000")
            assert len(reply.read()) == length


def test_a_reply_that_breaks_off_is_not_taken_for_whole(site: Site) -> None:
    with closing(HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/broken")
        with pytest.raises(IncompleteRead) as broken:
            connection.getresponse().read()
    assert len(broken.value.partial) <= 60_000


def test_nothing_is_made_for_the_reply_to_a_head(site: Site) -> None:
    with site.connect(b"HEAD /large HTTP/1.0\r\n\r\n") as client:
        reply = client.makefile("rb").read()
    assert reply.startswith(b"HTTP/1.0 200 OK\r\n")
    assert reply.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow", id="heads"),
        pytest.param(HEAD + b"\r\nx", id="bodies"),
    ],
)
def test_a_client_that_is_too_slow_is_cut_off(sent: bytes) -> None:
    with (
        running_site(HEAD_SECONDS=1, PATIENCE_SECONDS=1, BYTES_A_SECOND=1e9) as quick,
        quick.connect(sent) as client,
        pytest.raises(ConnectionResetError),
    ):
        client.recv(100)


def test_a_reader_that_is_too_slow_is_cut_off_and_one_that_reads_is_not() -> None:
    sent = b"GET /large HTTP/1.0\r\n\r\n"
    with (
        running_site(PATIENCE_SECONDS=1, BYTES_A_SECOND=1e9) as strict,
        strict.connect(sent) as client,
    ):
        until(lambda: is_cut_off(client, strict), seconds=PATIENCE)
    with running_site(PATIENCE_SECONDS=0, BYTES_A_SECOND=1) as lenient:
        with lenient.connect(sent) as client:
            assert len(client.makefile("rb").read()) > 40_000_000
        assert lenient.get("/slowly") == b"begun done"


def is_cut_off(client: socket.socket, site: Site) -> bool:
    """Whether the server has closed the connection; nothing of it is read."""
    local = client.getsockname()[1]
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    mine = [line.split() for line in table if int(line.split()[1].rpartition(":")[2], 16) == local]
    return not mine or mine[0][3] != "01"  # ESTABLISHED


def test_a_file_that_is_sent_as_it_is_takes_no_room_from_replies() -> None:
    upload, reply = ReadOnlyFileBasedBuffer(io.BytesIO(b"x" * 5_000)), OverflowableBuffer(100)
    upload.prepare()
    reply.append(b"y" * 300)
    channel = Channel.__new__(Channel)
    channel.outbufs = [upload, reply]
    assert channel.waiting_bytes == 300


def test_where_too_much_waits_for_clients_a_page_waits_for_its_client() -> None:
    """So the disk is not filled by replies that nobody reads."""
    with running_site(ALL_BYTES=0) as crowded:
        pid = int(crowded.get("/pid"))

        def little_waits() -> bool:
            with crowded.connect(b"GET /large HTTP/1.0\r\n\r\n") as client:
                client.recv(100)
                until(partial(rests, pid), seconds=PATIENCE)
                return 0 < waiting(pid) < 5_000_000

        until(little_waits, seconds=PATIENCE)
    with running_site() as usual, usual.connect(b"GET /large HTTP/1.0\r\n\r\n") as client:
        pid = int(usual.get("/pid"))
        client.recv(100)
        until(lambda: waiting(pid) > 30_000_000, seconds=PATIENCE)


def rests(pid: int) -> bool:
    """Whether a process does nothing for a while: a page that it made is made, or waits."""
    before = cpu_seconds(pid)
    time.sleep(0.3)
    return cpu_seconds(pid) - before < 0.02


def waiting(pid: int) -> int:
    """The bytes in the files without a name that a process has open."""
    total = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            if " (deleted)" in os.readlink(link):
                total += link.stat().st_size
    return total


def test_a_process_that_ends_is_replaced() -> None:
    with running_site(SHORTEST_LIFE=0) as site:
        first = int(site.get("/pid"))
        os.kill(first, signal.SIGKILL)
        until(lambda: _another(site, first), seconds=PATIENCE)


def _another(site: Site, first: int) -> bool:
    try:
        return int(site.get("/pid")) != first
    except (OSError, ValueError):
        return False


def test_a_process_that_ends_at_once_ends_the_server() -> None:
    with running_site(SHORTEST_LIFE=1e9) as site:
        os.kill(int(site.get("/pid")), signal.SIGKILL)
        assert site.process.wait(PATIENCE) == 1


def test_after_sigterm_a_download_is_completed_and_nobody_else_is_let_in() -> None:
    with (
        running_site() as site,
        site.connect(b"GET /large HTTP/1.0\r\n\r\n") as client,
        site.connect(b"") as idle,
    ):
        received = client.recv(1000)
        site.process.send_signal(signal.SIGTERM)
        until(lambda: not _lets_in(site), seconds=PATIENCE)
        assert site.process.poll() is None
        body = received + client.makefile("rb").read()
        assert len(body) > 40_000_000
        assert site.process.wait(PATIENCE) == 0
        assert idle.recv(1) == b""


def _lets_in(site: Site) -> bool:
    try:
        socket.create_connection(("127.0.0.1", site.port), timeout=PATIENCE).close()
    except OSError:
        return False
    return True


NOTHING = b"GET /nothing HTTP/1.%d\r\nHost: x\r\n%s\r\n"


def nothing_on(client: socket.socket) -> bytes:
    reply = b""
    while not reply.endswith(b"\r\n\r\n"):
        reply += (came := client.recv(65_536))
        assert came
    return reply


def test_a_connection_stays_open_after_a_reply_without_a_body(site: Site) -> None:
    with site.connect(NOTHING % (1, b"")) as client:
        for _ in range(3):
            assert b"Connection" not in nothing_on(client)
            client.sendall(NOTHING % (1, b""))


@pytest.mark.parametrize("asked", [NOTHING % (1, b"Connection: close\r\n"), NOTHING % (0, b"")])
def test_it_is_closed_where_the_client_asks_for_that(site: Site, asked: bytes) -> None:
    with site.connect(asked) as client:
        assert b"Connection: close" in nothing_on(client)
        assert client.recv(1) == b""


def test_many_silent_connections_cost_a_request_nothing() -> None:
    """Each page that is watched keeps one."""
    with running_site(MOST_OF_ONE=2_000) as site, ExitStack() as held:
        pid = int(site.get("/pid"))

        def cost() -> float:
            begun = cpu_seconds(pid)
            with site.connect(NOTHING % (1, b"")) as client:
                for _ in range(600):
                    nothing_on(client)
                    client.sendall(NOTHING % (1, b""))
            return cpu_seconds(pid) - begun

        few = cost()
        for _ in range(800):
            held.enter_context(site.connect(b""))
        assert cost() < 2 * few + 0.05
