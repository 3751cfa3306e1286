"""Whether the database is as the code expects it, and what it says where it is not."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrations_waiting() -> int:
    """How many migrations have not been applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def first_line(error: Exception) -> str:
    """What an error of the database says, on one line: some drivers write several."""
    return str(error).strip().partition("\n")[0]
