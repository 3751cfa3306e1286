"""Removes files and drafts that nobody needs any more."""

import logging
from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus

logger = logging.getLogger(__name__)

# A draft that nobody started is kept this long.
DRAFTS_ARE_KEPT = timedelta(days=30)
AT_ONCE = 50
# Somebody may be downloading a batch while a colleague deletes it.
FILES_OUTLIVE = timedelta(hours=1)
ONCE_A_DAY = 24 * 60 * 60
SEEN_BEFORE = "orphans"


def sweep() -> None:
    """Remove old drafts, the files of deleted batches, and files that belong to no batch."""
    Batch.objects.filter(
        status=BatchStatus.DRAFT,
        deleted_at=None,
        created_at__lt=timezone.now() - DRAFTS_ARE_KEPT,
    ).update(deleted_at=timezone.now())
    gone = Batch.objects.filter(files_removed=False, deleted_at__lt=timezone.now() - FILES_OUTLIVE)
    for batch in gone[:AT_ONCE]:
        if not _remove_files(batch.pk):
            continue
        batch.parts.all().delete()
        Batch.objects.filter(pk=batch.pk).update(files_removed=True, sample=[], problem_rows=[])
    if cache.add("looked-for-orphans", True, ONCE_A_DAY):
        remove_orphans()


def _remove_files(batch_id: object) -> bool:
    """Remove the files of a batch. False: it was not possible, and the next sweep tries again.

    One that cannot be removed must not keep all the others.
    """
    try:
        files.remove_batch_files(batch_id)
    except OSError as problem:
        logger.warning("The files of batch %s cannot be removed: %s", batch_id, problem)
        return False
    return True


def remove_orphans() -> None:
    """Remove folders that belong to no batch. A crash during an upload leaves such folders.

    A folder is removed when it is found a second time, a day later, because an upload that is still
    coming in has no batch either.
    """
    folders = set(files.batch_folders())
    known = Batch.objects.filter(pk__in=folders).values_list("pk", flat=True)
    orphans = folders - {str(pk) for pk in known}
    for folder in orphans & set(cache.get(SEEN_BEFORE, ())):
        _remove_files(folder)
    cache.set(SEEN_BEFORE, sorted(orphans), 3 * ONCE_A_DAY)
