"""Files of batches: compressed (except the upload), never changed, whole or not there at all.

    batches/<uuid>/source/upload                 the upload, untouched
    batches/<uuid>/source/upload-<e>             the same, made of another batch's answers
    batches/<uuid>/source/converted-<e>.zst      the rows of an upload that is no plain text
    batches/<uuid>/source/problems-<e>.jsonl.zst the rows that cannot be asked, and why
    batches/<uuid>/exports/<id>-<e>              a download that had to be made whole
    batches/<uuid>/parts/<n>/rows-<e>.jsonl.zst  the rows, as read
    batches/<uuid>/parts/<n>/answers-<k>-<e>.jsonl.zst   one line a row, in row order
    batches/<uuid>/parts/<n>/reply-<attempt>-<e>.json.zst    the raw reply
    batches/<uuid>/parts/<n>/receipt-<attempt>-<time>.txt.zst    see `receipts.py`

<e> is the epoch of the worker that wrote the file. A worker that lost its lease writes another file
and never overwrites the current one.

The files are in Django's default storage. A file is written before the database row that points to
it is committed, so every pointer leads to a file. A file that a crash leaves without a pointer is
removed some hours later (`worker/overtaken.py`).
"""

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast
from uuid import UUID

import zstandard
from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage

if TYPE_CHECKING:
    from batchui.batches.models import Attempt, Batch, Export, Part

    AnyFile = File[Any]  # it is a generic class only for the type checker
else:
    AnyFile = File

LEVEL = 1
# Above this many bytes a file that is being made moves from memory to a temporary file.
SPOOL_BYTES = 4 * 1024 * 1024
CHUNK_BYTES = 256 * 1024


class DamagedFile(Exception):
    """A stored file is lost, cut short or changed. str() is a sentence that names it."""


class DurableFileSystemStorage(FileSystemStorage):
    """A local folder. A file appears in it as a whole, under its name, and survives a power cut."""

    def get_available_name(self, name: str, max_length: int | None = None) -> str:
        """The name itself. Names are unique here: a second write of one repeats the first."""
        return name

    def _save(self, name: str, content: AnyFile) -> str:
        target = Path(self.path(name))
        _make_folder(target.parent)
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
        sync_folder(target.parent)
        return name

    def delete_tree(self, name: str) -> None:
        """Remove a folder and everything in it. Does nothing if there is no such folder."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.path(name))


def _make_folder(folder: Path) -> None:
    """Make a folder with those above it. The name of each new one is on the disk, too, then."""
    missing = list(takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def source_path(batch_id: object) -> str:
    """Where an upload is stored."""
    return f"batches/{batch_id}/source/upload"


def further_path(batch: "Batch") -> str:
    """Where a file is stored that is made of another batch's answers, by who makes it."""
    return f"batches/{batch.pk}/source/upload-{batch.epoch}"


def converted_path(batch: "Batch") -> str:
    """Where the rows of an upload that is not a plain text are stored, by who converts it."""
    return f"batches/{batch.pk}/source/converted-{batch.epoch}.zst"


def export_path(export: "Export") -> str:
    """Where an export is stored, by the worker that makes it."""
    return f"batches/{export.batch_id}/exports/{export.pk}-{export.epoch}"


def problems_path(batch: "Batch") -> str:
    """Where the problems of the rows of an upload are stored, by who reads it."""
    return f"batches/{batch.pk}/source/problems-{batch.epoch}.jsonl.zst"


def rows_path(part: "Part") -> str:
    """Where the rows of a part are stored. A new part has the epoch of the worker that cuts it."""
    return f"{_part_folder(part)}/rows-{part.epoch}.jsonl.zst"


def copies_path(part: "Part") -> str:
    """Where is stored which rows of a part get the answer of another row."""
    return f"{_part_folder(part)}/copies-{part.epoch}.jsonl.zst"


def answers_path(part: "Part", *, version: int) -> str:
    """Where a version of a part's answers is stored."""
    return f"{_part_folder(part)}/answers-{version}-{part.epoch}.jsonl.zst"


def reply_path(part: "Part", *, attempt: int) -> str:
    """Where the raw reply to the attempt with this number is stored."""
    return f"{_part_folder(part)}/reply-{attempt}-{part.epoch}.json.zst"


