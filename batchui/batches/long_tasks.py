"""What checking and preparing share: both read a whole upload, in a worker, under a lease."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.problems import BadInput

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
PROGRESS_SECONDS = 0.7
# How many rows that cannot be asked are named on the page.
SHOWN_PROBLEMS = 20
# Somebody wakes a worker for every upload and start; one that lies so long has been forgotten.
FORGOTTEN = timedelta(seconds=15)
NOT_TAKEN = timedelta(seconds=1)


class LostItError(Exception):
    """Another worker has the batch now, or it was deleted."""


def left_lying() -> list[Batch]:
    """Batches to check or prepare that no worker has: their task was lost, or their worker died."""
    return list(_unclaimed(timezone.now() - FORGOTTEN)[:20])


def somebody_waits() -> bool:
    """Whether a file waits to be read and no worker has taken it yet."""
    return _unclaimed(timezone.now() - NOT_TAKEN).exists()


def _unclaimed(since: datetime) -> QuerySet[Batch]:
    never_claimed = Q(status=BatchStatus.CHECKING, created_at__lt=since) | Q(
        status=BatchStatus.PREPARING, started_at__lt=since
    )
    left = Q(
        status__in=(BatchStatus.CHECKING, BatchStatus.PREPARING), lease_until__lt=timezone.now()
    )
    return Batch.objects.filter(Q(never_claimed, lease_until=None) | left, deleted_at=None)


def cannot_store(problem: OSError) -> str:
    """The sentence about a disk or bucket that does not take or give a file."""
    said = problem.strerror or str(problem)
    return (
        f"This server could not read or store the file: {said}. Tell whoever runs batchui, and "
        "try again then."
    )


def said_of(problem: Exception) -> str:
    """What the page says of whatever ended a reading. What nobody foresaw is logged."""
    if isinstance(problem, BadInput | UnknownModel):
        return str(problem)
    if isinstance(problem, OSError):
        return cannot_store(problem)
    if isinstance(problem, InterfaceError | OperationalError):
        raise problem  # the database: the lease runs out, and another worker tries again
    logger.exception("Reading a file met something nobody foresaw")
    return (
        "batchui could not read this file, and it is not the file's fault. Tell whoever runs "
        "batchui, who finds the reason in the log."
    )


def progress_of(
    batch: Batch, *, beat: Callable[[], None] | None = None
) -> Callable[[int, int], None]:
    """What a long reading calls as it goes: shows how far it is, and keeps the lease.

    `beat` is the worker's sign of life: without it a long file looks like a worker that hangs.
    Raises LostItError when the batch was deleted or another worker took it over.
    """
    last = time.monotonic()

    def report(rows: int, _bytes: int) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_SECONDS:
            return
        last = time.monotonic()
        if not lifecycle.touch_batch(batch, progress_rows=rows, lease_until=timezone.now() + LEASE):
            raise LostItError
        if beat:
            beat()

    return report
