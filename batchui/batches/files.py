"""Files of batches: compressed (except what is packed), never changed, whole or not there at all.

    batches/<uuid>/source/upload.zst             the upload, a plain text (`uploads.py`)
    batches/<uuid>/source/upload                 the upload, untouched: anything else
    batches/<uuid>/source/upload-<e>[.zst]       the same, made of another batch's answers
    batches/<uuid>/source/converted-<e>.zst      the rows of an upload that is no plain text
    batches/<uuid>/source/rows-<e>.jsonl.zst     the rows of a draft, as read (`draft_rows.py`)
    batches/<uuid>/source/problems-<e>.jsonl.zst the rows that cannot be asked, and why
    batches/<uuid>/source/pictures-<id>          a ZIP archive with pictures that rows name
    batches/<uuid>/exports/<id>-<e>              a download that had to be made whole
    batches/<uuid>/parts/<n>/rows-<e>.jsonl.zst  the rows, as read
    batches/<uuid>/parts/<n>/pictures-<e>.zip    the pictures of rows, as they are sent
    batches/<uuid>/parts/<n>/answers-<k>-<e>.jsonl.zst   one line a row, in row order
    batches/<uuid>/parts/<n>/reply-<attempt>-<e>.json.zst    the raw reply
    batches/<uuid>/parts/<n>/receipt-<attempt>-<time>.txt.zst    see `receipts.py`

<e> is the epoch of the worker that wrote the file. A worker that lost its lease writes another file
and never overwrites the current one.

The files are in Django's default storage. A file is written before the database row that points to
it is committed, so every pointer leads to a file. A file that a crash leaves without a pointer is
removed some hours later (`worker/overtaken.py`).
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, default_storage

if TYPE_CHECKING:
    from batchui.batches.models import Attempt, Batch, Export, Part

    AnyFile = File[Any]  # it is a generic class only for the type checker
else:
    AnyFile = File

# The end of the name of a folder in which files are being made.
WORKING_FOLDER = ".making"
CHUNK_BYTES = 256 * 1024


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
    """Where an upload is stored; a plain text has an ending besides (see `uploads.py`)."""
    return f"batches/{batch_id}/source/upload"


def picture_archive_path(batch_id: object) -> str:
    """Where an archive with pictures is stored. Each has a name of its own: it can be replaced."""
    return f"batches/{batch_id}/source/pictures-{uuid4().hex[:12]}"


def further_path(batch: "Batch") -> str:
    """Where a file is stored that is made of another batch's answers, by who makes it.

    It is an upload, and may have an ending as such.
    """
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


def draft_rows_path(batch: "Batch") -> str:
    """Where the rows of a draft are stored, by who reads its upload."""
    return f"batches/{batch.pk}/source/rows-{batch.epoch}.jsonl.zst"


def rows_path(part: "Part") -> str:
    """Where the rows of a part are stored. A new part has the epoch of the worker that cuts it."""
    return f"{_part_folder(part)}/rows-{part.epoch}.jsonl.zst"


def copies_path(part: "Part") -> str:
    """Where is stored which rows of a part get the answer of another row."""
    return f"{_part_folder(part)}/copies-{part.epoch}.jsonl.zst"


def pictures_path(part: "Part") -> str:
    """Where the pictures of a part are stored, by the worker that gathered them."""
    return f"{_part_folder(part)}/pictures-{part.epoch}.zip"


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
    """A folder for files that are being made. It is gone at the end, with what is in it.

    What a process leaves that is killed goes a day later (see `worker/this_host.py`).
    """
    beside = settings.FILE_UPLOAD_TEMP_DIR
    beside.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=beside, suffix=WORKING_FOLDER) as folder:
        yield Path(folder)


def open_file(name: str) -> BinaryIO:
    """A stored file, open for reading."""
    return cast(BinaryIO, default_storage.open(name, "rb"))


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
