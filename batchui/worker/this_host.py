"""What each host that serves pages does for itself: no other host can reach its folders."""

import logging
import threading
import time
from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection

from batchui.worker.heartbeat import beat, web_name

logger = logging.getLogger(__name__)

SECONDS_BETWEEN = 60.0
ONE_DAY = timedelta(days=1)


def look_after_in_background() -> None:
    """Do it now and every minute, in a thread that ends with the process."""
    threading.Thread(target=_for_ever, name="this host", daemon=True).start()


def _for_ever() -> None:
    while True:
        try:
            look_after()
        finally:
            connection.close()
        time.sleep(SECONDS_BETWEEN)


def look_after() -> None:
    """Say where this host keeps its files, and remove uploads that were cut off.

    Hosts can differ in where they keep their files only with PostgreSQL and a local folder; there a
    worker that starts with another folder refuses to (`batchui.E017`).
    """
    remove_broken_uploads()
    if settings.DATABASE_KIND != "PostgreSQL" or settings.S3_BUCKET:
        return
    try:
        beat(web_name())
    except DatabaseError:
        logger.warning("The database does not answer: other hosts cannot see this one.")


def remove_broken_uploads() -> None:
    """Remove what uploads left that were cut off with the process that took them in."""
    long_ago = time.time() - ONE_DAY.total_seconds()
    for left in settings.FILE_UPLOAD_TEMP_DIR.glob("*.upload*"):
        # One that is gone by now was taken in; what cannot be removed may be in a minute.
        with suppress(OSError):
            if left.stat().st_mtime < long_ago:
                left.unlink()
