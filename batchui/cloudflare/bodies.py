"""Reads the body of an HTTP reply: checked, unpacked in small pieces, up to a maximum size.

The unpacking is not left to httpx, for two reasons: it unpacks a small piece of gzip into any
amount of memory, and it accepts a gzip body that ends half-way.
"""

import time
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import httpx

from batchui.cloudflare.redactor import RedactedStream, Redactor

# A body up to this size stays in memory. Only the reply to a finished request is larger.
SMALL = 64 * 1024
PIECE = 256 * 1024
NOT_IN_TIME = "the reply was not finished in time"


class Unreadable(Exception):
    """The body is cut short, too large, too slow or wrongly encoded. str() says which."""


class OverLimit(Unreadable):
    """The body is larger than it may be."""


class Landing:
    """Receives a body: in memory up to SMALL bytes, then in the spool, if there is one.

    What it keeps has no secret that `redactor` finds.
    """

    def __init__(
        self, redactor: Redactor, *, max_bytes: int, spool: BinaryIO | None = None
    ) -> None:
        self._redacted = RedactedStream(redactor)
        self.max_bytes = max_bytes
        self.total = 0
        self.last = b""
        self._spool = spool
        self._spilled = False
        self._head = bytearray()

    def write(self, piece: bytes) -> None:
        """Add a piece. Raises OverLimit over max_bytes, and OSError if the spool does."""
        self.total += len(piece)
        if self.total > self.max_bytes:
            raise OverLimit(f"the body is larger than {self.max_bytes:,} bytes")
        self._keep(self._redacted.write(piece))

    def end(self) -> None:
        """Keep what was held back, after the last piece. Raises OSError if the spool does."""
        self._keep(self._redacted.end())

    def spill(self) -> None:
        """Keep what came of a body that will not end, all of it in the spool, if there is one."""
        self.end()
        if self._spool is not None and not self._spilled:
            self._spill(b"")

    def _keep(self, piece: bytes) -> None:
        if piece and not piece.isspace():
            self.last = piece
        if self._spool is None or (not self._spilled and self.total <= SMALL):
            self._head += piece
        elif self._spilled:
            self._spool.write(piece)
        else:
            self._spill(piece)

    @property
    def small(self) -> bytes | None:
        """The whole body if it is in memory, None if it went to the spool."""
        return None if self._spilled else bytes(self._head)

    def _spill(self, piece: bytes) -> None:
        assert self._spool is not None  # noqa: S101
        self._spilled = True
        self._spool.write(self._head)
        self._spool.write(piece)
        self._head = bytearray()


def read_body(response: httpx.Response, landing: Landing, *, ends: float) -> None:
    """Read the body of a streamed response into `landing`, until `ends` on the monotonic clock.

    Raises Unreadable, what httpx raises for a broken connection, and OSError if the spool does.
    """
    packing = response.headers.get("content-encoding", "").strip().lower()
    raw = _whole(response, ends=ends)
    if packing in ("", "identity"):
        pieces: Iterable[bytes] = raw
    elif packing in ("gzip", "x-gzip"):
        pieces = _gunzip(raw)
    else:
        raise Unreadable(f"the body is encoded as {packing[:40]!r}, which was not asked for")
    for piece in pieces:
        landing.write(piece)


def _whole(response: httpx.Response, *, ends: float) -> Iterator[bytes]:
    """The body as it was sent.

    Raises Unreadable after `ends` (on the monotonic clock), and for another length than announced.
    Over real HTTP the length is checked below httpx too; other transports do not check it.
    """
    got = 0
    try:
        for chunk in response.iter_raw():
            got += len(chunk)
            yield chunk
            if time.monotonic() > ends:
                raise Unreadable(f"{NOT_IN_TIME} ({got:,} bytes came)")
    except OSError as exc:  # from a transport that is not httpx's own
        raise Unreadable(f"the body is cut short: {exc}") from None
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and got != int(announced):
        raise Unreadable(f"the body is cut short: {got:,} bytes of {announced}")


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Unpack gzip, at most PIECE bytes at a time. Raises Unreadable if damaged or without end."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        for data in chunks:
            while True:
                piece = unpacker.decompress(data, PIECE)
                if piece:
                    yield piece
                data = unpacker.unconsumed_tail
                if unpacker.eof and unpacker.unused_data:
                    data = unpacker.unused_data
                    unpacker = zlib.decompressobj(wbits=31)
                elif not data:
                    break
    except zlib.error as exc:
        raise Unreadable(f"the gzip body is damaged: {exc}") from None
    if not unpacker.eof:
        raise Unreadable("the gzip body is cut short")
