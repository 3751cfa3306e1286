"""Reading the files that wait, and making exports, one at a time in each worker.

A worker has two processes. While one reads a large file, the other ticks: parts are sent and polled
all the while, however many files wait.
"""

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from batchui.batches import checking, comparing, long_tasks, making, preparing, surveys
from batchui.batches.clock import is_free
from batchui.batches.models import Batch
from batchui.batches.sheet import digests, searches
from batchui.batches.states import BatchStatus
from batchui.worker.heartbeat import beat
from batchui.worker.models import Heartbeat
from batchui.worker.watchdog import stopping


def is_possible() -> bool:
    """Whether a file waits, and no process of this worker is at one."""
    return _is_something_there() and _free_to_read().exists()


def _is_something_there() -> bool:
    waiting = long_tasks.has_unclaimed() or making.has_unclaimed()
    looks = (surveys.next_wanted, digests.next_wanted, searches.next_wanted, comparing.next_wanted)
    return waiting or any(next_wanted() is not None for next_wanted in looks)


def read_next() -> bool:
    """Read one file that waits, or make an export that waits: whichever has waited longer.

    False: none waits, this worker reads one already, or background work is asked to stop.
    """
    if stopping() or not _is_something_there():
        return False
    beat()
    if not _free_to_read().update(reads_until=timezone.now() + long_tasks.READING_LEASE):
        return False
    try:
        batch, export = long_tasks.next_unclaimed(), making.next_unclaimed()
        if search := searches.next_wanted():  # somebody looks at an empty page meanwhile
            searches.carry_out(search.pk, beat=_go_on)
        elif comparison := comparing.next_wanted():
            comparing.carry_out(comparison, beat=_go_on)
        elif export and (batch is None or export.created_at < batch.created_at):
            making.make(export.pk, beat=_go_on)
        elif batch:
            read_file(batch)
        elif wanted := surveys.next_wanted():
            surveys.find_out(wanted.pk, beat=_go_on)
        elif counting := digests.next_wanted():
            digests.make_all(counting, beat=_go_on)
        else:  # another worker was faster
            return False
        return True
    finally:
        _this_worker().update(reads_until=None)


def read_file(batch: Batch) -> None:
    """Check or prepare a batch, unless another worker has it."""
    if batch.status == BatchStatus.CHECKING:
        checking.check_file(batch.pk, beat=_go_on)
    else:
        preparing.prepare(batch.pk, beat=_go_on)


def _go_on() -> None:
    """Show a sign of life, and keep the place of this worker. Raises StoppedError."""
    if stopping():
        raise long_tasks.StoppedError
    beat()
    _this_worker().update(reads_until=timezone.now() + long_tasks.READING_LEASE)


def _this_worker() -> QuerySet[Heartbeat]:
    return Heartbeat.objects.filter(name=settings.WORKER_NAME)


def _free_to_read() -> QuerySet[Heartbeat]:
    """This worker's heartbeat, unless one of its processes reads a file."""
    return _this_worker().filter(is_free("reads_until"))
