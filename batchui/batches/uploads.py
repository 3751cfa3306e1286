"""Uploads as they are stored: a plain text compressed, anything else untouched.

What is packed already has nothing to gain, and a workbook or a zip is opened in its middle.
"""

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, cast

from django.core.files.storage import default_storage

from batchui.batches import files
from batchui.batches.changes import BatchChanges
from batchui.batches.compressed import Compressed, DamagedFile, open_unpacked
from batchui.batches.files import CHUNK_BYTES, AnyFile
from batchui.batches.models import Batch
from batchui.prompts.conversion.kinds import is_text
from batchui.prompts.conversion.looking import read_head

# The end of the name of one that is stored compressed.
COMPRESSED = ".zst"
# So many compress one. More would take the processor from others who look at pages meanwhile.
THREADS = 2


class Stored(NamedTuple):
    """A stored upload. size, sha256: of what was uploaded; stored_size: of the stored file."""

    name: str
    size: int
    sha256: str
    stored_size: int

    def as_fields(self) -> BatchChanges:
        """It as fields of a batch."""
        return {
            "source_file": self.name,
            "source_size": self.size,
            "source_sha256": self.sha256,
            "source_stored_size": self.stored_size,
        }


def store(name: str, content: AnyFile, *, called: str) -> Stored:
    """Store an upload as `name`; a plain text as `name` with COMPRESSED at its end.

    called: its own name. Raises OSError.
    """
    content.seek(0)
    if is_text(read_head(cast(BinaryIO, content)), called):
        return _store_compressed(f"{name}{COMPRESSED}", content)
    measured = _Measured(content)
    measured.seek(0)
    while measured.read(CHUNK_BYTES):
        pass
    content.seek(0)
    default_storage.save(name, content)
    return Stored(name, measured.size, measured.sha256.hexdigest(), measured.size)


def _store_compressed(name: str, content: AnyFile) -> Stored:
    """Measure, hash and compress it in one pass."""
    measured = _Measured(content)
    compressed = Compressed.of_file(cast(BinaryIO, measured), threads=THREADS)
    stored_size = compressed.size
    compressed.store(name)
    return Stored(name, measured.size, measured.sha256.hexdigest(), stored_size)


def copy(batch: Batch, to: str) -> Stored:
    """Store the upload of a batch once more, as it is stored. to: as the name in `store`.

    Raises OSError where it is lost.
    """
    name = f"{to}{COMPRESSED}" if is_compressed(batch.source_file) else to
    files.copy(batch.source_file, name)
    return Stored(name, batch.source_size, batch.source_sha256, stored_size(batch))


def is_compressed(name: str) -> bool:
    """Whether an upload is stored compressed under this name."""
    return name.endswith(COMPRESSED)


def stored_size(batch: Batch) -> int:
    """The bytes that the stored file of an upload must have."""
    return batch.source_stored_size or batch.source_size  # an older version stored it as it came


def open_upload(name: str) -> BinaryIO:
    """A stored upload as it came, open for reading. Raises OSError.

    The `read` of one that is stored compressed raises DamagedFile.
    """
    return open_unpacked(name) if is_compressed(name) else files.open_file(name)


def chunks_of(batch: Batch) -> Iterator[bytes]:
    """The upload of a batch as it came.

    Raises OSError, and DamagedFile where it is not as long as it was: one that was cut short
    unpacks without an error.
    """
    left = batch.source_size
    with open_upload(batch.source_file) as upload:
        while chunk := upload.read(CHUNK_BYTES):
            left -= len(chunk)
            yield chunk
    if left:
        raise DamagedFile(
            f"The stored file {batch.source_file} is damaged: it has "
            f"{batch.source_size - left:,} bytes unpacked in place of {batch.source_size:,}."
        )


class _Measured:
    """A file that is read once: how long it is, and its SHA-256."""

    def __init__(self, content: AnyFile) -> None:
        self._content = content
        self.size, self.sha256 = 0, hashlib.sha256()

    def seek(self, position: int) -> None:
        self._content.seek(position)

    def read(self, size: int) -> bytes:
        data: bytes = self._content.read(size)
        self.size += len(data)
        self.sha256.update(data)
        return data
