"""A backup that somebody else made: nothing in it is run, and nobody is signed in by it."""

import io
import pickle
import sqlite3
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django_q.models import Task

from batchui.backup.archive import MANIFEST, SQLITE, TABLES, Writer, check, opened
from batchui.backup.making import make
from batchui.backup.problems import BadArchive
from batchui.backup.restoring import put_back
from batchui.teams.models import Team

FACTS = ("made_at", "database", "migrations", "missing")
on_sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a backup of SQLite")
on_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="of PostgreSQL")


def repack(path: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Write a backup again, with other members, so that every checksum is right."""
    facts = {name: fact for name, fact in check(path).items() if name in FACTS}
    with opened(path) as found:
        members = {name: stream.read() for name, _, stream in found if name != MANIFEST}
    change(members)
    with path.open("wb") as stream:
        writer = Writer(stream)
        for name, content in members.items():
            writer.add(name, io.BytesIO(content), len(content))
        writer.close(**facts)


def altered(path: Path, *statements: str) -> None:
    """Run statements in the database of a backup."""

    def change(members: dict[str, bytes]) -> None:
        with closing(sqlite3.connect(":memory:")) as copy:
            copy.deserialize(members[SQLITE])
            for statement in statements:
                copy.execute(statement)
            copy.commit()
            members[SQLITE] = copy.serialize()

    repack(path, change)


class Program:
    """An object whose pickle writes a file when it is read."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Path]]:
        return Path.touch, (self._target,)


@on_sqlite
def test_nothing_of_the_cache_and_no_session_comes_out_of_a_backup(
    team: Team, to: Path, data: Path
) -> None:
    make(to)
    program = b64encode(pickle.dumps(Program(data / "was run"))).decode()
    altered(
        to,
        f"INSERT INTO cache VALUES (':1:key', '{program}', '2036-01-01 00:00:00')",  # noqa: S608
        "INSERT INTO django_session VALUES ('forged', 'forged', '2036-01-01 00:00:00')",
        "INSERT INTO django_q_task (id, name, func, started, stopped, success, attempt_count) "
        "VALUES ('a', 'a', 'a', '2026-01-01', '2026-01-01', 1, 1)",
    )
    put_back(to, replace=True)
    assert cache.get("key") is None
    assert not (data / "was run").exists()
    assert not Session.objects.exists()
    assert not Task.objects.exists()
    assert Team.objects.get() == team


@on_postgresql
@pytest.mark.parametrize("table", ["cache", "django_session", "django_migrations", "pg_authid"])
def test_a_table_that_no_backup_has_is_refused(team: Team, to: Path, table: str) -> None:
    make(to)
    repack(to, lambda members: members.update({f"{TABLES}{table}.csv": b"a,b\n1,2\n"}))
    with pytest.raises(BadArchive, match=f"has a table {table}, which batchui does not know"):
        put_back(to, replace=True)
    assert Team.objects.get() == team


OTHERS = {
    "trigger": "CREATE TRIGGER other AFTER UPDATE ON worker_installation "
    "BEGIN UPDATE teams_team SET name = 'theirs'; END",
    "view": "CREATE VIEW other AS SELECT * FROM teams_user",
    "table": "CREATE VIRTUAL TABLE other USING fts5(text)",
}


@on_sqlite
@pytest.mark.parametrize("kind", OTHERS)
def test_what_would_do_more_than_hold_rows_is_refused(team: Team, to: Path, kind: str) -> None:
    make(to)
    altered(to, OTHERS[kind])
    with pytest.raises(BadArchive, match=f"has a {kind}, other, which batchui did not make"):
        put_back(to, replace=True)
    assert Team.objects.get().name == team.name


@on_sqlite
def test_what_somebody_added_to_their_own_database_does_not_come_into_a_backup(
    team: Team, to: Path
) -> None:
    with connection.cursor() as cursor:
        for kind, statement in OTHERS.items():
            cursor.execute(statement.replace("other", f"my_{kind}"))
    try:
        make(to)
    finally:
        with connection.cursor() as cursor:
            for kind in OTHERS:
                cursor.execute(f"DROP {kind} my_{kind}")
    put_back(to, replace=True)
    assert Team.objects.get() == team
