"""Polls the requests that Cloudflare has accepted, until their answers are stored.

A network fault, 429, 5xx or garbage never fails a part: the next poll comes after a longer pause,
and after some hours a person is asked. What a person must correct first, such as the token, is
waited for. Only these replies of Cloudflare end a part: its answers, and a request that failed as a
whole. Any other reply that would give answers up is asked for again before it is believed, because
they are paid for (see `patience.py`).
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from batchui.batches import events, lifecycle, part_answers, patience, pauses, refusals, refused
from batchui.batches.changes import PartChanges
from batchui.batches.charged import JUDGED_WHEN_POLLED, NEVER_ASKED
from batchui.batches.clients import shared_client
from batchui.batches.compressed import DamagedFile
from batchui.batches.fetching import fetch
from batchui.batches.lifecycle import Closing
from batchui.batches.models import MOST_FAILURES, Attempt, Part
from batchui.batches.outcomes import (
    Answered,
    CutOff,
    Doubtful,
    GoneNow,
    Incomplete,
    Later,
    PollOutcome,
    Quarantined,
    RefusedForGood,
    StillUnderWay,
    TooLong,
    Unusable,
)
from batchui.batches.part_answers import Answer
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import AnswerStatus, AttemptStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.teams.problems import TeamProblem

GONE = "Cloudflare no longer has this result."
AGAIN = "batchui asks again."
CUT_OFF = (
    "The worker that asked for the answers stopped half-way: it was ended, or the reply needs more "
    "memory than there is."
)


def poll(part: Part) -> bool:
    """Poll one accepted part: claim it, ask Cloudflare, store the reply, apply the outcome.

    Returns whether Cloudflare was called.
    """
    was_cut_off = part.lease_until is not None  # whoever ends a poll ends the lease
    if not lifecycle.claim_part(part, PART_LEASE):
        return False
    attempt = part.attempts.filter(status=AttemptStatus.ACCEPTED).order_by("-number").first()
    if attempt is None:
        message = "It was accepted, but its receipt is missing."
        _ask(part, Question.UNCLEAR, message)
        return False
    if was_cut_off:
        apply_outcome(part, attempt, CutOff(CUT_OFF))
        return False
    try:
        client = shared_client(part.batch.connection)
    except TeamProblem as problem:  # the token cannot be read
        apply_outcome(part, attempt, Later(str(problem), None, needs_person=True))
        return False
    outcome = fetch(part, attempt, client=client)
    if isinstance(outcome, StillUnderWay | Answered):
        refused.answered(part.connection)
    apply_outcome(part, attempt, outcome)
    return True


def apply_outcome(part: Part, attempt: Attempt, outcome: PollOutcome) -> None:
    """Change a part and its attempt according to a poll's outcome: both together, or neither."""
    if isinstance(outcome, Later | RefusedForGood):
        lifecycle.keep_raw(attempt, outcome.raw)
    match outcome:
        case StillUnderWay(status):
            _under_way(part, attempt, status)
        case Later(needs_person=True):
            _wait_for_person(part, outcome)
        case Later(message, wait):
            pause = pauses.after_failure(part.failures_in_a_row, wait)
            kept = (attempt, outcome.reply_file)
            _poll_again(part, message, pause, patient=outcome.patient, kept=kept)
        case Answered(changes, reply_file, in_vain):
            closing = Closing(
                attempt, AttemptStatus.ANSWERED, reply_file=reply_file, in_vain=in_vain
            )
            event = _answered_event(part, changes)
            lifecycle.settle_answers(part, changes, closing=closing, event=event)
        case Incomplete(changes, missing):
            without = f"Cloudflare's reply has no answer for {rows_phrase(missing)} yet."
            if changes and part.status == PartStatus.QUEUED:  # some are answered: it is not queued
                lifecycle.move_part(part, PartStatus.RUNNING, lease_until=part.lease_until)
            _poll_once_more(part, outcome.kind, without, changes)
        case _ if _is_final(outcome) or patience.is_enough(part, outcome.kind):
            _believe(part, attempt, outcome)
        case _:
            _poll_once_more(part, outcome.kind, outcome.message, {})


def _is_final(outcome: Doubtful) -> bool:
    """Whether the request failed as a whole. It cannot fail differently a second time."""
    return isinstance(outcome, RefusedForGood) and outcome.code in NEVER_ASKED


def _under_way(part: Part, attempt: Attempt, status: str) -> None:
    if patience.is_overdue(attempt):
        message = (
            f"Cloudflare has had these rows for {patience.OVERDUE_AFTER.days} days, and they are "
            f"still {status}. It usually needs minutes."
        )
        _poll_again(part, message, pauses.after_failure(part.failures_in_a_row, None))
        return
    now = timezone.now()
    polled: PartChanges = {
        **patience.NOTHING_WRONG,
        "last_polled_at": now,
        "next_poll_at": now
        + pauses.next_poll(
            part.polls + 1,
            first=pauses.first_seconds(part),
            told=events.are_used(part.connection),
        ),
        "polls": part.polls + 1,
    }
    if status == PartStatus.RUNNING and part.status == PartStatus.QUEUED:
        lifecycle.move_part(part, PartStatus.RUNNING, **polled)
    else:
        lifecycle.touch_part(part, **polled)


