"""The migrations that the database still needs, its errors on one line, connections of threads."""

from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor

_SAME_SETTINGS = (
    "Start batchui once (python3 manage.py up). If it runs already, set BATCHUI_DATA and "
    "DATABASE_URL here as they are set there."
)


def migrations_waiting() -> int:
    """The number of migrations that are not applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def why_not_ready() -> str:
    """Why a command cannot work with the database, as a sentence; "" if it can. Makes no file."""
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return f"There is no batchui in the data folder {settings.DATA} yet. {_SAME_SETTINGS}"
    try:
        waiting = migrations_waiting()
    except DatabaseError as error:
        return f"The database cannot be used: {first_line(error)}. {_SAME_SETTINGS}"
    return f"The database is not prepared for this version yet. {_SAME_SETTINGS}" if waiting else ""


def first_line(error: Exception) -> str:
    """The first line of an error of the database: some drivers write several."""
    return str(error).strip().partition("\n")[0]


class ThreadConnections:
    """The database connections of threads that end before this does, which closes them.

    Each thread opens one, and keeps it from step to step: to open it, and to prepare anew whatever
    it asks, takes as long as a few statements.
    """

    def __init__(self) -> None:
        self._kept: list[BaseDatabaseWrapper] = []

    def keep(self) -> None:
        """After each step of a thread: keep its connection, unless an error may have broken it."""
        used = connections[DEFAULT_DB_ALIAS]
        if used not in self._kept:
            used.inc_thread_sharing()
            self._kept.append(used)
        used.close_if_unusable_or_obsolete()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for used in self._kept:
            used.close()
            used.dec_thread_sharing()
