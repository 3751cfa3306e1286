"""The content of stored files, compressed; most have lines.

A file that was damaged is told from a whole one, wherever it is read.
"""

import io
import tempfile
from collections.abc import Generator, Iterable, Iterator
from itertools import chain, islice
from typing import IO, BinaryIO, cast

import zstandard
from django.core.files.base import File
from django.core.files.storage import default_storage

from batchui.batches.behind import one_ahead
from batchui.batches.files import CHUNK_BYTES, open_file

LEVEL = 1
# Lines that are read at one time have about so many bytes.
LINES_BYTES = 64 * 1024
# A file that is read as one text is unpacked so many bytes at a time.
AHEAD_BYTES = 1024 * 1024
# Above this many bytes a file that is being made moves from memory to a temporary file.
SPOOL_BYTES = 4 * 1024 * 1024
# What to do about a damaged file.
IF_DAMAGED = "Tell the person who runs batchui: a backup may have it whole."


class DamagedFile(Exception):
    """A stored file is lost, cut short or changed. str() is a sentence that names it."""


class Compressed:
    """Compressed content, ready to store. Call `store` once."""

    def __init__(self) -> None:
        self._spool = tempfile.SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115

    def __del__(self) -> None:
        self._spool.close()  # if it was never stored

    @classmethod
    def of_lines(cls, lines: Iterable[bytes]) -> "Compressed":
        """The content of a file with these lines, which are given without newlines."""
        made = Lines()
        made.extend(lines)
        return made.whole()

    @classmethod
    def of_bytes(cls, content: bytes) -> "Compressed":
        """The content of a file that is in memory as a whole."""
        made = cls()
        made.write(_compressor().compress(content))
        return made

    @classmethod
    def of_file(cls, content: IO[bytes], *, threads: int = 0) -> "Compressed":
        """The content of a whole file, from its beginning.

        threads: so many compress it while it is read; 0: the one that reads does.
        """
        made = cls()
        content.seek(0)
        compressor = zstandard.ZstdCompressor(LEVEL, write_checksum=True, threads=threads)
        compressor.copy_stream(content, made._spool, read_size=CHUNK_BYTES)
        return made

    @property
    def size(self) -> int:
        """How many bytes it has, as long as it is not stored."""
        return self._spool.tell()

    def write(self, compressed: bytes) -> None:
        """Add content that is compressed already."""
        self._spool.write(compressed)

    def store(self, name: str) -> str:
        """Store it as `name`. Returns the name."""
        with self._spool as spool:
            spool.seek(0)
            default_storage.save(name, File(spool, name))
        return name


class Lines:
    """A file of lines to be stored, to which they are added as they come."""

    def __init__(self) -> None:
        self._made = Compressed()
        self._out = _compressor().stream_writer(self._made._spool, closefd=False)
        self._buffer: list[bytes] = []
        self._pending = 0

    def extend(self, lines: Iterable[bytes]) -> None:
        """Add lines, which are given without newlines."""
        buffer, pending = self._buffer, self._pending
        for line in lines:
            buffer.append(line)
            pending += len(line)
            if pending > CHUNK_BYTES:
                self._write()
                pending = 0
        self._pending = pending

    def add(self, lines: bytes) -> None:
        """Add lines, each with its newline."""
        self._write()
        self._pending = 0
        self._out.write(lines)

    def whole(self) -> Compressed:
        """All lines, ready to store. Call it once."""
        self._write()
        self._out.flush(zstandard.FLUSH_FRAME)
        return self._made

    def _write(self) -> None:
        if not self._buffer:
            return
        self._out.write(b"\n".join([*self._buffer, b""]))
        self._buffer.clear()


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(LEVEL, write_checksum=True)


def read_lines(name: str, *, lines: int) -> Iterator[bytes]:
    """The `lines` lines of a file that was made by `Compressed.of_lines`, each with its newline.

    Raises DamagedFile where the file is not there, cannot be unpacked, or has another number of
    lines: a file that was cut short unpacks without an error.
    """
    return chain.from_iterable(read_many_lines(name, lines=lines))


