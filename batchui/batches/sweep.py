"""Tidying: what nobody will ask for again is removed."""

from datetime import timedelta

from django.utils import timezone

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus

# A draft that nobody started is kept this long.
DRAFTS_ARE_KEPT = timedelta(days=30)
AT_ONCE = 50


def sweep() -> None:
    """Remove the files of deleted batches, and old drafts with theirs."""
    Batch.objects.filter(
        status=BatchStatus.DRAFT,
        deleted_at=None,
        created_at__lt=timezone.now() - DRAFTS_ARE_KEPT,
    ).update(deleted_at=timezone.now())
    for batch in Batch.objects.filter(files_removed=False).exclude(deleted_at=None)[:AT_ONCE]:
        files.remove_batch_files(batch.pk)
        batch.parts.all().delete()
        Batch.objects.filter(pk=batch.pk).update(files_removed=True, sample=[], problem_rows=[])
