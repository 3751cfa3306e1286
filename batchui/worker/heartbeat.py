"""Probes of life of background work."""

import secrets
import socket
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from batchui.worker.models import Heartbeat

WORKER = "worker"
SILENCE = timedelta(seconds=45)


def beat() -> None:
    """Note that background work is alive, and where it keeps its files."""
    Heartbeat.objects.update_or_create(
        name=WORKER,
        defaults={"at": timezone.now(), "host": socket.gethostname(), "storage_id": storage_id()},
    )


def last_beat() -> datetime | None:
    """When background work last beat; None: never."""
    beat = Heartbeat.objects.filter(name=WORKER).first()
    return beat.at if beat else None


def worker_is_silent() -> bool:
    """Whether background work has shown no sign of life for a while, or never."""
    beat = last_beat()
    return beat is None or timezone.now() - beat > SILENCE


def storage_id() -> str:
    """What tells one data folder from another: made once, kept in the folder itself.

    Two hosts with folders of their own have two, which is how a check finds that what one
    of them stores the other cannot read.
    """
    path = settings.DATA / "storage-id"
    try:
        return str(path.read_text().strip())
    except FileNotFoundError:
        made = secrets.token_hex(16)
        draft = path.with_name(f"storage-id.{secrets.token_hex(4)}")
        draft.write_text(made)
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return str(path.read_text().strip())
