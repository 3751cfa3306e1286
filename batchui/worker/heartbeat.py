"""Signs of life of background work, and where each host keeps its files.

Every worker beats under a name of its own, so that one that is well does not hide another that
hangs; every host that serves pages tells where it keeps its files.
"""

import secrets
import socket
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone

from batchui.keys import keep, kept_key
from batchui.worker.models import Heartbeat

SILENCE = timedelta(seconds=45)
# One that fell silent so long ago will not beat again: each start has a new name.
FORGOTTEN = timedelta(days=1)


def new_worker_name() -> str:
    """A name for a worker that starts now: its queue and its heartbeat are known by it."""
    return f"worker:{socket.gethostname()[:60]}:{secrets.token_hex(4)}"


def web_name() -> str:
    """The name under which the web processes of this host tell where they keep their files."""
    return f"web:{socket.gethostname()[:60]}"


def beat(name: str = "") -> None:
    """Note that a process is alive, and where it keeps its files; without a name: this worker."""
    Heartbeat.objects.update_or_create(
        name=name or settings.WORKER_NAME,
        defaults={"at": timezone.now(), "host": socket.gethostname(), "storage_id": storage_id()},
    )


def last_beat(name: str) -> datetime | None:
    """When the worker of that name last beat; None: never."""
    return _workers().filter(name=name).values_list("at", flat=True).first()


def latest_beat() -> datetime | None:
    """When any worker last beat; None: none ever did."""
    at: datetime | None = _workers().aggregate(at=Max("at"))["at"]
    return at


def live_workers() -> list[str]:
    """The names of the workers that have beaten a short while ago."""
    alive = _workers().filter(at__gt=timezone.now() - SILENCE)
    return list(alive.order_by("name").values_list("name", flat=True))


def worker_is_silent() -> bool:
    """Whether no worker has shown a sign of life for a while, or ever."""
    at = latest_beat()
    return at is None or timezone.now() - at > SILENCE


def forget_the_dead() -> None:
    """Remove what is left of processes that ended long ago."""
    Heartbeat.objects.filter(at__lt=timezone.now() - FORGOTTEN).delete()


def storage_id() -> str:
    """The name of this data folder: made once, and kept in the folder itself.

    Two hosts with folders of their own have two, and so a check finds that what one of them stores
    the other cannot read.
    """
    return keep(_storage_id_file(), secrets.token_hex(16))


def kept_storage_id() -> str:
    """The same; "" where this data folder has no name yet, or is not there. Writes nothing."""
    return kept_key(_storage_id_file())


def _storage_id_file() -> Path:
    path: Path = settings.DATA / "storage-id"
    return path


def _workers() -> QuerySet[Heartbeat]:
    return Heartbeat.objects.filter(name__startswith="worker:")
