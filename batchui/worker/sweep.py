"""Removes files and drafts that nobody needs any more."""

from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus

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
        files.remove_batch_files(batch.pk)
        batch.parts.all().delete()
        Batch.objects.filter(pk=batch.pk).update(files_removed=True, sample=[], problem_rows=[])
    if cache.add("looked-for-orphans", True, ONCE_A_DAY):
        remove_orphans()


def remove_orphans() -> None:
    """Remove folders that belong to no batch. A crash during an upload leaves such folders.

    A folder is removed when it is found a second time, a day later, because an upload that is still
    coming in has no batch either.
    """
    folders = set(files.batch_folders())
    known = Batch.objects.filter(pk__in=folders).values_list("pk", flat=True)
    orphans = folders - {str(pk) for pk in known}
    for folder in orphans & set(cache.get(SEEN_BEFORE, ())):
        files.remove_batch_files(folder)
    cache.set(SEEN_BEFORE, sorted(orphans), 3 * ONCE_A_DAY)
