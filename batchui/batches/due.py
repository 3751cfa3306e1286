"""Which parts are due: to be sent, to be polled, to be released from hold."""

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import (
    BigIntegerField,
    Count,
    DateTimeField,
    F,
    Q,
    QuerySet,
    UUIDField,
    Window,
)
from django.db.models.functions import RowNumber
from django.utils import timezone

from batchui.batches import call_limit, many_parts, pauses, settling
from batchui.batches.clock import LONGEST_LEASE, LONGEST_PAUSE, LONGEST_WAIT, is_free, is_over
from batchui.batches.loading import NOT_NEEDED, parts_with
from batchui.batches.models import MOST_FAILURES, Attempt, Batch, Part
from batchui.batches.outcomes import OF_ONE_MODEL
from batchui.batches.prepared import Given, prepared
from batchui.batches.states import SENT_PARTS, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Connection

# Requests of one connection under way at once. It limits what Stop cannot call back, and the polls.
MOST_UNDER_WAY = 50
# Where fewer parts are due at once, and nearly always they are, whose turn it is is found without
# the database.
FEW_DUE = 200
# A part that is being sent counts as a request under way for so long. If its worker dies, it stays
# `sending` until its lease is over; a few such deaths must not hold up the connection.
SENDING_COUNTS = timedelta(seconds=60)
# Sent parts whose polls fail again and again.
IN_TROUBLE = Q(status__in=SENT_PARTS, failures_in_a_row__gte=MOST_FAILURES)
# What may be sent when its time has come.
TO_SEND = (PartStatus.READY, PartStatus.HELD)
# What a tick has something to do with.
NEED_A_WORKER = (*TO_SEND, PartStatus.SENDING, *SENT_PARTS)
# Where a part goes.
ROUTE = ("batch__connection", "batch__model")


def statuses_there() -> set[PartStatus]:
    """Which of the statuses that need a worker some part has.

    One query, which reads an index alone. Where nothing is to be done, others need not be made.
    """
    return {PartStatus(status) for (status,) in _statuses()}


@prepared()
def _statuses() -> QuerySet[Any, Any]:
    found = Part.objects.filter(status__in=NEED_A_WORKER).order_by()
    return found.values_list("status").distinct()


