"""A PostgreSQL database as it is at one moment, while others go on writing; and back again.

Every table is copied as CSV (COPY), in one transaction that sees one moment. pg_dump is not used:
it need not be installed where batchui runs, and must be as new as the server.
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from batchui.backup.archive import CHUNK_BYTES, TABLES, Writer
from batchui.backup.contents import (
    MIGRATIONS,
    POINTERS,
    Migrations,
    bring_up_to_date,
    left_out,
    our_tables,
)
from batchui.backup.problems import BadArchive

# How long a restore waits for others who use the tables.
LOCK_TIMEOUT = "10s"


def add(writer: Writer, folder: Path, names: Path) -> Migrations:
    """Add a copy to an archive, and write the names of the files it points to, one on each line.

    folder: has room for the largest table. Returns the migrations of the copy.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for table in sorted(_tables(cursor) - _skipped()):
            path = folder / f"{table}.csv"
            _copy_out(cursor, table, path)
            writer.add_file(f"{TABLES}{table}.csv", path)
            path.unlink()
        with names.open("w") as out:
            for pointer in POINTERS:
                cursor.execute(pointer)
                while some := cursor.fetchmany(10_000):
                    out.writelines(f"{name}\n" for (name,) in some)
        return list(MigrationRecorder(connection).applied_migrations())


@contextmanager
def loaded(folder: Path, migrations: Migrations, *, schema: str) -> Iterator[bool]:
    """Put the tables in a folder in the place of those that are there, when the context ends.

    Those go into a schema of this name. The tables are made as they were at the time of the backup,
    filled, and then brought to today's version. All of it happens, or nothing. Gives whether there
    were tables. Raises BadArchive.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        before = _tables(cursor)
        if before:
            cursor.execute(f'CREATE SCHEMA "{schema}"')
        for table in sorted(before):
            cursor.execute(f'ALTER TABLE "{table}" SET SCHEMA "{schema}"')
        _make_tables(migrations)
        empty = _tables(cursor) - _skipped()
        for path in sorted(folder.glob("*.csv")):
            if path.stem not in empty:
                raise BadArchive(
                    f"The backup has a table {path.stem}, which batchui does not know."
                )
            _copy_in(cursor, path.stem, path)
        # Every reference is checked now: tables whose checks are still to come cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        bring_up_to_date()
        models = apps.get_models(include_auto_created=True)
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
        yield bool(before)


def _make_tables(migrations: Migrations) -> None:
    """Make the tables as they were after these migrations; there are none yet."""
    executor = MigrationExecutor(connection)
    every = executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True)
    plan = [one for one in every if (one[0].app_label, one[0].name) in set(migrations)]
    executor.migrate(None, plan=plan)


def _tables(cursor: CursorWrapper) -> set[str]:
    return our_tables().intersection(connection.introspection.table_names(cursor))


def _skipped() -> set[str]:
    """Our tables that are not in a backup. The manifest names the migrations."""
    return left_out() | {MIGRATIONS}


def _copy_out(cursor: CursorWrapper, table: str, path: Path) -> None:
    command = f'COPY "{table}" TO STDOUT (FORMAT csv, HEADER)'
    with path.open("wb") as out, cursor.cursor.copy(command) as copy:
        for piece in copy:
            out.write(piece)


def _copy_in(cursor: CursorWrapper, table: str, path: Path) -> None:
    with path.open(newline="") as content:
        columns = ", ".join(f'"{column}"' for column in next(csv.reader(content)))
    command = f'COPY "{table}" ({columns}) FROM STDIN (FORMAT csv, HEADER)'
    with path.open("rb") as content, cursor.cursor.copy(command) as copy:
        while piece := content.read(CHUNK_BYTES):
            copy.write(piece)
