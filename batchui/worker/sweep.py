"""Removing what nobody will ask for again."""

from datetime import timedelta

from django.core.cache import cache
from django.utils import timezone

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus

# A draft that nobody started is kept this long.
DRAFTS_ARE_KEPT = timedelta(days=30)
AT_ONCE = 50
# Somebody may just be downloading what a colleague deletes.
FILES_OUTLIVE = timedelta(hours=1)
ONCE_A_DAY = 24 * 60 * 60
SEEN_BEFORE = "orphans"


def sweep() -> None:
    """Remove the files of deleted batches, old drafts with theirs, and files of no batch."""
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
    """Remove folders that belong to no batch, as a crash in the middle of an upload leaves them.

    One is removed when it is found a second time, a day later: an upload just coming in has no
    batch yet either.
    """
    folders = set(files.batch_folders())
    known = Batch.objects.filter(pk__in=folders).values_list("pk", flat=True)
    orphans = folders - {str(pk) for pk in known}
    for folder in orphans & set(cache.get(SEEN_BEFORE, ())):
        files.remove_batch_files(folder)
    cache.set(SEEN_BEFORE, sorted(orphans), 3 * ONCE_A_DAY)
