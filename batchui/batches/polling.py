"""Polls the requests that Cloudflare has accepted, until their answers are stored.

A network fault, 429, 5xx or garbage never fails a part: the next poll comes after a longer pause,
and after some hours a person is asked. Only these replies of Cloudflare end a part: its answers,
and a request that failed as a whole. A reply that would give answers up is looked at again before
it is believed (`ODD`), because they are paid for.
"""

import logging
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from typing import BinaryIO, cast

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from batchui.batches import files, lifecycle, pauses, refusals, results
from batchui.batches.changes import PartChanges
from batchui.batches.clients import shared_client
from batchui.batches.files import DamagedFile
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
    Unusable,
)
from batchui.batches.phrases import rows_phrase
from batchui.batches.replies import MismatchError, absorb, keep_raw
from batchui.batches.results import Answer
from batchui.batches.states import AnswerStatus, AttemptStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.cloudflare import errors
from batchui.cloudflare.protocol import BatchClient
from batchui.teams.problems import TeamProblem

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Looks:
    """How often a reply must be seen, and for how long, before it is believed."""

    polls: int
    time: timedelta


# By the kind of reply (`Part.odd_kind`).
ODD = {
    "gone": Looks(3, timedelta(minutes=10)),
    "refused": Looks(3, timedelta(minutes=10)),
    "mismatch": Looks(3, timedelta(minutes=2)),
    "incomplete": Looks(2, timedelta(minutes=1)),
}
# A person is asked after polls have failed for so long. Where nobody answers at all, the network is
# at fault, which people know before us.
UNREADABLE_AFTER = timedelta(hours=6)
UNREACHED_AFTER = timedelta(hours=24)
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
            question=Question.UNCLEAR,
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
    with tempfile.SpooledTemporaryFile(files.SPOOL_BYTES) as spool:
        reply = cast(BinaryIO, spool)
        try:
            return _fetch(part, attempt, client, reply)
        except errors.Gone as exc:
            return GoneNow(exc.user_message)
        except errors.Refused as exc:
            return RefusedForGood(exc.user_message, exc.code)
        except errors.NotSent as exc:
            return Later(exc.user_message, None, unreached=True)
        except errors.CloudflareError as exc:
            wait = exc.wait if isinstance(exc, errors.Busy) else None
            return Later(exc.user_message, wait, reply_file=_last_reply(part, attempt, reply))
        except DamagedFile as problem:
            return Unusable(str(problem))
        except OSError as exc:
            return Later(
                f"The answers are there, but this server could not store them: "
                f"{exc.strerror or exc}. batchui fetches them again.",
                None,
            )
        except (InterfaceError, OperationalError):
            raise  # the database: the lease runs out, and it is polled again
        except Exception:
            logger.exception("Part %s of batch %s: its reply", part.number, part.batch_id)
            return Later(
                "The answers are there, but batchui cannot read them, because of a mistake in "
                "batchui. Tell the person who runs batchui: the log says more.",
                None,
                reply_file=_last_reply(part, attempt, reply),
            )


def _fetch(part: Part, attempt: Attempt, client: BatchClient, spool: BinaryIO) -> PollOutcome:
    status = client.poll(part.batch.ask.model, attempt.request_id, spool)
    if status is not None:
        return StillUnderWay(status)
    try:
        taken_in = absorb(part, attempt, spool)
    except MismatchError as exc:
        return Quarantined(str(exc), keep_raw(part, attempt, spool))
    return Answered(taken_in.changes, taken_in.reply_file, taken_in.missing)


def _last_reply(part: Part, attempt: Attempt, spool: BinaryIO) -> str:
    """Keep a reply that cannot be read, if a person is asked about it now; "" if not."""
    since = part.failing_since
    asks = since is not None and timezone.now() - since >= UNREADABLE_AFTER
    return keep_raw(part, attempt, spool) if asks and spool.seek(0, 2) else ""


def apply_outcome(part: Part, attempt: Attempt, outcome: PollOutcome) -> None:
    """Change a part and its attempt according to a poll's outcome: both together, or neither."""
    match outcome:
        case StillUnderWay(status):
            _under_way(part, status)
        case Later():
            _later(part, attempt, outcome)
        case Answered(changes, reply_file, missing):
            if missing and not _believed(part, "incomplete", _incomplete(missing)):
                return
            closing = Closing(attempt, AttemptStatus.ANSWERED, reply_file=reply_file)
            lifecycle.settle_answers(
                part, changes, closing=closing, event=_answered_event(part, changes)
            )
        case Quarantined(message, reply_file):
            if _believed(part, "mismatch", f"{message} batchui asks again."):
                _ask(
                    part,
                    Question.MISMATCH,
                    message,
                    event=f"{message} Nothing of this reply was used.",
                    closing=Closing(
                        attempt, AttemptStatus.QUARANTINED, message, reply_file=reply_file
                    ),
                )
        case Unusable(message):
            _ask(part, Question.DAMAGED, message)
        case GoneNow(message):
            if _believed(part, "gone", message):
                _end(
                    part, AnswerStatus.MISSING, GONE, Closing(attempt, AttemptStatus.LOST, message)
                )
        case RefusedForGood(message, code):
            _refused(part, Closing(attempt, AttemptStatus.REFUSED, message, code))


