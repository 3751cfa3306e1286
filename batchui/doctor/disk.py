"""Invariants 8 and 10: every stored file belongs to something, and no secret is on the disk."""

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import msgspec
import zstandard
from django.apps import apps
from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection, models
from django.db.models import Q
from django.utils import timezone

from batchui.batches import files, pointers
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import STARTED
from batchui.cloudflare.redactor import in_base64
from batchui.doctor.findings import FROM_BACKUP, Finding
from batchui.doctor.records import Record, Scope
from batchui.teams import crypto
from batchui.teams.models import Connection
from batchui.teams.problems import UnreadableSecret

YOUNG = timedelta(days=1)
FOLDER = "batches"
# Shorter texts are no secrets: they would be found everywhere by chance.
SHORTEST_SECRET = 8
PIECE_BYTES = 1024 * 1024
ROWS_AT_ONCE = 500
# The files of the keys in a data folder.
KEYS = ("secret-key", "encryption-key")
REMOVE = "Remove the file. If it is there again tomorrow, report it as a bug of batchui."


# -- 8: files and pointers ----------------------------------------------------------------------


def every_pointer_has_a_file(record: Record) -> Iterator[Finding]:
    """Invariant 8, of one batch: every file that the database points to is there."""
    for name, part in _pointers(record):
        if not default_storage.exists(name):
            yield record.finding(
                8, f"lost: {name}", f"The stored file {name} is lost.", part=part, do=FROM_BACKUP
            )


def every_file_is_pointed_to(scope: Scope) -> Iterator[Finding]:
    """Invariant 8, of everything: every stored file is pointed to.

    Or it was written, or overtaken by a newer file, within the last day: what a killed process
    leaves may stay for a day, and then it must be gone.
    """
    folders = files.batch_folders()
    for folder in sorted(folders):
        batch_id = UUID(folder)
        if scope.batch not in (None, batch_id):
            continue
        known: set[str] | None = None
        for name in _listed(f"{FOLDER}/{folder}"):
            if known is None:
                known = _known(batch_id)
            if name in known:
                continue
            since = _of_nobody_since(name, known)
            if since is None or since > timezone.now() - YOUNG:
                continue
            if name not in _known(batch_id):  # it may have become current meanwhile
                yield Finding(
                    invariant=8,
                    kind="file of nobody",
                    what="Nothing in the database points to this file.",
                    do=REMOVE,
                    batch=batch_id,
                    where=name,
                    since=since,
                )


def _of_nobody_since(name: str, known: set[str]) -> datetime | None:
    """Since when nothing points to a file; None if it was removed meanwhile.

    Since it was written, or overtaken: since the current file of its kind was written beside it.
    """
    folder, _, base = name.rpartition("/")
    same_kind = f"{folder}/{base.partition('-')[0]}-"
    written = _changed(name)
    newer = [_changed(one) for one in known if one.startswith(same_kind)]
    return None if written is None else max(filter(None, (written, *newer)))


def _pointers(record: Record) -> Iterator[tuple[str, Part | None]]:
    for name in pointers.files_of(record.batch):
        yield name, None
    for part in record.parts:
        owners: list[Part | Attempt] = [part, *record.attempts(part)]
        for owner in owners:
            for name in pointers.files_of(owner):
                yield name, part


def _known(batch_id: UUID) -> set[str]:
    """The names of all files of a batch to which the database points."""
    batch = Batch.objects.filter(pk=batch_id, files_removed=False)
    late = timezone.now() - YOUNG
    young = Q(deleted_at__gt=late) | Q(kept_until__gt=late)
    if batch.filter(young, deleted_at__isnull=False).exists():
        return set(_listed(f"{FOLDER}/{batch_id}"))  # a sweep removes them, once it may
    found = set(pointers.files_of_batch(batch_id)) if batch.exists() else set()
    if batch.exclude(status__in=STARTED).filter(lease_until__gt=timezone.now()).exists():
        found.update(_listed(f"{FOLDER}/{batch_id}"))  # it is being cut just now
    return found


def _listed(folder: str) -> Iterator[str]:
    """The names of all stored files below a folder."""
    try:
        folders, names = default_storage.listdir(folder)
    except FileNotFoundError:  # removed meanwhile
        return
    yield from (f"{folder}/{name}" for name in names)
    for inner in folders:
        yield from _listed(f"{folder}/{inner}")


def _changed(name: str) -> datetime | None:
    """When a stored file was last written; None if it was removed meanwhile."""
    try:
        return default_storage.get_modified_time(name)
    except FileNotFoundError:
        return None


# -- 10: secrets --------------------------------------------------------------------------------


