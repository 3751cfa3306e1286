"""Which parts are due: to be sent, to be polled, to be released from hold."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, zip_longest

from django.db import transaction
from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.models import Part
from batchui.batches.states import SENT_PARTS, PartStatus

# Requests of one connection under way at once. It limits what Stop cannot call back, and the polls.
MOST_UNDER_WAY = 50
# Ready parts considered at a time: more than a tick takes at once.
CONSIDERED = 500
# Large fields that only pages need.
NOT_NEEDED = ("batch__sample", "batch__problem_rows", "batch__blanks")


def ready_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to send now. The connections take turns.

    Of each connection, the first part of every batch comes before any second part, the oldest batch
    first.
    """
    now = timezone.now()
    under_way = Counter(
        Part.objects.filter(status__in=(PartStatus.SENDING, *SENT_PARTS)).values_list(
            "batch__connection", flat=True
        )
    )
    full = [pk for pk, number in under_way.items() if number >= MOST_UNDER_WAY]
    candidates = (
        Part.objects.filter(
            Q(resume_at=None) | Q(resume_at__lte=now),
            Q(batch__connection__paused_until=None) | Q(batch__connection__paused_until__lte=now),
            status=PartStatus.READY,
            batch__deleted_at=None,
        )
        .exclude(batch__connection__in=full)
        .annotate(turn=Window(RowNumber(), partition_by=F("batch"), order_by=F("number").asc()))
        .order_by("turn", "batch__started_at")
        .values_list("pk", "batch__connection")[:CONSIDERED]
    )
    by_connection: dict[int, list[int]] = defaultdict(list)
    for pk, owner in candidates:
        if len(by_connection[owner]) + under_way[owner] < MOST_UNDER_WAY:
            by_connection[owner].append(pk)
    turns = chain.from_iterable(zip_longest(*by_connection.values()))
    chosen = [pk for pk in turns if pk is not None][:limit]
    return in_order(chosen, PartStatus.READY)


def due_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to poll now. The connections take turns; the longest due comes first."""
    now = timezone.now()
    turn = Window(
        RowNumber(), partition_by=F("batch__connection"), order_by=F("next_poll_at").asc()
    )
    due = (
        Part.objects.filter(status__in=SENT_PARTS, next_poll_at__lte=now, batch__deleted_at=None)
        .exclude(lease_until__gt=now)
        .annotate(turn=turn)
        .order_by("turn", "next_poll_at")
    )
    return in_order(list(due.values_list("pk", flat=True)[:limit]), *SENT_PARTS)


def stranded_parts(now: datetime) -> list[Part]:
    """Parts whose worker died while sending: their lease is over.

    One query decides and loads. With two, a part that another worker brings back and sends again
    in between would be taken from it.
    """
    return list(_with_batch().filter(status=PartStatus.SENDING, lease_until__lt=now))


def release_held() -> int:
    """Make the held parts whose time is over ready again. Returns how many there were."""
    over = Part.objects.filter(status=PartStatus.HELD, resume_at__lte=timezone.now())
    released = 0
    for batch_id in over.values_list("batch", flat=True).distinct().order_by():
        with transaction.atomic():
            batch = lifecycle.lock(batch_id)
            released += lifecycle.release_parts(over.filter(batch=batch))
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
