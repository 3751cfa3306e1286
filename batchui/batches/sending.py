"""Sends parts: commits the attempt, makes the POST, applies the outcome.

An Attempt is committed before its POST, and no transaction is open during the POST. So if a worker
dies, at whatever moment, the rows of a part are certainly not sent, or sent with a known request
id, or `unsure`. They are never sent twice without a person's decision.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError, transaction
from django.db.models import BigIntegerField, QuerySet
from django.utils import timezone

from batchui.batches import (
    call_limit,
    copying,
    lifecycle,
    part_pictures,
    pauses,
    receipts,
    references,
    refusals,
    refused,
    settling,
    unprepared,
)
from batchui.batches.changes import PartChanges
from batchui.batches.clients import shared_client
from batchui.batches.compressed import read_lines
from batchui.batches.due import stranded_parts
from batchui.batches.lifecycle import Closing
from batchui.batches.models import WAITS_FOR_COPIES, Attempt, Batch, Part
from batchui.batches.outcomes import (
    OF_ONE_MODEL,
    Accepted,
    CertainlyNotSent,
    OnHold,
    RefusedForGood,
    SendOutcome,
    TooLarge,
    Unsure,
)
from batchui.batches.part_answers import AskedAgain
from batchui.batches.prepared import Given, prepared
from batchui.batches.states import AttemptStatus, PartStatus, Question
from batchui.batches.steps import ONE_IN_MEMORY, PART_LEASE
from batchui.cloudflare import catalogue, errors
from batchui.cloudflare.protocol import BatchClient
from batchui.prompts.payload import payload
from batchui.prompts.problems import BadInput
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)

AGAIN = "batchui tries again by itself."
NOT_CONFIRMED = "Cloudflare did not confirm the last request."


# -- one part -----------------------------------------------------------------------------------


def send(part: Part) -> bool:
    """Claim one ready part, and send it. Returns whether Cloudflare was called."""
    return bool(claim([part])) and send_claimed(part)


def claim(parts: Iterable[Part]) -> list[Part]:
    """Claim ready parts. Returns those that no other worker has, and that are still ready.

    Where the database does not take the claims of a batch, its parts are tried again later. One
    that was deleted meanwhile has none.
    """
    by_batch: dict[UUID, list[Part]] = defaultdict(list)
    for part in parts:
        by_batch[part.batch_id].append(part)
    claimed: list[Part] = []
    for batch_id, some in by_batch.items():
        try:
            claimed += lifecycle.claim_to_send(some, PART_LEASE)
        except Batch.DoesNotExist:
            continue
        except DatabaseError:
            logger.exception("Parts of batch %s could not be claimed", batch_id)
    return claimed


def let_go(part: Part) -> None:
    """Give up a claimed part of which nothing was sent."""
    lifecycle.move_part(part, PartStatus.READY)


def send_claimed(part: Part) -> bool:
    """Send one claimed part: commit the attempt, make the POST, apply the outcome.

    Returns whether Cloudflare was called.
    """
    if AttemptStatus.ACCEPTED in _became_of(part):
        # It was unsure, and then its receipt came: its answer can be fetched.
        receipts.queue(
            part, f"Part {part.number} had been accepted after all. Nothing is sent twice."
        )
        return False
    try:
        client = shared_client(part.batch.connection)
        if part.batch.ask.shows_pictures and not part_pictures.gather(part):
            return False
        prepared = write_attempt(part)
        copied = copying.copied(part) if prepared is None and part.copies_file else None
    except (BadInput, catalogue.UnknownModel) as problem:
        refusals.fail(part, f"Part {part.number} could not be sent: {problem}", str(problem))
        return False
    except TeamProblem as problem:  # the token cannot be read
        _cannot_read_token(part, str(problem))
        return False
    except (InterfaceError, OperationalError):
        raise  # the database: the lease runs out, and the part is tried again
    except Exception as problem:
        unprepared.try_later(part, problem)
        return False
    if prepared is None:
        if part.status == PartStatus.SENDING:
            _end_or_wait(part, copied)
        return False
    attempt, body = prepared
    apply_outcome(part, attempt, post(client, model=part.batch.ask.model, body=body))
    return True


def _end_or_wait(part: Part, copied: copying.Copied | None) -> None:
    """End a part with nothing to send; or let it wait for the answers that it gets from others."""
    changes: PartChanges = copied.changes if copied else {}
    if not copied or not copied.missing:
        event = copying.event_of(part, copied) if copied else ""
        lifecycle.move_part(part, PartStatus.DONE, event=event, **changes)
        return
    # When the last of the others ends it is woken, or at once if that was while it looked.
    pause = copying.pause_after(copied.seconds, parts=part.batch.part_count)
    changes["resume_at"] = timezone.now() + pause
    changes["message"] = WAITS_FOR_COPIES
    lifecycle.move_part(part, PartStatus.HELD, **changes)


def _cannot_read_token(part: Part, message: str) -> None:
    with transaction.atomic():
        lifecycle.move_part(
            part,
            PartStatus.HELD,
            resume_at=None,
            failures_in_a_row=part.failures_in_a_row + 1,
            message=message,
            event="" if part.failures_in_a_row else message,
        )
        wait_for_person(part.batch.connection, message)


def write_attempt(part: Part) -> tuple[Attempt, bytes] | None:
    """Build the request for the rows that wait, and commit an attempt to send it.

    This worker has the part, which is `sending`; its lease is renewed here. None: there is nothing
    to send, Stop was pressed, or the lease ran out (for example while a laptop slept) and another
    worker has the part. Raises BadInput if a row cannot be made into an item.
    """
    with ONE_IN_MEMORY:
        positions = refusals.rows_to_send(part)
        if not positions:
            return None
        sent = None if len(positions) == part.rows else positions
        longest = AskedAgain.of(part).longest
        body = payload(
            read_lines(part.rows_file, lines=part.rows),
            sent,
            first_row=part.first_row,
            writer=references.item_writer(part.batch, longest=longest),
            picture_of=part_pictures.opened(part) if part.batch.ask.shows_pictures else None,
        )
    attempt = Attempt(
        part=part,
        positions=sent,
        items=len(positions),
        payload_size=len(body),
        longest=longest,
    )
    return (attempt, body) if _commit(attempt) else None


def _commit(attempt: Attempt) -> bool:
    """Commit an attempt. From now on its part may have been sent."""
    part = attempt.part
    with transaction.atomic():
        if settling.lock_to_settle(part.batch_id).stop_requested_at is not None:
            lifecycle.move_part(part, PartStatus.READY)  # which stops it
            return False
        if not lifecycle.renew_lease(part, PART_LEASE):
            return False
        attempt.number = len(_became_of(part)) + 1
        attempt.save()
    return True


def _became_of(part: Part) -> list[str]:
    """The status of each attempt to send a part, the first one first."""
    return [status for (status,) in _statuses_of_attempts(part=part.pk)]


@prepared(part=BigIntegerField())
def _statuses_of_attempts(part: Given) -> QuerySet[Any, Any]:
    return Attempt.objects.filter(part=part).order_by("number").values_list("status")


def post(client: BatchClient, *, model: str, body: bytes) -> SendOutcome:
    """Make the POST and return its outcome. Changes nothing in the database."""
    try:
        receipt = client.submit(model, body)
    except errors.NotSent as exc:
        return CertainlyNotSent(exc.user_message)
    except errors.Busy as exc:
        return on_hold(exc)
    except errors.TooLarge as exc:
        return TooLarge(exc.user_message, exc.code, exc.raw)
    except errors.Refused as exc:
        return RefusedForGood(exc.user_message, exc.code, exc.raw)
    except errors.CloudflareError as exc:
        return Unsure(exc.user_message, exc.code, exc.wait, exc.raw)
    except Exception:
        logger.exception("A request may have been sent, and its reply was lost")
        return Unsure(
            "It is unclear whether Cloudflare accepted these rows, because of a mistake in "
            "batchui. Tell the person who runs batchui: the log says more."
        )
    return Accepted(receipt.request_id)


def on_hold(busy: errors.Busy) -> OnHold:
    """The outcome of a call that was not accepted now: until when, and for which sends."""
    now = timezone.now()
    if busy.needs_person:
        everywhere = busy.code not in OF_ONE_MODEL
        return OnHold(busy.user_message, busy.code, None, everywhere=everywhere, raw=busy.raw)
    if busy.until_midnight:
        midnight = pauses.next_midnight(now)
        return OnHold(busy.user_message, busy.code, midnight, everywhere=True)
    resume_at = now + timedelta(seconds=busy.wait) if busy.wait is not None else now
    everywhere = busy.wait is not None
    return OnHold(busy.user_message, busy.code, resume_at, everywhere=everywhere, raw=busy.raw)


# -- applying an outcome ------------------------------------------------------------------------


def apply_outcome(part: Part, attempt: Attempt, outcome: SendOutcome) -> None:
    """Change a part and its attempt according to a POST's outcome: both together, or neither."""
    if isinstance(outcome, OnHold | TooLarge | RefusedForGood | Unsure):
        lifecycle.keep_raw(attempt, outcome.raw)
    match outcome:
        case Accepted(request_id):
            receipts.accepted(part, attempt, request_id)
        case CertainlyNotSent(message):
            again = f"{message} {AGAIN}"
            lifecycle.move_part(
                part,
                PartStatus.READY,
                closing=Closing(attempt, AttemptStatus.NOT_SENT, message),
                resume_at=timezone.now() + pauses.backoff(part.failures_in_a_row),
                failures_in_a_row=part.failures_in_a_row + 1,
                message=again,
                event=f"Part {part.number}: {again}" if not part.failures_in_a_row else "",
            )
        case OnHold():
            _hold(part, attempt, outcome)
        case TooLarge(message, code):
            refusals.cut_smaller(part, Closing(attempt, AttemptStatus.REFUSED, message, code))
            call_limit.recover(part.batch.connection)
        case RefusedForGood(message, code):
            refusals.refused(part, Closing(attempt, AttemptStatus.REFUSED, message, code))
            call_limit.recover(part.batch.connection)
        case Unsure(message, code, wait):
            with transaction.atomic():
                mark_unsure(part, Closing(attempt, AttemptStatus.UNSURE, message, code))
                call_limit.trip(part.batch.connection, wait=wait, reason=NOT_CONFIRMED)


