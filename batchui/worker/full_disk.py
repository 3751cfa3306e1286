"""A disk that is full: how it is noticed, and the sentence about it.

It is that of the data folder, or that of PostgreSQL, which may be on another machine.
"""

import errno
import secrets
import shutil
import sqlite3
import tempfile

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from batchui.worker.models import Heartbeat

SENTENCE = (
    "The server's disk is full, so nothing can be saved and nothing moves. Tell the person who "
    "runs batchui. It goes on by itself once there is room."
)
# With less room than this, a small file is written to see whether there is any.
LITTLE_BYTES = 10_000_000
TRIED_BYTES = 64 * 1024

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_SQLSTATE = "53100"  # PostgreSQL: disk_full


def is_full() -> bool:
    """Whether the disk of the data folder has no room for a small file."""
    try:
        if shutil.disk_usage(settings.DATA).free > LITTLE_BYTES:
            return False
        with tempfile.TemporaryFile(dir=settings.DATA) as file:
            file.write(bytes(TRIED_BYTES))
    except OSError as problem:
        return problem.errno in _NO_ROOM
    return False


def is_full_anywhere() -> bool:
    """Whether that disk is full, or PostgreSQL has no room for a row on its own.

    It writes to the database: ask where something fails already.
    """
    return is_full() or (connection.vendor == "postgresql" and _postgresql_is_full())


def _postgresql_is_full() -> bool:
    try:
        with transaction.atomic():
            Heartbeat.objects.create(name=f"room:{secrets.token_hex(8)}")
            transaction.set_rollback(True)
    except DatabaseError as problem:
        return is_reason_for(problem)
    return False


def is_reason_for(problem: BaseException | None) -> bool:
    """Whether an error of the storage or the database came from a full disk."""
    if isinstance(problem, OSError):
        return problem.errno in _NO_ROOM
    if not isinstance(problem, InterfaceError | OperationalError):
        return False
    code = getattr(problem.__cause__, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    state = getattr(problem.__cause__, "sqlstate", "")
    # SQLite has other words for it too, such as "disk I/O error" for its shared memory.
    return code == sqlite3.SQLITE_FULL or state == _SQLSTATE or is_full()
