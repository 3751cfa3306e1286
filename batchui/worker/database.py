"""The migrations that the database still needs, its errors on one line, connections of threads."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def kept_connections() -> Iterator[Callable[[], None]]:
    """Keep the database connections of threads from step to step. They end before this does.

    To open a connection, and to prepare anew whatever it asks, takes as long as a few statements.
    Yields what a thread calls after each step: it keeps the thread's connection, unless an error
    may have broken it. All are closed at the end.
    """
    kept: list[BaseDatabaseWrapper] = []

    def keep() -> None:
        used = connections[DEFAULT_DB_ALIAS]
        if used not in kept:
            used.inc_thread_sharing()  # it is closed in another thread
            kept.append(used)
        used.close_if_unusable_or_obsolete()

    try:
        yield keep
    finally:
        for used in kept:
            used.close()
            used.dec_thread_sharing()
