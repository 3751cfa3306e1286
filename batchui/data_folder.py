"""The data folder: made, with its keys, by whatever begins to keep something in it.

Reading the settings writes nothing: `manage.py check` leaves no folder behind.
"""

from django.conf import settings
from django.core.management.base import CommandError

from batchui.keys import keep


class DataFolderProblem(CommandError):
    """The data folder cannot be used; a command ends with its text, which says what to do."""


def make() -> None:
    """Make the data folder, and keep the keys there that the environment does not give.

    Does nothing, quickly, when all of it is there. Raises DataFolderProblem.
    """
    try:
        settings.DATA.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
        # A process that started at the same moment may have been first: its keys count.
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
