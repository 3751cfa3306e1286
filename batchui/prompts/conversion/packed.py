"""Files packed as .gz, .zst, .bz2 or .xz, and .zip with one file in it, perhaps beside pictures."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, BinaryIO, NamedTuple, cast

import zstandard

from batchui.prompts.conversion.looking import ZIP, File, is_encrypted, without_clutter
from batchui.prompts.pictures import is_picture_name
from batchui.prompts.problems import BadInput, joined, quoted

# How far back a file may refer to itself: what its own program allows without being asked.
ZSTD_WINDOW = 128 << 20
# Four bytes may become 128 KB.
ZSTD_PIECE = 1024
DAMAGE = (
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zstandard.ZstdError,
    zlib.error,
    EOFError,
    NotImplementedError,  # a kind of compression
    UnicodeDecodeError,
)


class Kind(NamedTuple):
    """How a packed file begins, the end of its name, and what opens it for reading."""

    magic: re.Pattern[bytes]
    ending: str
    opened: Callable[[BinaryIO], Any]


def _zstd(file: BinaryIO) -> Iterator[bytes]:
    """The bytes of all frames, in pieces. Raises EOFError if the last one has no end.

    The reader that comes with the library ends there as if all were well.
    """
    unpacker = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = None
    while data := file.read(ZSTD_PIECE):
        while data:
            frame = frame or unpacker.decompressobj()
            yield frame.decompress(data)
            data, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame:
        raise EOFError


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a stream."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = filter(None, pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


KINDS = (
    Kind(re.compile(rb"\x1f\x8b\x08"), ".gz", lambda file: gzip.GzipFile(fileobj=file)),
    Kind(
        re.compile(rb"\x28\xb5\x2f\xfd"),
        ".zst",
        lambda file: io.BufferedReader(_Pieces(_zstd(file))),
    ),
    Kind(re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), ".bz2", bz2.BZ2File),
    Kind(re.compile(rb"\xfd7zXZ\x00"), ".xz", lzma.LZMAFile),
)


def is_packed(file: File) -> bool:
    """Whether this is a packed file, or a zip: whoever asks has seen that it is no workbook."""
    return file.head.startswith(ZIP) or _kind(file) is not None


@contextmanager
def opened(file: File) -> Iterator[tuple[str, BinaryIO]]:
    """The name and the bytes of the file inside a packed file.

    Raises BadInput, also while they are read, for a damaged one, or a zip with several files.
    """
    kind = _kind(file)
    with _sentences(), file.path.open("rb") as packed:
        if kind:
            yield _inner_name(file.name, kind.ending), cast(BinaryIO, kind.opened(packed))
            return
        with zipfile.ZipFile(packed) as archive:
            member = _only_file(archive)
            with archive.open(member) as stream:
                yield PurePosixPath(member.filename).name, cast(BinaryIO, stream)


def _kind(file: File) -> Kind | None:
    return next((kind for kind in KINDS if kind.magic.match(file.head)), None)


def _inner_name(name: str, ending: str) -> str:
    """reviews.csv.gz -> reviews.csv; a name without this ending stays."""
    return name[: -len(ending)] if name.lower().endswith(ending) else name


def _only_file(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    names = without_clutter(member.filename for member in archive.infolist())
    if not names:
        raise BadInput("There is no file in this ZIP archive. Choose one with a table in it.")
    tables = [name for name in names if not is_picture_name(name)] or names
    if len(tables) > 1:
        raise BadInput(
            f"This ZIP archive has {len(tables):,} files: {joined(list(map(quoted, tables)))}. "
            "Unpack it, and upload the one that has your rows."
        )
    found = archive.getinfo(tables[0])
    if is_encrypted(found):
        raise BadInput(
            "This ZIP archive is protected by a password. Unpack it, and upload the file inside."
        )
    return found


@contextmanager
def _sentences() -> Iterator[None]:
    """Turns the exceptions of libraries into a sentence."""
    try:
        yield
    except DAMAGE as exc:
        raise BadInput(
            "This packed file is damaged or was not copied whole. Copy or download it again, or "
            "unpack it, and upload the file inside."
        ) from exc
