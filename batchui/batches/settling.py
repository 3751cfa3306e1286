"""What a move of parts means for their batch: it is locked, told in its timeline, and summed up."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Max, QuerySet, Sum, UUIDField
from django.utils import timezone

from batchui.batches import many_parts
from batchui.batches.loading import fields_of
from batchui.batches.models import WAITING_FOR_COPIES, Batch, Event, Part
from batchui.batches.phrases import rows_phrase
from batchui.batches.prepared import Given, prepared
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
SUMMED = (*ANSWER_FIELDS, "edited", "cut", "prompt_tokens", "completion_tokens")
# A move that changes one of these of a part changes the sums of its batch.
CHANGE_SUMS = (*SUMMED, "last_polled_at")
READ_TO_SETTLE = ("status", "epoch", "rows", "stop_requested_at", "finished_at", *CHANGE_SUMS)
_READ = fields_of(Batch, READ_TO_SETTLE)
ENDINGS = {
    BatchStatus.FINISHED: "Finished.",
    BatchStatus.PROBLEMS: "Finished, with problems.",
    BatchStatus.FAILED: "Failed.",
    BatchStatus.STOPPED: "Stopped.",
}


def lock(batch_id: UUID) -> Batch:
    """The batch, locked until the transaction ends (SQLite has one writer at a time anyway)."""
    return Batch.objects.select_for_update().get(pk=batch_id)


def lock_to_settle(batch_id: UUID) -> Batch:
    """The same, with only what `settle` reads: a batch has many more fields, and some are large."""
    for row in _locked(batch=batch_id):
        return Batch.from_db("default", _READ, row)
    raise Batch.DoesNotExist(f"There is no batch {batch_id} any more.")


@prepared(batch=UUIDField())
def _locked(batch: Given) -> QuerySet[Any, Any]:
    found = Batch.objects.select_for_update().filter(pk=batch)
    return found.order_by().values_list(*_READ)


def _answered(rows: int, answers: Mapping[str, int]) -> str:
    """“58 of 63 rows answered, 2 skipped.”: those that are skipped were not to be asked."""
    skipped = answers["skipped"] + answers["invalid"]
    besides = f", {skipped:,} skipped" if skipped else ""
    return f"{answers['answered']:,} of {rows_phrase(rows - skipped)} answered{besides}."


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


def raise_version(batch: Batch) -> None:
    """Note that something of a batch is to be shown anew, although its status and sums stay."""
    Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1)


@prepared(batch=UUIDField())
def _counts(batch: Given) -> QuerySet[Any, Any]:
    """How many parts of a batch have each status."""
    found = Part.objects.filter(batch=batch).order_by()
    return found.values_list("status").annotate(Count("pk"))


@prepared(batch=UUIDField())
def _sums(batch: Given) -> QuerySet[Any, Any]:
    """The same, with the latest poll and the sums of SUMMED of these parts."""
    found = Part.objects.filter(batch=batch).order_by()
    summed = [Max("last_polled_at"), *map(Sum, SUMMED)]
    return found.values_list("status").annotate(Count("pk"), *summed)


def settle(batch: Batch, *, sums: bool = True) -> None:
    """Recompute the status and the sums of a started batch from its parts.

    sums: False where nothing in CHANGE_SUMS has changed, as in most moves of a part: the
    batch keeps its sums then. Parts that wait for the answers of others are made ready when all
    others have ended; until then they look from time to time, by themselves
    (`copying.pause_after`). The caller has locked the batch.
    """
    parts = Part.objects.filter(batch=batch.pk).order_by()
    # 1. In groups: Django needs three times as long for the SQL of a count of each status.
    groups = (_sums if sums else _counts)(batch=batch.pk)
    by_status = {PartStatus(group[0]): group[1] for group in groups}
    changes: dict[str, Any] = {}
    if sums:
        changes["last_polled_at"] = max((one[2] for one in groups if one[2]), default=None)
        changes |= {name: sum(one[at] for one in groups) for at, name in enumerate(SUMMED, 3)}
    # 2. Parts that are held.
    held_for_person = 0
    if PartStatus.HELD in by_status:
        held_for_person = parts.filter(status=PartStatus.HELD, resume_at=None).count()
        is_open = sum(by_status.get(status, 0) for status in OPEN_PARTS)
        if 0 < is_open == parts.filter(WAITING_FOR_COPIES).count():
            many_parts.release(parts.filter(WAITING_FOR_COPIES))
    # 3. The status of the batch.
    answers = {name: changes.get(name, getattr(batch, name)) for name in ANSWER_FIELDS}
    status = derive(
        by_status,
        held_for_person=held_for_person,
        answers={AnswerStatus(name): rows for name, rows in answers.items()},
        stop_requested=batch.stop_requested_at is not None,
    )
    if status != batch.status:
        ended = status in ENDED_BATCHES
        changes |= {"status": status, "epoch": batch.epoch + 1}
        # It has ended already where only the worth of its answers is another one now.
        changes["finished_at"] = (batch.finished_at or timezone.now()) if ended else None
        if batch.finished_at and not ended:
            changes["idle"] = batch.idle + (timezone.now() - batch.finished_at)
        if ended:
            record(batch, status.value, f"{ENDINGS[status]} {_answered(batch.rows, answers)}")
    news = {name: value for name, value in changes.items() if value != getattr(batch, name)}
    Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1, **news)
