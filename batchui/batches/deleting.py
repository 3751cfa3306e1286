"""Takes batches out of the history, brings them back, and lets go of them for good."""

from collections.abc import Collection
from datetime import timedelta

from django.db.models import F, QuerySet
from django.utils import timezone

from batchui import security_log
from batchui.batches.models import Batch
from batchui.batches.owners import may_delete
from batchui.batches.signals import work_waits
from batchui.batches.states import EDITABLE, ENDED_BATCHES, BatchStatus
from batchui.teams.models import Team, User

# A deleted batch can be brought back for so long; then a sweep removes its files.
KEPT = timedelta(days=30)


def delete(batch: Batch, *, by: User | None) -> bool:
    """Take a batch out of the history. It can be brought back for 30 days.

    False: the batch is under way (stop it first), is deleted already, or is not theirs to delete.
    """
    return _delete(batch, (*EDITABLE, *ENDED_BATCHES), by)


def discard(draft: Batch, *, by: User | None) -> bool:
    """Delete a draft. False: it was started meanwhile, is deleted already, or is not theirs."""
    return _delete(draft, EDITABLE, by)


def deleted_of(team: Team) -> QuerySet[Batch]:
    """The deleted batches of a team that can be brought back, the latest first."""
    kept = Batch.objects.filter(team=team, deleted_at__isnull=False, files_removed=False)
    return kept.filter(kept_until__gt=timezone.now()).order_by("-deleted_at")


def bring_back(batch: Batch, *, by: User | None) -> bool:
    """Put a deleted batch into the history again, as it was.

    False: it is there already, it is gone for good, or it is not theirs.
    """
    if not may_delete(batch, by):
        return False
    found = deleted_of(batch.team).filter(pk=batch.pk)
    back = found.update(
        deleted_at=None,
        deleted_by=None,
        kept_until=None,
        epoch=F("epoch") + 1,
        version=F("version") + 1,
    )
    if back:
        security_log.record("batch brought back", who=by and by.in_log, batch=batch.pk)
        work_waits.send(Batch, batch=batch)  # its file may wait to be read
    return bool(back)


def let_go(batch: Batch, *, by: User | None) -> bool:
    """Let the next sweep remove a deleted batch for good: its file, its rows, its answers.

    False: it is not deleted, is gone already, or is not theirs.
    """
    if not may_delete(batch, by):
        return False
    gone = deleted_of(batch.team).filter(pk=batch.pk).update(kept_until=None)
    if gone:
        security_log.record("batch removed", who=by and by.in_log, batch=batch.pk)
    return bool(gone)


def _delete(batch: Batch, statuses: Collection[BatchStatus], by: User | None) -> bool:
    if not may_delete(batch, by):
        return False
    now = timezone.now()
    deleted = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=statuses).update(
        deleted_at=now, deleted_by=by, kept_until=now + KEPT, epoch=F("epoch") + 1
    )
    if deleted:
        security_log.record("batch deleted", who=by and by.in_log, batch=batch.pk)
    return bool(deleted)