def _refused(part: Part, closing: Closing) -> None:
    if closing.code == refusals.JUDGED_WHEN_POLLED:
        refusals.refused(part, closing)
    elif closing.code is None or _believed(part, "refused", closing.message):
        _end(part, AnswerStatus.FAILED, closing.message, closing)


def _under_way(part: Part, status: str) -> None:
    now = timezone.now()
    polled: PartChanges = {
        "last_polled_at": now,
        "next_poll_at": now + pauses.next_poll(part.polls + 1),
        "polls": part.polls + 1,
        "failures_in_a_row": 0,
        "failing_since": None,
        "odd_kind": "",
        "odd_seen": 0,
        "odd_at": None,
        "message": "",
    }
    if status == PartStatus.RUNNING and part.status == PartStatus.QUEUED:
        lifecycle.move_part(part, PartStatus.RUNNING, **polled)
    else:
        lifecycle.touch_part(part, **polled)


def _later(part: Part, attempt: Attempt, outcome: Later) -> None:
    """Plan the next poll after one that failed. After some hours of failures, ask a person."""
    now = timezone.now()
    since = part.failing_since or now
    if now - since >= (UNREACHED_AFTER if outcome.unreached else UNREADABLE_AFTER):
        if outcome.reply_file:
            lifecycle.keep_reply(attempt, outcome.reply_file)
        _ask(
            part,
            Question.UNREADABLE,
            outcome.message,
            event=f"No answer since hours: {outcome.message}",
        )
        return
    lifecycle.touch_part(
        part,
        event=f"Part {part.number}: {outcome.message}" if not part.failures_in_a_row else "",
        last_polled_at=now,
        next_poll_at=now + pauses.after_failure(part.failures_in_a_row, outcome.wait),
        failures_in_a_row=part.failures_in_a_row + 1,
        failing_since=since,
        message=outcome.message,
    )


def _believed(part: Part, kind: str, message: str) -> bool:
    """Whether a reply of this kind was seen often enough. If not, plan to look again."""
    now, looks = timezone.now(), ODD[kind]
    known = part.odd_kind == kind and part.odd_at is not None
    first = part.odd_at if known and part.odd_at else now
    seen = part.odd_seen + 1 if known else 1
    if seen >= looks.polls and now - first >= looks.time:
        return True
    lifecycle.touch_part(
        part,
        last_polled_at=now,
        next_poll_at=now + looks.time / (looks.polls - 1),
        failures_in_a_row=0,
        failing_since=None,
        odd_kind=kind,
        odd_seen=seen,
        odd_at=first,
        message=message,
    )
    return False


def _incomplete(missing: int) -> str:
    return f"Cloudflare's reply has no answer for {rows_phrase(missing)} yet. batchui asks again."


def _ask(
    part: Part,
    question: Question,
    message: str,
    *,
    event: str = "",
    closing: Closing | None = None,
) -> None:
    """Let a person decide about a part that was sent."""
    lifecycle.move_part(
        part,
        PartStatus.UNSURE,
        closing=closing,
        question=question,
        message=message,
        last_polled_at=timezone.now(),
        event=f"Part {part.number}: {event or message}",
    )


def _end(part: Part, status: AnswerStatus, sentence: str, closing: Closing) -> None:
    """End a request whose answers will not come. Rows that it did not have are sent even so."""
    failed = "failed" if status == AnswerStatus.FAILED else "has no answers"
    event = f"Part {part.number} {failed}: {sentence}"
    now = timezone.now()
    changes = _of_the_rows_sent(part, closing.attempt, Answer(status.value, error=sentence))
    if changes is not None:
        changes["last_polled_at"] = now
        lifecycle.settle_answers(part, changes, closing=closing, event=event)
        return
    lifecycle.move_part(
        part,
        PartStatus.DONE,
        closing=closing,
        last_polled_at=now,
        event=event,
        **lifecycle.close_waiting(part, status, sentence),
    )


def _of_the_rows_sent(part: Part, attempt: Attempt, answer: Answer) -> PartChanges | None:
    """The changes that give `answer` to the rows of a request; None if no other row waits."""
    if attempt.positions is None:
        return None
    try:
        waiting, sent = results.open_positions(part), set(attempt.positions)
        if sent.issuperset(waiting):
            return None
        arrived = {position: answer for position in waiting if position in sent}
        return results.merge(part, arrived, missing=lambda _: None).store()
    except (DamagedFile, OSError):  # they cannot be told from the others
        return None


def _answered_event(part: Part, changes: PartChanges) -> str:
    answered = f"{changes['answered']:,} of {rows_phrase(part.rows)} answered."
    return f"Part {part.number} came back: {answered}"
