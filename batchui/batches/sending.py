"""Sends parts: commits the attempt, makes the POST, applies the outcome.

An Attempt is committed before its POST, and no transaction is open during the POST. So if a worker
dies, at whatever moment, the rows of a part are certainly not sent, or sent with a known request
id, or `unsure`. They are never sent twice without a person's decision.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from batchui.batches import call_limit, files, lifecycle, pauses, references, results
from batchui.batches.clients import shared_client
from batchui.batches.due import stranded_parts
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import (
    Accepted,
    CertainlyNotSent,
    OnHold,
    RefusedForGood,
    SendOutcome,
    TooLarge,
    Unsure,
)
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import AnswerStatus, AttemptStatus, PartStatus
from batchui.batches.steps import ONE_IN_MEMORY, PART_LEASE
from batchui.cloudflare import catalogue, errors
from batchui.cloudflare.protocol import BatchClient
from batchui.prompts.payload import payload
from batchui.prompts.problems import BadInput
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)

PAUSE_FOR_PERSON = timedelta(minutes=5)
RECEIPT_TRIES = 6


# -- one part -----------------------------------------------------------------------------------


def send(part: Part) -> bool:
    """Send one ready part: claim it, commit the attempt, make the POST, apply the outcome.

    Returns whether Cloudflare was called.
    """
    if not lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE):
        return False
    if part.attempts.filter(status=AttemptStatus.ACCEPTED).exists():
        # It was unsure, and then its receipt came: its answer can be fetched.
        queue(part, f"Part {part.number} had been accepted after all. Nothing is sent twice.")
        return False
    try:
        client = shared_client(part.batch.connection)
        prepared = write_attempt(part)
    except (BadInput, catalogue.UnknownModel) as problem:
        _fail(part, f"Part {part.number} could not be sent: {problem}", str(problem))
        return False
    except TeamProblem as problem:  # the token cannot be read
        lifecycle.move_part(
            part, PartStatus.HELD, resume_at=None, message=str(problem), event=str(problem)
        )
        return False
    if prepared is None:
        if part.status == PartStatus.SENDING:
            lifecycle.move_part(part, PartStatus.DONE)
        return False
    attempt, body = prepared
    apply_outcome(part, attempt, post(client, model=part.batch.ask.model, body=body))
    return True


def write_attempt(part: Part) -> tuple[Attempt, bytes] | None:
    """Build the request for the rows that wait, and commit an attempt to send it.

    This worker has the part, which is `sending`; its lease is renewed here. None: there is nothing
    to send, Stop was pressed, or the lease ran out (for example while a laptop slept) and another
    worker has the part. Raises BadInput if a row cannot be made into an item.
    """
    with ONE_IN_MEMORY:
        positions = results.open_positions(part)
        if part.send_limit:
            positions = positions[: part.send_limit]
        if not positions:
            return None
        sent = None if len(positions) == part.rows else positions
        body = payload(
            files.read_lines(part.rows_file),
            sent,
            first_row=part.first_row,
            writer=references.item_writer(part.batch),
        )
    attempt = Attempt(
        part=part,
        positions=sent,
        items=len(positions),
        payload_size=len(body),
    )
    return (attempt, body) if _commit(attempt) else None


def _commit(attempt: Attempt) -> bool:
    """Commit an attempt. From now on its part may have been sent."""
    part = attempt.part
    with transaction.atomic():
        if lifecycle.lock(part.batch_id).stop_requested_at is not None:
            lifecycle.move_part(part, PartStatus.READY)  # which stops it
            return False
        if not lifecycle.touch_part(part, lease_until=timezone.now() + PART_LEASE):
            return False
        attempt.number = part.attempts.count() + 1
        attempt.save()
    return True


def post(client: BatchClient, *, model: str, body: bytes) -> SendOutcome:
    """Make the POST and return its outcome. Changes nothing in the database."""
    try:
        receipt = client.submit(model, body)
    except errors.NotSent as exc:
        return CertainlyNotSent(exc.user_message)
    except errors.Busy as exc:
        return _on_hold(exc)
    except errors.TooLarge as exc:
        return TooLarge(exc.user_message, exc.code)
    except errors.Refused as exc:
        return RefusedForGood(exc.user_message, exc.code)
    except errors.CloudflareError as exc:
        return Unsure(exc.user_message, exc.code)
    return Accepted(receipt.request_id)


def _on_hold(busy: errors.Busy) -> OnHold:
    now = timezone.now()
    if busy.needs_person:
        return OnHold(busy.user_message, busy.code, None, everywhere=True)
    if busy.until_midnight:
        midnight = pauses.next_midnight(now)
        return OnHold(busy.user_message, busy.code, midnight, everywhere=True)
    resume_at = now + timedelta(seconds=busy.wait) if busy.wait is not None else now
    return OnHold(busy.user_message, busy.code, resume_at, everywhere=busy.wait is not None)


# -- applying an outcome ------------------------------------------------------------------------


def apply_outcome(part: Part, attempt: Attempt, outcome: SendOutcome) -> None:
    """Change a part and its attempt according to a POST's outcome: both together, or neither."""
    match outcome:
        case Accepted(request_id):
            _accepted(part, attempt, request_id)
        case CertainlyNotSent(message):
            lifecycle.move_part(
                part,
                PartStatus.READY,
                closing=Closing(attempt, AttemptStatus.NOT_SENT, message),
                resume_at=timezone.now() + pauses.backoff(part.failures_in_a_row),
                failures_in_a_row=part.failures_in_a_row + 1,
                message=message,
                event=f"Part {part.number}: {message}" if not part.failures_in_a_row else "",
            )
        case OnHold():
            _hold(part, attempt, outcome)
        case TooLarge(message, code):
            _cut_smaller(part, Closing(attempt, AttemptStatus.REFUSED, message, code))
        case RefusedForGood(message, code):
            closing = Closing(attempt, AttemptStatus.REFUSED, message, code)
            _fail(part, f"Part {part.number} was refused: {message}", message, closing)
        case Unsure(message, code):
            mark_unsure(part, Closing(attempt, AttemptStatus.UNSURE, message, code))


