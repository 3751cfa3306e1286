"""A copy of the database as it is at one moment, while others go on writing; and back again.

SQLite is copied as a file. Of PostgreSQL every table is copied as CSV, in one transaction that sees
one moment; pg_dump, which need not be installed where batchui runs, is not used.
"""

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from batchui.backup.archive import BadArchive, Reader, Writer

SQLITE_NAME = "database.sqlite3"
TABLES = "database"
# What is of no use after a restart: cached counters, and tasks that only wake somebody.
NOT_KEPT = ("cache", "django_q_ormq", "django_q_task", "django_q_schedule")
# The columns that point to files.
POINTERS = (
    "SELECT source_file FROM batches_batch WHERE NOT files_removed",
    "SELECT rows_file FROM batches_part",
    "SELECT answers_file FROM batches_part WHERE answers_file <> ''",
    "SELECT reply_file FROM batches_attempt WHERE reply_file <> ''",
)


@contextmanager
def snapshot(writer: Writer) -> Iterator[Iterator[str]]:
    """Add the database to an archive. Gives the names of the files it points to."""
    with _of_sqlite(writer) if connection.vendor == "sqlite" else _of_postgres(writer) as names:
        yield names


@contextmanager
def _of_sqlite(writer: Writer) -> Iterator[Iterator[str]]:
    with tempfile.TemporaryDirectory(dir=settings.DATA, prefix=".backup-") as folder:
        path = Path(folder, SQLITE_NAME)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
        _refuse_damaged(path)
        with path.open("rb") as content:
            writer.add(SQLITE_NAME, content, path.stat().st_size)
        with closing(sqlite3.connect(path)) as copy:
            yield (row[0] for pointer in POINTERS for row in copy.execute(pointer))


def _refuse_damaged(path: Path) -> None:
    with closing(sqlite3.connect(path)) as copy:
        [(verdict,)] = copy.execute("PRAGMA integrity_check(1)")
    if verdict != "ok":
        raise BadArchive(f"The database is damaged: {verdict}. Restore an earlier backup.")


@contextmanager
def _of_postgres(writer: Writer) -> Iterator[Iterator[str]]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for table in tables():
            with tempfile.TemporaryFile(dir=settings.DATA) as spool:
                with cursor.cursor.copy(f'COPY "{table}" TO STDOUT (FORMAT csv, HEADER)') as copy:
                    for piece in copy:
                        spool.write(piece)
                size = spool.tell()
                spool.seek(0)
                writer.add(f"{TABLES}/{table}.csv", spool, size)
        yield _pointers(cursor)


def _pointers(cursor: Any) -> Iterator[str]:
    for pointer in POINTERS:
        cursor.execute(pointer)
        yield from (row[0] for row in cursor.fetchall())


def tables() -> list[str]:
    """The tables that a backup holds, those that others refer to first."""
    wanted = {model._meta.db_table for model in apps.get_models(include_auto_created=True)}
    wanted.add(MigrationRecorder.Migration._meta.db_table)
    return sorted(wanted.intersection(connection.introspection.table_names()) - set(NOT_KEPT))


def put_back(reader: Reader) -> None:
    """Put the database of a backup in the place of the one that is there.

    Raises BadArchive where it is of another kind, or of another version, than the one that is set.
    """
    is_sqlite = SQLITE_NAME in reader.manifest["members"]
    if is_sqlite != (connection.vendor == "sqlite"):
        kind = "SQLite" if is_sqlite else "PostgreSQL"
        raise BadArchive(f"The backup is of {kind}, and DATABASE_URL names another database.")
    if is_sqlite:
        _put_back_sqlite(reader)
    else:
        _put_back_postgres(reader)


def _put_back_sqlite(reader: Reader) -> None:
    target = Path(settings.DATABASES["default"]["NAME"])
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".restore-") as folder:
        path = Path(folder, SQLITE_NAME)
        with reader.open(SQLITE_NAME) as content, path.open("wb") as out:
            _copy(content, out)
            os.fsync(out.fileno())
        _refuse_damaged(path)
        connection.close()
        # A log of the old database would be applied to the new one.
        for rest in ("-wal", "-shm"):
            target.with_name(f"{target.name}{rest}").unlink(missing_ok=True)
        os.replace(path, target)


def _put_back_postgres(reader: Reader) -> None:
    there = {f"{TABLES}/{table}.csv": table for table in tables()}
    members = set(reader.names(TABLES))
    applied = MigrationRecorder(connection).applied_migrations()
    then = {tuple(one) for one in reader.manifest["migrations"]}
    if members != set(there) or then != set(applied):
        raise BadArchive("The backup is of another version of batchui. Restore it with that one.")
    with transaction.atomic(), connection.cursor() as cursor:
        named = ", ".join(f'"{table}"' for table in (*there.values(),))
        cursor.execute(f"TRUNCATE {named} CASCADE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        for member, table in there.items():
            with (
                reader.open(member) as content,
                cursor.cursor.copy(f'COPY "{table}" FROM STDIN (FORMAT csv, HEADER)') as copy,
            ):
                while piece := content.read(1024 * 1024):
                    copy.write(piece)
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


def _copy(content: IO[bytes], out: IO[bytes]) -> None:
    while piece := content.read(1024 * 1024):
        out.write(piece)
