"""Makes a backup, and puts one back."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from batchui.backup import snapshots
from batchui.backup.archive import BadArchive, Reader, Writer, check
from batchui.batches import files
from batchui.batches.models import Batch
from batchui.keys import keep
from batchui.worker import generation, heartbeat

FILES, KEYS = "files", "keys"
Say = Callable[[str], None]


class NotPossible(Exception):
    """A backup that cannot be made or restored now. str() is a sentence on what to do."""


class Made(NamedTuple):
    """What a backup has: the number of its files, its size in bytes, whether it has the keys."""

    files: int
    size: int
    has_keys: bool


def make(path: Path, *, with_keys: bool = False, say: Say = lambda _: None) -> Made:
    """Write everything into the file `path`, also while batchui runs, and check what was written.

    It appears under its name when it is whole. Raises NotPossible, BadArchive, OSError.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise NotPossible(f"There is no folder {folder}. Make it, or choose another one.")
    descriptor, draft = tempfile.mkstemp(dir=folder, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            written = _write(Writer(stream), with_keys=with_keys, say=say)
            stream.flush()
            os.fsync(stream.fileno())
        say("Checking what was written …")
        manifest = check(Path(draft))
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
    return Made(written, path.stat().st_size, bool(manifest["keys"]))


def _write(writer: Writer, *, with_keys: bool, say: Say) -> int:
    say("Copying the database …")
    at, number = timezone.now(), 0
    with snapshots.snapshot(writer) as names:
        for name in names:
            with files.open_file(name) as stored:
                writer.add(f"{FILES}/{name}", stored, default_storage.size(name))
            number += 1
            if number % 1_000 == 0:
                say(f"{number:,} files …")
    keys = _add_keys(writer) if with_keys else 0
    writer.close(
        made_at=at.isoformat(),
        database=connection.vendor,
        migrations=sorted(MigrationRecorder(connection).applied_migrations()),
        keys=keys,
    )
    return number


def _add_keys(writer: Writer) -> int:
    kept = [path for path in (settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE) if path]
    for path in kept:
        with path.open("rb") as content:
            writer.add(f"{KEYS}/{path.name}", content, path.stat().st_size)
    return len(kept)


def put_back(path: Path, *, replace: bool = False, say: Say = lambda _: None) -> int:
    """Put everything back from a backup. Returns the number of parts that a person must decide.

    What was to be sent at the moment of the backup may have been sent since: nobody sends it until
    somebody has decided. replace: also if there are batches already, which are lost. Raises
    NotPossible, BadArchive, OSError; nothing is changed then.
    """
    _refuse_running()
    if not replace and _has_batches():
        raise NotPossible(
            "There are batches here, which would be lost. Set BATCHUI_DATA (or DATABASE_URL) to an "
            "empty place, or add --replace."
        )
    say("Checking the backup …")
    with Reader(path) as reader:
        say("Putting back the files …")
        for name in reader.names(FILES):
            with reader.open(name) as content:
                stored = name.removeprefix(f"{FILES}/")
                default_storage.save(stored, File(content, stored))
        for name in reader.names(KEYS):
            _put_key_back(reader, name)
        say("Putting back the database …")
        snapshots.put_back(reader)
        made_at = reader.manifest["made_at"]
        return generation.note_restored(f"It was restored from the backup of {made_at}.")


def _put_key_back(reader: Reader, name: str) -> None:
    path = settings.DATA / name.removeprefix(f"{KEYS}/")
    with reader.open(name) as content:
        text = content.read().decode()
    if keep(path, text) != text.strip():
        raise BadArchive(
            f"{path} is another key than that of the backup. Remove it, and restore again."
        )


def _refuse_running() -> None:
    if heartbeat.table_is_there() and heartbeat.live_workers():
        raise NotPossible(
            "A worker is running, or was a moment ago. Stop batchui on every host, wait a minute, "
            "and try again."
        )


def _has_batches() -> bool:
    return heartbeat.table_is_there() and Batch.objects.exists()
