"""Gives each process of a mutation run a database and an upload folder of its own.

mutmut forks its workers from a process that has loaded the settings already. Without this they
share one test database, break each other's tests, and every breakage counts as a kill.
"""

import os

from django.conf import settings


def pytest_sessionstart() -> None:
    database = settings.DATABASES["default"]
    database["TEST"]["NAME"] = settings.DATA / f"test-{os.getpid()}.sqlite3"
    settings.FILE_UPLOAD_TEMP_DIR = settings.DATA / f"incoming-{os.getpid()}"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
