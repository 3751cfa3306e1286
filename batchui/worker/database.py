"""Finds out whether the database has the tables that the code expects."""

from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrations_waiting() -> int:
    """The number of migrations that are not applied yet. Raises DatabaseError."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
