"""Heartbeats: signs of life of background work, and where each host keeps its files.

Every worker has a heartbeat with its own name, so that a healthy one does not hide one that hangs.
Every host that serves pages has one too, which tells where it keeps its files.
"""

import secrets
import socket
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from batchui.keys import keep, kept_text
from batchui.worker.models import Heartbeat

# After this time without a heartbeat, background work counts as silent.
SILENCE = timedelta(seconds=45)
# A process that has been silent for so long will not beat again: each start has a new name.
FORGOTTEN = timedelta(days=1)


def new_worker_name() -> str:
    """A name for a worker that starts now, for its queue and its heartbeat."""
    return f"worker:{socket.gethostname()[:60]}:{secrets.token_hex(4)}"


def web_name() -> str:
    """The name of the heartbeat of this host's web processes."""
    return f"web:{socket.gethostname()[:60]}"


def beat(name: str = "") -> None:
    """Store the heartbeat of a process, with the id of its data folder. No name: this worker."""
    Heartbeat.objects.update_or_create(
        name=name or settings.WORKER_NAME,
        defaults={"at": timezone.now(), "host": socket.gethostname(), "storage_id": storage_id()},
    )


def note(problem: str) -> None:
    """Store why the last tick of this worker failed; "" if it did not."""
    own = Heartbeat.objects.filter(name=settings.WORKER_NAME)
    own.exclude(problem=problem[:300]).update(problem=problem[:300])


def problem_of_workers() -> str:
    """Why ticks fail, if those of every worker that is alive do; "" if not."""
    alive = _workers().filter(at__gt=timezone.now() - SILENCE)
    problems = list(alive.values_list("problem", flat=True))
    return problems[0] if problems and all(problems) else ""


def last_beat(name: str) -> datetime | None:
    """The time of the last heartbeat of a worker; None: it never had one."""
    return _workers().filter(name=name).values_list("at", flat=True).first()


def latest_beat() -> datetime | None:
    """The time of the last heartbeat of any worker; None: there never was one."""
    at: datetime | None = _workers().aggregate(at=Max("at"))["at"]
    return at


def live_workers() -> list[str]:
    """The names of the workers that are not silent."""
    alive = _workers().filter(at__gt=timezone.now() - SILENCE)
    return list(alive.order_by("name").values_list("name", flat=True))


def worker_is_silent() -> bool:
    """Whether all workers are silent, or none ever ran."""
    at = latest_beat()
    return at is None or timezone.now() - at > SILENCE


def forget_the_dead() -> None:
    """Remove the heartbeats of processes that ended long ago."""
    Heartbeat.objects.filter(at__lt=timezone.now() - FORGOTTEN).delete()


def storage_id() -> str:
    """The id of this data folder, made once and kept in the folder itself.

    Hosts that do not share the folder have different ids; a check compares them.
    """
    return keep(_storage_id_file(), secrets.token_hex(16))


def kept_storage_id() -> str:
    """The id of this data folder; "" if it has none yet, or is not there. Writes nothing."""
    return kept_text(_storage_id_file())


def _storage_id_file() -> Path:
    path: Path = settings.DATA / "storage-id"
    return path


def _workers() -> QuerySet[Heartbeat]:
    return Heartbeat.objects.filter(name__startswith="worker:")
