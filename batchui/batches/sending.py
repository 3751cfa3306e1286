"""Sending parts: write the attempt down, POST it, decide what the POST's end means.

An Attempt is committed before its POST, and no transaction is open during it. Whatever moment a
worker dies at, the rows of a part are either certainly not sent, or sent with a known request id,
or `unsure`; they are never silently sent twice.
"""

import hashlib
import logging
import random
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Q, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from batchui.batches import files, lifecycle, results
from batchui.batches.clients import shared_client
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
from batchui.batches.states import SENT_PARTS, AnswerStatus, AttemptStatus, PartStatus
from batchui.cloudflare import catalogue, errors
from batchui.cloudflare.client import RestClient
from batchui.prompts.payload import payload
from batchui.prompts.problems import BadInput
from batchui.teams.models import Connection

logger = logging.getLogger(__name__)

# Longer than the longest POST: 8 MB on a slow line, then a slow answer.
LEASE = timedelta(minutes=4)
# Requests of one connection under way at once: bounds what Stop cannot stop, and the polling.
MOST_UNDER_WAY = 50
LONGEST_BACKOFF_SECONDS = 120
ADMIN_PAUSE = timedelta(minutes=5)

# One request is made, or one reply understood, at a time: under the GIL more would not be
# faster, and memory stays at one part.
heavy_work = threading.Lock()


def ready_parts(limit: int) -> list[Part]:
    """Parts to send now: the oldest batch first, but every batch's first before any's second."""
    now = timezone.now()
    under_way = Counter(
        Part.objects.filter(status__in=(PartStatus.SENDING, *SENT_PARTS)).values_list(
            "batch__connection", flat=True
        )
    )
    full = [pk for pk, number in under_way.items() if number >= MOST_UNDER_WAY]
    candidates = (
        Part.objects.filter(
            Q(resume_at=None) | Q(resume_at__lte=now),
            Q(batch__connection__paused_until=None) | Q(batch__connection__paused_until__lte=now),
            status=PartStatus.READY,
            batch__deleted_at=None,
        )
        .exclude(batch__connection__in=full)
        .annotate(turn=Window(RowNumber(), partition_by=F("batch"), order_by=F("number").asc()))
        .order_by("turn", "batch__started_at")
        .select_related("batch__connection")
    )
    chosen: list[Part] = []
    for part in candidates[: limit * 4]:
        connection = part.batch.connection_id
        if under_way[connection] < MOST_UNDER_WAY and len(chosen) < limit:
            under_way[connection] += 1
            chosen.append(part)
    return chosen


def release_held() -> int:
    """Make parts ready whose time on hold is over. Returns how many."""
    held = Part.objects.filter(status=PartStatus.HELD, resume_at__lte=timezone.now())
    return sum(lifecycle.move_part(part, PartStatus.READY, message="") for part in held)


def send(part: Part) -> None:
    """Send one ready part: claim it, write the attempt down, POST, decide."""
    if not lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + LEASE):
        return
    try:
        prepared = write_attempt(part)
    except (BadInput, catalogue.UnknownModel) as problem:
        lifecycle.move_part(
            part,
            PartStatus.DONE,
            event=f"Part {part.number} could not be sent: {problem}",
            **lifecycle.rest(part, AnswerStatus.FAILED, str(problem)),
        )
        return
    if prepared is None:
        lifecycle.move_part(part, PartStatus.DONE)
        return
    attempt, body = prepared
    outcome = post(shared_client(part.batch.connection), model=part.batch.model, body=body)
    decide(part, attempt, outcome)


