"""Moves of one batch or part. With `many_parts.py`, the only code that changes a status.

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

from django.db import models, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from batchui.batches import claims, many_parts, settling
from batchui.batches.changes import BatchChanges, PartChanges, WaitingChanges, counted_rows
from batchui.batches.clock import is_free
from batchui.batches.models import Attempt, Batch, Part, asked_fields
from batchui.batches.settling import ANSWER_FIELDS
from batchui.batches.states import (
    ALIKE_PARTS,
    ATTEMPT_MOVES,
    BATCH_MOVES,
    ENDED_PARTS,
    PART_MOVES,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
)
from batchui.prompts.ask import Ask
from batchui.teams.models import User

# What `many_parts.stop` changes of a part.
STOP_CHANGES = ("status", "epoch", "waiting_became", "waiting_error", "message", *ANSWER_FIELDS)


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
    in_vain: int = 0


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
            settling.record(batch, to.value, event, by=by)
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
    _check_move(part, to)
    moved = {"lease_until": None, "question": "", **changes}
    moved |= {"status": to, "epoch": part.epoch + 1}
    alike = ALIKE_PARTS.issuperset((part.status, to))
    with transaction.atomic():
        batch = settling.lock_to_settle(part.batch_id)
        if not _update_part(part, moved):
            return False
        if closing:
            close_attempt(closing)
        if event:
            settling.record(batch, to.value, event, by=by, part=part.number)
        sums = not changes.keys().isdisjoint(settling.CHANGE_SUMS)
        if batch.stop_requested_at is not None and many_parts.stop(Part.objects.filter(pk=part.pk)):
            part.refresh_from_db(fields=STOP_CHANGES)
            sums = True
        if sums or not alike:
            settling.settle(batch, sums=sums)
        else:
            settling.raise_version(batch)
    return True


def _check_move(part: Part, to: PartStatus) -> None:
    if to not in PART_MOVES[PartStatus(part.status)]:
        raise IllegalMoveError(f"part {part.pk}: {part.status} -> {to}")


def settle_answers(
    part: Part,
    changes: PartChanges,
    *,
    closing: Closing | None = None,
    event: str = "",
    resume_at: datetime | None = None,
) -> bool:
    """Store a new version of a part's answers: the part is done, or ready if rows still wait.

    resume_at: those are not sent before.
    """
    is_done = counted_rows(changes) >= part.rows and not changes.get("asked_again")
    to = PartStatus.DONE if is_done else PartStatus.READY
    changes["resume_at"] = None if is_done else resume_at
    return move_part(part, to, event=event, closing=closing, **changes)


def claim_part(part: Part, lease: timedelta) -> bool:
    """Claim a part for one poll, as long as the lease lasts; its status stays.

    False: another worker has it.
    """
    claimed = {"lease_until": timezone.now() + lease, "epoch": part.epoch + 1}
    return _remembered(part, won=_update_part(part, claimed, is_free()))


def claim_to_send(parts: Sequence[Part], lease: timedelta) -> list[Part]:
    """Move ready parts of one batch to `sending`, in one transaction: who writes to SQLite keeps
    all others from it. Returns those that no other worker has moved. Raises IllegalMoveError as
    `move_part`, and Batch.DoesNotExist if their batch is gone.
    """
    for part in parts:
        _check_move(part, PartStatus.SENDING)
    claimed = {"status": PartStatus.SENDING, "question": "", "lease_until": timezone.now() + lease}
    with transaction.atomic():
        batch = settling.lock_to_settle(parts[0].batch_id)
        won = [part for part in parts if _update_part(part, {**claimed, "epoch": part.epoch + 1})]
        if won:
            settling.raise_version(batch)
    for part in won:
        claims.remember(part, epoch=part.epoch)
    return won


def take_over(part: Part, lease: timedelta) -> bool:
    """Take a part from a worker whose lease is over: it can commit nothing about the part any more.

    False: it has renewed its lease since the part was read, or somebody else was faster.
    """
    taken = {"lease_until": timezone.now() + lease, "epoch": part.epoch + 1}
    return _remembered(part, won=_update_part(part, taken, Q(lease_until=part.lease_until)))


def _remembered(part: Part, *, won: bool) -> bool:
    """Write a claim down if it was won. Returns whether it was."""
    if won:
        claims.remember(part, epoch=part.epoch)
    return won


def claim_ended(part: Part) -> bool:
    """Claim an ended part for one change of its answers: its next file has a name of its own.

    False: it is under way, or somebody else was faster.
    """
    if part.status not in ENDED_PARTS:
        return False
    return _update_part(part, {"epoch": part.epoch + 1})


def touch_part(part: Part, *, event: str = "", **changes: Unpack[PartChanges]) -> bool:
    """Change fields of a part but not its status, for example after a poll without news.

    The lease ends unless `changes` sets one. The batch gets new sums if counts of rows change.
    False: the part was moved or claimed meanwhile.
    """
    touched = {"lease_until": None, **changes}
    with transaction.atomic():
        batch = settling.lock_to_settle(part.batch_id)
        if not _update_part(part, touched):
            return False
        if event:
            settling.record(batch, "failure", event, part=part.number)
        polled_at = changes.get("last_polled_at", batch.last_polled_at)
        Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1, last_polled_at=polled_at)
        if not changes.keys().isdisjoint(ANSWER_FIELDS):
            settling.settle(batch)
    return True


def renew_lease(part: Part, lease: timedelta) -> bool:
    """Renew the lease of a part that this worker has; of what was odd, nothing counts any more.

    The caller has locked the batch. False: another worker has the part.
    """
    return _update_part(part, {"lease_until": timezone.now() + lease, "odd_seen": 0})


def note(part: Part, text: str) -> None:
    """Write a line about a part into its batch's timeline, whoever has the part."""
    with transaction.atomic():
        batch = settling.lock_to_settle(part.batch_id)
        settling.record(batch, "failure", text, part=part.number)
        settling.raise_version(batch)


def close_waiting(part: Part, status: AnswerStatus, error: str) -> WaitingChanges:
    """The changes that give `status` to every waiting row, with the new count."""
    counted = getattr(part, status.value) + part.waiting
    changes: WaitingChanges = {
        "waiting_became": status.value,
        "waiting_error": error,
        "message": error,
    }
    return cast(WaitingChanges, {**changes, status.value: counted})


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
        "in_vain": closing.in_vain,
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


def keep_raw(attempt: Attempt, raw: str) -> None:
    """Keep the beginning of a reply that was not recognised, for people to see; "" keeps none."""
    if raw and raw != attempt.raw:
        Attempt.objects.filter(pk=attempt.pk).update(raw=raw)
        attempt.raw = raw


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
