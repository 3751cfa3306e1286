"""The only code that changes a status.

A move is one conditional `UPDATE … WHERE id AND status AND epoch`, with its Event, in one
transaction. If it changes one row, the move is made. If it changes none, somebody else was first,
and nothing happens. Moves of parts lock their batch first, so that two parts that end together are
both counted. The decisions of people (start, stop, retry …) are in `decisions.py`, which calls
these functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Unpack, cast
from uuid import UUID

from django.db import models, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from batchui.batches.changes import BatchChanges, PartChanges, WaitingChanges, counted_rows
from batchui.batches.clock import is_free
from batchui.batches.models import Attempt, Batch, Event, Part, asked_fields
from batchui.batches.patience import NOTHING_WRONG
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import (
    ATTEMPT_MOVES,
    BATCH_MOVES,
    ENDED_BATCHES,
    PART_MOVES,
    SENT_PARTS,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
    Question,
    derive,
)
from batchui.prompts.ask import Ask
from batchui.teams.models import User

ANSWER_FIELDS = tuple(status.value for status in AnswerStatus)
SUMMED = (*ANSWER_FIELDS, "prompt_tokens", "completion_tokens")
STOP_CHANGES = ("status", "epoch", "waiting_became", "waiting_error", "message", *ANSWER_FIELDS)
# The number of waiting rows of a part (`Part.waiting`), for an UPDATE of many parts.
WAITING = (
    F("rows") - F("answered") - F("empty") - F("failed") - F("missing") - F("unsent") - F("invalid")
)

# Requests whose rows may be charged although there are no answers, or not yet.
PERHAPS_SENT = (
    AttemptStatus.WRITTEN,
    AttemptStatus.ACCEPTED,
    AttemptStatus.UNSURE,
    AttemptStatus.LOST,
    AttemptStatus.QUARANTINED,
)

STOPPED_BEFORE = "Stopped before it was sent."
STOPPED_UNSURE = "Stopped while it was unclear what had become of this row."
ENDINGS = {
    BatchStatus.FINISHED: "Finished.",
    BatchStatus.PROBLEMS: "Finished, with problems.",
    BatchStatus.FAILED: "Failed.",
    BatchStatus.STOPPED: "Stopped.",
}


class IllegalMoveError(Exception):
    """A move that `states.py` does not allow: a mistake in the code, never in the data."""


@dataclass(frozen=True)
class Closing:
    """The end of an attempt. It is stored together with a move of its part, or not at all."""

    attempt: Attempt
    to: AttemptStatus
    message: str = ""
    code: int | None = None
    reply_file: str = ""


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


# -- batches ------------------------------------------------------------------------------------


def move_batch(
    batch: Batch,
    to: BatchStatus,
    *,
    event: str = "",
    by: User | None = None,
    ask: Ask | None = None,
    **changes: Unpack[BatchChanges],
) -> bool:
    """Give a batch the status `to`, with its event. False: somebody else moved it first.

    `ask` and `changes` are set in the same UPDATE. On success `batch` has the new values. Raises
    IllegalMoveError for a move that is not in `BATCH_MOVES`.
    """
    if to not in BATCH_MOVES[BatchStatus(batch.status)]:
        raise IllegalMoveError(f"batch {batch.pk}: {batch.status} -> {to}")
    asked = {} if ask is None else asked_fields(ask)
    moved = {"status": to, "epoch": batch.epoch + 1, "lease_until": None, "readings_begun": 0}
    with transaction.atomic():
        if not _update_batch(batch, {**asked, **changes, **moved}):
            return False
        if event:
            record(batch, to.value, event, by=by)
    return True


def claim_batch(batch: Batch, lease: timedelta) -> bool:
    """Claim a batch that is `checking` or `preparing` for one worker, as long as the lease lasts.

    False: another worker has it. Each claim begins a reading of the file, and is counted until one
    ends.
    """
    changes = {
        "lease_until": timezone.now() + lease,
        "epoch": batch.epoch + 1,
        "readings_begun": batch.readings_begun + 1,
    }
    return _update_batch(batch, changes, is_free())


def touch_batch(batch: Batch, **changes: Unpack[BatchChanges]) -> bool:
    """Change fields of a batch but not its status. False: it was moved or claimed meanwhile."""
    return _update_batch(batch, changes)


def _update_batch(batch: Batch, changes: Mapping[str, Any], *conditions: Q) -> bool:
    won = Batch.objects.filter(
        *conditions, pk=batch.pk, status=batch.status, epoch=batch.epoch, deleted_at=None
    ).update(**changes, version=F("version") + 1)
    if won:
        _apply(batch, changes)
    return bool(won)


# -- parts --------------------------------------------------------------------------------------


def move_part(
    part: Part,
    to: PartStatus,
    *,
    event: str = "",
    by: User | None = None,
    closing: Closing | None = None,
    **changes: Unpack[PartChanges],
) -> bool:
    """Give a part the status `to`, with its event, its attempt, and the new sums of its batch.

    False: another worker moved it first. The lease ends unless `changes` sets one. On success
    `part` has the new values. If Stop was pressed, a part that would have to be sent again or
    needs a decision is ended at once. Raises IllegalMoveError for a move that is not in
    `PART_MOVES`.
    """
    if to not in PART_MOVES[PartStatus(part.status)]:
        raise IllegalMoveError(f"part {part.pk}: {part.status} -> {to}")
    moved = {"lease_until": None, "question": "", **changes}
    moved |= {"status": to, "epoch": part.epoch + 1}
    with transaction.atomic():
        batch = lock(part.batch_id)
        if not _update_part(part, moved):
            return False
        if closing:
            close_attempt(closing)
        if event:
            record(batch, to.value, event, by=by, part=part.number)
        if batch.stop_requested_at is not None and stop_parts(Part.objects.filter(pk=part.pk)):
            part.refresh_from_db(fields=STOP_CHANGES)
        settle(batch)
    return True


def settle_answers(part: Part, changes: PartChanges, *, closing: Closing, event: str = "") -> bool:
    """Store a new version of a part's answers: the part is done, or ready if rows still wait."""
    to = PartStatus.DONE if counted_rows(changes) >= part.rows else PartStatus.READY
    changes["resume_at"] = None
    return move_part(part, to, event=event, closing=closing, **changes)