def write_attempt(part: Part) -> tuple[Attempt, bytes] | None:
    """Build the request for the rows that wait, and commit the attempt to send it.

    None: no row of the part waits. The part is `sending`, and its lease is this worker's.
    Raises BadInput when a row cannot be made into an item.
    """
    batch = part.batch
    with heavy_work:
        if part.forget_unanswered:
            lifecycle.touch_part(
                part, lease_until=part.lease_until, **results.forget_unanswered(part)
            )
        positions = results.open_positions(part)
        if part.send_limit:
            positions = positions[: part.send_limit]
        if not positions:
            return None
        whole = len(positions) == part.rows
        body = payload(
            files.read_lines(part.rows_file),
            None if whole else positions,
            first_row=part.first_row,
            writer=results.item_writer(batch, catalogue.find(batch.model).takes),
        )
    attempt = Attempt.objects.create(
        part=part,
        number=part.attempts.count() + 1,
        positions=None if whole else positions,
        items=len(positions),
        payload_size=len(body),
        payload_sha256=hashlib.sha256(body).hexdigest(),
    )
    return attempt, body


def post(client: RestClient, *, model: str, body: bytes) -> SendOutcome:
    """Make the POST and say what became of it. Touches nothing of ours."""
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
    if busy.needs_admin:
        return OnHold(busy.user_message, busy.code, None, everywhere=True)
    if busy.until_midnight:
        return OnHold(busy.user_message, busy.code, next_midnight(now), everywhere=True)
    resume_at = now + timedelta(seconds=busy.wait) if busy.wait is not None else now
    return OnHold(busy.user_message, busy.code, resume_at, everywhere=busy.wait is not None)


def next_midnight(now: datetime) -> datetime:
    """The next 00:00 UTC, when the free daily allocation starts anew."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, datetime.min.time(), UTC)


def backoff(troubles: int) -> timedelta:
    """A pause that doubles from 2 s to 2 min, spread so that parts do not come back together."""
    seconds = min(LONGEST_BACKOFF_SECONDS, 2.0 ** (troubles + 1))
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311


def decide(part: Part, attempt: Attempt, outcome: SendOutcome) -> None:
    """What a POST's end means for its attempt and its part."""
    match outcome:
        case Accepted(request_id):
            _accepted(part, attempt, request_id)
        case CertainlyNotSent(message):
            _close(attempt, AttemptStatus.NOT_SENT, message)
            lifecycle.move_part(
                part,
                PartStatus.READY,
                resume_at=timezone.now() + backoff(part.troubles),
                troubles=part.troubles + 1,
                message=message,
                event=f"Part {part.number}: {message}" if not part.troubles else "",
            )
        case OnHold():
            _hold(part, attempt, outcome)
        case TooLarge(message, code):
            _close(attempt, AttemptStatus.REFUSED, message, code)
            _cut_smaller(part, attempt, message)
        case RefusedForGood(message, code):
            _close(attempt, AttemptStatus.REFUSED, message, code)
            lifecycle.move_part(
                part,
                PartStatus.DONE,
                event=f"Part {part.number} was refused: {message}",
                **lifecycle.rest(part, AnswerStatus.FAILED, message),
            )
        case Unsure(message, code):
            _close(attempt, AttemptStatus.UNSURE, message, code)
            be_unsure(part, message)


def _accepted(part: Part, attempt: Attempt, request_id: str) -> None:
    # 1. The receipt is kept whatever else has happened: without it the result is lost.
    now = timezone.now()
    Attempt.objects.filter(pk=attempt.pk).update(
        request_id=request_id, status=AttemptStatus.ACCEPTED, accepted_at=now
    )
    # 2. The part goes on; where it was given up meanwhile, the receipt brings it back.
    accepted = f"Part {part.number} was accepted (rows {part.first_row:,} to {part.last_row:,})."
    if not queue(part, accepted):
        part.refresh_from_db()
        if part.status == PartStatus.UNSURE:
            queue(part, f"Part {part.number}: the receipt came late. Nothing is sent twice.")


def queue(part: Part, event: str) -> bool:
    """Move a part that Cloudflare has accepted to `queued`, and plan the first look."""
    return lifecycle.move_part(
        part,
        PartStatus.QUEUED,
        event=event,
        next_look_at=timezone.now() + first_pause(part),
        looks=0,
        troubles=0,
        gone_seen=0,
        gone_at=None,
        message="",
    )


