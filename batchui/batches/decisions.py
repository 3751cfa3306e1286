"""What people decide about a batch. Two people, or two clicks, at once decide once: who comes
second finds it done, and is told so by the False that comes back."""

from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from batchui.batches import call_limit
from batchui.batches.lifecycle import (
    lock,
    move_batch,
    move_part,
    record,
    release_parts,
    reopen_parts,
    rest,
    settle,
    stop_parts,
)
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import (
    ENDED_BATCHES,
    RETRYABLE_ANSWERS,
    STOPPABLE_BATCHES,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
)
from batchui.teams.connections import ensure_connection
from batchui.teams.models import User

LEFT_OUT = "It is not known what became of this row; it was left out."
EDITABLE = (BatchStatus.CHECKING, BatchStatus.DRAFT)


def edit(batch: Batch, **ask: Any) -> bool:
    """Keep what is typed with a draft (`ask`: fields of the batch). False: it was started."""
    drafts = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=EDITABLE)
    return bool(drafts.update(**ask))


def start(batch: Batch, *, by: User | None, **ask: Any) -> bool:
    """Start a draft with what is asked (`ask`: fields of the batch). False: no longer a draft.

    It goes to the team's connection of now, which may have been set up after the upload.
    """
    return batch.status == BatchStatus.DRAFT and move_batch(
        batch,
        BatchStatus.PREPARING,
        event="Started.",
        by=by,
        started_at=timezone.now(),
        connection=ensure_connection(batch.team),
        problem="",
        problem_rows=[],
        progress_rows=0,
        **ask,
    )


def stop(batch: Batch, *, by: User | None) -> bool:
    """Send nothing more of a batch. What was sent is still fetched, and may be charged.

    Rows not sent become `unsent`; parts nobody is sure about are left out (`missing`).
    False: there is nothing to stop.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.status not in STOPPABLE_BATCHES:
            return False
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=timezone.now())
        batch.refresh_from_db()
        record(batch, "stopping", "Stop was pressed. Nothing more is sent.", by=by)
        stop_parts(batch.parts.all())
        settle(batch)
    return True


def retry(batch: Batch, *, by: User | None) -> bool:
    """Send again just the rows that have no answer. False: there is nothing to retry.

    They go to the team's connection of now, unless an answer is still to be had at the old one.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if not batch.can_retry:
            return False
        changes: dict[str, Any] = {"stop_requested_at": None}
        if not Attempt.objects.filter(part__batch=batch, status=AttemptStatus.ACCEPTED).exists():
            changes["connection"] = ensure_connection(batch.team)
        Batch.objects.filter(pk=batch.pk).update(**changes)
        rows = "1 row is" if batch.unanswered == 1 else f"{batch.unanswered:,} rows are"
        record(batch, "retry", f"Retry: {rows} sent again.", by=by)
        without = Q()
        for status in RETRYABLE_ANSWERS:
            without |= Q(**{f"{status.value}__gt": 0})
        reopen_parts(batch.parts.filter(without))
        batch.refresh_from_db()
        settle(batch)
    return True


def send_again(part: Part, *, by: User | None) -> bool:
    """Send a part that may have been sent before; its rows may be charged twice."""
    return part.status == PartStatus.UNSURE and move_part(
        part,
        PartStatus.READY,
        event=f"Part {part.number} is sent again. Its rows may be charged twice.",
        by=by,
        resume_at=None,
        message="",
        troubles=0,
    )


def leave_out(part: Part, *, by: User | None) -> bool:
    """Leave a part that may have been sent: its rows without an answer are `missing`."""
    return part.status == PartStatus.UNSURE and move_part(
        part,
        PartStatus.DONE,
        event=f"Part {part.number} was left out.",
        by=by,
        **rest(part, AnswerStatus.MISSING, LEFT_OUT),
    )


def release(batch: Batch, *, by: User | None) -> int:
    """Try the held parts of a batch again now, whatever their connection waits for. Returns how
    many."""
    with transaction.atomic():
        batch = lock(batch.pk)
        call_limit.resume(batch.connection_id)
        released = release_parts(batch.parts.all())
        if released:
            record(batch, "retry", "Try now: the parts on hold are sent.", by=by)
            settle(batch)
    return released


def delete(batch: Batch, *, by: User | None) -> bool:
    """Take a batch out of the history. Its files are removed by the next sweep.

    False while it is on its way: stop it first.
    """
    return bool(
        Batch.objects.filter(
            pk=batch.pk, deleted_at=None, status__in=(*EDITABLE, *ENDED_BATCHES)
        ).update(deleted_at=timezone.now(), deleted_by=by, epoch=F("epoch") + 1)
    )
