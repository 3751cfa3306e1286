"""The migrations that the database still needs, and its errors on one line."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrations_waiting() -> int:
    """The number of migrations that are not applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def first_line(error: Exception) -> str:
    """The first line of an error of the database: some drivers write several."""
    return str(error).strip().partition("\n")[0]
