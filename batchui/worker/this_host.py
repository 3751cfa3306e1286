"""Work that each web host does in its own folders."""

import logging
import shutil
import threading
import time
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from batchui.batches.files import WORKING_FOLDER
from batchui.worker.heartbeat import beat, web_name

logger = logging.getLogger(__name__)

SECONDS_BETWEEN = 60.0
ONE_DAY = timedelta(days=1)
# Uploads, and folders in which files are made.
TEMPORARY = ("*.upload*", f"*{WORKING_FOLDER}")


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
    """Remove what dead processes left behind, and store where this host keeps its files.

    Only with PostgreSQL and a local folder can hosts keep files in different places. A worker with
    another folder then refuses to start (`batchui.E017`).
    """
    remove_left_behind()
    if settings.DATABASE_KIND != "PostgreSQL" or settings.S3_BUCKET:
        return
    try:
        beat(web_name())
    except DatabaseError:
        logger.warning("The database does not answer: other hosts cannot see this one.")


def remove_left_behind() -> None:
    """Remove uploads that were coming in, and files that were being made, when a process died.

    They are removed a day after they were last written.
    """
    long_ago = time.time() - ONE_DAY.total_seconds()
    for left in chain.from_iterable(map(settings.FILE_UPLOAD_TEMP_DIR.glob, TEMPORARY)):
        # One that is gone by now was taken in; what cannot be removed may be in a minute.
        with suppress(OSError):
            if _last_written(left) < long_ago:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _last_written(path: Path) -> float:
    """When a file was last written, or a folder or anything in it, in seconds since 1970."""
    return max(one.stat().st_mtime for one in (path, *path.rglob("*")))
