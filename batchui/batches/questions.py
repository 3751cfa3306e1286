"""What people are asked about parts, and how they answer, about one part or about many.

The answer for many parts is one decision: one transaction for each batch, and one line in its
timeline.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from batchui.batches import lifecycle, lost_answers, many_parts, pauses, settling
from batchui.batches.due import IN_TROUBLE
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.phrases import part_numbers, rows_phrase
from batchui.batches.signals import work_waits
from batchui.batches.states import SENT_PARTS, AttemptStatus, PartStatus, Question
from batchui.teams.models import User


class Choice(StrEnum):
    """An answer to a question about parts."""

    SEND_AGAIN = "send-again"
    ASK_AGAIN = "ask-again"
    TRY_AGAIN = "try-again"
    LEAVE_OUT = "leave-out"


CHOICES: Mapping[Question, tuple[Choice, ...]] = {
    Question.UNCLEAR: (Choice.SEND_AGAIN, Choice.LEAVE_OUT),
    Question.UNREADABLE: (Choice.ASK_AGAIN, Choice.LEAVE_OUT),
    Question.MISMATCH: (Choice.ASK_AGAIN, Choice.SEND_AGAIN, Choice.LEAVE_OUT),
    Question.DAMAGED: (Choice.TRY_AGAIN, Choice.LEAVE_OUT),
    Question.RESTORED: (Choice.SEND_AGAIN, Choice.LEAVE_OUT),
    Question.TROUBLE: (Choice.ASK_AGAIN, Choice.LEAVE_OUT),
    Question.STOPPING: (Choice.LEAVE_OUT,),
}
# What may be paid twice, or gives rows up. Pages ask once more before they do it.
ASKED_TWICE = (Choice.SEND_AGAIN, Choice.LEAVE_OUT)

_GAVE_UP = (
    "This row was sent, but no answer could be fetched. Somebody in your team gave it up. The "
    "first Retry looks for the answer again. The next one sends the row again."
)
_UNCLEAR = "It is unclear what became of this row. Somebody in your team left it out."
# What is said of the rows of a part that was left out.
LEFT_OUT: Mapping[Question, str] = {
    Question.UNCLEAR: _UNCLEAR,
    Question.UNREADABLE: _GAVE_UP,
    Question.MISMATCH: (
        "Cloudflare's reply did not fit what was sent. Somebody in your team left this row out."
    ),
    Question.DAMAGED: "batchui could not go on with this row. Somebody in your team left it out.",
    Question.RESTORED: _UNCLEAR,
    Question.TROUBLE: _GAVE_UP,
    Question.STOPPING: _GAVE_UP,
}

# These are sentences about a row, and say nothing about why a batch has failed.
LEFT_OUT_SENTENCES = (*LEFT_OUT.values(), many_parts.STOPPED_UNSURE)

# The question about a part, for queries; "" if there is none. See `question_about`.
QUESTION = Case(
    When(status=PartStatus.UNSURE, question="", then=Value(Question.UNCLEAR.value)),
    When(status=PartStatus.UNSURE, then=F("question")),
    When(
        status__in=SENT_PARTS,
        batch__stop_requested_at__isnull=False,
        then=Value(Question.STOPPING.value),
    ),
    When(IN_TROUBLE, then=Value(Question.TROUBLE.value)),
    default=Value(""),
)


class Decided(NamedTuple):
    """How many parts were decided about, with how many rows that had no answer."""

    parts: int = 0
    rows: int = 0


def question_about(part: Part) -> Question | None:
    """The question about a part; None if there is none."""
    if part.status == PartStatus.UNSURE:
        return Question(part.question or Question.UNCLEAR)
    if part.status in SENT_PARTS and part.batch.stop_requested_at is not None:
        return Question.STOPPING
    return Question.TROUBLE if part.is_in_trouble else None


def about(parts: QuerySet[Part], question: Question) -> QuerySet[Part]:
    """Those of the parts about which this is asked."""
    may_be = Q(status__in=(PartStatus.UNSURE, *SENT_PARTS))
    return parts.filter(may_be).alias(asked=QUESTION).filter(asked=question)


def decide(
    parts: QuerySet[Part], question: Question, choice: Choice, *, by: User | None
) -> Decided:
    """Give this answer for all of the parts about which this question is still asked.

    Nothing is decided if the question has no such choice, or somebody else was first.
    """
    if choice not in CHOICES[question]:
        return Decided()
    asked = about(parts, question)
    if choice == Choice.ASK_AGAIN:
        asked = asked.filter(Exists(_requests().filter(part=OuterRef("pk"))))
    batches = list(asked.values_list("batch", flat=True).distinct().order_by())
    decided = [_decide(pk, asked, question, choice, by) for pk in batches]
    return Decided(sum(one.parts for one in decided), sum(one.rows for one in decided))


def _decide(
    batch_id: UUID, asked: QuerySet[Part], question: Question, choice: Choice, by: User | None
) -> Decided:
    with transaction.atomic():
        batch = settling.lock(batch_id)
        found = list(asked.filter(batch=batch).order_by("number"))
        if not found:
            return Decided()
        if (question, choice) == (Question.DAMAGED, Choice.LEAVE_OUT):
            lost_answers.give_up(found)
        decided = Decided(len(found), sum(part.waiting for part in found))
        these = Part.objects.filter(pk__in=[part.pk for part in found])
        kind = _APPLY[choice](these, question)
        text = _EVENTS[choice](found, question)
        numbers = [part.number for part in found]
        settling.record(batch, kind, text, by=by, parts=numbers)
        settling.settle(batch)
    work_waits.send(Batch, batch=batch)
    return decided


# -- the choices; each returns the kind of its event --------------------------------------------


def _send_again(parts: QuerySet[Part], _question: Question) -> str:
    many_parts.send_undecided(parts)
    return PartStatus.READY.value


def _ask_again(parts: QuerySet[Part], question: Question) -> str:
    if question == Question.TROUBLE:  # it is asked by itself, later
        parts.update(next_poll_at=timezone.now())
        return "ask now"
    requests = _requests().filter(part__in=parts).order_by("number")
    latest = dict(requests.values_list("part", "pk"))
    lifecycle.reopen_attempts(Attempt.objects.filter(pk__in=latest.values()))
    sent = parts.filter(pk__in=latest.keys())
    first = sent.select_related("batch__connection").first()
    if first is not None:
        many_parts.queue_undecided(sent, next_poll_at=timezone.now() + pauses.first_poll(first))
    return PartStatus.QUEUED.value


def _try_again(parts: QuerySet[Part], question: Question) -> str:
    """Ask for the answers to those that were sent; send the others."""
    _ask_again(parts, question)
    return _send_again(parts, question)


def _leave_out(parts: QuerySet[Part], question: Question) -> str:
    many_parts.leave_out(parts, LEFT_OUT[question])
    return PartStatus.DONE.value


def _requests() -> QuerySet[Attempt]:
    """The attempts whose answers can be asked for."""
    accepted = (AttemptStatus.ACCEPTED, AttemptStatus.QUARANTINED)
    return Attempt.objects.filter(status__in=accepted)


_APPLY: Mapping[Choice, Callable[[QuerySet[Part], Question], str]] = {
    Choice.SEND_AGAIN: _send_again,
    Choice.ASK_AGAIN: _ask_again,
    Choice.TRY_AGAIN: _try_again,
    Choice.LEAVE_OUT: _leave_out,
}


# -- what the timeline says ---------------------------------------------------------------------


def _sent_again(parts: list[Part], question: Question) -> str:
    one = len(parts) == 1
    how = "" if question == Question.RESTORED else " again"
    rows = "Its rows" if one else f"Their {rows_phrase(_waiting(parts))}"
    charged = "are" if question == Question.MISMATCH else "may be"
    return f"{_numbers(parts)} {_is(parts)} sent{how}. {rows} {charged} charged twice."


def _asked_again(parts: list[Part], _question: Question) -> str:
    return f"{_numbers(parts)}: Cloudflare is asked again."


def _tried_again(parts: list[Part], _question: Question) -> str:
    return f"{_numbers(parts)} {_is(parts)} tried again."


def _left_out(parts: list[Part], _question: Question) -> str:
    one = len(parts) == 1
    rows = "" if one else f" {rows_phrase(_waiting(parts))} have no answer."
    return f"{_numbers(parts)} {'was' if one else 'were'} left out.{rows}"


_EVENTS: Mapping[Choice, Callable[[list[Part], Question], str]] = {
    Choice.SEND_AGAIN: _sent_again,
    Choice.ASK_AGAIN: _asked_again,
    Choice.TRY_AGAIN: _tried_again,
    Choice.LEAVE_OUT: _left_out,
}


def _numbers(parts: list[Part]) -> str:
    return part_numbers([part.number for part in parts])


def _is(parts: list[Part]) -> str:
    return "is" if len(parts) == 1 else "are"


def _waiting(parts: list[Part]) -> int:
    return sum(part.waiting for part in parts)
