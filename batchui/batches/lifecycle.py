"""The only code that changes a status.

A move is one conditional `UPDATE … WHERE id AND status AND epoch`, with its Event, in one
transaction. One row changed means you won; none means somebody else moved it first, and nothing
of the move happened. Moves of parts lock their batch first, so that two parts that end together
are both counted.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.utils import timezone

from batchui.batches.models import Batch, Event, Part
from batchui.batches.states import (
    BATCH_MOVES,
    ENDED_BATCHES,
    PART_MOVES,
    STOPPABLE_BATCHES,
    AnswerStatus,
    BatchStatus,
    PartStatus,
    derive,
)
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, User

ANSWER_FIELDS = tuple(status.value for status in AnswerStatus)
SUMMED = (*ANSWER_FIELDS, "prompt_tokens", "completion_tokens")


class IllegalMoveError(Exception):
    """A move that `states.py` does not know: a mistake in the code, never in the data."""


def record(
    batch: Batch, kind: str, text: str, *, by: User | None = None, part: int | None = None
) -> None:
    """Write one line of the batch's timeline."""
    Event.objects.create(batch=batch, kind=kind, text=text, actor=by, part_number=part)


# -- batches ------------------------------------------------------------------------------------


def move_batch(
    batch: Batch,
    to: BatchStatus,
    *,
    event: str = "",
    by: User | None = None,
    **changes: Any,
) -> bool:
    """Move a batch on, with its event; False means somebody else moved it first.

    `changes` are further fields set in the same UPDATE. On success `batch` holds the new values.
    Raises IllegalMoveError for a move that is not in `BATCH_MOVES`.
    """
    if to not in BATCH_MOVES[BatchStatus(batch.status)]:
        raise IllegalMoveError(f"batch {batch.pk}: {batch.status} -> {to}")
    changes |= {"status": to, "epoch": batch.epoch + 1, "lease_until": None}
    with transaction.atomic():
        if not _update_batch(batch, changes):
            return False
        if event:
            record(batch, to.value, event, by=by)
    return True


def claim_batch(batch: Batch, lease: timedelta) -> bool:
    """Take a batch that is `checking` or `preparing` for one worker, for as long as the lease."""
    now = timezone.now()
    free = models.Q(lease_until=None) | models.Q(lease_until__lt=now)
    changes = {"lease_until": now + lease, "epoch": batch.epoch + 1}
    return _update_batch(batch, changes, free)


def touch_batch(batch: Batch, **changes: Any) -> bool:
    """Change what a page shows of a batch without moving it. False: it has moved meanwhile."""
    return _update_batch(batch, changes)


def _update_batch(batch: Batch, changes: dict[str, Any], *conditions: models.Q) -> bool:
    won = Batch.objects.filter(
        *conditions, pk=batch.pk, status=batch.status, epoch=batch.epoch, deleted_at=None
    ).update(**changes, version=models.F("version") + 1)
    if won:
        _take_over(batch, changes)
    return bool(won)


# -- parts --------------------------------------------------------------------------------------


def move_part(
    part: Part,
    to: PartStatus,
    *,
    event: str = "",
    by: User | None = None,
    **changes: Any,
) -> bool:
    """Move a part on, with its event and its batch's new sums; False means somebody was first.

    The lease ends with the move unless `changes` sets one. On success `part` holds the new
    values. Raises IllegalMoveError for a move that is not in `PART_MOVES`.
    """
    if to not in PART_MOVES[PartStatus(part.status)]:
        raise IllegalMoveError(f"part {part.pk}: {part.status} -> {to}")
    changes = {"lease_until": None} | changes | {"status": to, "epoch": part.epoch + 1}
    with transaction.atomic():
        batch = _lock(part.batch_id)
        if not _update_part(part, changes):
            return False
        if event:
            record(batch, to.value, event, by=by, part=part.number)
        if batch.stop_requested_at is not None:
            _stop_part(part)
        _settle(batch)
    return True


def claim_part(part: Part, lease: timedelta) -> bool:
    """Take a part for one look, for as long as the lease; its status stays."""
    now = timezone.now()
    free = models.Q(lease_until=None) | models.Q(lease_until__lt=now)
    return _update_part(part, {"lease_until": now + lease, "epoch": part.epoch + 1}, free)


def touch_part(part: Part, **changes: Any) -> bool:
    """Note something about a part without moving it (a look that brought nothing new, say)."""
    changes = {"lease_until": None} | changes
    with transaction.atomic():
        if not _update_part(part, changes):
            return False
        now = changes.get("last_looked_at")
        looked = {"last_looked_at": now} if now else {}
        Batch.objects.filter(pk=part.batch_id).update(version=models.F("version") + 1, **looked)
    return True


def _update_part(part: Part, changes: dict[str, Any], *conditions: models.Q) -> bool:
    won = Part.objects.filter(*conditions, pk=part.pk, status=part.status, epoch=part.epoch).update(
        **changes
    )
    if won:
        _take_over(part, changes)
    return bool(won)


def _take_over(instance: models.Model, changes: Mapping[str, Any]) -> None:
    for field, value in changes.items():
        setattr(instance, field, value)


def _lock(batch_id: UUID) -> Batch:
    """The batch, locked until the transaction ends (SQLite has one writer at a time anyway)."""
    return Batch.objects.select_for_update().get(pk=batch_id)


