"""The ZIP archive of pictures that goes with a draft: added, taken away, and copied with it."""

from contextlib import suppress
from pathlib import PurePath
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.storage import default_storage

from batchui.batches import files
from batchui.batches.changes import BatchChanges
from batchui.batches.files import AnyFile
from batchui.batches.long_tasks import cannot_store
from batchui.batches.models import LONGEST_NAME, Batch
from batchui.batches.states import EDITABLE
from batchui.batches.upload_limits import refuse_full_disk, too_large
from batchui.pictures.packed import PackedPictures
from batchui.pictures.problems import NoPicture
from batchui.prompts.problems import BadInput

NO_ARCHIVE: BatchChanges = {"pictures_file": "", "pictures_name": "", "pictures_count": 0}
NOT_A_DRAFT = "This batch was started, so its pictures stay as they are."


def add(batch: Batch, upload: AnyFile) -> None:
    """Let an archive go with a draft, in place of one that does already.

    Raises BadInput, with a sentence, for one that cannot be read, has no pictures, or is too large;
    then nothing has changed.
    """
    if upload.size > settings.MAX_UPLOAD_BYTES:
        raise too_large(upload.size)
    upload.seek(0)
    count = count_pictures(cast(BinaryIO, upload))
    refuse_full_disk(upload.size)
    name = files.picture_archive_path(batch.pk)
    try:
        upload.seek(0)
        files.save(name, cast(BinaryIO, upload))
    except OSError as problem:
        raise BadInput(cannot_store(problem)) from problem
    called = PurePath((upload.name or "pictures.zip").replace("\\", "/")).name[-LONGEST_NAME:]
    added: BatchChanges = {
        "pictures_file": name,
        "pictures_name": called,
        "pictures_count": count,
    }
    _replace(batch, added)


def remove(batch: Batch) -> None:
    """Let no archive go with a draft any more. Raises BadInput if it was started."""
    _replace(batch, NO_ARCHIVE)


def _replace(batch: Batch, changes: BatchChanges) -> None:
    """Change the archive of a draft; the one before is removed, unless the rows are in it, too."""
    before = batch.pictures_file
    drafts = Batch.objects.filter(pk=batch.pk, status__in=EDITABLE, deleted_at=None)
    if not drafts.update(**changes):
        _forget(changes["pictures_file"])
        raise BadInput(NOT_A_DRAFT)
    if not batch.has_pictures_inside:
        _forget(before)
    batch.refresh_from_db()


def _forget(name: str) -> None:
    with suppress(OSError):
        if name:
            default_storage.delete(name)


def count_pictures(archive: BinaryIO) -> int:
    """How many pictures an archive has. Raises BadInput if that cannot be told, or it has none."""
    try:
        return len(PackedPictures(archive).names)
    except NoPicture as problem:
        raise BadInput(str(problem)) from problem


def copied(batch: Batch, to: object, *, source_file: str = "") -> BatchChanges:
    """The fields of a copy of a batch, with the id `to`, that has the same pictures.

    source_file: the copy of its upload, where that is copied, too. Raises OSError.
    """
    if not batch.pictures_file:
        return {}
    name = source_file
    if not (batch.has_pictures_inside and source_file):
        name = files.copy(batch.pictures_file, files.picture_archive_path(to))
    return {
        "pictures_file": name,
        "pictures_name": batch.pictures_name,
        "pictures_count": batch.pictures_count,
    }
