"""Whether the database has the tables that the code expects, and what it says if it has not."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrations_waiting() -> int:
    """The number of migrations that are not applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def first_line(error: Exception) -> str:
    """What an error of the database says, on one line: some drivers write several."""
    return str(error).strip().partition("\n")[0]
