"""`manage.py bench --slow-clients N`: whether slow clients hold the pages up.

Of each kind there are N clients, which send or read a few bytes a second. Meanwhile somebody opens
pages, each on a new connection, and the time of the slowest is printed.
"""

import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from batchui.batches.phrases import Say
from batchui.bench.person import Person
from batchui.bench.running import Product, running_product
from batchui.bench.surroundings import BenchFailed, running_api
from batchui.processes import procfs

SOURCE_BYTES = 38_000_000
# How long pages are opened while the clients of a kind are there, and how long to wait for a page.
SECONDS, PATIENCE = 8.0, 5.0
# Clients arrive one after another: 200 requests at one moment are load, not slowness.
BETWEEN_ARRIVALS = 0.03
# What a slow client sends or reads at a time, and the pause between.
BYTES_AT_A_TIME, PAUSE = 8, 1.0


@dataclass
class Pages:
    """How long the pages took, in seconds, by address; `failed`: those that did not answer."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: int = 0

    @property
    def all(self) -> list[float]:
        return [one for many in self.seconds.values() for one in many]


@dataclass(frozen=True)
class Site:
    """The address of a running product, the cookies of a person, and a batch to download."""

    host: str
    port: int
    cookies: str
    token: str
    batch: str

    def open(self, path: str) -> float:
        """The seconds that a page takes. Raises OSError or HTTPException."""
        began = time.perf_counter()
        connection = HTTPConnection(self.host, self.port, timeout=PATIENCE)
        with closing(connection):
            connection.request("GET", path, headers={"Cookie": self.cookies})
            reply = connection.getresponse()
            reply.read()
            if reply.status != 200:
                raise HTTPException(f"{path} was answered with {reply.status}")
        return time.perf_counter() - began


def measure(clients: int, say: Say) -> None:
    """Open pages beside `clients` slow clients of each kind, and print how long they took.

    Raises BenchFailed if the product fails.
    """
    with slow_site() as (product, site):
        say(f"{clients} slow clients of each kind; {SECONDS:.0f} s each; pages in seconds.\n")
        say(f"{'':26}{'pages':>7}{'failed':>8}{'median':>9}{'slowest':>9}{'/healthz':>10}")
        for name, head in KINDS.items():
            with slow_clients(site, clients if head else 0, head or (lambda _: b"")) as still:
                say(_line(name, opened(site, SECONDS)) + f"{still():7} connected")
                held = held_on_disk(product)
        used = product.used()["web"]
        peak = used.peak_bytes / 1e6
        say(
            f"\nWeb: {used.processes} processes, peak {peak:.0f} MB of the largest, "
            f"{used.cpu_seconds:.1f} CPU s; temporary files of the last kind {held / 1e6:.0f} MB."
        )


@contextmanager
def slow_site(source_bytes: int = SOURCE_BYTES) -> Iterator[tuple[Product, Site]]:
    """A running product with a batch whose file has so many bytes."""
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder, running_api() as api:
        source = Path(folder, "reviews.csv")
        line = b"1,%b\n" % (b"a review " * 200)
        source.write_bytes(b"id,review\n" + line * (source_bytes // len(line)))
        with running_product(Path(folder, "data"), api) as product, Person(product) as person:
            batch, cookies, token = person.upload_and_wait(source)
            address = urlsplit(product.first_page)
            yield (
                product,
                Site(address.hostname or "", address.port or 0, cookies, token, batch),
            )


def opened(site: Site, seconds: float) -> Pages:
    """Open pages one after another for so many seconds."""
    pages = Pages()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in ("/healthz", "/", "/account/", f"/batches/{site.batch}/"):
            try:
                pages.seconds.setdefault(path, []).append(site.open(path))
            except (OSError, HTTPException):
                pages.failed += 1
    return pages


@contextmanager
def slow_clients(
    site: Site, number: int, head: Callable[[Site], bytes]
) -> Iterator[Callable[[], int]]:
    """Slow clients that send `head` and go on slowly. Yields a function: how many are connected."""
    clients = []
    for _ in range(number):
        clients.append(_connect(site, head(site)))
        time.sleep(BETWEEN_ARRIVALS)
    stop = threading.Event()
    thread = threading.Thread(target=_go_on, args=(clients, stop))
    thread.start()
    try:
        time.sleep(1)
        yield lambda: len(clients)
    finally:
        stop.set()
        thread.join()
        for client in clients:
            client.close()


def held_on_disk(product: Product) -> int:
    """The bytes of the files that web processes have open and that have no name any more."""
    total = 0
    for pid in product.processes("web"):
        for link in (procfs.PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                if " (deleted)" in os.readlink(link):
                    total += link.stat().st_size
    return total


def slow_head(site: Site) -> bytes:
    return b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


def slow_sign_in(site: Site) -> bytes:
    """A form of somebody without an account, with the cookie that makes Django read it."""
    return _post("/sign-in/", f"batchui-csrf={site.token}", 100_000)


def slow_upload(site: Site) -> bytes:
    return _post("/new/", site.cookies, 30_000_000, "multipart/form-data; boundary=x")


def slow_form(site: Site) -> bytes:
    return _post(f"/batches/{site.batch}/preview/", site.cookies, 60_000)


def slow_reader(site: Site) -> bytes:
    """Somebody who downloads a file of 38 MB."""
    address = f"/batches/{site.batch}/source/"
    return f"GET {address} HTTP/1.1\r\nHost: localhost\r\nCookie: {site.cookies}\r\n\r\n".encode()


KINDS: dict[str, Callable[[Site], bytes] | None] = {
    "none": None,
    "slow heads": slow_head,
    "slow bodies, /sign-in/": slow_sign_in,
    "slow bodies, /new/": slow_upload,
    "slow bodies, a small form": slow_form,
    "slow readers, 38 MB": slow_reader,
}


def _post(
    path: str, cookies: str, length: int, kind: str = "application/x-www-form-urlencoded"
) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookies}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def _connect(site: Site, head: bytes) -> socket.socket:
    client = socket.socket()
    # A small window, so that what is not read waits at the server.
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(PATIENCE)
    try:
        client.connect((site.host, site.port))
        client.sendall(head)
    except OSError:
        client.close()
        raise BenchFailed("The server takes no more connections.") from None
    client.setblocking(False)
    return client


def _go_on(clients: list[socket.socket], stop: threading.Event) -> None:
    """Send and read a little of each, until asked to stop. Who is cut off leaves the list."""
    while not stop.wait(PAUSE):
        for client in clients[:]:
            try:
                with suppress(BlockingIOError):
                    if not client.recv(BYTES_AT_A_TIME):
                        raise ConnectionError
                with suppress(BlockingIOError):
                    client.send(b"x" * BYTES_AT_A_TIME)
            except OSError:
                clients.remove(client)
                client.close()


def _line(name: str, pages: Pages) -> str:
    seconds = pages.all or [PATIENCE]
    health = max(pages.seconds.get("/healthz", [PATIENCE]), default=PATIENCE)
    figures = f"{median(seconds):9.3f}{max(seconds):9.3f}{health:10.3f}"
    return f"{name:26}{len(pages.all):7}{pages.failed:8}{figures}"