def _settle(batch: Batch) -> None:
    """Recompute a started batch from its parts; its row is locked by the caller."""
    totals = dict(
        batch.parts.aggregate(
            **{name: models.Sum(name) for name in SUMMED},
            last_looked_at=models.Max("last_looked_at"),
        )
    )
    by_status = batch.parts.values_list("status").annotate(models.Count("pk")).order_by()
    counts = {PartStatus(status): number for status, number in by_status}
    status = derive(
        counts,
        held_for_person=batch.parts.filter(status=PartStatus.HELD, resume_at=None).count(),
        answers={AnswerStatus(name): totals[name] for name in ANSWER_FIELDS},
        stop_requested=batch.stop_requested_at is not None,
    )
    changes: dict[str, Any] = {**totals, "version": models.F("version") + 1}
    if status != batch.status:
        changes |= {"status": status, "epoch": batch.epoch + 1} | _ending(batch, status)
    Batch.objects.filter(pk=batch.pk).update(**changes)


def _ending(batch: Batch, status: BatchStatus) -> dict[str, Any]:
    """What else changes when a batch ends, or goes on after it had ended."""
    if status not in ENDED_BATCHES:
        return {"finished_at": None}
    answered, rows = batch.parts.aggregate(models.Sum("answered"))["answered__sum"], batch.rows
    record(batch, status.value, f"{ENDINGS[status]} {answered:,} of {rows:,} rows are answered.")
    return {"finished_at": timezone.now()}


ENDINGS = {
    BatchStatus.FINISHED: "Finished.",
    BatchStatus.PROBLEMS: "Finished, with problems.",
    BatchStatus.FAILED: "Failed.",
    BatchStatus.STOPPED: "Stopped.",
}


STOPPED_BEFORE = "Stopped before this row was sent."
STOPPED_UNSURE = "Stopped before it was known what became of this row."
LEFT_OUT = "It is not known what became of this row; it was left out."


# -- what people decide -------------------------------------------------------------------------


def start(batch: Batch, *, by: User | None, **ask: Any) -> bool:
    """Start a draft with what is asked (`ask`: fields of the batch). False: no longer a draft.

    Two clicks, or two people, start it once: the second finds it moved. It goes to the team's
    connection of now, which may have been set up after the upload.
    """
    return move_batch(
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
        batch = _lock(batch.pk)
        if batch.status not in STOPPABLE_BATCHES:
            return False
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=timezone.now())
        batch.refresh_from_db()
        record(batch, "stopping", "Stop was pressed. Nothing more is sent.", by=by)
        for part in batch.parts.all():
            _stop_part(part)
        _settle(batch)
    return True


def retry(batch: Batch, *, by: User | None) -> bool:
    """Send again just the rows that have no answer. False: there is nothing to retry."""
    with transaction.atomic():
        batch = _lock(batch.pk)
        if not batch.can_retry:
            return False
        rows = batch.unanswered
        parts = [part for part in batch.parts.all() if part.unanswered]
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=None)
        batch.refresh_from_db()
        record(batch, "retry", f"Retry: {rows:,} rows are sent again.", by=by)
        for part in parts:
            _reopen(part)
        _settle(batch)
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
    if part.status != PartStatus.UNSURE:
        return False
    return move_part(
        part,
        PartStatus.DONE,
        event=f"Part {part.number} was left out.",
        by=by,
        **rest(part, AnswerStatus.MISSING, LEFT_OUT),
    )


def release(batch: Batch, *, by: User | None) -> int:
    """Try the held parts of a batch again now, whatever their connection waits for. Returns how
    many."""
    released = 0
    Connection.objects.filter(pk=batch.connection_id).update(paused_until=None, pause_reason="")
    for part in batch.parts.filter(status=PartStatus.HELD):
        released += move_part(part, PartStatus.READY, resume_at=None, message="", troubles=0)
    if released:
        record(batch, "retry", "Try now: the parts on hold are sent.", by=by)
    return released


def delete(batch: Batch, *, by: User | None) -> bool:
    """Take a batch out of the history. Its files are removed by the next sweep.

    False while it is on its way: stop it first.
    """
    return bool(
        Batch.objects.filter(
            pk=batch.pk,
            deleted_at=None,
            status__in=(BatchStatus.CHECKING, BatchStatus.DRAFT, *ENDED_BATCHES),
        ).update(deleted_at=timezone.now(), deleted_by=by, epoch=models.F("epoch") + 1)
    )


# -- what the rest of a part comes to -----------------------------------------------------------


def rest(part: Part, status: AnswerStatus, error: str) -> dict[str, Any]:
    """The changes that say what the rows still on their way came to, with the counts."""
    return {
        "rest_status": status.value,
        "rest_error": error,
        "message": error,
        status.value: getattr(part, status.value) + part.waiting,
    }


def _stop_part(part: Part) -> None:
    """What Stop means for a part, when it is pressed and whenever the part comes back later."""
    if part.status in (PartStatus.READY, PartStatus.HELD):
        _end_part(part, PartStatus.STOPPED, AnswerStatus.UNSENT, STOPPED_BEFORE)
    elif part.status == PartStatus.UNSURE:
        _end_part(part, PartStatus.DONE, AnswerStatus.MISSING, STOPPED_UNSURE)


def _end_part(part: Part, to: PartStatus, status: AnswerStatus, error: str) -> None:
    _update_part(
        part,
        {"status": to, "epoch": part.epoch + 1, "lease_until": None, **rest(part, status, error)},
    )


def _reopen(part: Part) -> None:
    """Make a part ready again. Its counts forget what the retry is about to ask again."""
    changes = {
        "status": PartStatus.READY,
        "epoch": part.epoch + 1,
        "lease_until": None,
        "resume_at": None,
        "rest_status": "",
        "rest_error": "",
        "forget_unanswered": True,
        "message": "",
        "troubles": 0,
        "resends": 0,
        "empty": 0,
        "failed": 0,
        "missing": 0,
        "unsent": 0,
    }
    if PartStatus.READY not in PART_MOVES[PartStatus(part.status)]:
        raise IllegalMoveError(f"part {part.pk}: {part.status} -> ready")
    _update_part(part, changes)
