"""The call limit of a connection, and its pauses: shared by every worker through the database.

Cloudflare blocks a user for five minutes after 1,200 calls in five minutes. Here a token bucket
keeps the calls in any five minutes at or below `CALLS_PER_5_MINUTES`: it has room for half of them,
and the other half is added in five minutes. The database's clock is used, because the clocks of
hosts may differ.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import BigIntegerField, DateTimeField, F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from batchui.batches.clock import LONGEST_WAIT, MOST_STEPS, is_over
from batchui.batches.prepared import Given, prepared
from batchui.teams.models import Connection

WINDOW_SECONDS = 300
# With fewer calls left, and fewer than a quarter of the room, the limit counts as used up: workers
# take what comes, and give back what they did not need.
NEARLY_NONE = 15
FIRST_TRIP_SECONDS, LONGEST_TRIP_SECONDS = 2.0, 120.0


def take(connection: Connection, wanted: int) -> int:
    """Take up to `wanted` calls of a connection. Returns how many were granted.

    One conditional UPDATE; a caller that loses a race tries again.
    """
    while wanted > 0:
        [(left, noted_at, now)] = _left(connection=connection.pk)
        available = _available(left, noted_at, now)
        granted = min(wanted, int(available))
        if not granted and (noted_at is None or noted_at <= now):
            return 0
        # Both fields are compared: on SQLite two takes within one millisecond leave the same
        # `calls_counted_at`. A time noted by a clock that was ahead is corrected even if nothing
        # is granted.
        won = Connection.objects.filter(
            pk=connection.pk, calls_left=left, calls_counted_at=noted_at
        ).update(calls_left=available - granted, calls_counted_at=now)
        if won:
            return granted
    return 0


@prepared(connection=BigIntegerField())
def _left(connection: Given) -> QuerySet[Any, Any]:
    """The calls that were left, when that was noted, and the time of the database."""
    found = Connection.objects.filter(pk=connection)
    return found.values_list("calls_left", "calls_counted_at", Now())


def _capacity() -> float:
    return max(1.0, settings.CALLS_PER_5_MINUTES / 2)


def _available(left: float | None, noted_at: datetime | None, now: datetime) -> float:
    """The calls that are there now, if so many were left at that time."""
    if left is None or noted_at is None:
        return _capacity()
    passed = max(0.0, (now - noted_at).total_seconds())
    return min(_capacity(), left + passed * _capacity() / WINDOW_SECONDS)


def is_used_up(connection: Connection) -> bool:
    """Whether none or nearly none of a connection's calls is left."""
    left = _available(connection.calls_left, connection.calls_counted_at, timezone.now())
    return left < max(1.0, min(NEARLY_NONE, _capacity() / 4))


def has_plenty(connection: Connection) -> bool:
    """Whether at least three quarters of a connection's calls are left, so that some may be spent
    on asking sooner."""
    left = _available(connection.calls_left, connection.calls_counted_at, timezone.now())
    return left >= _capacity() * 3 / 4


def give_back(connection: Connection, unused: int) -> None:
    """Return calls that were taken and not made."""
    if unused > 0:
        Connection.objects.filter(pk=connection.pk).update(calls_left=F("calls_left") + unused)


def not_paused(connection: str = "", *, now: datetime | Given | None = None) -> Q:
    """Whether sends may go through a connection now.

    connection: the prefix of its fields in a query of parts, "batch__connection__".
    """
    field = f"{connection}paused_until"
    return Q(**{field: None}) | is_over(field, most=LONGEST_WAIT, now=now)


def pause(connection: Connection, *, until: datetime, reason: str) -> None:
    """Send nothing through a connection before `until`. A longer pause stays."""
    Connection.objects.filter(not_paused() | Q(paused_until__lt=until), pk=connection.pk).update(
        paused_until=until, pause_reason=reason
    )


def resume(connection_id: int) -> None:
    """End the pause of a connection.

    After a failed send it is still one part at a time: what waits is not put at risk all at once.
    """
    Connection.objects.filter(pk=connection_id).update(paused_until=None, pause_reason="")


def trip(
    connection: Connection,
    *,
    reason: str,
    first: float = FIRST_TRIP_SECONDS,
    longest: float = LONGEST_TRIP_SECONDS,
    wait: float | None = None,
) -> None:
    """Pause a connection after a send that was not confirmed, or that waits for a person.

    The pause lasts `first` seconds, doubled after each failure, up to `longest`. Sends that were
    under way together count once: those that fail during the pause do not lengthen it, unless
    Cloudflare asks for a longer one (`wait`, seconds).
    """
    now = timezone.now()
    running = Connection.objects.filter(not_paused(), pk=connection.pk)
    failures = running.values_list("failures_in_a_row", flat=True).first()
    if failures is not None:
        seconds = min(longest, first * 2.0 ** min(failures, MOST_STEPS))
        running.filter(failures_in_a_row=failures).update(
            failures_in_a_row=failures + 1,
            paused_until=now + timedelta(seconds=seconds),
            pause_reason=reason,
        )
    if wait is not None:
        pause(connection, until=now + timedelta(seconds=wait), reason=reason)


def recover(connection: Connection) -> None:
    """Note that Cloudflare's API took a send or refused it for what it says: it is there again.

    A send that comes back during the pause was under way before, and proves nothing.
    """
    now = timezone.now()
    # Looked up first: an UPDATE would lock the database for each part that is accepted.
    if _is_doubted(connection=connection.pk, now=now):
        _doubted(connection.pk, now).update(
            failures_in_a_row=0, refused_since=None, refused_reason=""
        )


@prepared(connection=BigIntegerField(), now=DateTimeField())
def _is_doubted(connection: Given, now: Given) -> QuerySet[Any, Any]:
    return _doubted(connection, now).values_list("pk")


def _doubted(connection: int | Given, now: datetime | Given) -> QuerySet[Connection]:
    doubted = Q(failures_in_a_row__gt=0) | ~Q(refused_since=None)
    return Connection.objects.filter(not_paused(now=now), doubted, pk=connection)