def _hold(part: Part, attempt: Attempt, outcome: OnHold) -> None:
    resume_at = outcome.resume_at
    event = f"Part {part.number} is on hold: {outcome.message}"
    if resume_at is not None:
        resume_at = max(resume_at, timezone.now() + pauses.backoff(part.failures_in_a_row))
        event = f"{event} {AGAIN}"
    with transaction.atomic():
        lifecycle.move_part(
            part,
            PartStatus.HELD,
            closing=Closing(attempt, AttemptStatus.BUSY, outcome.message, outcome.code),
            resume_at=resume_at,
            failures_in_a_row=part.failures_in_a_row + 1,
            message=outcome.message,
            event="" if part.failures_in_a_row else event,
        )
        if outcome.everywhere and resume_at is not None:
            call_limit.pause(part.batch.connection, until=resume_at, reason=outcome.message)
        elif outcome.everywhere:
            wait_for_person(part.batch.connection, outcome.message)


def wait_for_person(connection: Connection, reason: str) -> None:
    """Pause a connection that a person must correct. Now and then one part is sent even so."""
    call_limit.trip(
        connection,
        reason=reason,
        first=pauses.PROBE_SECONDS,
        longest=pauses.LONGEST_PROBE_SECONDS,
    )
    refused.note(connection, reason)


