"""The task that django-q2 runs when a worker is woken.

The tables say what there is to do. A task has no arguments; it may run twice, late or never without
harm.
"""

import math
import time
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from django.utils import timezone
from django_q.models import OrmQ, Task

from batchui.batches import listing
from batchui.worker import generation, heartbeat, installation_mark, reading, sweep
from batchui.worker.database import first_line
from batchui.worker.lingering import Lingering
from batchui.worker.tick import run_tick
from batchui.worker.waking import enqueue_tick
from batchui.worker.watchdog import stopping

# Failed tasks are kept, with their tracebacks; successful ones are not.
FAILURES_ARE_KEPT = timedelta(days=7)
# A task that waits this long in a queue waits for a worker that no longer runs.
QUEUES_ARE_KEPT = timedelta(hours=1)
SECONDS_BETWEEN_SWEEPS = 60
# How often it is looked whether a listing of models is a day old.
SECONDS_BETWEEN_LISTINGS = 10 * 60
# A tick that took longer leaves no room in its task for one more call.
QUICK_SECONDS = 20

# When this process last asked whether it is time for something (`time.monotonic`).
_asked: dict[str, float] = {}


def tick() -> None:
    """Read one file that waits; where none does, take every batch as far as it goes now.

    Never both: a task's time is limited, and what is sent late in it could be cut off half-way. The
    list of models of a connection is read after a quick one.
    """
    try:
        if reading.read_next():
            enqueue_tick(settings.WORKER_NAME)
            return
        began = time.monotonic()
        run_tick(linger=Lingering(stopping).wait)
        is_quick = time.monotonic() - began < QUICK_SECONDS
        if is_quick and _is_time_for("models-read", SECONDS_BETWEEN_LISTINGS):
            listing.refresh_due()
        if _is_time_for("swept", SECONDS_BETWEEN_SWEEPS):
            tidy()
    except Exception as error:
        heartbeat.note(_in_words(error))
        raise
    heartbeat.note("")


def _is_time_for(what: str, seconds: int) -> bool:
    """Whether no worker did this within so many seconds. It counts as done then.

    The cache is in the database. A process that asked it a moment ago knows the answer.
    """
    if time.monotonic() - _asked.get(what, -math.inf) < seconds / 4:
        return False
    _asked[what] = time.monotonic()
    return bool(cache.add(what, True, seconds))


def _in_words(error: Exception) -> str:
    """Why a tick failed, for a page that everybody may read."""
    if isinstance(error, installation_mark.AnotherDatabase):
        return str(error)
    kind = type(error).__name__
    return f"{kind}: {first_line(error)}." if isinstance(error, DatabaseError) else f"{kind}."


def tidy() -> None:
    """Remove what nobody needs any more: files, heartbeats, tasks."""
    now = timezone.now()
    generation.keep_up()
    sweep.sweep()
    heartbeat.forget_the_dead()
    OrmQ.objects.filter(lock__lt=now - QUEUES_ARE_KEPT).delete()
    Task.objects.filter(stopped__lt=now - FAILURES_ARE_KEPT).delete()
