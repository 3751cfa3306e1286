"""Puts a backup back. What was there is kept."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.utils import timezone

from batchui.backup import postgres, sqlite
from batchui.backup.alone import alone, wait_for_silence
from batchui.backup.archive import (
    CHUNK_BYTES,
    FILES,
    KEYS,
    SQLITE,
    TABLES,
    Manifest,
    check,
    opened,
)
from batchui.backup.aside import Swap
from batchui.backup.contents import has_tables, refuse_newer
from batchui.backup.making import came_from
from batchui.backup.problems import BadArchive, NotPossible
from batchui.batches.files import DurableFileSystemStorage
from batchui.batches.models import Batch
from batchui.batches.phrases import Say
from batchui.keys import kept_text
from batchui.teams import crypto
from batchui.teams.models import Connection
from batchui.worker import installation_mark, restored
from batchui.worker.installation_mark import MARK, Mark
from batchui.worker.models import Installation


class PutBack(NamedTuple):
    """What was restored, and what a person should know.

    asked: the number of parts that wait for a decision. kept: where that is which was there, folder
    and schema; "" if there was nothing. unreadable: how many API tokens cannot be read with the
    keys that are here. unused_keys: the keys of the backup do not count, since others are set.
    """

    made_at: str
    files: int
    missing: int
    asked: int
    kept: str
    unreadable: int
    unused_keys: bool


def put_back(path: Path, *, replace: bool = False, say: Say = lambda _: None) -> PutBack:
    """Put everything back from a backup, and let people decide what may have been sent since.

    replace: also if there are batches already. What was there is kept, and can be put back by hand.
    Raises NotPossible, BadArchive, OSError, DatabaseError; nothing is changed then.
    """
    settings.DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone():
        say("Checking the backup …")
        manifest = check(path)
        _refuse(path, manifest, replace=replace)
        wait_for_silence(say=say)
        say("Unpacking it …")
        with _unpacked(path) as folder:
            say("Preparing the database …")
            return _swap(folder, manifest)


def _refuse(path: Path, manifest: Manifest, *, replace: bool) -> None:
    """Raise BadArchive or NotPossible where this backup cannot be put back here."""
    if manifest["database"] != connection.vendor:
        kinds = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
        raise BadArchive(
            f"The backup is of {kinds.get(manifest['database'], 'another database')}, and "
            f"DATABASE_URL names {kinds[connection.vendor]}. Set it to a database of that kind."
        )
    refuse_newer(manifest["migrations"])
    if not replace and _has_batches():
        raise NotPossible(
            "There are batches here. Set BATCHUI_DATA (and DATABASE_URL) to an empty place; or add "
            "--replace, which keeps them beside the restored ones, out of use."
        )
    if settings.S3_BUCKET:
        if any(default_storage.listdir("batches")):
            raise NotPossible(
                f"The bucket {settings.S3_BUCKET} is not empty, and its files would be written "
                "over. Set BATCHUI_S3_BUCKET or BATCHUI_S3_PREFIX to an empty place."
            )
    elif shutil.disk_usage(settings.DATA).free < path.stat().st_size:
        raise NotPossible(f"The disk of {settings.DATA} has too little room for the backup.")


def _has_batches() -> bool:
    try:
        return has_tables() and Batch.objects.exists()
    except DatabaseError:  # it cannot be read
        return True


@contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """A folder of this data folder with everything of a backup; but files go into the bucket."""
    folder: Path = settings.DATA / ".restore"
    shutil.rmtree(folder, ignore_errors=True)  # what a killed restore left
    folder.mkdir(mode=0o700)
    in_bucket: list[str] = []
    try:
        (folder / FILES).mkdir(mode=0o700)
        with opened(path) as members:
            for name, _, content in members:
                if settings.S3_BUCKET and name.startswith(FILES):
                    in_bucket.append(name.removeprefix(FILES))
                    default_storage.save(in_bucket[-1], File(content, name))
                else:
                    _write(folder / name, content)
        os.sync()
        yield folder
    except BaseException:
        for name in in_bucket:
            default_storage.delete(name)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write(target: Path, content: IO[bytes]) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        shutil.copyfileobj(content, out, CHUNK_BYTES)


def _swap(folder: Path, manifest: Manifest) -> PutBack:
    """Put what was unpacked in its place, all of it or nothing."""
    stamp = f"{timezone.now():%Y%m%d-%H%M%S}"
    swap = Swap(settings.DATA / f"before-restore-{stamp}")
    known = _known_generation()
    kept_tables = ""
    try:
        if connection.vendor == "sqlite":
            with sqlite.opened(folder / SQLITE):
                done = _become_a_copy(folder, manifest, known)
            _mark_bucket(folder, swap)
            target = Path(connection.settings_dict["NAME"])
            # The log of the old database goes with it: it would be applied to the new one.
            for ending in ("", "-wal", "-shm"):
                swap.keep(target.with_name(f"{target.name}{ending}"))
            _swap_files(folder, swap)
            swap.put(folder / SQLITE, target)
        else:
            schema = f"before_restore_{stamp.replace('-', '_')}"
            with postgres.loaded(
                folder / TABLES, manifest["migrations"], schema=schema
            ) as had_tables:
                done = _become_a_copy(folder, manifest, known)
                _mark_bucket(folder, swap)
                _swap_files(folder, swap)
            kept_tables = f"the schema {schema} of the database" if had_tables else ""
    except BaseException:
        swap.undo()
        raise
    kept_files = str(swap.kept) if swap.kept.exists() else ""
    return done._replace(kept=" and ".join(filter(None, (kept_files, kept_tables))))


def _known_generation() -> int:
    """How far the database had come that was here."""
    with suppress(OSError):
        if mark := installation_mark.read_mark():
            return mark.generation
    return 0


def _become_a_copy(folder: Path, manifest: Manifest, known: int) -> PutBack:
    """Let people decide what the restored database would send, before it is in its place.

    It becomes newer than any database that was here, so that one of those is known for an old one.
    """
    with _files_read_from(folder / FILES):
        asked = restored.let_people_decide(came_from(manifest["made_at"]))
    installation = Installation.here()
    installation.restored_from, installation.restored_at = "", timezone.now()
    installation.generation = max(known, installation.generation) + 1
    installation.save()
    # After a kill between two renames, a start with another database is refused.
    mark = bytes(Mark(installation.database_id, installation.generation))
    (folder / FILES / MARK).write_bytes(mark)
    names = manifest["members"]
    given = {
        "secret-key": not settings.SECRET_KEY_FILE,
        "encryption-key": not settings.ENCRYPTION_KEY_FILE,
    }
    return PutBack(
        made_at=manifest["made_at"],
        files=sum(name.startswith(FILES) for name in names),
        missing=len(manifest["missing"]),
        asked=asked,
        kept="",
        unreadable=_unreadable_tokens(folder / KEYS),
        unused_keys=any(is_given and f"{KEYS}{name}" in names for name, is_given in given.items()),
    )


@contextmanager
def _files_read_from(folder: Path) -> Iterator[None]:
    """Let the stored files be those of a folder while the context lasts, unless a bucket has them.

    The answers tell which rows of a part may have been sent again.
    """
    if not isinstance(default_storage, DurableFileSystemStorage):
        yield
        return
    before = default_storage.location
    default_storage.location = str(folder)
    try:
        yield
    finally:
        default_storage.location = before


def _mark_bucket(folder: Path, swap: Swap) -> None:
    """Write down in the bucket to which database its files belong; on a disk it is one of them.

    It comes before the database is in its place: where it fails, nothing is restored.
    """
    if not settings.S3_BUCKET:
        return
    before = installation_mark.read_mark()
    swap.note(lambda: _put_mark(bytes(before)) if before else default_storage.delete(MARK))
    _put_mark((folder / FILES / MARK).read_bytes())


def _put_mark(content: bytes) -> None:
    default_storage.save(MARK, ContentFile(content))


def _swap_files(folder: Path, swap: Swap) -> None:
    if isinstance(default_storage, DurableFileSystemStorage):
        target = Path(default_storage.location)
        swap.keep(target)
        swap.put(folder / FILES, target)
    for key in (settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE):
        if key and (new := folder / KEYS / key.name).exists():
            swap.keep(key)
            swap.put(new, key)


def _unreadable_tokens(folder: Path) -> int:
    """How many API tokens cannot be read with the keys that will count; some may be in a folder."""
    keys = settings.ENCRYPTION_KEYS
    if file := settings.ENCRYPTION_KEY_FILE:
        keys = [kept_text(folder / file.name) or kept_text(file)]
    unreadable = 0
    for one in Connection.objects.exclude(kind=Connection.Kind.SANDBOX):
        unreadable += not crypto.fits(one.token_encrypted, keys)
    return unreadable
