"""Whether the database is as the code expects it."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrations_waiting() -> int:
    """How many migrations have not been applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