def _poll_once_more(part: Part, kind: str, message: str, changes: PartChanges) -> None:
    """Plan another poll after a reply that is not believed yet."""
    seen: PartChanges = {**changes, **patience.sighting(part, kind, timezone.now())}
    _poll_again(part, message, patience.ODD[kind].pause, changes=seen)


def _poll_again(
    part: Part,
    message: str,
    pause: timedelta,
    *,
    patient: bool = False,
    kept: tuple[Attempt, str] | None = None,
    changes: PartChanges | None = None,
) -> None:
    """Plan the next poll after one without a usable reply. After some hours, ask a person.

    patient, kept: as in `Later`, and in `_ask`.
    """
    now = timezone.now()
    if patience.has_failed_for_hours(part, now, patient=patient):
        event = f"No answer could be read for hours. {message}"
        _ask(part, Question.UNREADABLE, message, event, kept=kept, changes=changes)
        return
    again = f"{message} {AGAIN}"
    _plan_next(part, again, now, pause, part.failures_in_a_row + 1, changes or {})


def _wait_for_person(part: Part, outcome: Later) -> None:
    """Plan the next poll where every poll fails until a person has corrected something.

    It is not asked what to do with the part, however long that takes: its answers are fetched when
    the cause is gone. So these polls do not count among those after which people are asked.
    """
    failures = min(part.failures_in_a_row + 1, MOST_FAILURES)
    pause = pauses.after_failure(part.failures_in_a_row, outcome.wait)
    if failures == MOST_FAILURES:
        pause = max(pause, timedelta(seconds=pauses.PROBE_SECONDS))
    if outcome.everywhere:
        refused.note(part.connection, outcome.message)
    _plan_next(part, outcome.message, timezone.now(), pause, failures, {})


def _plan_next(
    part: Part,
    message: str,
    now: datetime,
    pause: timedelta,
    failures: int,
    changes: PartChanges,
) -> None:
    failed: PartChanges = {
        **changes,
        "last_polled_at": now,
        "next_poll_at": now + pause,
        "failures_in_a_row": failures,
        "failing_since": patience.failing_since(part, now),
        "message": message,
    }
    event = "" if part.failures_in_a_row else f"Part {part.number}: {message}"
    lifecycle.touch_part(part, event=event, **failed)


def _believe(part: Part, attempt: Attempt, outcome: Doubtful) -> None:
    """Apply a reply that gives answers up."""
    message = outcome.message
    match outcome:
        case Quarantined(_, reply_file):
            closing = Closing(attempt, AttemptStatus.QUARANTINED, message, reply_file=reply_file)
            event = f"{message} Nothing of this reply was used."
            _ask(part, Question.MISMATCH, message, event, closing=closing)
        case Unusable(_, reply_file):
            _ask(part, Question.DAMAGED, message, kept=(attempt, reply_file))
        case TooLong(_, reply_file) | CutOff(_, reply_file):
            _ask(part, Question.UNREADABLE, message, kept=(attempt, reply_file))
        case GoneNow():
            closing = Closing(attempt, AttemptStatus.LOST, message)
            _end(part, AnswerStatus.MISSING, GONE, closing)
        case RefusedForGood(_, code):
            _refused(part, Closing(attempt, AttemptStatus.REFUSED, message, code))


def _ask(
    part: Part,
    question: Question,
    message: str,
    event: str = "",
    *,
    closing: Closing | None = None,
    kept: tuple[Attempt, str] | None = None,
    changes: PartChanges | None = None,
) -> None:
    """Let a person decide about a part that was sent.

    kept: an attempt that goes on, and the file that its last reply is kept in; "" if it is not.
    """
    asked: PartChanges = {
        **(changes or {}),
        "question": question,
        "message": message,
        "last_polled_at": timezone.now(),
    }
    told = f"Part {part.number}: {event or message}"
    with transaction.atomic():
        moved = lifecycle.move_part(part, PartStatus.UNSURE, closing=closing, event=told, **asked)
        if moved and kept is not None and kept[1]:
            lifecycle.keep_reply(*kept)


def _refused(part: Part, closing: Closing) -> None:
    if closing.code == JUDGED_WHEN_POLLED:
        refusals.refused(part, closing)
    else:
        _end(part, AnswerStatus.FAILED, closing.message, closing)


def _end(part: Part, status: AnswerStatus, sentence: str, closing: Closing) -> None:
    """End a request whose answers will not come. Rows that it did not have are sent even so."""
    failed = "failed" if status == AnswerStatus.FAILED else "has no answers"
    event = f"Part {part.number} {failed}: {sentence}"
    now = timezone.now()
    changes = _of_the_rows_sent(part, closing.attempt, Answer(status.value, error=sentence))
    if changes is not None:
        # What its polls have counted says nothing about the sending of the other rows.
        changes |= {**patience.NOTHING_WRONG, "last_polled_at": now}
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
        waiting, sent = part_answers.open_positions(part), set(attempt.positions)
        if sent.issuperset(waiting):
            return None
        arrived = {position: answer for position in waiting if position in sent}
        return part_answers.merge(part, arrived, missing=lambda _: None).store()
    except (DamagedFile, OSError):  # they cannot be told from the others
        return None


def _answered_event(part: Part, changes: PartChanges) -> str:
    answered = f"{changes['answered']:,} of {rows_phrase(part.rows)} answered."
    return f"Part {part.number} came back: {answered}"
