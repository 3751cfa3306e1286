"""Polls the requests that Cloudflare has accepted, until their answers are stored.

A network fault, 429, 5xx or garbage never fails a part: the next poll comes after a longer pause.
Only these replies of Cloudflare end a part: its answers, a refusal of the whole request, or "not
found in queue" (5504) three times, over at least ten minutes.
"""

import tempfile
from datetime import timedelta
from typing import BinaryIO, cast

from django.utils import timezone

from batchui.batches import files, lifecycle, pauses
from batchui.batches.changes import PartChanges
from batchui.batches.clients import shared_client
from batchui.batches.lifecycle import Closing
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
from batchui.batches.phrases import rows_phrase
from batchui.batches.replies import MismatchError, absorb, keep_raw
from batchui.batches.states import AnswerStatus, AttemptStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.cloudflare import errors
from batchui.cloudflare.protocol import BatchClient
from batchui.teams.problems import TeamProblem

GONE_POLLS = 3
GONE_AFTER = timedelta(minutes=10)
GONE = "Cloudflare no longer has this result."


def poll(part: Part) -> bool:
    """Poll one accepted part: claim it, ask Cloudflare, store the reply, apply the outcome.

    Returns whether Cloudflare was called.
    """
    if not lifecycle.claim_part(part, PART_LEASE):
        return False
    attempt = part.attempts.filter(status=AttemptStatus.ACCEPTED).order_by("-number").first()
    if attempt is None:
        lifecycle.move_part(
            part,
            PartStatus.UNSURE,
            message="It was accepted, but its receipt is missing.",
            event=f"Part {part.number} was accepted, but its receipt is missing.",
        )
        return False
    try:
        client = shared_client(part.batch.connection)
    except TeamProblem as problem:  # the token cannot be read
        apply_outcome(part, attempt, Later(str(problem), None))
        return False
    apply_outcome(part, attempt, fetch(part, attempt, client=client))
    return True


def fetch(part: Part, attempt: Attempt, *, client: BatchClient) -> PollOutcome:
    """Ask Cloudflare once how far a request is.

    A finished reply is read to a spool, decoded as a whole, and stored before this returns. This
    does not change the part.
    """
    try:
        return _fetch(part, attempt, client)
    except errors.Gone as exc:
        return GoneNow(exc.user_message)
    except errors.Refused as exc:
        return RefusedForGood(exc.user_message, exc.code)
    except errors.Busy as exc:
        return Later(exc.user_message, exc.wait)
    except errors.CloudflareError as exc:
        return Later(exc.user_message, None)
    except OSError as exc:
        return Later(
            f"The answers are there, but this server could not store them: {exc.strerror or exc}. "
            "batchui fetches them again.",
            None,
        )


def _fetch(part: Part, attempt: Attempt, client: BatchClient) -> PollOutcome:
    with tempfile.SpooledTemporaryFile(files.SPOOL_BYTES) as spool:
        status = client.poll(part.batch.ask.model, attempt.request_id, cast(BinaryIO, spool))
        if status is not None:
            return StillUnderWay(status)
        try:
            return Answered(*absorb(part, attempt, spool))
        except MismatchError as exc:
            return Quarantined(str(exc), keep_raw(part, attempt, spool))


def apply_outcome(part: Part, attempt: Attempt, outcome: PollOutcome) -> None:
    """Change a part and its attempt according to a poll's outcome: both together, or neither."""
    match outcome:
        case StillUnderWay(status):
            _under_way(part, status)
        case Later(message, wait):
            _later(part, message, wait)
        case Answered(changes, reply_file):
            closing = Closing(attempt, AttemptStatus.ANSWERED, reply_file=reply_file)
            lifecycle.settle_answers(
                part, changes, closing=closing, event=_answered_event(part, changes)
            )
        case Quarantined(message, reply_file):
            lifecycle.move_part(
                part,
                PartStatus.UNSURE,
                closing=Closing(attempt, AttemptStatus.QUARANTINED, message, reply_file=reply_file),
                message=message,
                event=f"Part {part.number}: {message} Nothing of this reply was used.",
            )
        case GoneNow(message):
            _gone(part, attempt, message)
        case RefusedForGood(message, code):
            lifecycle.move_part(
                part,
                PartStatus.DONE,
                closing=Closing(attempt, AttemptStatus.REFUSED, message, code),
                last_polled_at=timezone.now(),
                event=f"Part {part.number} failed: {message}",
                **lifecycle.close_waiting(part, AnswerStatus.FAILED, message),
            )


def _under_way(part: Part, status: str) -> None:
    now = timezone.now()
    polled: PartChanges = {
        "last_polled_at": now,
        "next_poll_at": now + pauses.next_poll(part.polls + 1),
        "polls": part.polls + 1,
        "failures_in_a_row": 0,
        "gone_seen": 0,
        "gone_at": None,
        "message": "",
    }
    if status == PartStatus.RUNNING and part.status == PartStatus.QUEUED:
        lifecycle.move_part(part, PartStatus.RUNNING, **polled)
    else:
        lifecycle.touch_part(part, **polled)


def _later(part: Part, message: str, wait: float | None) -> None:
    now = timezone.now()
    lifecycle.touch_part(
        part,
        event=f"Part {part.number}: {message}" if not part.failures_in_a_row else "",
        last_polled_at=now,
        next_poll_at=now + pauses.after_failure(part.failures_in_a_row, wait),
        failures_in_a_row=part.failures_in_a_row + 1,
        message=message,
    )


def _gone(part: Part, attempt: Attempt, message: str) -> None:
    now = timezone.now()
    first_seen = part.gone_at or now
    seen = part.gone_seen + 1
    if seen < GONE_POLLS or now - first_seen < GONE_AFTER:
        wait = GONE_AFTER / (GONE_POLLS - 1)
        lifecycle.touch_part(
            part,
            last_polled_at=now,
            next_poll_at=now + wait,
            gone_seen=seen,
            gone_at=first_seen,
            message=message,
        )
        return
    lifecycle.move_part(
        part,
        PartStatus.DONE,
        closing=Closing(attempt, AttemptStatus.LOST, message),
        last_polled_at=now,
        event=f"Part {part.number}: {GONE}",
        **lifecycle.close_waiting(part, AnswerStatus.MISSING, GONE),
    )


def _answered_event(part: Part, changes: PartChanges) -> str:
    answered = f"{changes['answered']:,} of {rows_phrase(part.rows)} answered."
    return f"Part {part.number} came back: {answered}"
