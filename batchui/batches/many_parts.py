"""Moves of many parts at once, each kind by one UPDATE.

The caller has locked their batch (`settling.lock`), and settles it afterwards. Functions return how
many parts were moved, where somebody wants to know.
"""

from datetime import datetime
from functools import reduce
from operator import sub
from typing import Any, NamedTuple

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from batchui.batches.changes import PartChanges
from batchui.batches.models import Attempt, Part
from batchui.batches.patience import NOTHING_WRONG
from batchui.batches.states import (
    ENDED_PARTS,
    OPEN_PARTS,
    PERHAPS_SENT,
    RETRYABLE_ANSWERS,
    SENT_PARTS,
    AnswerStatus,
    AttemptStatus,
    PartStatus,
    Question,
)

# The number of waiting rows of a part (`Part.waiting`), for an UPDATE of many parts.
WAITING_ROWS = reduce(sub, (F(status.value) for status in AnswerStatus), F("rows"))

# Parts whose empty answers count as answered, and in which no row has waited since.
COUNTS_EMPTY = Q(
    status__in=ENDED_PARTS, empty_counts=True, forget_unanswered=False, asked_again__isnull=True
)

STOPPED_BEFORE = "Stopped before it was sent."
STOPPED_UNSURE = "Stopped while it was unclear what had become of this row."


def stop(parts: QuerySet[Part]) -> int:
    """Apply Stop to parts.

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
    unsure = parts.filter(status=PartStatus.UNSURE)
    not_sent = unsure.filter(question=Question.DAMAGED).exclude(_with_attempt(*PERHAPS_SENT))
    moved += _end(not_sent, PartStatus.STOPPED, AnswerStatus.UNSENT, STOPPED_BEFORE)
    for unclear in (unsure, waiting.filter(_with_attempt(*PERHAPS_SENT))):
        moved += _end(unclear, PartStatus.DONE, AnswerStatus.MISSING, STOPPED_UNSURE)
    return moved + _end(waiting, PartStatus.STOPPED, AnswerStatus.UNSENT, STOPPED_BEFORE)


class AtStop(NamedTuple):
    """What Stop means for the rows without an answer: how many of each kind."""

    unsent: int = 0
    sent: int = 0  # their answers are still fetched
    left_out: int = 0


def rows_at_stop(parts: QuerySet[Part]) -> AtStop:
    """What becomes of the rows of parts if `stop` is applied to them."""
    waits = Q(status__in=(PartStatus.READY, PartStatus.HELD))
    perhaps_sent = _with_attempt(*PERHAPS_SENT)
    fate = Case(
        When(status__in=(PartStatus.SENDING, *SENT_PARTS), then=Value("sent")),
        When(waits & _with_attempt(AttemptStatus.ACCEPTED), then=Value("sent")),
        When(waits & perhaps_sent, then=Value("left_out")),
        When(waits, then=Value("unsent")),
        When(Q(question=Question.DAMAGED) & ~perhaps_sent, then=Value("unsent")),
        default=Value("left_out"),
    )
    is_open = parts.filter(status__in=OPEN_PARTS).annotate(fate=fate).order_by()
    return AtStop(**dict(is_open.values_list("fate").annotate(in_all=Sum(WAITING_ROWS))))


def _with_attempt(*statuses: AttemptStatus) -> Q:
    return Q(Exists(Attempt.objects.filter(part=OuterRef("pk"), status__in=statuses)))


def reopen(parts: QuerySet[Part]) -> int:
    """Make ended parts ready again for a retry. The counts of rows to ask again become 0."""
    counts = {status.value: 0 for status in RETRYABLE_ANSWERS}
    return _reopen(parts, forget_unanswered=True, asked_again=None, **counts)


def reopen_chosen(part: Part, changes: PartChanges) -> bool:
    """Make an ended part ready again, in which some rows are asked again. False: it has moved."""
    as_seen = Part.objects.filter(pk=part.pk, epoch=part.epoch)
    return bool(_reopen(as_seen, times_chosen=F("times_chosen") + 1, **changes))


def _reopen(parts: QuerySet[Part], **changes: Any) -> int:
    latest = Attempt.objects.filter(part=OuterRef("pk")).order_by("-number").values("number")[:1]
    return parts.filter(status__in=ENDED_PARTS).update(
        status=PartStatus.READY,
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        waiting_became="",
        waiting_error="",
        attempts_before=Coalesce(Subquery(latest), 0),
        message="",
        failures_in_a_row=0,
        resends=0,
        **changes,
    )


def count_empty(parts: QuerySet[Part]) -> int:
    """Let the empty answers of ended parts count as answered (see `empty_answers.py`)."""
    return parts.filter(status__in=ENDED_PARTS, empty__gt=0).update(
        epoch=F("epoch") + 1, answered=F("answered") + F("empty"), empty=0, empty_counts=True
    )


def count_as_empty(part: Part, rows: int) -> bool:
    """Take back what `count_empty` did to a part. False: it has moved."""
    as_seen = Part.objects.filter(COUNTS_EMPTY, pk=part.pk, epoch=part.epoch)
    counts = {"answered": F("answered") - rows, "empty": F("empty") + rows}
    return bool(as_seen.update(epoch=F("epoch") + 1, empty_counts=False, **counts))


def release(parts: QuerySet[Part]) -> int:
    """Make held parts ready again."""
    return parts.filter(status=PartStatus.HELD).update(
        status=PartStatus.READY, epoch=F("epoch") + 1, resume_at=None, message=""
    )


def let_people_decide(parts: QuerySet[Part], message: str) -> int:
    """Make parts unsure that may have been sent since this database was copied."""
    return parts.update(
        status=PartStatus.UNSURE,
        question=Question.RESTORED,
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        message=message,
    )


def send_undecided(parts: QuerySet[Part]) -> int:
    """Make unsure parts ready."""
    return parts.filter(status=PartStatus.UNSURE).update(
        status=PartStatus.READY,
        question="",
        epoch=F("epoch") + 1,
        resume_at=None,
        message="",
        failures_in_a_row=0,
    )


def queue_undecided(parts: QuerySet[Part], *, next_poll_at: datetime) -> int:
    """Make unsure parts `queued` that were sent, as if they had just been accepted."""
    return parts.filter(status=PartStatus.UNSURE).update(
        status=PartStatus.QUEUED,
        question="",
        epoch=F("epoch") + 1,
        next_poll_at=next_poll_at,
        polls=0,
        **NOTHING_WRONG,
    )


def leave_out(parts: QuerySet[Part], error: str) -> int:
    """End parts: their waiting rows become `missing`, with `error`.

    A request for whose answers a retry has already looked in vain is given up: the next retry sends
    its rows again.
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


def _end(parts: QuerySet[Part], to: PartStatus, status: AnswerStatus, error: str) -> int:
    return parts.update(
        status=to,
        question="",
        epoch=F("epoch") + 1,
        lease_until=None,
        waiting_became=status.value,
        waiting_error=error,
        message=error,
        **{status.value: F(status.value) + WAITING_ROWS},
    )
