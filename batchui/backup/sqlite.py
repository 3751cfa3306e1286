"""A SQLite database as it is at one moment, while others go on writing; and back again."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection

from batchui.backup.archive import SQLITE, Writer
from batchui.backup.contents import (
    MIGRATIONS,
    POINTERS,
    Migrations,
    bring_up_to_date,
    left_out,
)
from batchui.backup.problems import BadArchive


def add(writer: Writer, folder: Path, names: Path, *, reason: str) -> Migrations:
    """Add a copy to an archive, and write the names of the files it points to, one on each line.

    folder: has room for the copy. reason: what the copy says of itself (`Installation`), so that it
    is known for a copy even where somebody unpacks it by hand. Returns its migrations.
    """
    path = folder / SQLITE
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(path)])
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        _refuse_damaged(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("PRAGMA secure_delete = ON")
        for kind, name in _others(copy):
            copy.execute(f'DROP {kind} "{name}"')
        there = _empty_left_out(copy)
        if "worker_installation" in there:
            copy.execute("UPDATE worker_installation SET restored_from = ?", [reason])
        with names.open("w") as out:
            for pointer in POINTERS:
                out.writelines(f"{name}\n" for (name,) in copy.execute(pointer))
        migrations = list(copy.execute(f"SELECT app, name FROM {MIGRATIONS}"))  # noqa: S608
    writer.add_file(SQLITE, path)
    path.unlink()
    return migrations


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """Let Django work in another file as its database while the context lasts, at today's version.

    Raises BadArchive for a damaged one, and for one that would do more than hold tables.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        _refuse_damaged(copy)
        if others := _others(copy):
            raise BadArchive(
                f"The database has a {others[0][0]}, {others[0][1]}, which batchui did not make. "
                "Restore another backup."
            )
        _empty_left_out(copy)
    before = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = str(path)
    try:
        bring_up_to_date()
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def _others(copy: sqlite3.Connection) -> list[tuple[str, str]]:
    """The kinds and names of what is no table and no index: triggers, views, virtual tables."""
    return copy.execute(
        "SELECT type, name FROM sqlite_master WHERE sql NOT LIKE 'CREATE TABLE %' "
        "AND sql NOT LIKE 'CREATE INDEX %' AND sql NOT LIKE 'CREATE UNIQUE INDEX %'"
    ).fetchall()


def _empty_left_out(copy: sqlite3.Connection) -> set[str]:
    """Empty the tables of which nothing is in a backup. Returns the names of all that there are."""
    there = {name for (name,) in copy.execute("SELECT name FROM sqlite_master")}
    for table in there & left_out():
        copy.execute(f'DELETE FROM "{table}"')  # noqa: S608
    return there


def _refuse_damaged(copy: sqlite3.Connection) -> None:
    try:
        [(verdict,)] = copy.execute("PRAGMA integrity_check(1)")
    except sqlite3.DatabaseError as problem:
        verdict = str(problem)
    if verdict != "ok":
        raise BadArchive(f"The database is damaged: {verdict}. Restore an earlier backup.")