def no_secret_is_on_the_disk(scope: Scope) -> Iterator[Finding]:
    """Invariant 10: no secret is in plain text on the disk.

    The API tokens of all connections, the keys and the password of the database are looked for in
    every stored file (unpacked), in the data folder and in the database; as they are, and as JSON,
    addresses, Base64 and hexadecimal digits would write them. The files of the keys are left out,
    and those that a restore kept beside them.
    """
    needles = _needles()
    if not needles:
        return
    for name, pieces in _texts(scope):
        found = _first(pieces, needles)
        if found:
            yield Finding(
                invariant=10,
                kind="secret",
                what=f"It has {found} in plain text.",
                do=(
                    "Replace that secret: make a new one, and withdraw the old one. Then remove "
                    "the file or the batch, and look where it came from."
                ),
                where=name,
            )


def _needles() -> list[tuple[bytes, str]]:
    """What to look for, with a phrase that names the secret."""
    secrets = {
        settings.CLOUDFLARE_API_TOKEN: "the API token of the settings",
        settings.SECRET_KEY: "SECRET_KEY",
        settings.DATABASES["default"].get("PASSWORD", ""): "the password of the database",
        **dict.fromkeys(settings.ENCRYPTION_KEYS, "an encryption key"),
    }
    for owner in Connection.objects.all():
        try:
            secrets[crypto.decrypt(owner.token_encrypted)] = f"the API token of “{owner.name}”"
        except UnreadableSecret:
            continue
    return [
        (form, phrase)
        for secret, phrase in secrets.items()
        if secret and len(secret) >= SHORTEST_SECRET
        for form in _forms(str(secret))
    ]


def _forms(secret: str) -> set[bytes]:
    """A secret as different writers would write it."""
    plain = secret.encode()
    return {
        plain,
        msgspec.json.encode(secret)[1:-1],
        quote(secret, safe="").encode(),
        plain.hex().encode(),
        secret.encode("utf-16-le"),
        "".join(f"\\u{ord(letter):04x}" for letter in secret).encode(),
        *in_base64(plain, shortest=SHORTEST_SECRET),
    }


def _first(pieces: Iterable[bytes], needles: Sequence[tuple[bytes, str]]) -> str:
    """The phrase of the first secret in a text that comes in pieces; "" if there is none."""
    overlap = max(len(needle) for needle, _ in needles) - 1
    kept = b""
    for piece in pieces:
        text = kept + piece
        for needle, phrase in needles:
            if needle in text:
                return phrase
        kept = text[-overlap:]
    return ""


def _texts(scope: Scope) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Everything that is stored, each with its name and its content in pieces."""
    folder = f"{FOLDER}/{scope.batch}" if scope.batch else FOLDER
    for name in _listed(folder):
        yield name, _stored(name)
    if scope.batch is not None:
        return
    for path in _in_data_folder():
        yield str(path), _raw(path)
    if connection.vendor != "sqlite":  # else it is a file in the data folder
        yield from _in_tables()


def _stored(name: str) -> Iterator[bytes]:
    try:
        if name.endswith(".zst"):
            yield from read_compressed(name)
        else:
            with files.open_file(name) as stored:
                while piece := stored.read(PIECE_BYTES):
                    yield piece
    except (FileNotFoundError, zstandard.ZstdError):
        return  # removed meanwhile; or damaged, which another check says


def _in_data_folder() -> Iterator[Path]:
    storage = default_storage
    elsewhere = Path(storage.location) if isinstance(storage, FileSystemStorage) else None
    keys = {settings.SECRET_KEY_FILE, settings.ENCRYPTION_KEY_FILE}
    for folder, folders, names in os.walk(settings.DATA):
        if elsewhere is not None:
            folders[:] = [one for one in folders if Path(folder, one) != elsewhere]
        for name in sorted(names):
            path = Path(folder, name)
            if path not in keys and not _is_kept_key(path):
                yield path


def _is_kept_key(path: Path) -> bool:
    """Whether a restore kept this key, when it put that of the backup in its place."""
    kept = path.parent.parent == settings.DATA and path.parent.name.startswith("before-restore-")
    return kept and path.name in KEYS


def _raw(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as content:
            while piece := content.read(PIECE_BYTES):
                yield piece
    except FileNotFoundError:  # removed meanwhile
        return


def _in_tables() -> Iterator[tuple[str, Iterator[bytes]]]:
    for model in apps.get_models():
        texts = [
            field.attname
            for field in model._meta.concrete_fields
            if isinstance(field, models.CharField | models.TextField | models.JSONField)
        ]
        for column in texts:
            values = model._default_manager.values_list(column, flat=True).order_by()
            yield (
                f"table {model._meta.db_table}, column {column}",
                (str(value).encode() + b"\n" for value in values.iterator(ROWS_AT_ONCE)),
            )
