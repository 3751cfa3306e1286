"""What people are asked now: about the parts of a batch, or of the whole team."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, QuerySet, Sum, UUIDField
from django.utils import timezone

from batchui.batches.many_parts import WAITING_ROWS
from batchui.batches.models import Batch, Part
from batchui.batches.prepared import Given, prepared
from batchui.batches.questions import QUESTION
from batchui.batches.states import PartStatus, Question
from batchui.teams.models import Team
from batchui.web.damaged_files import names_answers, without_path
from batchui.web.undecided import Undecided


def of_batch(batch: Batch) -> list[Undecided]:
    """The questions about the parts of a batch."""
    return _undecided(_of_batch(batch=batch.pk))


def of_parts(parts: QuerySet[Part]) -> list[Undecided]:
    """The questions about these parts, each with the parts it is about.

    One query, however many parts there are.
    """
    return _undecided(_groups(parts))


@prepared(batch=UUIDField())
def _of_batch(batch: Given) -> QuerySet[Any, Any]:
    return _groups(Part.objects.filter(batch=batch))


def _groups(parts: QuerySet[Part]) -> QuerySet[Any, Any]:
    return (
        parts.annotate(asked=QUESTION)
        .exclude(asked="")
        .values_list("asked", "batch", "message")
        .annotate(
            in_group=Count("pk"),
            in_rows=Sum(WAITING_ROWS),
            first=Min("number"),
            since=Min("failing_since"),
            next_poll=Min("next_poll_at"),
            answered=Sum("answered"),
            failing=Max("batch__connection__failures_in_a_row"),
            paused_until=Max("batch__connection__paused_until"),
        )
        .order_by("batch__started_at", "asked")
    )


def _undecided(groups: Iterable[tuple[Any, ...]]) -> list[Undecided]:
    found: dict[Question, Undecided] = {}
    now = timezone.now()
    for word, batch, message, number, rows, first, since, next_poll, *more in groups:
        answered, failing, paused = more
        question = Question(word)
        one = found.setdefault(question, Undecided(question, first, since, next_poll))
        one.first_part = min(one.first_part, first)
        one.failing_since = _earlier(one.failing_since, since)
        one.next_poll_at = _earlier(one.next_poll_at, next_poll)
        one.parts += number
        one.rows += rows
        if question == Question.DAMAGED and names_answers(message):
            one.unreadable += answered
        one.is_failing |= failing > 0
        one.is_paused |= failing > 0 or (paused is not None and paused > now)
        one.messages[without_path(message)] += number
        one.parts_of[batch] += number
        one.rows_of[batch] += rows
    return [found[question] for question in Question if question in found]


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(filter(None, (one, other)), default=None)


def of_team(team: Team | int) -> list[Undecided]:
    """The questions that wait for somebody of a team."""
    return of_parts(parts_of_team(team).filter(status=PartStatus.UNSURE))


def parts_of_team(team: Team | int) -> QuerySet[Part]:
    """The parts of a team, except those of deleted batches."""
    return Part.objects.filter(batch__team=team, batch__deleted_at=None)
