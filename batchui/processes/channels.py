"""What the web server allows a client: how slow it may be, and how many connections it may hold.

waitress takes in a request before a thread works on it, and takes the reply out of its hands. So a
slow client holds a connection and perhaps a file, and no thread. Here are the limits on top of it.
"""

import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from batchui.processes.bodies import Inquiry

# Seconds for the head of a request.
HEAD_SECONDS = 20.0
# A client that takes longer than this for its body, or for our reply, must do so many bytes a
# second on the average.
PATIENCE_SECONDS, BYTES_A_SECOND = 60.0, 1_000
AT_A_TIME = 256 * 1024
# How much of a reply may wait for its client before the page that makes it has to wait; and the
# second figure instead, once all replies of a process together are larger than the third.
WAITING_BYTES, FEW_BYTES, ALL_BYTES = 64 * 1024**2, 1024**2, 1024**3


@dataclass
class Progress:
    """How much a client has done since when (`time.monotonic`)."""

    since: float
    done: int = 0

    def is_too_slow(self, now: float) -> bool:
        seconds = now - self.since
        return seconds > PATIENCE_SECONDS and self.done < seconds * BYTES_A_SECOND


class Task(WSGITask):  # type: ignore[misc]
    """A request that is worked on; its connection stays open after a reply without a body.

    By itself waitress closes it after 204 and 304, which have no Content-Length; but these say by
    their status where they end. Every page that is watched would open a connection every 2 s.
    """

    def set_close_on_finish(self) -> None:
        asked = self.request.headers.get("CONNECTION", "").lower()
        if self.has_body or self.version != "1.1" or asked == "close":
            super().set_close_on_finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows how slow its client is.

    most, most_of_one: how many of all, and of one address, a process keeps.
    """

    task_class = Task
    most: int
    most_of_one: int
    sendbuf_len: int
    will_close: bool
    close_when_flushed: bool

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._request: Progress | None = Progress(time.monotonic())
        self._reply: Progress | None = None
        super().__init__(*arguments, **options)
        # Sent at a time; the kernel's own figure is megabytes for a client on this machine.
        self.sendbuf_len = min(self.sendbuf_len, AT_A_TIME)
        self._make_room()

    def _make_room(self) -> None:
        """Cut off who has been silent longest, where there are too many with this one.

        Whose request is worked on, or whose reply is under way, stays. So whoever holds many
        connections only loses some, and a browser that loses one opens another.
        """
        everyone: list[Channel] = list(self.server.active_channels.values())
        same = [one for one in everyone if one.addr[0] == self.addr[0]]
        if len(same) > self.most_of_one:
            crowd = same
        elif len(everyone) > self.most:
            crowd = everyone
        else:
            return
        silent = [one for one in crowd if not one.is_busy and one is not self]
        if silent:
            min(silent, key=lambda one: one.last_activity).cut_off()
        elif crowd is same:
            self.cut_off()

    @property
    def is_busy(self) -> bool:
        """Whether a request of this connection is worked on, or its reply is under way."""
        return bool(self.requests or self.total_outbufs_len)

    @property
    def is_restless(self) -> bool:
        """Whether what it waits for may change by itself (see `sockets.py`)."""
        return self.is_busy or self.will_close or self.close_when_flushed

    def received(self, data: bytes) -> bool:
        if self._request is None:
            self._request = Progress(time.monotonic())
        self._request.done += len(data)
        taken = bool(super().received(data))
        if self.request is None:
            self._request = None
        elif self.request.must_ask:
            self.server.add_task(Inquiry(self.request))
        return taken

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent = int(super().send(data, do_close=do_close))
        if self._reply:
            self._reply.done += sent
        return sent

    def handle_close(self) -> None:
        if self.request is not None:
            self.request.close()  # the body that has come so far, and its room on the disk
        super().handle_close()

    def cut_off(self) -> None:
        """Close the connection now, with all that still waits to be sent, also in the kernel."""
        with suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.handle_close()

    @property
    def waiting_bytes(self) -> int:
        """How much of a reply is kept for the client. A file that is sent as it is is not."""
        kept = (one for one in list(self.outbufs) if not isinstance(one, ReadOnlyFileBasedBuffer))
        return sum(map(len, kept))

    def is_too_slow(self, now: float) -> bool:
        """Whether the client has had its time. It is asked once a second.

        A page that takes long is not the client's doing: nothing waits for the client then.
        """
        if not self.total_outbufs_len:
            self._reply = None
        elif self._reply is None:
            self._reply = Progress(now)
        if self._reply:
            return self._reply.is_too_slow(now)
        if self._request is None or self.requests:
            return False
        if self.request is None or not self.request.headers_finished:
            return now - self._request.since > HEAD_SECONDS
        return self._request.is_too_slow(now)