def claim_part(part: Part, lease: timedelta) -> bool:
    """Claim a part for one poll, as long as the lease lasts; its status stays.

    False: another worker has it.
    """
    claimed = {"lease_until": timezone.now() + lease, "epoch": part.epoch + 1}
    return _update_part(part, claimed, is_free())


def take_over(part: Part, lease: timedelta) -> bool:
    """Take a part from a worker whose lease is over: it can commit nothing about the part any more.

    False: it has renewed its lease since the part was read, or somebody else was faster.
    """
    taken = {"lease_until": timezone.now() + lease, "epoch": part.epoch + 1}
    return _update_part(part, taken, Q(lease_until=part.lease_until))


def touch_part(part: Part, *, event: str = "", **changes: Unpack[PartChanges]) -> bool:
    """Change fields of a part but not its status, for example after a poll without news.

    The lease ends unless `changes` sets one. The batch gets new sums if counts of rows change.
    False: the part was moved or claimed meanwhile.
    """
    touched = {"lease_until": None, **changes}
    with transaction.atomic():
        batch = lock(part.batch_id)
        if not _update_part(part, touched):
            return False
        if event:
            record(batch, "failure", event, part=part.number)
        polled_at = changes.get("last_polled_at", batch.last_polled_at)
        Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1, last_polled_at=polled_at)
        if not changes.keys().isdisjoint(ANSWER_FIELDS):
            settle(batch)
    return True


def note(part: Part, text: str) -> None:
    """Write a line about a part into its batch's timeline, whoever has the part."""
    with transaction.atomic():
        batch = lock(part.batch_id)
        record(batch, "failure", text, part=part.number)
        Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1)


