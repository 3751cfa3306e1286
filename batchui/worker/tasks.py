"""What django-q2 wakes workers with. Our tables are the truth: a task carries an id at most, is a
few lines, and may run twice, late or never without harm. Only this module and the worker command
know django-q2."""

from datetime import timedelta
from uuid import UUID

from django.utils import timezone
from django_q.models import OrmQ, Schedule, Task
from django_q.tasks import async_task

from batchui.batches import checking, long_tasks, preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.worker import sweep
from batchui.worker.heartbeat import beat
from batchui.worker.tick import run_tick

# Tasks that failed, with their tracebacks; successes are not kept.
FAILURES_ARE_KEPT = timedelta(days=7)

# Read in well under half a second.
SMALL_BYTES = 4 * 1024 * 1024

TICK = "batchui.worker.tasks.tick"
SWEEP = "batchui.worker.tasks.sweep_up"


def tick() -> None:
    """Take every batch as far as it goes now."""
    for batch in long_tasks.left_lying():
        wake_intake(batch)
    run_tick()


def check(batch_id: str) -> None:
    """Read an uploaded file to its end."""
    checking.check_file(UUID(batch_id), beat=beat)


def prepare(batch_id: str) -> None:
    """Cut a started batch into parts, and begin to send them."""
    preparing.prepare(UUID(batch_id), beat=beat)
    enqueue_tick()


def sweep_up() -> None:
    """Tidy, and tick once: the fallback for those who run `qcluster` themselves."""
    sweep.sweep()
    Task.objects.filter(stopped__lt=timezone.now() - FAILURES_ARE_KEPT).delete()
    tick()


def enqueue_tick() -> None:
    """Wake a worker for a tick, unless one waits already."""
    waiting = OrmQ.objects.filter(lock__lte=timezone.now()).order_by("pk")[:50]
    if not any(entry.func() == TICK for entry in waiting):
        async_task(TICK)


def read_now_or_soon(batch: Batch) -> None:
    """Check or prepare a batch: here where its file is small, so that nobody waits behind somebody
    else's million rows, else in a worker."""
    if batch.source_size > SMALL_BYTES:
        wake_intake(batch)
    elif batch.status == BatchStatus.CHECKING:
        check(str(batch.pk))
    else:
        prepare(str(batch.pk))


def wake_intake(batch: Batch) -> None:
    """Wake a worker for a batch that is `checking` or `preparing`."""
    step = check if batch.status == BatchStatus.CHECKING else prepare
    async_task(f"batchui.worker.tasks.{step.__name__}", str(batch.pk))


def ensure_schedule() -> None:
    """The one-minute sweep, where it is not there yet."""
    Schedule.objects.update_or_create(
        name="sweep", defaults={"func": SWEEP, "schedule_type": Schedule.MINUTES, "minutes": 1}
    )
