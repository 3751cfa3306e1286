"""Makes sure that batchui does not run while a backup is put back."""

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone

from batchui.backup.contents import has_tables
from batchui.backup.problems import NotPossible
from batchui.batches.phrases import Say
from batchui.worker import heartbeat

STOP_IT = "Stop batchui first, on every host that uses this database."


@contextmanager
def alone() -> Iterator[None]:
    """While the context lasts, no `manage.py up` and no other restore uses the data folder."""
    with (settings.DATA / "up.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotPossible(
                f"batchui runs with the data folder {settings.DATA}. {STOP_IT}"
            ) from None
        yield


def wait_for_silence(*, say: Say, pause: Callable[[float], None] = time.sleep) -> None:
    """Wait until it is certain that no worker runs. Raises NotPossible if one does.

    A worker that was stopped shows its last sign of life for a while; one that runs shows new ones.
    """
    first = _latest_beat()
    if first is None:
        return
    left = heartbeat.SILENCE - abs(timezone.now() - first)
    if left > timedelta():
        say(f"A worker was alive a moment ago. Waiting {left.seconds + 1} s whether it still is …")
    give_up = timezone.now() + left
    while timezone.now() < give_up:
        pause(1.0)
        if _latest_beat() != first:
            raise NotPossible(f"A worker runs. {STOP_IT}")


def _latest_beat() -> datetime | None:
    try:
        return heartbeat.latest_beat() if has_tables() else None
    except DatabaseError:  # a database that cannot be read is one reason to restore
        return None
    finally:
        connection.close()
