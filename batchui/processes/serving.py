"""Serves the pages with waitress, in several processes that share one port.

The starter opens the port and forks; each process loads the application by itself. One that ends is
replaced. SIGTERM: no new connections, what is under way goes on for a while, then all end.
"""

import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from waitress import create_server

from batchui.processes.bodies import MaySend, MostBytes, Parser
from batchui.processes.channels import ALL_BYTES, FEW_BYTES, WAITING_BYTES, Channel
from batchui.processes.parent_death import ask_to_stop_with_parent
from batchui.processes.sockets import Sockets

# Connections of a process, and of one address to it; each needs an open file, and perhaps one for
# what it buffers.
MOST_CONNECTIONS, MOST_OF_ONE = 2_000, 500
# If all of them are busy, the process accepts so many more before it lets clients wait.
SPARE_CONNECTIONS = 10
LONGEST_HEAD = 64 * 1024  # bytes
# A process that ends sooner than this would end again.
SHORTEST_LIFE = 5.0
# Bodies and replies above this many bytes wait in a file.
IN_MEMORY = 128 * 1024
SECONDS_BETWEEN_CHECKS = 1.0


@dataclass(frozen=True)
class Site:
    """What is served: the WSGI application, how large a body may be, and who may send one.

    behind_proxy: all connections come from one address, which tells nothing of the clients.
    """

    application: Callable[..., Any]
    most_bytes: MostBytes
    may_send: MaySend
    behind_proxy: bool


def serve(
    load: Callable[[], Site],
    *,
    host: str,
    port: int,
    processes: int,
    threads: int,
    seconds_to_stop: float,
) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit status.

    load: makes the site; it is called in each process. Raises OSError if it cannot listen there.
    """
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    both = host == "::" and socket.has_dualstack_ipv6()  # every address, as 0.0.0.0 is
    with socket.create_server(
        address[:2], family=family, backlog=1024, dualstack_ipv6=both
    ) as listener:
        listener.setblocking(False)
        return _Family(
            lambda: _work(load, listener, threads=threads, seconds_to_stop=seconds_to_stop),
            listener,
        ).run(processes)


class _Family:
    """The processes that serve, and their starter."""

    def __init__(self, work: Callable[[], None], listener: socket.socket) -> None:
        self._work, self._listener = work, listener
        self._began: dict[int, float] = {}
        self._stopping = False

    def run(self, processes: int) -> int:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        for _ in range(processes):
            self._start()
        status = 0
        while self._began:
            pid, _ = os.wait()
            began = self._began.pop(pid, None)
            if began is None or self._stopping:
                continue
            if time.monotonic() - began < SHORTEST_LIFE:
                status = 1
                self._stop(signal.SIGTERM, None)
            else:
                self._start()
        return status

    def _stop(self, number: int, _: object) -> None:
        self._stopping = True
        # As long as anybody has it open, the kernel lets clients in.
        self._listener.close()
        for pid in self._began:
            os.kill(pid, signal.SIGTERM)

    def _start(self) -> None:
        starter, pid = os.getpid(), os.fork()
        if pid:
            self._began[pid] = time.monotonic()
            if self._stopping:  # asked between the two lines above
                os.kill(pid, signal.SIGTERM)
            return
        status = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            ask_to_stop_with_parent()
            if os.getppid() == starter:  # it may have ended before the line above
                self._work()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status)


def bodiless(application: Callable[..., Any]) -> Callable[..., Any]:
    """The same application, whose replies to HEAD have no body.

    Django leaves that to the server and waitress to the application. What would be sent, the
    browser would take for the beginning of its next reply.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body: Iterable[bytes] = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return body
        if hasattr(body, "close"):
            body.close()
        return ()

    return answer


def _work(
    load: Callable[[], Site], listener: socket.socket, *, threads: int, seconds_to_stop: float
) -> None:
    """Serve in this process until SIGTERM."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    most = min(MOST_CONNECTIONS, files // 2 if files > 0 else MOST_CONNECTIONS)
    site = load()
    sockets = Sockets()
    server = create_server(
        bodiless(site.application),
        map=sockets,
        sockets=[listener],
        threads=threads,
        connection_limit=most + SPARE_CONNECTIONS,
        channel_timeout=60,
        cleanup_interval=15,
        recv_bytes=128 * 1024,
        inbuf_overflow=IN_MEMORY,
        outbuf_overflow=IN_MEMORY,
        outbuf_high_watermark=WAITING_BYTES,
        max_request_header_size=LONGEST_HEAD,
        max_request_body_size=1 << 62,
        # Django decides by SECURE_PROXY whether it believes a proxy's headers.
        clear_untrusted_proxy_headers=False,
        ident="batchui",
    )

    class SiteParser(Parser):
        most_bytes = staticmethod(site.most_bytes)
        may_send = staticmethod(site.may_send)

        def under_way(self) -> int:
            requests = [channel.request for channel in server.active_channels.values()]
            return sum(one.coming for one in requests if one is not None and one is not self)

    limits = {"most": most, "most_of_one": most if site.behind_proxy else MOST_OF_ONE}
    server.channel_class = type("SiteChannel", (Channel,), {"parser_class": SiteParser, **limits})
    server.is_restless = True  # whether it lets others in depends on how many there are
    _Loop(server, sockets).run(seconds_to_stop)


class _Loop:
    """The loop that reads and writes all connections of a process."""

    def __init__(self, server: Any, sockets: Sockets) -> None:
        self._server, self._sockets = server, sockets
        self._stopping = False

    def run(self, seconds_to_stop: float) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        checked, give_up = time.monotonic(), 0.0
        while True:
            self._sockets.turn(0.1 if self._stopping else SECONDS_BETWEEN_CHECKS)
            now = time.monotonic()
            if now - checked > SECONDS_BETWEEN_CHECKS:
                checked = now
                self._check(now)
            if self._stopping:
                if not give_up:
                    give_up = now + seconds_to_stop
                    self._server.accepting = False
                    self._server.del_channel()
                    self._server.socket.close()
                if now > give_up or not any(one.is_busy for one in self._channels()):
                    return

    def _channels(self) -> list[Channel]:
        return list(self._server.active_channels.values())

    def _check(self, now: float) -> None:
        """Cut off clients that are too slow, and let pages wait if much waits for clients."""
        self._sockets.look_at_all()
        waiting = sum(channel.waiting_bytes for channel in self._channels())
        limit = WAITING_BYTES if waiting < ALL_BYTES else FEW_BYTES
        self._server.adj.outbuf_high_watermark = limit
        for channel in self._channels():
            if channel.is_too_slow(now):
                channel.cut_off()

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._server.pull_trigger()