def ready_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to send now, MOST_UNDER_WAY at most. The connections take turns.

    Of each connection, the first part of every batch comes before any second part, the oldest batch
    first. After a failed send it is one part of a connection at a time, until one is accepted.
    """
    under_way = requests_under_way()
    full = [pk for pk, number in under_way.items() if number >= MOST_UNDER_WAY]
    by_connection: dict[int, list[_Waiting]] = defaultdict(list)
    for waiting in map(_Waiting._make, _with_ready(now=timezone.now())):
        if waiting.connection not in full:
            by_connection[waiting.connection].append(waiting)
    queues = [
        _one_at_a_time(batches)
        if batches[0].failures
        else islice(_in_turns(batches, limit), MOST_UNDER_WAY - under_way[owner])
        for owner, batches in by_connection.items()
    ]
    return in_order(list(islice(_round_robin(queues), limit)), PartStatus.READY)


@prepared(now=DateTimeField())
def _with_ready(now: Given) -> QuerySet[Any, Any]:
    """The batches with ready parts that may be sent now, the oldest first: see `_Waiting`."""
    found = Batch.objects.filter(
        call_limit.not_paused("connection__", now=now),
        pk__in=_ready(now).order_by().values("batch").distinct(),
        deleted_at=None,
    )
    of_connection = ("connection", "model", "connection__failures_in_a_row")
    return found.order_by("started_at", "pk").values_list("pk", *of_connection)


def _ready(now: Given) -> QuerySet[Part]:
    """The parts that are ready, and do not wait for their time."""
    may_go = Q(resume_at=None) | is_over("resume_at", most=LONGEST_PAUSE, now=now)
    return Part.objects.filter(may_go, status=PartStatus.READY)


class _Waiting(NamedTuple):
    """A batch with ready parts. failures: of sends of its connection, in a row."""

    pk: UUID
    connection: int
    model: str
    failures: int


def _in_turns(batches: Sequence[_Waiting], limit: int) -> Iterator[int]:
    """The ready parts of these batches: the first of each, then the second of each, and so on.

    No batch is asked before its turn. limit: so many are wanted at most.
    """
    asked: list[list[int]] = []
    for batch in batches:
        asked.append(_firsts(batch))
        yield from asked[-1][:1]
    for turn in range(1, limit):
        yield from (parts[turn] for parts in asked if len(parts) > turn)


def _one_at_a_time(batches: Sequence[_Waiting]) -> Iterator[int]:
    """The part that is tried after a failed send; none while another one is being sent.

    The models take turns, because the trouble may be that of one.
    """
    by_model: dict[str, _Waiting] = {}
    for batch in batches:
        by_model.setdefault(batch.model, batch)
    chosen = list(by_model.values())[batches[0].failures % len(by_model)]
    parts = _firsts(chosen)[:1]
    # Counted after the part was read: one that another worker has claimed meanwhile is either
    # counted here, or is the one that this worker would try, too, and cannot claim.
    if not _is_sending(chosen.connection):
        yield from parts


def _firsts(batch: _Waiting) -> list[int]:
    """The keys of the first ready parts of a batch."""
    return [pk for (pk,) in _first_ready(batch=batch.pk, now=timezone.now())]


@prepared(batch=UUIDField(), now=DateTimeField())
def _first_ready(batch: Given, now: Given) -> QuerySet[Any, Any]:
    of_batch = _ready(now).filter(batch=batch).order_by("number")
    return of_batch.values_list("pk")[:MOST_UNDER_WAY]


def _round_robin(queues: Iterable[Iterator[int]]) -> Iterator[int]:
    """One of each, then another of each, until nothing is left. None is asked before its turn."""
    waiting = deque(queues)
    while waiting:
        queue = waiting.popleft()
        for one in queue:
            yield one
            waiting.append(queue)
            break


def requests_under_way() -> Counter[int]:
    """The number of requests under way, by connection.

    Two kinds do not count, because they would hold up all others: requests whose polls fail again
    and again, and parts whose worker has probably died while it sent them.
    """
    return Counter(dict(_under_way(now=timezone.now())))


@prepared(now=DateTimeField())
def _under_way(now: Given) -> QuerySet[Any, Any]:
    sent = Q(status__in=SENT_PARTS, failures_in_a_row__lt=MOST_FAILURES)
    requests = Part.objects.filter(sent | _being_sent(now), batch__deleted_at=None).order_by()
    return requests.values_list("batch__connection").annotate(number=Count("pk"))


def _being_sent(now: datetime | Given) -> Q:
    return Q(status=PartStatus.SENDING, lease_until__gt=now + (PART_LEASE - SENDING_COUNTS))


def _is_sending(connection: int) -> bool:
    being_sent = _being_sent(timezone.now())
    return Part.objects.filter(being_sent, batch__connection=connection).exists()


def due_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to poll now, FEW_DUE at most.

    The connections take turns; the longest due comes first.
    """
    now = timezone.now()
    found = _longest_due(now=now)
    turns = Counter[int]()
    in_turns = []
    for place, (pk, owner) in enumerate(found):
        in_turns.append((turns[owner], place, pk))
        turns[owner] += 1
    if len(found) < FEW_DUE or _all_are_of(turns, _due(now)):
        chosen = [pk for _, _, pk in sorted(in_turns)[:limit]]
    else:
        chosen = _in_turns_of_many(_due(now), limit)
    return in_order(chosen, *SENT_PARTS)


def _due(now: datetime | Given) -> QuerySet[Part]:
    # The status stands in both halves, so that each of them is a range of an index.
    over = Q(status__in=SENT_PARTS, next_poll_at__lte=now)
    over |= Q(status__in=SENT_PARTS, next_poll_at__gt=now + LONGEST_PAUSE)
    return Part.objects.filter(over, is_free(now=now), batch__deleted_at=None)


@prepared(now=DateTimeField())
def _longest_due(now: Given) -> QuerySet[Any, Any]:
    ordered = _due(now).order_by("next_poll_at", "pk")
    return ordered.values_list("pk", "batch__connection")[:FEW_DUE]


def _all_are_of(connections: Collection[int], due: QuerySet[Part]) -> bool:
    """Whether all of these parts go through one connection, which is the only one given."""
    return len(connections) == 1 and not due.exclude(batch__connection__in=connections).exists()


def _in_turns_of_many(due: QuerySet[Part], limit: int) -> list[int]:
    """The keys of the first `limit` of these parts to poll, where they are many."""
    turn = Window(
        RowNumber(), partition_by=F("batch__connection"), order_by=F("next_poll_at").asc()
    )
    in_turns = due.annotate(turn=turn).order_by("turn", "next_poll_at")
    return list(in_turns.values_list("pk", flat=True)[:limit])


def next_poll_by(until: datetime) -> datetime | None:
    """When the next part is to be polled, if that is by `until`. It may be over already."""
    return next((at for (at,) in _next_poll(now=timezone.now(), until=until)), None)


@prepared(now=DateTimeField(), until=DateTimeField())
def _next_poll(now: Given, until: Given) -> QuerySet[Any, Any]:
    polled = Part.objects.filter(
        is_free(now=now), status__in=SENT_PARTS, next_poll_at__lte=until, batch__deleted_at=None
    )
    return polled.order_by("next_poll_at").values_list("next_poll_at")[:1]


