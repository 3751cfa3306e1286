"""Browsers that watch pages: each asks again and again what its page asks, and measures the time.

One thread does it, because the server that is measured needs the cores. A watcher has a connection
and an address of its own, as browsers have.
"""

import asyncio
import gzip
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import unescape
from http.client import HTTPConnection
from random import Random
from urllib.parse import urlencode

from batchui.bench.surroundings import BenchFailed

# How many watchers open a page in a second; and how long all of them ask before it counts. All
# together need no less than the time between two polls, so that each moment in it has as many.
OPENED_A_SECOND, SHORTEST_TO_OPEN, TO_WARM_UP = 100, 2.0, 4.0
PATIENCE = 60.0
_FRAGMENT = re.compile(r'<(?:section|div)\s[^>]*?id="(?:live|history-poll)"[^>]*>', re.DOTALL)
_ADDRESS = re.compile(r'hx-get="([^"]*)"')
_EVERY = re.compile(r'hx-trigger="every (\d+)s')
_WATCHED = re.compile(r'<form id="watched".*?</form>', re.DOTALL)
_FIELD = re.compile(r'name="(\w+)" value="([^"]*)"')


@dataclass(frozen=True)
class Asks:
    """What a page asks: the address of its polls, the fields that go with them, and how often."""

    address: str
    fields: str
    seconds: float

    @classmethod
    def of(cls, markup: str, before: "Asks | None" = None) -> "Asks | None":
        """What the page with this markup asks; None: nothing.

        before: what it asked until now, which stays as far as the markup, a fragment, lacks it.
        """
        fragment = _FRAGMENT.search(markup)
        if fragment is None:
            return before
        address, every = _ADDRESS.search(fragment[0]), _EVERY.search(fragment[0])
        if address is None or every is None:
            return None
        fields = before.fields if before else ""
        if watched := _WATCHED.search(markup):
            pairs = _FIELD.findall(watched[0])
            fields = urlencode([(name, unescape(value)) for name, value in pairs])
        return cls(unescape(address[1]), fields, float(every[1]))

    @property
    def path(self) -> str:
        """The address of a poll, with its fields."""
        return f"{self.address}&{self.fields}" if self.fields else self.address


@dataclass
class Seen:
    """What watchers saw. seconds: of each answer. dropped: polls that another one held up.

    connections: how many were opened. lost: how many ended before the answer came.
    """

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    dropped: int = 0
    connections: int = 0
    lost: int = 0


def asked_by(server: str, page: str, cookie: str) -> Asks:
    """What a page asks. Raises BenchFailed if it asks nothing."""
    connection = HTTPConnection(server, timeout=PATIENCE)
    try:
        connection.request("GET", page, headers={"Cookie": cookie})
        reply = connection.getresponse()
        found = Asks.of(reply.read().decode())
    finally:
        connection.close()
    if reply.status != 200 or found is None:
        raise BenchFailed(f"{page} was answered with {reply.status}, and asks nothing.")
    return found


class Watcher(asyncio.Protocol):
    """One browser with one page. own: its address."""

    def __init__(self, asks: Asks, *, page: str, server: str, own: str, cookie: str) -> None:
        self._asks: Asks | None = asks
        self._page, self._server, self._own, self._cookie = page, server, own, cookie
        self._transport: asyncio.Transport | None = None
        self._began: float | None = None
        self._came = b""
        self.seen = Seen()

    async def watch(self, first: float) -> None:
        """Ask again and again, for the first time after so many seconds."""
        due = time.monotonic() + first
        while self._asks is not None:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += self._asks.seconds
            if self._began is None:
                await self._poll(self._asks)
            else:
                self.seen.dropped += 1

    async def _poll(self, asks: Asks) -> None:
        self._began = time.perf_counter()
        if self._transport is None:
            host, _, port = self._server.partition(":")
            loop = asyncio.get_running_loop()
            try:
                await loop.create_connection(
                    lambda: self, host, int(port), local_addr=(self._own, 0)
                )
            except OSError:
                self._lose()
                return
        assert self._transport is not None  # noqa: S101
        self._transport.write(
            f"GET {asks.path} HTTP/1.1\r\nHost: {self._server}\r\nCookie: {self._cookie}\r\n"
            "Accept-Encoding: gzip, deflate\r\nHX-Request: true\r\nHX-Target: live\r\n"
            f"HX-Current-URL: http://{self._server}{self._page}\r\n\r\n".encode()
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        self.seen.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._began is not None:
            self._lose()

    def close(self) -> None:
        """Go away."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, end, body = self._came.partition(b"\r\n\r\n")
        if not end:
            return
        lines = head.split(b"\r\n")
        named = [line.partition(b":")[::2] for line in lines[1:]]
        headers = {name.lower(): value.strip() for name, value in named}
        if len(body) < int(headers.get(b"content-length", 0)):
            return
        if self._began is not None:
            self.seen.seconds.append(time.perf_counter() - self._began)
        self._came, self._began = b"", None
        status = int(lines[0].split()[1])
        self.seen.statuses[status] += 1
        for name, value in named:
            if name.lower() == b"set-cookie":
                self._keep(value.strip().decode().partition(";")[0])
        if headers.get(b"connection") == b"close" and self._transport is not None:
            self._transport.close()
            self._transport = None
        if status == 200 and self._asks is not None:
            is_packed = headers.get(b"content-encoding") == b"gzip"
            markup = (gzip.decompress(body) if is_packed else body).decode()
            self._asks = Asks.of(markup, self._asks)

    def _lose(self) -> None:
        self._came, self._began = b"", None
        self.seen.lost += 1

    def _keep(self, cookie: str) -> None:
        name = cookie.partition("=")[0]
        others = [one for one in self._cookie.split("; ") if one.partition("=")[0] != name]
        self._cookie = "; ".join([*others, cookie])


async def watch(
    server: str,
    pages: Sequence[str],
    cookies: Sequence[str],
    *,
    seconds: float,
    begin: Callable[[], None],
) -> Seen:
    """Let a watcher with each of these cookies watch one of the pages, in turn.

    They begin one after the other, in any order. Counts what they see in `seconds`,
    which begin when all have asked a few times; `begin` is called then.
    """
    asks = [asked_by(server, page, cookies[0]) for page in pages]
    watchers = [
        Watcher(
            asks[at % len(asks)],
            page=pages[at % len(asks)],
            server=server,
            own=f"127.{1 + at // 62_500}.{at // 250 % 250}.{1 + at % 250}",
            cookie=cookie,
        )
        for at, cookie in enumerate(cookies)
    ]
    # In order, those who watch the same page would ask at the same moments.
    order = Random(1).sample(range(len(watchers)), len(watchers))  # noqa: S311
    opening = max(SHORTEST_TO_OPEN, len(watchers) / OPENED_A_SECOND)
    tasks = [
        asyncio.create_task(one.watch(opening * place / len(watchers)))
        for place, one in zip(order, watchers, strict=True)
    ]
    await asyncio.sleep(opening + TO_WARM_UP)
    seen = Seen()
    for one in watchers:
        one.seen = seen
    begin()
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for one in watchers:
        one.seen = Seen()
        one.close()
    return seen
