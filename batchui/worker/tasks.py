"""What django-q2 wakes workers with.

Our tables are the truth: a task carries an id at most, is a few lines, and may run twice, late or
never without harm. Only this module and the worker command know django-q2.
"""

from datetime import timedelta
from typing import Any
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

CHECK = "batchui.worker.tasks.check"
PREPARE = "batchui.worker.tasks.prepare"
TICK = "batchui.worker.tasks.tick"
SWEEP = "batchui.worker.tasks.sweep_up"


def tick() -> None:
    """Take every batch as far as it goes now."""
    for batch in long_tasks.unclaimed():
        wake_for(batch)
    run_tick()


def check(batch_id: str) -> None:
    """Read an uploaded file to its end."""
    checking.check_file(UUID(batch_id), beat=beat)


def prepare(batch_id: str) -> None:
    """Cut a started batch into parts that are ready to send."""
    preparing.prepare(UUID(batch_id), beat=beat)


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


def wake_for(batch: Batch, **_: Any) -> None:
    """Wake a worker for what a batch waits for: to be checked, prepared, or taken further."""
    match batch.status:
        case BatchStatus.CHECKING:
            async_task(CHECK, str(batch.pk))
        case BatchStatus.PREPARING:
            async_task(PREPARE, str(batch.pk))
        case _:
            enqueue_tick()


def ensure_schedule() -> None:
    """The one-minute sweep, where it is not there yet."""
    Schedule.objects.update_or_create(
        name="sweep", defaults={"func": SWEEP, "schedule_type": Schedule.MINUTES, "minutes": 1}
    )