def first_pause(part: Part) -> timedelta:
    """How long after sending the first look is: soon, or, once parts of the batch have come back,
    a little before this one is likely to. Looks count against the call budget as sends do."""
    answered = Attempt.objects.filter(
        part__batch=part.batch_id, status=AttemptStatus.ANSWERED, accepted_at__isnull=False
    )
    latest = answered.annotate(took=F("finished_at") - F("accepted_at")).order_by("-finished_at")
    took = sorted(latest.values_list("took", flat=True)[:5])
    usual = took[len(took) // 2] * 0.8 if took else timedelta()
    longest = timedelta(seconds=settings.LONGEST_PAUSE_SECONDS)
    return max(timedelta(seconds=settings.FIRST_LOOK_SECONDS), min(usual, longest))


def _hold(part: Part, attempt: Attempt, outcome: OnHold) -> None:
    _close(attempt, AttemptStatus.BUSY, outcome.message, outcome.code)
    now = timezone.now()
    resume_at = outcome.resume_at
    if resume_at is not None:
        resume_at = max(resume_at, now + backoff(part.troubles))
    if outcome.everywhere:
        Connection.objects.filter(pk=part.batch.connection_id).update(
            paused_until=resume_at or now + ADMIN_PAUSE, pause_reason=outcome.message
        )
    lifecycle.move_part(
        part,
        PartStatus.HELD,
        resume_at=resume_at,
        troubles=part.troubles + 1,
        message=outcome.message,
        event=f"Part {part.number} is on hold: {outcome.message}" if not part.troubles else "",
    )


def _cut_smaller(part: Part, attempt: Attempt, message: str) -> None:
    if attempt.items > 1:
        half = (attempt.items + 1) // 2
        lifecycle.move_part(
            part,
            PartStatus.READY,
            send_limit=half,
            event=f"Part {part.number} was too large; it is sent {half} rows at a time.",
        )
        return
    # A single row is too large by itself: it fails, and the others go on.
    position = attempt.positions[0] if attempt.positions else 0
    failed = results.Answer(AnswerStatus.FAILED.value, error=message)
    settle_answers(part, results.merge(part, {position: failed}, missing=lambda _: None))


def settle_answers(part: Part, changes: dict[str, Any], *, event: str = "") -> bool:
    """Take in a new version of a part's answers: done, or ready again where rows still wait."""
    counted = sum(changes[name] for name in lifecycle.ANSWER_FIELDS)
    to = PartStatus.DONE if counted >= part.rows else PartStatus.READY
    return lifecycle.move_part(part, to, event=event, resume_at=None, **changes)


def be_unsure(part: Part, message: str) -> None:
    """A part may have been sent. It is sent again only if the batch's owner said so at the start,
    and then once."""
    moved = lifecycle.move_part(
        part,
        PartStatus.UNSURE,
        message=message,
        event=f"Part {part.number} may or may not have been sent: {message}",
    )
    if moved and part.batch.resend_once and not part.resends:
        lifecycle.move_part(
            part,
            PartStatus.READY,
            resends=1,
            resume_at=timezone.now() + backoff(1),
            event=f"Part {part.number} is sent again, as chosen at the start.",
        )


def rescue(now: datetime) -> int:
    """Bring back parts whose worker died while sending. Returns how many."""
    stranded = Part.objects.filter(status=PartStatus.SENDING, lease_until__lt=now).select_related(
        "batch"
    )
    for part in stranded:
        attempt = part.attempts.order_by("-number").first()
        if attempt is not None and attempt.request_id and attempt.status == AttemptStatus.ACCEPTED:
            queue(part, f"Part {part.number} was accepted; the worker that sent it had stopped.")
        elif attempt is not None and attempt.status == AttemptStatus.WRITTEN:
            message = "The worker that was sending it stopped half-way."
            _close(attempt, AttemptStatus.UNSURE, message)
            be_unsure(part, message)
        else:
            lifecycle.move_part(part, PartStatus.READY)
    return len(stranded)


def _close(attempt: Attempt, status: AttemptStatus, message: str, code: int | None = None) -> None:
    Attempt.objects.filter(pk=attempt.pk, status=AttemptStatus.WRITTEN).update(
        status=status, message=message, code=code, finished_at=timezone.now()
    )