def close_attempt(closing: Closing) -> None:
    """End an attempt. Raises IllegalMoveError for a move that is not in `ATTEMPT_MOVES`."""
    attempt = closing.attempt
    if closing.to not in ATTEMPT_MOVES[AttemptStatus(attempt.status)]:
        raise IllegalMoveError(f"attempt {attempt.pk}: {attempt.status} -> {closing.to}")
    changes = {
        "status": closing.to,
        "message": closing.message,
        "code": closing.code,
        "reply_file": closing.reply_file,
        "finished_at": timezone.now(),
    }
    if Attempt.objects.filter(pk=attempt.pk, status=attempt.status).update(**changes):
        _apply(attempt, changes)


def reopen_attempts(attempts: QuerySet[Attempt]) -> None:
    """Let requests whose reply was not used be asked for again. Their raw replies stay."""
    attempts.filter(status=AttemptStatus.QUARANTINED).update(
        status=AttemptStatus.ACCEPTED, message="", finished_at=None
    )


def keep_reply(attempt: Attempt, reply_file: str) -> None:
    """Let an attempt point to a raw reply that cannot be read; its status stays."""
    Attempt.objects.filter(pk=attempt.pk).update(reply_file=reply_file)
    attempt.reply_file = reply_file


def store_receipt(attempt: Attempt, request_id: str) -> None:
    """Store the receipt of a request, whatever its part's status is now."""
    changes = {
        "request_id": request_id,
        "status": AttemptStatus.ACCEPTED,
        "accepted_at": timezone.now(),
    }
    Attempt.objects.filter(pk=attempt.pk).update(**changes)
    _apply(attempt, changes)


def _update_part(part: Part, changes: Mapping[str, Any], *conditions: Q) -> bool:
    won = Part.objects.filter(*conditions, pk=part.pk, status=part.status, epoch=part.epoch).update(
        **changes
    )
    if won:
        _apply(part, changes)
    return bool(won)


def _apply(instance: models.Model, changes: Mapping[str, Any]) -> None:
    for field, value in changes.items():
        setattr(instance, field, value)


# -- many parts at once, with their batch locked ------------------------------------------------


def lock(batch_id: UUID) -> Batch:
    """The batch, locked until the transaction ends (SQLite has one writer at a time anyway)."""
    return Batch.objects.select_for_update().get(pk=batch_id)


def stop_parts(parts: QuerySet[Part]) -> int:
    """Apply Stop to parts. Returns how many were moved; the caller settles the batch.

    Parts that were not sent are stopped, unsure parts are left out, sent parts go on.
    """
    waiting = parts.filter(status__in=(PartStatus.READY, PartStatus.HELD))
    # Its receipt came late, or it is asked again: its answers are fetched, not its rows sent.
    moved = waiting.filter(_with_attempt(AttemptStatus.ACCEPTED)).update(
        status=PartStatus.QUEUED,
        epoch=F("epoch") + 1,
        next_poll_at=timezone.now(),
        polls=0,
        **NOTHING_WRONG,
    )
    not_sent = parts.filter(status=PartStatus.UNSURE, question=Question.DAMAGED).exclude(
        _with_attempt(*PERHAPS_SENT)
    )
    moved += _end(not_sent, PartStatus.STOPPED, AnswerStatus.UNSENT, STOPPED_BEFORE)
    unsure = parts.filter(status=PartStatus.UNSURE)
    for unclear in (unsure, waiting.filter(_with_attempt(*PERHAPS_SENT))):
        moved += _end(unclear, PartStatus.DONE, AnswerStatus.MISSING, STOPPED_UNSURE)
    return moved + _end(waiting, PartStatus.STOPPED, AnswerStatus.UNSENT, STOPPED_BEFORE)


def _with_attempt(*statuses: AttemptStatus) -> Q:
    return Q(Exists(Attempt.objects.filter(part=OuterRef("pk"), status__in=statuses)))


