"""The strip above a sheet: one segment a part, or a group of parts, with its state.

One query makes it, in which the database does the grouping, so that 20,000 parts cost as little as
a few; where a segment is a part, another one says when it was sent.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from zlib import crc32

from django.db.models import (
    Case,
    Count,
    ExpressionWrapper,
    F,
    IntegerField,
    Max,
    Min,
    Q,
    QuerySet,
    UUIDField,
    Value,
    When,
)
from django.db.models.expressions import Combinable

from batchui.batches.models import WAITING_FOR_COPIES, Attempt, Batch, Part
from batchui.batches.phrases import counted
from batchui.batches.prepared import Given, prepared
from batchui.batches.states import SENT_PARTS, AttemptStatus, PartStatus
from batchui.web.status_words import SEGMENTS

MOST_SEGMENTS = 120
MANY_SEGMENTS = 60


_STATE = Case(
    When(status=PartStatus.RUNNING, then=Value("running")),
    When(status=PartStatus.QUEUED, then=Value("queued")),
    When(status=PartStatus.SENDING, then=Value("sending")),
    When(Q(status=PartStatus.READY) | WAITING_FOR_COPIES, then=Value("ready")),
    When(status=PartStatus.UNSURE, then=Value("person")),
    When(status=PartStatus.HELD, resume_at=None, then=Value("person")),
    When(status=PartStatus.HELD, then=Value("held")),
    # Ended: done or stopped. Rows that are skipped were never to be asked.
    When(rows=F("answered") + F("skipped"), then=Value("answered")),
    When(status=PartStatus.STOPPED, answered__gt=0, then=Value("halted")),
    When(answered__gt=0, then=Value("partly")),
    When(status=PartStatus.STOPPED, then=Value("left")),
    default=Value("failed"),
)


@dataclass
class Segment:
    """One segment: a part, or parts that follow one another, and how many have which state.

    sent: when the part that is at Cloudflare was accepted there; None for a group.
    """

    first: int
    last: int
    first_row: int
    last_row: int
    counts: Counter[str] = field(default_factory=Counter)
    sent: datetime | None = None

    @property
    def state(self) -> str:
        """The state that gives the segment its look."""
        return next(state for state in SEGMENTS if self.counts[state])

    @property
    def is_one(self) -> bool:
        """Whether it is one part, not a group."""
        return self.first == self.last

    @property
    def name(self) -> str:
        """ "Part 7, rows 152 to 177: Running", "Rows 202 to 377: finished",
        "Rows 202 to 377, 8 parts: 5 finished, 3 running".

        A strip of groups has a hundred of them, so theirs says no numbers of parts.
        """
        rows = f"rows {self.first_row:,} to {self.last_row:,}"
        if self.first_row == self.last_row:
            rows = f"row {self.first_row:,}"
        if self.is_one:
            return f"Part {self.first:,}, {rows}: {SEGMENTS[self.state]}"
        if len(self.counts) == 1:
            return f"{rows.capitalize()}: {_inside(SEGMENTS[self.state])}"
        return f"{rows.capitalize()}, {self.counts.total():,} parts: {counts_text(self.counts)}"


@dataclass(frozen=True)
class Strip:
    """The strip of a batch. is_paused: nothing of what waits is sent now."""

    segments: list[Segment]
    counts: Counter[str]
    is_paused: bool = False

    @cached_property
    def signature(self) -> str:
        """A short text that changes when the strip looks or sounds different."""
        looks = "|".join(f"{one.name} {one.sent}" for one in self.segments)
        return format(crc32(f"{self.is_paused} {looks}".encode()), "x")

    @property
    def is_dense(self) -> bool:
        """Whether there are too many segments for gaps that can be seen."""
        return len(self.segments) > MANY_SEGMENTS

    @property
    def middle(self) -> int:
        """The place of the segment from which on names are aligned at the end."""
        return (len(self.segments) + 1) // 2

    @property
    def summary(self) -> str:
        """ "12 parts: 5 finished, 3 running, 4 queued (not sent yet)"."""
        return f"{counted(self.counts.total(), 'part')}: {counts_text(self.counts)}"


def strip_of(batch: Batch) -> Strip:
    """The strip of a started batch, as if it were not paused."""
    number = max(1, batch.part_count)
    found: dict[int, Segment] = {}
    for place, state, parts, *span in _grouped(
        batch=batch.pk, groups=min(MOST_SEGMENTS, number), part_count=number
    ):
        first, last, first_row, last_row = span
        segment = found.setdefault(place, Segment(first, last, first_row, last_row))
        segment.first = min(segment.first, first)
        segment.last = max(segment.last, last)
        segment.first_row = min(segment.first_row, first_row)
        segment.last_row = max(segment.last_row, last_row)
        segment.counts[state] += parts
    segments = [found[place] for place in sorted(found)]
    if batch.part_count <= MOST_SEGMENTS:
        _tell_when_sent(batch, segments)
    counts = sum((segment.counts for segment in segments), Counter())
    return Strip(segments, counts)


def parts_in_state(batch: Batch, state: str) -> QuerySet[Part]:
    """The parts of a batch that have a state of `SEGMENTS`."""
    return batch.parts.alias(state=_STATE).filter(state=state)


def states_of(batch: Batch) -> dict[str, int]:
    """How many parts have each state, in the order of `SEGMENTS`; none with 0."""
    found = batch.parts.order_by().values_list(_STATE).annotate(Count("pk"))
    counts = dict(found)
    return {state: counts[state] for state in SEGMENTS if state in counts}


def _tell_when_sent(batch: Batch, segments: Iterable[Segment]) -> None:
    """Say of each part that is at Cloudflare when it was accepted there. One query."""
    accepted = dict(_accepted(batch=batch.pk))
    for segment in segments:
        segment.sent = accepted.get(segment.first)


def counts_text(counts: Counter[str]) -> str:
    """ "5 finished, 3 running": the states that parts have, what is done first."""
    states = ("answered", "partly", "failed", "running", "queued", "sending", "person", "held")
    named = (state for state in (*states, "ready", "halted", "left") if counts[state])
    return ", ".join(f"{counts[state]:,} {_inside(SEGMENTS[state])}" for state in named)


def _inside(words: str) -> str:
    """Words as they stand inside a sentence."""
    return words[0].lower() + words[1:]


@prepared(batch=UUIDField(), groups=IntegerField(), part_count=IntegerField())
def _grouped(batch: Given, groups: Given, part_count: Given) -> QuerySet[Any, Any]:
    # Both divisions are of whole numbers, in SQLite and in PostgreSQL.
    place: Combinable = (F("number") - 1) * groups / part_count
    found = Part.objects.filter(batch=batch).order_by()
    return (
        found.annotate(segment=ExpressionWrapper(place, output_field=IntegerField()), state=_STATE)
        .values_list("segment", "state")
        .annotate(
            parts=Count("pk"),
            first=Min("number"),
            last=Max("number"),
            from_row=Min("first_row"),
            to_row=Max(F("first_row") + F("rows") - 1),
        )
    )


@prepared(batch=UUIDField())
def _accepted(batch: Given) -> QuerySet[Any, Any]:
    there = Attempt.objects.filter(part__batch=batch, part__status__in=SENT_PARTS)
    accepted = there.filter(status=AttemptStatus.ACCEPTED)
    return accepted.values_list("part__number", "accepted_at")
