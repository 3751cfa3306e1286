"""Moves of many parts at once, each kind by one UPDATE.

The caller has locked their batch (`settling.lock`), and settles it afterwards. Functions return how
many parts were moved, where somebody wants to know.
"""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from batchui.batches.models import Attempt, Part
from batchui.batches.patience import NOTHING_WRONG
from batchui.batches.states import (
    OPEN_PARTS,
    PERHAPS_SENT,
    SENT_PARTS,
    AnswerStatus,
    AttemptStatus,
    PartStatus,
    Question,
)

# The number of waiting rows of a part (`Part.waiting`), for an UPDATE of many parts.
WAITING_ROWS = (
    F("rows") - F("answered") - F("empty") - F("failed") - F("missing") - F("unsent") - F("invalid")
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
    latest = Attempt.objects.filter(part=OuterRef("pk")).order_by("-number").values("number")[:1]
    return parts.filter(status__in=(PartStatus.DONE, PartStatus.STOPPED)).update(
        status=PartStatus.READY,
        epoch=F("epoch") + 1,
        lease_until=None,
        resume_at=None,
        waiting_became="",
        waiting_error="",
        forget_unanswered=True,
        attempts_before=Coalesce(Subquery(latest), 0),
        message="",
        failures_in_a_row=0,
        resends=0,
        empty=0,
        failed=0,
        missing=0,
        unsent=0,
    )


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