def _accepted(part: Part, attempt: Attempt, request_id: str) -> None:
    # 1. The receipt is stored whatever else has happened: without it the result is lost.
    keep_receipt(attempt, request_id)
    # 2. The part is queued, even if it became unsure meanwhile.
    accepted = f"Part {part.number} was accepted (rows {part.first_row:,} to {part.last_row:,})."
    if not queue(part, accepted):
        part.refresh_from_db()
        if part.status == PartStatus.UNSURE:
            queue(part, f"Part {part.number}: the receipt came late. Nothing is sent twice.")


def keep_receipt(
    attempt: Attempt, request_id: str, *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Store a receipt. If the database fails, try again for half a minute.

    sleep: waits so many seconds. Raises the DatabaseError of the last try. Within a transaction
    there is only one try, because the transaction is broken then.
    """
    for tries in range(RECEIPT_TRIES):
        try:
            return lifecycle.store_receipt(attempt, request_id)
        except DatabaseError:
            logger.exception(
                "The receipt of attempt %s (part %s) is not stored yet: request_id %s",
                attempt.pk,
                attempt.part_id,
                request_id,
            )
            if tries == RECEIPT_TRIES - 1 or connection.in_atomic_block:
                raise
            connection.close()
            sleep(2**tries)
    return None


def queue(part: Part, event: str) -> bool:
    """Move a part that Cloudflare has accepted to `queued`, and plan the first poll."""
    return lifecycle.move_part(
        part,
        PartStatus.QUEUED,
        event=event,
        next_poll_at=timezone.now() + pauses.first_poll(part),
        polls=0,
        failures_in_a_row=0,
        gone_seen=0,
        gone_at=None,
        message="",
    )


def _hold(part: Part, attempt: Attempt, outcome: OnHold) -> None:
    now = timezone.now()
    resume_at = outcome.resume_at
    if resume_at is not None:
        resume_at = max(resume_at, now + pauses.backoff(part.failures_in_a_row))
    if outcome.everywhere:
        until = resume_at or now + PAUSE_FOR_PERSON
        call_limit.pause(part.batch.connection, until=until, reason=outcome.message)
    lifecycle.move_part(
        part,
        PartStatus.HELD,
        closing=Closing(attempt, AttemptStatus.BUSY, outcome.message, outcome.code),
        resume_at=resume_at,
        failures_in_a_row=part.failures_in_a_row + 1,
        message=outcome.message,
        event="" if part.failures_in_a_row else f"Part {part.number} is on hold: {outcome.message}",
    )


def _cut_smaller(part: Part, closing: Closing) -> None:
    attempt = closing.attempt
    if attempt.items > 1:
        half = (attempt.items + 1) // 2
        lifecycle.move_part(
            part,
            PartStatus.READY,
            closing=closing,
            send_limit=half,
            event=f"Part {part.number} was too large; it is sent {rows_phrase(half)} at a time.",
        )
        return
    # This row alone is too large: it fails, and the others go on.
    position = attempt.positions[0] if attempt.positions else 0
    failed = results.Answer(AnswerStatus.FAILED.value, error=closing.message)
    answers = results.merge(part, {position: failed}, missing=lambda _: None)
    lifecycle.settle_answers(part, answers.store(), closing=closing)


def _fail(part: Part, event: str, message: str, closing: Closing | None = None) -> None:
    failed = lifecycle.close_waiting(part, AnswerStatus.FAILED, message)
    lifecycle.move_part(part, PartStatus.DONE, event=event, closing=closing, **failed)


def mark_unsure(part: Part, closing: Closing) -> None:
    """Mark a part as one that may have been sent.

    It is sent again only if that was chosen at the start (`resend_once`), and only once.
    """
    moved = lifecycle.move_part(
        part,
        PartStatus.UNSURE,
        closing=closing,
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
    parts = stranded_parts(now)
    for part in parts:
        attempt = part.attempts.order_by("-number").first()
        if attempt is not None and attempt.status == AttemptStatus.ACCEPTED:
            queue(part, f"Part {part.number} was accepted; the worker that sent it had stopped.")
        elif attempt is not None and attempt.status == AttemptStatus.WRITTEN:
            message = "The worker that was sending it stopped half-way."
            mark_unsure(part, Closing(attempt, AttemptStatus.UNSURE, message))
        else:
            lifecycle.move_part(part, PartStatus.READY)
    return len(parts)
