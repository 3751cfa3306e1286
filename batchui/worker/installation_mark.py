"""What is written down beside the files: which database they belong to, and how far it had come.

`generation.py` raises the number. Checks read it, so every process that is started imports this.
"""

from contextlib import suppress
from typing import NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from batchui.worker.models import Installation

# Its name.
MARK = "installation"


class AnotherDatabase(Exception):
    """The files belong to another database than this one. str() says so, and what to do."""


class Mark(NamedTuple):
    """What is written down beside the files."""

    database_id: str
    generation: int

    def __bytes__(self) -> bytes:
        return f"{self.database_id} {self.generation}\n".encode()


# Of no database that is known.
UNREADABLE = Mark("", 0)


def own_mark() -> Mark | None:
    """What is written down beside the files. Raises AnotherDatabase."""
    mark = read_mark()
    if mark and mark.database_id != Installation.here().database_id:
        raise AnotherDatabase(another_database())
    return mark


def belong_to_another() -> bool:
    """Whether the files here belong to another database."""
    mark = read_mark()
    if mark is None:
        return False
    return not Installation.objects.filter(database_id=mark.database_id).exists()


def another_database() -> str:
    """The sentence that the files here belong to another database, and what to do."""
    if settings.S3_BUCKET:
        where, elsewhere = f"The bucket {settings.S3_BUCKET}", "BATCHUI_S3_PREFIX to another folder"
    else:
        where, elsewhere = str(settings.DATA), "BATCHUI_DATA to another folder"
    return (
        f"{where} has the files of another database than the one that is set now. Set DATABASE_URL "
        f"to that database, or {elsewhere}."
    )


def read_mark() -> Mark | None:
    """What is written down beside the files; None if there is nothing."""
    with suppress(FileNotFoundError), default_storage.open(MARK) as stored:
        words = stored.read().decode(errors="replace").split()
        return Mark(words[0], int(words[1])) if _is_mark(words) else UNREADABLE
    return None


def _is_mark(words: list[str]) -> bool:
    return len(words) == 2 and words[1].isdecimal()


def write_mark(mark: Mark) -> None:
    """Write it down. Raises OSError, and what a bucket raises."""
    default_storage.save(MARK, ContentFile(bytes(mark)))
