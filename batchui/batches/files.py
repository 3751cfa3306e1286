"""Files of batches: compressed, immutable, whole or not there at all.

    batches/<uuid>/source/<name>                 the upload, untouched
    batches/<uuid>/parts/<n>/rows.jsonl.zst      the rows, as read
    batches/<uuid>/parts/<n>/answers-<k>.jsonl.zst   one line a row, in row order
    batches/<uuid>/parts/<n>/reply-<attempt>.json.zst   the raw reply

They live in Django's default storage. A file is written before the database row that points to
it is committed, so a pointer never leads nowhere; what a crash leaves without a pointer is
removed with the batch.
"""

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast
from uuid import UUID

import zstandard
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage

if TYPE_CHECKING:
    AnyFile = File[Any]  # a generic class for the type checker alone
else:
    AnyFile = File

LEVEL = 1
# Above this many bytes a file that is being made moves from memory to a temporary file.
SPOOL_BYTES = 4 * 1024 * 1024
CHUNK_BYTES = 256 * 1024


class DurableFileSystemStorage(FileSystemStorage):
    """A local folder in which a file appears whole, under its name, and survives a power cut."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """The name itself: our names are unique, and a second write of one is a safe repeat."""
        return name

    def _save(self, name: str, content: AnyFile) -> str:
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".writing-")
        try:
            with os.fdopen(descriptor, "wb") as out:
                for chunk in content.chunks(CHUNK_BYTES):
                    out.write(chunk)
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync_folder(target.parent)
        return name

    def delete_tree(self, name: str) -> None:
        """Remove a folder and everything in it; one that is not there is fine."""
        shutil.rmtree(self.path(name), ignore_errors=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def save_source(name: str, content: AnyFile) -> tuple[int, str]:
    """Store an upload under `name`, untouched. Returns its size in bytes and its SHA-256."""
    hashing = _Hashing(content)
    default_storage.save(name, hashing)
    return hashing.seen, hashing.sha256.hexdigest()


class _Hashing(AnyFile):
    """A file that is hashed and counted as it is read."""

    def __init__(self, content: AnyFile) -> None:
        super().__init__(content.file, content.name)
        self.content = content
        self.sha256 = hashlib.sha256()
        self.seen = 0

    def chunks(self, chunk_size: int | None = None) -> Iterator[Any]:
        for chunk in self.content.chunks(chunk_size):
            self.sha256.update(chunk)
            self.seen += len(chunk)
            yield chunk


def open_file(name: str) -> BinaryIO:
    """A stored file, to be read from its beginning."""
    return cast(BinaryIO, default_storage.open(name, "rb"))


def write_lines(name: str, lines: Iterable[bytes]) -> None:
    """Store lines (without their newlines), compressed."""
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        with zstandard.ZstdCompressor(LEVEL).stream_writer(spool, closefd=False) as out:
            buffer: list[bytes] = []
            pending = 0
            for line in lines:
                buffer.append(line)
                pending += len(line)
                if pending > CHUNK_BYTES:
                    buffer.append(b"")
                    out.write(b"\n".join(buffer))
                    buffer, pending = [], 0
            if buffer:
                buffer.append(b"")
                out.write(b"\n".join(buffer))
        _store(name, spool)


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a file that `write_lines` stored, each with its newline."""
    with open_file(name) as stored:
        reader = zstandard.ZstdDecompressor().stream_reader(stored, read_size=CHUNK_BYTES)
        yield from io.BufferedReader(cast(io.RawIOBase, reader), CHUNK_BYTES)


def write_compressed(name: str, content: IO[bytes]) -> None:
    """Store what is in a spool, compressed; the spool is read from its beginning."""
    content.seek(0)
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        zstandard.ZstdCompressor(LEVEL).copy_stream(content, spool)
        _store(name, spool)


def read_compressed(name: str) -> Iterator[bytes]:
    """The bytes of a compressed file, in chunks."""
    with open_file(name) as stored:
        yield from zstandard.ZstdDecompressor().read_to_iter(stored, read_size=CHUNK_BYTES)


def batch_folders() -> list[str]:
    """The ids of batches that something is stored for."""
    try:
        folders, _ = default_storage.listdir("batches")
    except FileNotFoundError:
        return []
    return [folder for folder in folders if _is_id(folder)]


def _is_id(folder: str) -> bool:
    try:
        return str(UUID(folder)) == folder
    except ValueError:
        return False


def remove_batch_files(batch_id: object) -> None:
    """Remove everything stored for a batch."""
    folder = f"batches/{batch_id}"
    if isinstance(default_storage, DurableFileSystemStorage):
        default_storage.delete_tree(folder)
    else:
        _remove_listed(folder)


def _remove_listed(folder: str) -> None:
    folders, names = default_storage.listdir(folder)
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    for inner in folders:
        _remove_listed(f"{folder}/{inner}")


def _store(name: str, spool: IO[bytes]) -> None:
    spool.seek(0)
    default_storage.save(name, File(spool, name))
