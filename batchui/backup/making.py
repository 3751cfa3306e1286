"""Makes a backup, also while batchui runs."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.utils import timezone

from batchui.backup import archive, postgres, sqlite
from batchui.backup.archive import FILES, KEYS, Writer, check
from batchui.backup.contents import has_tables
from batchui.backup.problems import NotPossible
from batchui.batches import files
from batchui.batches.files import DurableFileSystemStorage
from batchui.batches.phrases import Say, counted
from batchui.worker import sweep
from batchui.worker.database import migrations_waiting, why_not_ready
from batchui.worker.models import Installation

SECONDS_BETWEEN_LINES = 10.0


class Made(NamedTuple):
    """What a backup has: how many files and keys, its size in bytes.

    missing: the files that the database names and that are not there any more.
    """

    files: int
    keys: int
    size: int
    missing: list[str]


def make(path: Path, *, with_keys: bool = False, say: Say = lambda _: None) -> Made:
    """Write everything into the file `path`, and check what was written.

    It appears under its name when it is whole, and takes the place of an earlier one. Raises
    NotPossible, BadArchive, OSError, DatabaseError.
    """
    if not has_tables():
        raise NotPossible(why_not_ready())
    target = path.absolute()
    if not target.parent.is_dir():
        raise NotPossible(f"There is no folder {target.parent}. Make it, or choose another one.")
    if target.is_dir():
        raise NotPossible(f"{target} is a folder. Name a file in it.")
    with _folder_for(target) as folder:
        draft = folder / "draft"
        with _files_kept() as keep_on:
            made = _write(draft, with_keys=with_keys, say=say, keep_on=keep_on)
        say("Checking what was written …")
        check(draft)
        os.replace(draft, target)
        files.sync_folder(target.parent)
    return made._replace(size=target.stat().st_size)


@contextmanager
def _files_kept() -> Iterator[Callable[[], None]]:
    """While the context lasts, no sweep removes a file. Call what it gives from time to time."""
    if migrations_waiting():  # then no worker of this version sweeps
        yield lambda: None
        return
    name = sweep.new_backup_name()
    sweep.keep_files(name)
    try:
        yield lambda: sweep.keep_files(name)
    finally:
        with suppress(DatabaseError):  # it runs out by itself
            sweep.allow_removal(name)


def _write(draft: Path, *, with_keys: bool, say: Say, keep_on: Callable[[], None]) -> Made:
    say("Copying the database …")
    made_at = timezone.now()
    folder, names = draft.parent, draft.with_name("names")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        writer = Writer(stream)
        if connection.vendor == "sqlite":
            if Installation._meta.db_table in connection.introspection.table_names():
                Installation.here()  # so that the copy has it
            reason = came_from(made_at.isoformat())
            migrations = sqlite.add(writer, folder, names, reason=reason)
        else:
            migrations = postgres.add(writer, folder, names)
        _refuse_full_disk(names)
        stored, missing = _add_files(writer, names, say=say, keep_on=keep_on)
        keys = _add_keys(writer) if with_keys else 0
        writer.close(
            made_at=made_at.isoformat(),
            database=connection.vendor,
            migrations=sorted(migrations),
            missing=missing,
        )
        stream.flush()
        os.fsync(stream.fileno())
    return Made(stored, keys, 0, missing)


def came_from(made_at: str) -> str:
    """The sentence about a database that was restored. made_at: ISO 8601."""
    at = datetime.fromisoformat(made_at)
    return f"It is the backup of {at:%-d %B %Y, %H:%M} UTC."


def _add_files(
    writer: Writer, names: Path, *, say: Say, keep_on: Callable[[], None]
) -> tuple[int, list[str]]:
    """Add the files with these names. Returns how many there were, and those that are not there."""
    keep_on()  # to copy the database may have taken long
    said, number, missing = time.monotonic(), 0, []
    for name in _lines(names):
        if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            keep_on()
            say(f"{counted(number, 'file')} …")
        try:
            if not archive.is_name(f"{FILES}{name}"):
                raise FileNotFoundError(name)
            with files.open_file(name) as content:
                writer.add(f"{FILES}{name}", content, default_storage.size(name))
            number += 1
        except FileNotFoundError:
            missing.append(name)
    return number, missing


def _refuse_full_disk(names: Path) -> None:
    """Raise NotPossible if the files do not fit on the disk: batchui may need it, too."""
    if not isinstance(default_storage, DurableFileSystemStorage):
        return
    root = Path(default_storage.location)
    needed = sum(path.stat().st_size for name in _lines(names) if (path := root / name).is_file())
    free = shutil.disk_usage(names.parent).free
    if needed > free:
        raise NotPossible(
            f"The files need {_megabytes(needed)}, and {_megabytes(free)} are free in "
            f"{names.parent.parent}. Choose another disk."
        )


def _megabytes(size: int) -> str:
    return f"{max(1, round(size / 1e6)):,} MB"


def _lines(names: Path) -> Iterator[str]:
    with names.open() as lines:
        yield from (line.rstrip("\n") for line in lines)


def _add_keys(writer: Writer) -> int:
    """Add the keys that are in files. Returns how many; those of the environment are elsewhere."""
    kept = [path for path in (settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE) if path]
    there = [path for path in kept if path.exists()]
    for path in there:
        writer.add_file(f"{KEYS}{path.name}", path)
    return len(there)


@contextmanager
def _folder_for(target: Path) -> Iterator[Path]:
    """An empty folder beside a backup that is made, for this process alone.

    What a killed process leaves in it goes the next time.
    """
    folder = target.with_name(f".{target.name}.unfinished")
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), folder.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise NotPossible(f"Another backup to {target} is being made. Wait until it is done.")
        for left in folder.iterdir():
            left.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
