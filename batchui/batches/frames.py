"""Stored files that can be opened in the middle: pieces of text, each compressed by itself.

A file is a zstd frame for each piece, and behind them an index in a frame that zstd skips: any tool
for zstd reads the text. A piece has items (rows), and the index says how many there are in all
pieces up to each, where it ends, and its checksum. So one item of a million is found by reading the
index and one piece, and damage is noticed where it is read.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import accumulate
from operator import itemgetter
from struct import Struct
from typing import BinaryIO, NamedTuple
from zlib import crc32

import zstandard

from batchui.batches.compressed import LEVEL, Compressed, DamagedFile
from batchui.batches.files import open_file

# The frame of the index (RFC 8878, 3.1.2), with the size of what follows.
_HEAD = Struct("<II")
SKIPPED = 0x184D2A50
# An entry of the index: items in the piece, its compressed bytes, their checksum.
_ENTRY = Struct("<III")
# The end of the file: how many entries, and the checksum of all of them.
_TAIL = Struct("<II")


class Frames:
    """A file of pieces to be stored, to which they are added as they come.

    Another thread compresses a piece while the next one is made.
    """

    def __init__(self) -> None:
        self._made = Compressed()
        self._pool = ThreadPoolExecutor(1, "frames")
        self._compress = zstandard.ZstdCompressor(LEVEL).compress
        self._index = bytearray()
        self._last: tuple[int, Future[bytes]] | None = None

    def add(self, text: bytes, *, items: int) -> None:
        """Add the next piece, which has so many items."""
        now = self._pool.submit(self._compress, text)
        self._keep_last()
        self._last = items, now

    def _keep_last(self) -> None:
        if self._last is None:
            return
        items, made = self._last
        frame = made.result()
        self._index += _ENTRY.pack(items, len(frame), crc32(frame))
        self._made.write(frame)

    def whole(self) -> Compressed:
        """All pieces, ready to store. Call it once."""
        self._keep_last()
        self._pool.shutdown()
        index = bytes(self._index)
        tail = _TAIL.pack(len(index) // _ENTRY.size, crc32(index))
        self._made.write(_HEAD.pack(SKIPPED, len(index) + len(tail)) + index + tail)
        return self._made


class Piece(NamedTuple):
    """A piece of a file, and the number of items in all pieces before it."""

    before: int
    text: bytes


class _Index:
    """Where the pieces of an open file are. Raises ValueError where that cannot be told."""

    def __init__(self, stored: BinaryIO) -> None:
        size = stored.seek(0, 2)
        stored.seek(max(0, size - _TAIL.size))
        entries, checksum = _TAIL.unpack(_exactly(stored, _TAIL.size))
        index_bytes = entries * _ENTRY.size
        begins = size - _TAIL.size - index_bytes - _HEAD.size
        if begins < 0:
            raise ValueError("no index")
        stored.seek(begins + _HEAD.size)
        index = _exactly(stored, index_bytes)
        found = list(_ENTRY.iter_unpack(index))
        # The number of items before each piece, and where it begins; then the end of the last one.
        self.items = array("Q", accumulate(map(itemgetter(0), found), initial=0))
        self.places = array("Q", accumulate(map(itemgetter(1), found), initial=0))
        self.checksums = [checksum for _, _, checksum in found]
        if crc32(index) != checksum or self.places[-1] != begins:
            raise ValueError("a wrong index")


def read_pieces(name: str, *, items: int, first: int = 0) -> Iterator[Piece]:
    """The pieces of a stored file from the one with the item `first` (from 0), with one in memory.

    items: how many the file must have. Raises DamagedFile where it is not there, or is not what was
    stored.
    """
    with _said(name), open_file(name) as stored:
        index = _Index(stored)
        if index.items[-1] != items:
            raise DamagedFile(
                f"The stored file {name} is damaged: it has {index.items[-1]:,} rows in place of "
                f"{items:,}."
            )
        at = bisect_right(index.items, first) - 1
        stored.seek(index.places[at])
        unpack = zstandard.ZstdDecompressor().decompress
        for piece in range(at, len(index.checksums)):
            frame = _exactly(stored, index.places[piece + 1] - index.places[piece])
            if crc32(frame) != index.checksums[piece]:
                raise ValueError("a wrong piece")
            yield Piece(index.items[piece], unpack(frame))


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Say of a file that cannot be read which one it is."""
    try:
        yield
    except FileNotFoundError:
        raise DamagedFile(f"The stored file {name} is not there any more.") from None
    except (ValueError, zstandard.ZstdError):
        raise DamagedFile(f"The stored file {name} is damaged.") from None


def _exactly(stored: BinaryIO, size: int) -> bytes:
    found = stored.read(size)
    if len(found) != size:
        raise ValueError("an early end")
    return found