def mark_unsure(part: Part, closing: Closing) -> None:
    """Mark a part as one that may have been sent.

    It is sent again only if that was chosen at the start (`resend_once`), and only once.
    """
    with transaction.atomic():
        moved = lifecycle.move_part(
            part,
            PartStatus.UNSURE,
            closing=closing,
            question=Question.UNCLEAR,
            message=closing.message,
            event=f"Part {part.number} may or may not have been sent: {closing.message}",
        )
        # If Stop was pressed, the move has ended the part already.
        still_unsure = moved and part.status == PartStatus.UNSURE
        if still_unsure and part.batch.ask.resend_once and not part.resends:
            lifecycle.move_part(
                part,
                PartStatus.READY,
                resends=1,
                resume_at=timezone.now() + pauses.backoff(1),
                event=f"Part {part.number} is sent again, as chosen at the start.",
            )


def rescue(now: datetime) -> int:
    """Take care of parts whose worker died while sending them. Returns how many there were.

    They become queued, unsure or ready again, as their last attempt shows.
    """
    # A worker that only slept may go on just now. Once its part is taken over it writes no attempt
    # down any more, so the last one can be relied on.
    parts = [part for part in stranded_parts(now) if lifecycle.take_over(part, PART_LEASE)]
    for part in parts:
        attempt = part.attempts.order_by("-number").first()
        if attempt is not None and attempt.status == AttemptStatus.ACCEPTED:
            receipts.queue(
                part, f"Part {part.number} was accepted; the worker that sent it had stopped."
            )
        elif attempt is not None and attempt.status == AttemptStatus.WRITTEN:
            if request_id := receipts.kept_in_file(attempt):
                receipts.accepted(part, attempt, request_id)
                continue
            message = "The worker that was sending it stopped half-way."
            mark_unsure(part, Closing(attempt, AttemptStatus.UNSURE, message))
        else:
            lifecycle.move_part(part, PartStatus.READY)
    return len(parts)