def receipt_path(attempt: "Attempt") -> str:
    """Where a receipt is kept that the database would not take.

    The time keeps it apart from that of an attempt with this number in a copy of the database.
    """
    written = round(attempt.created_at.timestamp() * 1_000_000)
    return f"{_part_folder(attempt.part)}/receipt-{attempt.number}-{written}.txt.zst"


def _part_folder(part: "Part") -> str:
    return f"batches/{part.batch_id}/parts/{part.number}"


def save_source(name: str, content: AnyFile) -> tuple[int, str]:
    """Store an upload under `name`, untouched. Returns its size in bytes and its SHA-256."""
    sha256, size = hashlib.sha256(), 0
    content.seek(0)
    for chunk in content.chunks(CHUNK_BYTES):
        sha256.update(chunk)
        size += len(chunk)
    content.seek(0)
    default_storage.save(name, content)
    return size, sha256.hexdigest()


def save(name: str, content: IO[bytes]) -> None:
    """Store the content of an open file as `name`."""
    default_storage.save(name, File(content, name))


def copy(name: str, to: str) -> str:
    """Store a stored file once more, as `to`. Returns that name."""
    with open_file(name) as content:
        save(to, content)
    return to


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder for files that are being made. It is gone at the end, with what is in it."""
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        yield Path(folder)


def open_file(name: str) -> BinaryIO:
    """A stored file, open for reading."""
    return cast(BinaryIO, default_storage.open(name, "rb"))


def open_unpacked(name: str) -> BinaryIO:
    """The content of a compressed file, open for reading. Its `read` raises DamagedFile."""
    return cast(BinaryIO, _Unpacked(name))


class _Unpacked(io.RawIOBase):
    def __init__(self, name: str) -> None:
        self._name = name
        self._reader = zstandard.ZstdDecompressor().stream_reader(
            open_file(name), read_size=CHUNK_BYTES, closefd=True
        )

    def read(self, size: int = -1) -> bytes:
        try:
            return self._reader.read(size)
        except zstandard.ZstdError:
            raise DamagedFile(f"The stored file {self._name} is damaged.") from None

    def close(self) -> None:
        self._reader.close()  # type: ignore[no-untyped-call]
        super().close()


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
    def of_file(cls, content: IO[bytes]) -> "Compressed":
        """The content of a whole file, from its beginning."""
        made = cls()
        content.seek(0)
        _compressor().copy_stream(content, made._spool)
        return made

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

    def whole(self) -> Compressed:
        """All lines, ready to store. Call it once."""
        self._write()
        self._out.flush(zstandard.FLUSH_FRAME)
        return self._made

    def _write(self) -> None:
        self._out.write(b"\n".join([*self._buffer, b""]))
        self._buffer.clear()


def _compressor() -> zstandard.ZstdCompressor:
    return zstandard.ZstdCompressor(LEVEL, write_checksum=True)


def read_lines(name: str, *, lines: int) -> Iterator[bytes]:
    """The `lines` lines of a file that was made by `Compressed.of_lines`, each with its newline.

    Raises DamagedFile where the file is not there, cannot be unpacked, or has another number of
    lines: a file that was cut short unpacks without an error.
    """
    number, line = 0, b"\n"
    try:
        with open_file(name) as stored:
            reader = zstandard.ZstdDecompressor().stream_reader(stored, read_size=CHUNK_BYTES)
            unpacked = io.BufferedReader(cast(io.RawIOBase, reader), CHUNK_BYTES)
            for line in unpacked:
                number += 1
                if number > lines:
                    raise DamagedFile(
                        f"The stored file {name} is damaged: it has more than {lines:,} lines."
                    )
                yield line
    except FileNotFoundError:
        raise DamagedFile(f"The stored file {name} is not there any more.") from None
    except zstandard.ZstdError:
        raise DamagedFile(f"The stored file {name} is damaged.") from None
    if number != lines or not line.endswith(b"\n"):
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
    """The content of a compressed file, in chunks of bytes."""
    with open_file(name) as stored:
        yield from zstandard.ZstdDecompressor().read_to_iter(stored, read_size=CHUNK_BYTES)


def stored_below(folder: str) -> Iterator[str]:
    """The names of all stored files in a folder, and in the folders in it. Raises OSError."""
    folders, names = default_storage.listdir(folder)
    yield from (f"{folder}/{name}" for name in names)
    for inner in folders:
        yield from stored_below(f"{folder}/{inner}")


def batch_folders() -> list[str]:
    """The ids of the batches that have stored files."""
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
        for name in stored_below(folder):
            default_storage.delete(name)
