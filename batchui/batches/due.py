"""Which parts are due: to be sent, to be polled, to be released from hold."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import chain, zip_longest

from django.db import transaction
from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from batchui.batches import call_limit, many_parts, pauses, settling
from batchui.batches.clock import LONGEST_LEASE, LONGEST_PAUSE, LONGEST_WAIT, is_free, is_over
from batchui.batches.models import MOST_FAILURES, Attempt, Part
from batchui.batches.outcomes import OF_ONE_MODEL
from batchui.batches.states import SENT_PARTS, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Connection

# Requests of one connection under way at once. It limits what Stop cannot call back, and the polls.
MOST_UNDER_WAY = 50
# Ready parts considered at a time: more than a tick takes at once.
CONSIDERED = 500
# A part that is being sent counts as a request under way for so long. If its worker dies, it stays
# `sending` until its lease is over; a few such deaths must not hold up the connection.
SENDING_COUNTS = timedelta(seconds=60)
# Sent parts whose polls fail again and again.
IN_TROUBLE = Q(status__in=SENT_PARTS, failures_in_a_row__gte=MOST_FAILURES)
# Where a part goes.
ROUTE = ("batch__connection", "batch__model")
# Large fields that only pages need.
NOT_NEEDED = ("batch__sample", "batch__problem_rows", "batch__blanks")


def ready_parts(limit: int) -> list[Part]:
    """Up to `limit` parts to send now. The connections take turns.

    Of each connection, the first part of every batch comes before any second part, the oldest batch
    first. After a failed send it is one part of a connection at a time, until one is accepted.
    """
    under_way = requests_under_way()
    full = [pk for pk, number in under_way.items() if number >= MOST_UNDER_WAY]
    candidates = (
        Part.objects.filter(
            Q(resume_at=None) | is_over("resume_at", most=LONGEST_PAUSE),
            call_limit.not_paused("batch__connection__"),
            status=PartStatus.READY,
            batch__deleted_at=None,
        )
        .exclude(batch__connection__in=full)
        .annotate(turn=Window(RowNumber(), partition_by=F("batch"), order_by=F("number").asc()))
        .order_by("turn", "batch__started_at")
        .values_list("pk", *ROUTE, "batch__connection__failures_in_a_row")
    )
    by_connection: dict[int, list[int]] = defaultdict(list)
    failing: dict[int, int] = {}
    models: set[tuple[int, str]] = set()
    for pk, owner, model, failures in candidates[:CONSIDERED]:
        if failures:
            failing[owner] = failures
            if (owner, model) not in models:
                by_connection[owner].append(pk)
            models.add((owner, model))
        elif len(by_connection[owner]) < MOST_UNDER_WAY - under_way[owner]:
            by_connection[owner].append(pk)
    # Counted after the parts were read: a part that another worker has claimed meanwhile is either
    # counted here, or is the one that this worker would try, too, and cannot claim.
    sending = _sending(failing)
    for owner, failures in failing.items():
        # The models take turns, because the trouble may be that of one.
        firsts = by_connection[owner]
        by_connection[owner] = [] if sending[owner] else [firsts[failures % len(firsts)]]
    turns = chain.from_iterable(zip_longest(*by_connection.values()))
    chosen = [pk for pk in turns if pk is not None][:limit]
    return in_order(chosen, PartStatus.READY)


def requests_under_way() -> Counter[int]:
    """The number of requests under way, by connection.

    Two kinds do not count, because they would hold up all others: requests whose polls fail again
    and again, and parts whose worker has probably died while it sent them.
    """
    sent = Q(status__in=SENT_PARTS, failures_in_a_row__lt=MOST_FAILURES)
    requests = Part.objects.filter(sent | _being_sent(), batch__deleted_at=None)
    return Counter(requests.values_list("batch__connection", flat=True))


def _being_sent() -> Q:
    begun = timezone.now() - SENDING_COUNTS
    return Q(status=PartStatus.SENDING, lease_until__gt=begun + PART_LEASE)


def _sending(connections: Iterable[int]) -> Counter[int]:
    sending = Part.objects.filter(_being_sent(), batch__connection__in=list(connections))
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
    on_connection = _held_for_person().filter(batch__connection=batch.connection_id)
    return _release(on_connection.filter(batch__model=batch.ask.model))


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
    found = _with_batch().filter(status__in=statuses).in_bulk(pks)
    return [found[pk] for pk in pks if pk in found]


def _with_batch() -> QuerySet[Part]:
    """Parts with their batch and connection, as a step takes them."""
    return Part.objects.select_related("batch__connection").defer(*NOT_NEEDED)
