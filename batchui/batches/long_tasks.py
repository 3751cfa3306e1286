"""Reading a whole upload under a lease: what checking and preparing share."""

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import lifecycle
from batchui.batches.clock import LONGEST_LEASE, is_over
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch
from batchui.batches.progress import Progress
from batchui.batches.signals import work_waits
from batchui.batches.states import BEING_READ, BatchStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.problems import BadInput

logger = logging.getLogger(__name__)

READING_LEASE = timedelta(minutes=2)
# A file up to this size is read in well under half a second, whatever is in it. It is read in the
# request that uploads it, so nobody waits behind somebody else's million rows.
SMALL_BYTES = 256 * 1024
PROGRESS_SECONDS = 0.7
# A reading that was begun so often and never ended is not begun again.
MOST_READINGS = 3
# A small file is read in its upload's request. If that has not happened after this time, a worker
# reads it.
READ_WITHIN = timedelta(seconds=1)
# Whoever presses Start does not wait for the survey of what was typed a moment before.
_reads, SURVEYS = threading.Lock(), threading.Lock()

# Shows a sign of life. It may raise StoppedError.
Beat = Callable[[], None]


class LeaseLostError(Exception):
    """Another worker has the batch now, or the batch was deleted."""


class StoppedError(Exception):
    """This process is to stop reading. Another one reads the file from its beginning."""


def read_now_or_soon(
    batch: Batch, read: Callable[..., None], *, one_at_a_time: threading.Lock = _reads
) -> None:
    """Read a batch's small file in this request; let a worker read any other.

    read: `check_file`, `prepare` or `surveys.find_out`. One file is read at a time in each web
    process, and for PROGRESS_SECONDS at most (a small file may have many large questions): people
    who start a hundred batches at once keep nobody from the pages.
    """
    if batch.source_size <= SMALL_BYTES and one_at_a_time.acquire(blocking=False):
        try:
            read(batch.pk, beat=_leave_it_to_a_worker)
        finally:
            one_at_a_time.release()
    else:
        work_waits.send(Batch, batch=batch)


def _leave_it_to_a_worker() -> None:
    raise StoppedError


def next_unclaimed() -> Batch | None:
    """The batch to check or prepare next: the oldest that no worker has, or whose worker died."""
    return _unclaimed().order_by("created_at").first()


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
    abandoned = is_over("lease_until", most=LONGEST_LEASE) & Q(status__in=BEING_READ)
    return Batch.objects.filter(never_claimed | abandoned, deleted_at=None)


def refuse_endless(batch: Batch) -> None:
    """Raise BadInput for a claimed file whose reading has been cut off too often.

    A process that takes too long or too much memory is killed: no exception says so.
    """
    if batch.readings_begun > MOST_READINGS:
        raise BadInput(
            f"batchui began to read this file {MOST_READINGS} times, and each time it was cut off "
            "before the end. The file may be too large for this server: cut it into smaller files, "
            "and upload them one by one. Or ask the person who runs batchui to look into the log."
        )


def give_back(batch: Batch) -> None:
    """Let another worker read a claimed file. This reading is not counted as one cut off."""
    lifecycle.touch_batch(batch, lease_until=None, readings_begun=batch.readings_begun - 1)
    work_waits.send(Batch, batch=batch)


def cannot_store(problem: OSError) -> str:
    """The sentence for a disk or bucket that cannot be read or written."""
    reason = problem.strerror or str(problem)
    return (
        f"This server could not read or store the file: {reason}. Tell the person who runs "
        "batchui, then try again."
    )


def sentence_for(
    problem: Exception,
    *,
    what: str = "read this file",
    if_damaged: str = "Upload the file again; what you wrote is kept.",
) -> str:
    """The sentence on the page for an error that ended a long task. Unexpected errors are logged.

    what: the task could not do. if_damaged: the advice where a stored file is damaged.
    """
    if isinstance(problem, BadInput | UnknownModel):
        return str(problem)
    if isinstance(problem, DamagedFile):
        return f"{problem} {if_damaged}"
    if isinstance(problem, OSError):
        return cannot_store(problem)
    if isinstance(problem, InterfaceError | OperationalError):
        raise problem  # the database: the lease runs out, and another worker tries again
    logger.exception("Unexpected error: batchui could not %s", what)
    return (
        f"batchui could not {what}, because of a mistake in batchui. Tell the person who runs "
        "batchui: the log says more."
    )


def progress_of(batch: Batch, *, beat: Beat | None = None) -> Progress:
    """The progress of a long reading, which is shown on the page (see `keeping`)."""

    def keep(rows: int, lease_until: datetime) -> bool:
        return lifecycle.touch_batch(batch, progress_rows=rows, lease_until=lease_until)

    return keeping(keep, beat=beat)


def keeping(keep: Callable[[int, datetime], bool], *, beat: Beat | None = None) -> Progress:
    """The progress of a long task under a lease: every PROGRESS_SECONDS it renews the lease.

    keep: stores the rows done and the new end of the lease; False: what the task works at was
    deleted, or another worker has it now. Then LeaseLostError is raised. beat: also called, because
    a worker that shows no sign of life is restarted.
    """
    last = time.monotonic()

    def report(rows: int) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_SECONDS:
            return
        last = time.monotonic()
        if not keep(rows, timezone.now() + READING_LEASE):
            raise LeaseLostError
        if beat:
            beat()

    return report
