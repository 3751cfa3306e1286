"""How many calls a connection may make, shared by every worker through the database.

Cloudflare blocks a user for five minutes after 1,200 calls in five minutes. We stay at or under
`CALLS_PER_5_MINUTES` in any five minutes: a bucket that holds half of them and fills with the
other half in that time.
"""

from datetime import datetime

from django.conf import settings
from django.utils import timezone

from batchui.teams.models import Connection

WINDOW_SECONDS = 300


def take(connection: Connection, wanted: int) -> int:
    """Take up to `wanted` calls from the connection's budget. Returns how many were granted.

    One conditional UPDATE; whoever loses a race looks again.
    """
    capacity = max(1.0, settings.CALLS_PER_5_MINUTES / 2)
    while wanted > 0:
        row = Connection.objects.values("budget_tokens", "budget_at").get(pk=connection.pk)
        now = timezone.now()
        tokens = capacity
        if row["budget_at"] is not None and row["budget_tokens"] is not None:
            passed = max(0.0, (now - row["budget_at"]).total_seconds())
            tokens = min(capacity, row["budget_tokens"] + passed * capacity / WINDOW_SECONDS)
        granted = min(wanted, int(tokens))
        if not granted:
            _mend_clock(connection, row["budget_at"], now)
            return 0
        # `budget_at` alone tells whether somebody was here since: it changes with every take.
        won = Connection.objects.filter(pk=connection.pk, budget_at=row["budget_at"]).update(
            budget_tokens=tokens - granted, budget_at=now
        )
        if won:
            return granted
    return 0


def _mend_clock(connection: Connection, at: datetime | None, now: datetime) -> None:
    """A budget noted by a clock that was ahead fills from now, not from when it catches up."""
    if at is not None and at > now:
        Connection.objects.filter(pk=connection.pk, budget_at=at).update(budget_at=now)