def read_many_lines(name: str, *, lines: int) -> Iterator[list[bytes]]:
    """The same lines, many at a time. Raises what `read_lines` raises."""
    number, some = 0, [b"\n"]
    try:
        with open_file(name) as stored:
            reader = zstandard.ZstdDecompressor().stream_reader(stored, read_size=CHUNK_BYTES)
            unpacked = io.BufferedReader(cast(io.RawIOBase, reader), CHUNK_BYTES)
            while found := unpacked.readlines(LINES_BYTES):
                some = found
                number += len(some)
                yield some if number <= lines else some[: lines - number]
                if number > lines:
                    raise DamagedFile(
                        f"The stored file {name} is damaged: it has more than {lines:,} lines."
                    )
    except FileNotFoundError:
        raise DamagedFile(f"The stored file {name} is not there any more.") from None
    except zstandard.ZstdError:
        raise DamagedFile(f"The stored file {name} is damaged.") from None
    if number != lines or not some[-1].endswith(b"\n"):
        raise DamagedFile(
            f"The stored file {name} is damaged: it has {number:,} lines in place of {lines:,}."
        )


def read_all_lines(name: str) -> list[bytes]:
    """The lines of a small file that was made by `Compressed.of_lines`. Raises DamagedFile.

    It cannot tell whether the end is missing: the content has to.
    """
    try:
        return b"".join(read_compressed(name)).splitlines()
    except FileNotFoundError:
        raise DamagedFile(f"The stored file {name} is not there any more.") from None
    except zstandard.ZstdError:
        raise DamagedFile(f"The stored file {name} is damaged.") from None


def read_compressed(name: str) -> Iterator[bytes]:
    """The content of a compressed file, in chunks of bytes; of one with frames, of all of them."""
    with open_file(name) as stored:
        reader = zstandard.ZstdDecompressor().stream_reader(
            stored, read_size=CHUNK_BYTES, read_across_frames=True
        )
        while chunk := reader.read(CHUNK_BYTES):
            yield chunk


def read_blocks(name: str) -> Iterator[bytes]:
    """The lines of a file that was made by `Compressed.of_lines`, many at a time.

    What is behind the last line end is left out. Raises DamagedFile where it cannot be unpacked.
    """
    rest = b""
    try:
        for chunk in read_compressed(name):
            lines, end, begun = chunk.rpartition(b"\n")
            if end:
                yield rest + lines + end
                rest = begun
            else:
                rest += chunk
    except FileNotFoundError:
        raise DamagedFile(f"The stored file {name} is not there any more.") from None
    except zstandard.ZstdError:
        raise DamagedFile(f"The stored file {name} is damaged.") from None


def open_unpacked(name: str) -> BinaryIO:
    """The content of a compressed file, open for reading. Its `read` raises DamagedFile."""
    return cast(BinaryIO, _Unpacked(name))


class _Unpacked(io.RawIOBase):
    """It is unpacked ahead of its reader, unless that reads no more than the beginning."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._reader = zstandard.ZstdDecompressor().stream_reader(
            open_file(name), read_size=CHUNK_BYTES, closefd=True
        )
        self._chunks = self._unpack()
        self._chunk, self._at = b"", 0

    def _unpack(self) -> Generator[bytes, None, None]:
        chunks = iter(lambda: self._reader.read(AHEAD_BYTES), b"")
        yield from islice(chunks, 1)
        yield from one_ahead(chunks)

    def read(self, size: int = -1) -> bytes:
        found, left = [], size
        while left:
            if self._at == len(self._chunk):
                self._chunk, self._at = self._next(), 0
                if not self._chunk:
                    break
            piece = self._chunk[self._at :] if left < 0 else self._chunk[self._at : self._at + left]
            self._at += len(piece)
            found.append(piece)
            left -= len(piece) if left > 0 else 0
        return b"".join(found)

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except zstandard.ZstdError:
            raise DamagedFile(f"The stored file {self._name} is damaged.") from None

    def close(self) -> None:
        self._chunks.close()  # waits for what is unpacked just now
        self._reader.close()  # type: ignore[no-untyped-call]
        super().close()
