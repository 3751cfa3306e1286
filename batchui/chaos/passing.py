"""Time that passes at once: pauses and leases end, although nobody waited."""

from datetime import timedelta
from typing import Any

from django.db.models import F, Model

from batchui.batches.models import Batch, Counting, Part, Search, TriedRow, Try
from batchui.teams.models import Connection
from batchui.worker.models import Heartbeat

# Every moment that a worker compares with its clock.
MOMENTS: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (Part, ("lease_until", "resume_at", "next_poll_at", "odd_at", "failing_since")),
    (Batch, ("lease_until",)),
    (Try, ("created_at",)),
    (TriedRow, ("lease_until",)),
    (Search, ("lease_until",)),
    (Counting, ("lease_until",)),
    (Connection, ("paused_until",)),
    (Heartbeat, ("reads_until",)),
)


def pass_time(**time: float) -> None:
    """Move every such moment back, as if so much time had passed.

    Call it while no worker lives, or while it is stopped: of a lease nobody else may say that it
    is over.
    """
    passed = timedelta(**time)
    for model, fields in MOMENTS:
        changes: dict[str, Any] = {field: F(field) - passed for field in fields}
        model._default_manager.update(**changes)
