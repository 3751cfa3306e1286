"""Looking after requests that Cloudflare has accepted, until their answers are stored.

A look never fails a part because of a network fault, 429, 5xx or garbage: it waits longer and
looks again. Only Cloudflare's word ends a part: an answer, a refusal of the whole request, or
"not found in queue" (5504) seen three times over ten minutes.
"""

import random
import tempfile
from datetime import timedelta
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.clients import shared_client
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import (
    Answered,
    GoneNow,
    Later,
    PollOutcome,
    Quarantined,
    RefusedForGood,
    StillUnderWay,
)
from batchui.batches.replies import MismatchError, absorb, keep_raw
from batchui.batches.sending import settle_answers
from batchui.batches.states import SENT_PARTS, AnswerStatus, AttemptStatus, PartStatus
from batchui.cloudflare import errors
from batchui.cloudflare.client import RestClient

LEASE = timedelta(minutes=4)
SPOOL_BYTES = 4 * 1024 * 1024
TROUBLE_SECONDS = 10
LONGEST_TROUBLE_SECONDS = 120
GONE_LOOKS = 3
GONE_AFTER = timedelta(minutes=10)
GONE = "Cloudflare no longer has this result."


def due_parts(limit: int) -> list[Part]:
    """Parts to look at now, the longest due first."""
    now = timezone.now()
    return list(
        Part.objects.filter(status__in=SENT_PARTS, next_look_at__lte=now, batch__deleted_at=None)
        .exclude(lease_until__gt=now)
        .order_by("next_look_at")
        .select_related("batch__connection")[:limit]
    )


def look(part: Part) -> None:
    """Look at one accepted part: claim it, poll, store what came, decide."""
    if not lifecycle.claim_part(part, LEASE):
        return
    attempt = part.attempts.filter(status=AttemptStatus.ACCEPTED).order_by("-number").first()
    if attempt is None:
        lifecycle.move_part(
            part,
            PartStatus.UNSURE,
            message="Its receipt is not on record.",
            event=f"Part {part.number} was accepted, but its receipt is not on record.",
        )
        return
    decide(part, attempt, poll(part, attempt, client=shared_client(part.batch.connection)))


def poll(part: Part, attempt: Attempt, *, client: RestClient) -> PollOutcome:
    """Ask once. A finished reply is read to a spool, understood whole, and stored before this
    returns; the part itself is not touched."""
    with tempfile.SpooledTemporaryFile(SPOOL_BYTES) as spool:
        try:
            status = client.poll(part.batch.model, attempt.request_id, cast(BinaryIO, spool))
        except errors.Gone as exc:
            return GoneNow(exc.user_message)
        except errors.Refused as exc:
            return RefusedForGood(exc.user_message, exc.code)
        except errors.Busy as exc:
            return Later(exc.user_message, exc.wait)
        except errors.CloudflareError as exc:
            return Later(exc.user_message, None)
        if status is not None:
            return StillUnderWay(status)
        try:
            return Answered(*absorb(part, attempt, spool))
        except errors.BadReply as exc:
            return Later(exc.user_message, None)
        except MismatchError as exc:
            return Quarantined(str(exc), keep_raw(part, attempt, spool))


def decide(part: Part, attempt: Attempt, outcome: PollOutcome) -> None:
    """What a look means for its attempt and its part."""
    match outcome:
        case StillUnderWay(status):
            _under_way(part, status)
        case Later(message, wait):
            _later(part, message, wait)
        case Answered(changes, reply_file):
            settle_answers(part, changes, event=_answered_event(part, changes))
            _close(attempt, AttemptStatus.ANSWERED, reply_file=reply_file)
        case Quarantined(message, reply_file):
            _close(attempt, AttemptStatus.QUARANTINED, message=message, reply_file=reply_file)
            lifecycle.move_part(
                part,
                PartStatus.UNSURE,
                message=message,
                event=f"Part {part.number}: {message} Nothing of this reply was used.",
            )
        case GoneNow(message):
            _gone(part, attempt, message)
        case RefusedForGood(message, code):
            _close(attempt, AttemptStatus.REFUSED, message=message, code=code)
            lifecycle.move_part(
                part,
                PartStatus.DONE,
                last_looked_at=timezone.now(),
                event=f"Part {part.number} failed: {message}",
                **lifecycle.rest(part, AnswerStatus.FAILED, message),
            )


def pause(looks: int) -> timedelta:
    """How long after the n-th look (from 1) the next is: growing by half, up to the longest."""
    seconds = min(
        settings.LONGEST_PAUSE_SECONDS, max(settings.FIRST_LOOK_SECONDS, 0.5) * 1.5**looks
    )
    return timedelta(seconds=seconds)


def trouble_pause(troubles: int, wait: float | None) -> timedelta:
    """How long after a look that failed: 10 s doubling to 2 min, jittered, and never sooner than
    Cloudflare asked for."""
    seconds = min(LONGEST_TROUBLE_SECONDS, TROUBLE_SECONDS * 2**troubles)
    seconds *= random.uniform(0.75, 1.25)  # noqa: S311
    return timedelta(seconds=max(seconds, wait or 0))


def _under_way(part: Part, status: str) -> None:
    now = timezone.now()
    looked: dict[str, Any] = {
        "last_looked_at": now,
        "next_look_at": now + pause(part.looks + 1),
        "looks": part.looks + 1,
        "troubles": 0,
        "gone_seen": 0,
        "gone_at": None,
        "message": "",
    }
    if status == PartStatus.RUNNING and part.status == PartStatus.QUEUED:
        lifecycle.move_part(part, PartStatus.RUNNING, **looked)
    else:
        lifecycle.touch_part(part, **looked)


def _later(part: Part, message: str, wait: float | None) -> None:
    now = timezone.now()
    if not part.troubles:
        lifecycle.record(part.batch, "trouble", f"Part {part.number}: {message}", part=part.number)
    lifecycle.touch_part(
        part,
        last_looked_at=now,
        next_look_at=now + trouble_pause(part.troubles, wait),
        troubles=part.troubles + 1,
        message=message,
    )


def _gone(part: Part, attempt: Attempt, message: str) -> None:
    now = timezone.now()
    first_seen = part.gone_at or now
    seen = part.gone_seen + 1
    if seen < GONE_LOOKS or now - first_seen < GONE_AFTER:
        wait = GONE_AFTER / (GONE_LOOKS - 1)
        lifecycle.touch_part(
            part,
            last_looked_at=now,
            next_look_at=now + wait,
            gone_seen=seen,
            gone_at=first_seen,
            message=message,
        )
        return
    _close(attempt, AttemptStatus.LOST, message=message)
    lifecycle.move_part(
        part,
        PartStatus.DONE,
        last_looked_at=now,
        event=f"Part {part.number}: {GONE}",
        **lifecycle.rest(part, AnswerStatus.MISSING, GONE),
    )


def _answered_event(part: Part, changes: dict[str, Any]) -> str:
    return f"Part {part.number} came back: {changes['answered']:,} of {part.rows:,} rows answered."


def _close(
    attempt: Attempt,
    status: AttemptStatus,
    *,
    message: str = "",
    code: int | None = None,
    reply_file: str = "",
) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(
        status=status,
        message=message,
        code=code,
        reply_file=reply_file,
        finished_at=timezone.now(),
    )
