"""Makes the data folder and its keys, before something is stored in it.

Reading the settings writes nothing, so `manage.py check` leaves no folder behind.
"""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from batchui.keys import keep


class DataFolderProblem(CommandError):
    """The data folder cannot be used. The text says why, and what to do."""


def make() -> None:
    """Make the data folder, and store the keys in it that the environment does not have.

    Does nothing, quickly, if all of that is there. Raises DataFolderProblem.
    """
    try:
        settings.DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
        _close_databases()
        # If another process started at the same moment and was first, its keys are used.
        if settings.SECRET_KEY_FILE:
            settings.SECRET_KEY = keep(settings.SECRET_KEY_FILE, settings.SECRET_KEY)
        if settings.ENCRYPTION_KEY_FILE:
            [made] = settings.ENCRYPTION_KEYS
            settings.ENCRYPTION_KEYS = [keep(settings.ENCRYPTION_KEY_FILE, made)]
    except OSError as error:
        raise DataFolderProblem(
            f"The data folder {settings.DATA} cannot be written: {error.strerror}. Give the user "
            "who runs batchui the right to write there, or set BATCHUI_DATA to a folder that can "
            "be written."
        ) from None


def _close_databases() -> None:
    """Close the databases to other users: an earlier version made them readable for everybody."""
    for name in ("batchui.sqlite3", "sandbox.sqlite3"):
        path = Path(settings.DATA, name)
        for part in (path, path.with_name(f"{name}-wal"), path.with_name(f"{name}-shm")):
            if part.exists() and part.stat().st_mode & 0o077:
                part.chmod(0o600)
