"""Reading a whole upload under a lease: what checking and preparing share."""

import logging
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.problems import BadInput

logger = logging.getLogger(__name__)

READING_LEASE = timedelta(minutes=2)
# A file up to this size is read in well under half a second, so it is read at once, in the request
# of whoever brought it: nobody waits behind somebody else's million rows.
SMALL_BYTES = 4 * 1024 * 1024
PROGRESS_SECONDS = 0.7
# How many rows that cannot be asked are named on the page.
SHOWN_PROBLEMS = 20
# Whoever brings a small file reads it at once; after so long without that, a worker does.
READ_WITHIN = timedelta(seconds=1)


class LeaseLostError(Exception):
    """Another worker has the batch now, or it was deleted."""


def is_small(batch: Batch) -> bool:
    """Whether the file is read at once, wherever it was brought."""
    return batch.source_size <= SMALL_BYTES


def unclaimed() -> list[Batch]:
    """Batches to check or prepare that no worker has: they are new, or their worker died."""
    return list(_unclaimed()[:20])


def has_unclaimed() -> bool:
    """Whether a file waits to be read and no worker has claimed it yet."""
    return _unclaimed().exists()


def _unclaimed() -> QuerySet[Batch]:
    now = timezone.now()
    large, since = Q(source_size__gt=SMALL_BYTES), now - READ_WITHIN
    never_claimed = Q(lease_until=None) & (
        Q(large | Q(created_at__lt=since), status=BatchStatus.CHECKING)
        | Q(large | Q(started_at__lt=since), status=BatchStatus.PREPARING)
    )
    abandoned = Q(status__in=(BatchStatus.CHECKING, BatchStatus.PREPARING), lease_until__lt=now)
    return Batch.objects.filter(never_claimed | abandoned, deleted_at=None)


def cannot_store(problem: OSError) -> str:
    """The sentence for a disk or bucket that does not take or give a file."""
    reason = problem.strerror or str(problem)
    return (
        f"This server could not read or store the file: {reason}. Tell whoever runs batchui, and "
        "try again then."
    )


def sentence_for(problem: Exception) -> str:
    """The sentence on the page for whatever ended a reading. The unforeseen is logged."""
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
    Raises LeaseLostError when the batch was deleted or another worker took it over.
    """
    last = time.monotonic()

    def report(rows: int, _bytes: int) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_SECONDS:
            return
        last = time.monotonic()
        if not lifecycle.touch_batch(
            batch, progress_rows=rows, lease_until=timezone.now() + READING_LEASE
        ):
            raise LeaseLostError
        if beat:
            beat()

    return report