def next_send_by(until: datetime) -> datetime | None:
    """When the next part may be sent that waits for its time, or for the pause of its connection.

    None: none may by `until`. Parts that wait for nothing but the call limit, or for others of
    their connection, do not count.
    """
    now = timezone.now()
    waiting = Part.objects.filter(status__in=TO_SEND, batch__deleted_at=None)
    resumed = waiting.filter(resume_at__gt=now, resume_at__lte=until).order_by("resume_at")
    at: datetime | None = resumed.values_list("resume_at", flat=True).first()
    paused = Connection.objects.filter(paused_until__gt=now, paused_until__lte=until)
    pauses_end = list(paused.values_list("paused_until", flat=True))
    return min((moment for moment in (at, *pauses_end) if moment is not None), default=None)


def stranded_parts(now: datetime) -> list[Part]:
    """Parts whose worker died while sending: their lease is over.

    One query decides and loads. With two, a part that another worker brings back and sends again
    in between would be taken from it.
    """
    if not Part.objects.filter(status=PartStatus.SENDING).exists():  # the larger query costs more
        return []
    over = is_over("lease_until", most=LONGEST_LEASE, now=now)
    with_batch = Part.objects.select_related("batch__connection").defer(
        *(f"batch__{name}" for name in NOT_NEEDED)
    )
    return list(with_batch.filter(over, status=PartStatus.SENDING))


def release_held() -> int:
    """Make held parts ready again. Returns how many there were.

    Those whose time is over; and now and then one of those that wait for a person, to see whether
    the cause is gone.
    """
    over = Part.objects.filter(is_over("resume_at", most=LONGEST_WAIT), status=PartStatus.HELD)
    return _release(over) + _release(_to_try())


def release_like(part: Part) -> int:
    """Make the held parts ready again that waited for a person, after `part` was accepted.

    They go to the same model through the same connection. Returns how many there were.
    """
    batch = part.batch
    if not _is_held(connection=batch.connection_id):  # as nearly always
        return 0
    on_connection = _held_for_person().filter(batch__connection=batch.connection_id)
    return _release(on_connection.filter(batch__model=batch.ask.model))


@prepared(connection=BigIntegerField())
def _is_held(connection: Given) -> QuerySet[Any, Any]:
    held = _held_for_person().filter(batch__connection=connection)
    return held.order_by().values_list("pk")[:1]


def release_refused(connection: Connection) -> int:
    """Make all parts ready again that wait for a person at a connection. Returns how many."""
    return _release(_held_for_person().filter(batch__connection=connection))


def _held_for_person() -> QuerySet[Part]:
    return Part.objects.filter(status=PartStatus.HELD, resume_at=None, batch__deleted_at=None)


def _to_try() -> QuerySet[Part]:
    """Of the parts that wait for a person, the first one of each connection and model.

    None of a connection that is paused, and none where another part goes first.
    """
    held = _held_for_person().filter(call_limit.not_paused("batch__connection__"))
    ordered = held.order_by("batch__started_at", "number").values_list("pk", *ROUTE)
    firsts: dict[tuple[int, str], int] = {}
    for pk, owner, model in ordered:
        firsts.setdefault((owner, model), pk)
    go_first = Part.objects.filter(
        status__in=(PartStatus.READY, PartStatus.SENDING),
        batch__deleted_at=None,
        batch__connection__in={owner for owner, _ in firsts},
    )
    for route in go_first.values_list(*ROUTE).distinct().order_by():
        firsts.pop(route, None)
    chosen = [pk for pk in firsts.values() if _may_be_tried(pk)]
    return Part.objects.filter(pk__in=chosen)


def _may_be_tried(pk: int) -> bool:
    """Whether the last try of a part that waits for a person was long enough ago.

    Where the whole connection was refused, its pause counts the time, and a new token ends it.
    """
    tries = Attempt.objects.filter(part=pk).order_by("-number")
    last = tries.values_list("finished_at", "code", "part__failures_in_a_row").first()
    if last is None:
        return True
    finished_at, code, failures = last
    if finished_at is None or code not in OF_ONE_MODEL:
        return True
    return not timedelta() <= timezone.now() - finished_at < pauses.probe(failures)


def _release(parts: QuerySet[Part]) -> int:
    released = 0
    for batch_id in parts.values_list("batch", flat=True).distinct().order_by():
        with transaction.atomic():
            batch = settling.lock_to_settle(batch_id)
            released += many_parts.release(parts.filter(batch=batch))
            settling.settle(batch)
    return released


def in_order(pks: Sequence[int], *statuses: PartStatus) -> list[Part]:
    """The parts with these keys, in this order, with their batch and connection.

    Parts that no longer have one of the `statuses` are not returned.
    """
    return [part for part in parts_with(pks) if part.status in statuses]
