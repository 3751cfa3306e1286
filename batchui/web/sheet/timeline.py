"""The timeline of a batch: a handful of lines in plain words.

What happened to each part is told with the part. Here it is summed up, however many there are:
what was done to the batch, when its parts were sent and came back, and what held any of them up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from django.db.models import Count, Min, Q

from batchui.batches.corrections import CORRECTED, PUT_BACK
from batchui.batches.empty_answers import COUNTED
from batchui.batches.models import Attempt, Batch, Event
from batchui.batches.phrases import parts_phrase
from batchui.batches.states import ENDED_BATCHES, TAKEN, BatchStatus, PartStatus
from batchui.teams.models import User
from batchui.web import holds
from batchui.web.damaged_files import without_path
from batchui.web.status_words import shown_as_paused
from batchui.web.templatetags.times import lasted

# Lines about the batch that are read: people press buttons a few times, not hundreds of times.
MOST_LINES = 60

_ENDED = frozenset(status.value for status in ENDED_BATCHES)
# A person gives answers another worth; the batch may end with another status by that.
_VALUED = frozenset((COUNTED, CORRECTED, PUT_BACK))
# What others of these lines say better.
_LEFT_OUT = frozenset((BatchStatus.QUEUED.value, BatchStatus.DRAFT.value))
# What happened to parts, by the kind of the events: the singular and the plural.
_OF_PARTS: Mapping[str, tuple[str, str]] = {
    PartStatus.HELD.value: ("had to wait", "had to wait"),
    PartStatus.UNSURE.value: ("needed a decision", "needed a decision"),
    PartStatus.READY.value: ("needed another try", "needed another try"),
    "failure": ("met a problem on its way", "met a problem on their way"),
}


@dataclass(frozen=True)
class Line:
    """One line. kind: a status or what was done, for its colour. who: the name; "" for nobody.

    at: when it was; None for what is so now.
    """

    at: datetime | None
    kind: str
    text: str
    who: str = ""


@dataclass(frozen=True)
class Sent:
    """How many parts Cloudflare has accepted, and when the first one."""

    parts: int
    first: datetime | None


@dataclass(frozen=True)
class OfParts:
    """How many parts had events of one kind, and when the first one."""

    kind: str
    parts: int
    first: datetime


def timeline_of(batch: Batch) -> list[Line]:
    """The lines of a batch, the oldest first; at the end why it is paused, while it is."""
    events = batch.events.filter(Q(part_number=None) | Q(actor__isnull=False))
    told = events.select_related("actor").order_by("at", "id")[:MOST_LINES]
    lines = lines_of(batch, list(told), _sent(batch), _of_parts(batch))
    for hold in holds.of([batch]).values():
        paused = shown_as_paused(without_path(hold.message))
        lines.append(Line(None, PartStatus.HELD, f"{paused.word}: {paused.sentence}"))
    return lines


def lines_of(
    batch: Batch, events: Sequence[Event], sent: Sent, of_parts: Iterable[OfParts]
) -> list[Line]:
    """The lines, from the events about the whole batch and from sums over its parts."""
    if batch.is_looked_up:  # nobody here has started or sent it
        looked = (event for event in events if event.kind != BatchStatus.PREPARING)
        return list(_of_batch(looked))
    lines = [*_of_batch(events), *_of_sending(batch, sent)]
    for found in of_parts:
        one, many = _OF_PARTS[found.kind]
        text = f"{parts_phrase(found.parts)} {one if found.parts == 1 else many}"
        lines.append(Line(found.first, found.kind, text))
    return sorted(lines, key=attrgetter("at"))


def _of_batch(events: Iterable[Event]) -> Iterable[Line]:
    begun: datetime | None = None
    ends = 0
    is_over = was_valued = False
    for event in events:
        who = event.actor.name if isinstance(event.actor, User) else ""
        kind, text = event.kind, without_path(event.text)
        if kind in _LEFT_OUT and not event.actor_id and "ot started" not in text:
            continue
        if kind == BatchStatus.PREPARING:
            begun = event.at
            text = "Started"
        elif kind == "uploaded":
            text = text.replace(" was uploaded.", " uploaded")
        elif kind == "retry":
            begun, is_over = event.at, False
        elif kind in _ENDED and is_over and was_valued:
            continue  # nothing came back: a person counted answers otherwise, or corrected them
        elif kind in _ENDED:
            text = _end(text, event.at - begun if begun else None, again=ends > 0)
            ends += 1
            is_over = True
        was_valued = was_valued or kind in _VALUED
        yield Line(event.at, kind, text, who)


def _end(text: str, took: timedelta | None, *, again: bool) -> str:
    """ "All came back after 8 s: 57 of 60 rows answered." from the sentence of the event."""
    _, _, answered = text.partition(". ")
    after = f" after {lasted(took)}" if took is not None else ""
    if text.startswith("Stopped"):
        return f"Stopped{after}: {answered or text}"
    came = "All came back again" if again else "All came back"
    return f"{came}{after}: {answered or text}"


def _of_sending(batch: Batch, sent: Sent) -> Iterable[Line]:
    if sent.first is None:
        return
    if sent.parts < batch.part_count:
        so_far = " so far" if batch.is_active else ""
        text = f"Sent{so_far}: {sent.parts:,} of {parts_phrase(batch.part_count)}"
    else:
        text = f"Sent in {parts_phrase(batch.part_count)}"
    yield Line(sent.first, PartStatus.QUEUED.value, text)


def _sent(batch: Batch) -> Sent:
    # What was accepted, and refused when it was polled, was sent, too.
    was_taken = Q(status__in=TAKEN) | Q(accepted_at__isnull=False)
    taken = Attempt.objects.filter(was_taken, part__batch=batch).order_by()
    found = taken.aggregate(parts=Count("part", distinct=True), first=Min("accepted_at"))
    return Sent(found["parts"], found["first"])


def _of_parts(batch: Batch) -> list[OfParts]:
    events = batch.events.filter(part_number__isnull=False, kind__in=_OF_PARTS, actor=None)
    found = (
        events.order_by()
        .values("kind")
        .annotate(parts=Count("part_number", distinct=True), first=Min("at"))
    )
    return [OfParts(row["kind"], row["parts"], row["first"]) for row in found]
