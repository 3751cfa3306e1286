"""Invariants 6 and 9: what is done stays done, and the timeline explains every status."""

from collections.abc import Iterator, Sequence

from batchui.batches.models import Event, Part
from batchui.batches.states import (
    ENDED_BATCHES,
    OPEN_PARTS,
    STARTED,
    AnswerStatus,
    BatchStatus,
    PartStatus,
    derive,
)
from batchui.doctor.findings import LOOK_AT_LOG, Finding
from batchui.doctor.records import Record
from batchui.doctor.requests import RESTORED, RETRY

ENDED = frozenset(status.value for status in ENDED_BATCHES)
STOP = "stopping"


def done_stays_done(record: Record) -> Iterator[Finding]:
    """Invariant 6: what is done reopens only by a recorded Retry.

    After the line that says that a part or a batch has ended, nothing of it is sent, and it is not
    open, unless a Retry is on record since. A restored database is on record as well: what was sent
    since its copy was made may be open in it.
    """
    retries = [event for event in record.of_batch if event.kind in (RETRY, RESTORED)]
    ended = [event for event in record.of_batch if event.kind in ENDED]
    if ended and record.batch.status not in ENDED and not _is_between(retries, ended[-1]):
        yield record.finding(
            6,
            "batch reopened",
            f"It ended (“{ended[-1].text}”) and is {record.batch.status}; no Retry is on record.",
            since=ended[-1].at,
            do=LOOK_AT_LOG,
        )
    for part in record.parts:
        done = [event for event in record.of_part(part) if event.kind == PartStatus.DONE]
        for end in [*done, *ended]:
            yield from _sent_after(record, part, end, retries)
        if done and part.status in OPEN_PARTS and not _is_between(retries, done[-1]):
            yield record.finding(
                6,
                "part reopened",
                f"It ended (“{done[-1].text}”) and is {part.status}; no Retry is on record.",
                part=part,
                since=done[-1].at,
                do=LOOK_AT_LOG,
            )


def _sent_after(
    record: Record, part: Part, end: Event, retries: Sequence[Event]
) -> Iterator[Finding]:
    for attempt in record.attempts(part):
        if attempt.created_at <= end.at + record.scope.skew:
            continue
        if not any(retry.pk > end.pk for retry in retries):
            yield record.finding(
                6,
                f"attempt {attempt.number} after the end",
                f"Attempt {attempt.number} was made after the end (“{end.text}”); no Retry is on "
                "record between them.",
                part=part,
                since=attempt.created_at,
                do=f"Its rows may be charged twice. {LOOK_AT_LOG}",
            )


def _is_between(retries: Sequence[Event], end: Event) -> bool:
    return any(retry.pk > end.pk for retry in retries)


def every_status_is_explained(record: Record) -> Iterator[Finding]:
    """Invariant 9: every status is explained by events.

    The status of a started batch follows from its parts, and that of an ended one has its line; so
    has what became of each part.
    """
    batch = record.batch
    kinds = {event.kind for event in record.of_batch}
    if batch.status in STARTED:
        yield from _batch_follows(record)
        if not {BatchStatus.PREPARING, BatchStatus.QUEUED} <= kinds:
            yield _unexplained(record, "batch started", "It is started, and no line says so.")
    elif record.parts:
        yield _unexplained(record, "batch started", f"It is {batch.status}, and has parts.")
    if batch.status in ENDED:
        last = [event.kind for event in record.of_batch if event.kind in ENDED][-1:]
        if last != [batch.status]:
            said = f"the last line says “{last[0]}”" if last else "no line says so"
            yield _unexplained(record, "batch ended", f"It is {batch.status}, and {said}.")
    for part in record.parts:
        wanted = _lines_for(part)
        of_part = {event.kind for event in record.of_part(part)}
        if wanted and not wanted & (of_part | kinds & {STOP, RESTORED, PartStatus.DONE}):
            yield _unexplained(
                record, "part", f"It is {part.status}, and no line of the timeline says why.", part
            )


def _batch_follows(record: Record) -> Iterator[Finding]:
    status = derive(
        {status: sum(part.status == status for part in record.parts) for status in PartStatus},
        held_for_person=sum(
            part.status == PartStatus.HELD and part.resume_at is None for part in record.parts
        ),
        answers={
            status: sum(getattr(part, status.value) for part in record.parts)
            for status in AnswerStatus
        },
        stop_requested=record.batch.stop_requested_at is not None,
    )
    if status != record.batch.status:
        yield _unexplained(
            record,
            "batch follows from parts",
            f"It is {record.batch.status}; by its parts it is {status}.",
        )


def _lines_for(part: Part) -> set[str]:
    """The kinds of events of which one must be there; empty: none is needed."""
    match PartStatus(part.status):
        case PartStatus.HELD if not part.waits_for_copies:
            # Of failures one after another the first alone has a line.
            return {PartStatus.HELD, PartStatus.READY}
        case PartStatus.UNSURE:
            return {PartStatus.UNSURE, RESTORED}
        case PartStatus.QUEUED | PartStatus.RUNNING:
            return {PartStatus.QUEUED}
        case PartStatus.STOPPED:
            return {STOP}
        case PartStatus.DONE if part.never_asked < part.rows:  # else nothing of it was ever asked
            return {PartStatus.DONE, STOP}
    return set()


def _unexplained(record: Record, kind: str, what: str, part: Part | None = None) -> Finding:
    return record.finding(9, kind, what, part=part, do=LOOK_AT_LOG)