def reopen_parts(parts: QuerySet[Part]) -> int:
    """Make ended parts ready again for a retry. Returns how many were moved.

    The counts of rows to ask again are set to 0. The caller settles the batch.
    """
    latest = Attempt.objects.filter(part=OuterRef("pk")).order_by("-number").values("number")[:1]
    return parts.filter(status__in=(PartStatus.DONE, PartStatus.STOPPED)).update(
        status=PartStatus.READY,
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        waiting_became="",
        waiting_error="",
        forget_unanswered=True,
        attempts_before=Coalesce(Subquery(latest), 0),
        message="",
        failures_in_a_row=0,
        resends=0,
        empty=0,
        failed=0,
        missing=0,
        unsent=0,
    )


def release_parts(parts: QuerySet[Part]) -> int:
    """Make held parts ready again. Returns how many were moved; the caller settles the batch."""
    return parts.filter(status=PartStatus.HELD).update(
        status=PartStatus.READY, epoch=F("epoch") + 1, resume_at=None, message=""
    )


def let_people_decide(parts: QuerySet[Part], message: str) -> int:
    """Make parts unsure that may have been sent since this database was copied.

    The caller settles the batch.
    """
    return parts.update(
        status=PartStatus.UNSURE,
        question=Question.RESTORED,
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        message=message,
    )


def send_undecided(parts: QuerySet[Part]) -> int:
    """Make unsure parts ready. Returns how many were moved; the caller settles the batch."""
    return parts.filter(status=PartStatus.UNSURE).update(
        status=PartStatus.READY,
        question="",
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        message="",
        failures_in_a_row=0,
    )


def queue_undecided(parts: QuerySet[Part], *, next_poll_at: datetime) -> int:
    """Make unsure parts `queued` that were sent, as if they had just been accepted.

    Returns how many were moved; the caller settles the batch.
    """
    return parts.filter(status=PartStatus.UNSURE).update(
        status=PartStatus.QUEUED,
        question="",
        epoch=F("epoch") + 1,
        lease_until=None,
        next_poll_at=next_poll_at,
        polls=0,
        **NOTHING_WRONG,
    )


def leave_out_parts(parts: QuerySet[Part], error: str) -> int:
    """End parts: their waiting rows become `missing`, with `error`. The caller settles the batch.

    A request for whose answers a retry has already looked in vain is given up: the next retry sends
    its rows again. Returns how many were moved.
    """
    may_end = parts.filter(status__in=(PartStatus.UNSURE, *SENT_PARTS))
    in_vain = Attempt.objects.filter(
        part__in=may_end.values("pk"),
        status=AttemptStatus.ACCEPTED,
        number__lte=F("part__attempts_before"),
    )
    # By key: an UPDATE cannot read the part in its condition.
    Attempt.objects.filter(pk__in=list(in_vain.values_list("pk", flat=True))).update(
        status=AttemptStatus.LOST, message=error, finished_at=timezone.now()
    )
    return _end(may_end, PartStatus.DONE, AnswerStatus.MISSING, error)


def close_waiting(part: Part, status: AnswerStatus, error: str) -> WaitingChanges:
    """The changes that give `status` to every waiting row, with the new count."""
    counted = getattr(part, status.value) + part.waiting
    changes: WaitingChanges = {
        "waiting_became": status.value,
        "waiting_error": error,
        "message": error,
    }
    return cast(WaitingChanges, {**changes, status.value: counted})


def _end(parts: QuerySet[Part], to: PartStatus, status: AnswerStatus, error: str) -> int:
    return parts.update(
        status=to,
        question="",
        epoch=F("epoch") + 1,
        lease_until=None,
        waiting_became=status.value,
        waiting_error=error,
        message=error,
        **{status.value: F(status.value) + WAITING},
    )


def settle(batch: Batch) -> None:
    """Recompute the status and the sums of a started batch from its parts.

    The caller has locked the batch.
    """
    found = batch.parts.aggregate(
        **{name: Sum(name) for name in SUMMED},
        last_polled_at=Max("last_polled_at"),
        **{f"is_{status.name}": Count("pk", filter=Q(status=status)) for status in PartStatus},
        held_for_person=Count("pk", filter=Q(status=PartStatus.HELD, resume_at=None)),
    )
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
