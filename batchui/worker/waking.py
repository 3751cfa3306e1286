"""Wakes workers: puts the task into their queues.

Each worker has a queue with its own name, so that its watchdog sees whether *this* worker works.
Every process that is started imports this module, and few the task itself, which needs nearly all
of the product. Beside both, only the cluster, its queue and the worker command use django-q2.
"""

from typing import Any

from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from batchui.worker import heartbeat

TICK = "batchui.worker.tasks.tick"


def enqueue_tick(worker: str) -> None:
    """Wake a worker for a tick, unless one waits in its queue already."""
    if not OrmQ.objects.filter(key=worker, lock__lte=timezone.now()).exists():
        async_task(TICK, cluster=worker)


def wake_workers(**_: Any) -> None:
    """Wake every worker that is alive, because there is work to do (see `batches.signals`)."""
    for worker in heartbeat.live_workers():
        enqueue_tick(worker)
