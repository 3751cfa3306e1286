"""Work that each web host does in its own folders."""

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
    """Call `look_after` now and every minute, in a thread that ends with the process."""
    threading.Thread(target=_for_ever, name="this host", daemon=True).start()


def _for_ever() -> None:
    while True:
        try:
            look_after()
        finally:
            connection.close()
        time.sleep(SECONDS_BETWEEN)


def look_after() -> None:
    """Remove broken uploads, and store where this host keeps its files.

    Only with PostgreSQL and a local folder can hosts keep files in different places. A worker with
    another folder then refuses to start (`batchui.E017`).
    """
    remove_broken_uploads()
    if settings.DATABASE_KIND != "PostgreSQL" or settings.S3_BUCKET:
        return
    try:
        beat(web_name())
    except DatabaseError:
        logger.warning("The database does not answer: other hosts cannot see this one.")


def remove_broken_uploads() -> None:
    """Remove temporary files of uploads whose process died."""
    long_ago = time.time() - ONE_DAY.total_seconds()
    for left in settings.FILE_UPLOAD_TEMP_DIR.glob("*.upload*"):
        # One that is gone by now was taken in; what cannot be removed may be in a minute.
        with suppress(OSError):
            if left.stat().st_mtime < long_ago:
                left.unlink()
