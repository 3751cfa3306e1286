"""Which parts are due: to be sent, to be polled, to be released from hold."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, zip_longest

from django.db import transaction
from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from batchui.batches import lifecycle
from batchui.batches.clock import LONGEST_LEASE, LONGEST_PAUSE, LONGEST_WAIT, is_free, is_over
from batchui.batches.models import MOST_FAILURES, Part
from batchui.batches.states import SENT_PARTS, PartStatus

# Requests of one connection under way at once. It limits what Stop cannot call back, and the polls.
MOST_UNDER_WAY = 50
# Ready parts considered at a time: more than a tick takes at once.
CONSIDERED = 500
# Large fields that only pages need.
IN_TROUBLE = Q(status__in=SENT_PARTS, failures_in_a_row__gte=MOST_FAILURES)
NOT_NEEDED = ("batch__sample", "batch__problem_rows", "batch__blanks")


def ready_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to send now. The connections take turns.

    Of each connection, the first part of every batch comes before any second part, the oldest batch
    first.
    """
    under_way, sending = requests_under_way(), _sending()
    full = [pk for pk, number in under_way.items() if number >= MOST_UNDER_WAY]
    candidates = (
        Part.objects.filter(
            Q(resume_at=None) | is_over("resume_at", most=LONGEST_PAUSE),
            Q(batch__connection__paused_until=None)
            | is_over("batch__connection__paused_until", most=LONGEST_WAIT),
            status=PartStatus.READY,
            batch__deleted_at=None,
        )
        .exclude(batch__connection__in=full)
        .annotate(turn=Window(RowNumber(), partition_by=F("batch"), order_by=F("number").asc()))
        .order_by("turn", "batch__started_at")
        .values_list("pk", "batch__connection", "batch__connection__failures_in_a_row")
    )
    by_connection: dict[int, list[int]] = defaultdict(list)
    for pk, owner, failures in candidates[:CONSIDERED]:
        room = MOST_UNDER_WAY - under_way[owner]
        if failures:  # one part, to see whether it is over
            room = min(room, 1 - sending[owner])
        if len(by_connection[owner]) < room:
            by_connection[owner].append(pk)
    turns = chain.from_iterable(zip_longest(*by_connection.values()))
    chosen = [pk for pk in turns if pk is not None][:limit]
    return in_order(chosen, PartStatus.READY)


def requests_under_way() -> Counter[int]:
    """The number of requests under way, by connection.

    Those whose polls fail again and again do not count: they must not hold up all others.
    """
    requests = Part.objects.filter(
        status__in=(PartStatus.SENDING, *SENT_PARTS), batch__deleted_at=None
    ).exclude(IN_TROUBLE)
    return Counter(requests.values_list("batch__connection", flat=True))


def _sending() -> Counter[int]:
    sending = Part.objects.filter(status=PartStatus.SENDING)
    return Counter(sending.values_list("batch__connection", flat=True))


def due_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to poll now. The connections take turns; the longest due comes first."""
    turn = Window(
        RowNumber(), partition_by=F("batch__connection"), order_by=F("next_poll_at").asc()
    )
    due = (
        Part.objects.filter(
            is_over("next_poll_at", most=LONGEST_PAUSE),
            is_free(),
            status__in=SENT_PARTS,
            batch__deleted_at=None,
        )
        .annotate(turn=turn)
        .order_by("turn", "next_poll_at")
    )
    return in_order(list(due.values_list("pk", flat=True)[:limit]), *SENT_PARTS)


def stranded_parts(now: datetime) -> list[Part]:
    """Parts whose worker died while sending: their lease is over.

    One query decides and loads. With two, a part that another worker brings back and sends again
    in between would be taken from it.
    """
    over = is_over("lease_until", most=LONGEST_LEASE, now=now)
    return list(_with_batch().filter(over, status=PartStatus.SENDING))


def release_held() -> int:
    """Make held parts ready again. Returns how many there were.

    Those whose time is over; and of a connection whose parts wait for a person one, now and then,
    to see whether the cause is gone.
    """
    over = Part.objects.filter(is_over("resume_at", most=LONGEST_WAIT), status=PartStatus.HELD)
    return _release(over) + sum(map(_release, _probes()))


def release_connection(connection_id: int) -> int:
    """Make the parts of a connection ready again that wait for a person."""
    return _release(_held_for_person().filter(batch__connection=connection_id))


def _held_for_person() -> QuerySet[Part]:
    return Part.objects.filter(status=PartStatus.HELD, resume_at=None, batch__deleted_at=None)


def _probes() -> list[QuerySet[Part]]:
    """One held part of each connection that is not paused, unless another part goes first."""
    idle = _held_for_person().filter(
        Q(batch__connection__paused_until=None)
        | is_over("batch__connection__paused_until", most=LONGEST_WAIT)
    )
    connections = set(idle.values_list("batch__connection", flat=True).order_by())
    busy = Part.objects.filter(
        status__in=(PartStatus.READY, PartStatus.SENDING),
        batch__deleted_at=None,
        batch__connection__in=connections,
    )
    connections -= set(busy.values_list("batch__connection", flat=True).order_by())
    oldest = idle.order_by("batch__started_at", "number").values_list("pk", flat=True)
    firsts = [oldest.filter(batch__connection=connection)[:1] for connection in connections]
    return [Part.objects.filter(pk__in=list(first), status=PartStatus.HELD) for first in firsts]


def _release(parts: QuerySet[Part]) -> int:
    released = 0
    for batch_id in parts.values_list("batch", flat=True).distinct().order_by():
        with transaction.atomic():
            batch = lifecycle.lock(batch_id)
            released += lifecycle.release_parts(parts.filter(batch=batch))
            lifecycle.settle(batch)
    return released


def in_order(pks: Sequence[int], *statuses: PartStatus) -> list[Part]:
    """The parts with these keys, in this order, with their batch and connection.

    Parts that no longer have one of the `statuses` are not returned.
    """
    found = _with_batch().filter(status__in=statuses).in_bulk(pks)
    return [found[pk] for pk in pks if pk in found]


def _with_batch() -> QuerySet[Part]:
    """Parts with their batch and connection, as a step takes them."""
    return Part.objects.select_related("batch__connection").defer(*NOT_NEEDED)
