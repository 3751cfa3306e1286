"""What a move of parts means for their batch: it is locked, told in its timeline, and summed up."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

from batchui.batches import many_parts
from batchui.batches.models import WAITING_FOR_COPIES, Batch, Event
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import (
    ENDED_BATCHES,
    OPEN_PARTS,
    AnswerStatus,
    BatchStatus,
    PartStatus,
    derive,
)
from batchui.teams.models import User

ANSWER_FIELDS = tuple(status.value for status in AnswerStatus)
SUMMED = (*ANSWER_FIELDS, "prompt_tokens", "completion_tokens")
ENDINGS = {
    BatchStatus.FINISHED: "Finished.",
    BatchStatus.PROBLEMS: "Finished, with problems.",
    BatchStatus.FAILED: "Failed.",
    BatchStatus.STOPPED: "Stopped.",
}


def lock(batch_id: UUID) -> Batch:
    """The batch, locked until the transaction ends (SQLite has one writer at a time anyway)."""
    return Batch.objects.select_for_update().get(pk=batch_id)


def record(
    batch: Batch,
    kind: str,
    text: str,
    *,
    by: User | None = None,
    part: int | None = None,
    parts: Sequence[int] = (),
) -> None:
    """Write one line of the batch's timeline: about the batch, a part, or several parts."""
    if len(parts) == 1:
        [part], parts = parts, ()
    Event.objects.create(
        batch=batch,
        kind=kind,
        text=text,
        actor=by,
        part_number=part,
        part_numbers=list(parts) or None,
    )


def settle(batch: Batch) -> None:
    """Recompute the status and the sums of a started batch from its parts.

    Parts that wait for the answers of others are made ready when all others have ended; until then
    they look from time to time, by themselves (`copying.pause_after`). The caller has locked the
    batch.
    """
    found = batch.parts.aggregate(
        **{name: Sum(name) for name in SUMMED},
        last_polled_at=Max("last_polled_at"),
        **{f"is_{status.name}": Count("pk", filter=Q(status=status)) for status in PartStatus},
        held_for_person=Count("pk", filter=Q(status=PartStatus.HELD, resume_at=None)),
        waiting_for_copies=Count("pk", filter=WAITING_FOR_COPIES),
    )
    open_parts = sum(found[f"is_{status.name}"] for status in OPEN_PARTS)
    if 0 < open_parts == found["waiting_for_copies"]:
        many_parts.release(batch.parts.filter(WAITING_FOR_COPIES))
    status = derive(
        {status: found[f"is_{status.name}"] for status in PartStatus},
        held_for_person=found["held_for_person"],
        answers={AnswerStatus(name): found[name] for name in ANSWER_FIELDS},
        stop_requested=batch.stop_requested_at is not None,
    )
    changes: dict[str, Any] = {name: found[name] for name in (*SUMMED, "last_polled_at")}
    if status != batch.status:
        ended = status in ENDED_BATCHES
        changes |= {"status": status, "epoch": batch.epoch + 1}
        changes["finished_at"] = timezone.now() if ended else None
        if ended:
            answered = f"{found['answered']:,} of {rows_phrase(batch.rows)} answered."
            record(batch, status.value, f"{ENDINGS[status]} {answered}")
    Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1, **changes)
