"""The threads of a process write one after the other, where the database is SQLite."""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from batchui import settings as ours
from batchui.one_writer import base

pytestmark = pytest.mark.django_db(transaction=True)
TIMEOUT = 0.2


@pytest.fixture
def connections(tmp_path: Path) -> Iterator[ConnectionHandler]:
    """Connections to a database of their own, one for each thread."""
    settings: dict[str, Any] = {
        "ENGINE": "batchui.one_writer",
        "NAME": tmp_path / "test.sqlite3",
        "OPTIONS": {"timeout": TIMEOUT, "transaction_mode": "IMMEDIATE"},
    }
    handler = ConnectionHandler({"default": settings})
    with handler["default"].cursor() as cursor:
        cursor.execute("CREATE TABLE numbers (number INTEGER UNIQUE)")
    yield handler
    handler.close_all()


def begin(connection: BaseDatabaseWrapper) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def insert(connection: BaseDatabaseWrapper, number: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO numbers VALUES (%s)", [number])


def is_free() -> bool:
    """Whether another thread could begin to write now."""
    if free := base._writing.acquire(blocking=False):
        base._writing.release()
    return free


def test_sqlite_has_one_writer_in_the_product() -> None:
    is_sqlite = ours.DATABASE_KIND == "SQLite"
    assert (ours.DATABASES["default"]["ENGINE"] == "batchui.one_writer") == is_sqlite


@pytest.mark.parametrize("ending", ["commit", "rollback", "close"])
def test_a_transaction_holds_the_lock_to_its_end(
    connections: ConnectionHandler, ending: str
) -> None:
    connection = connections["default"]
    assert is_free()
    begin(connection)
    insert(connection, 1)
    assert not is_free()
    getattr(connection, ending)()
    assert is_free()
    connection.close()
    assert is_free()


def test_a_commit_that_fails_lets_go(connections: ConnectionHandler, tmp_path: Path) -> None:
    connection = connections["default"]
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute(
            "CREATE TABLE children (of INTEGER, FOREIGN KEY (of) REFERENCES numbers "
            "(number) DEFERRABLE INITIALLY DEFERRED)"
        )
    begin(connection)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO children VALUES (7)")
    with pytest.raises(DatabaseError):
        connection.commit()
    assert is_free()
    connection.rollback()


def test_who_cannot_begin_holds_nothing(connections: ConnectionHandler, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "test.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OperationalError, match="locked"):
            begin(connections["default"])
    assert is_free()


def test_a_thread_that_waits_too_long_hears_that_the_database_is_locked(
    connections: ConnectionHandler,
) -> None:
    begin(connections["default"])
    said: list[str] = []

    def write() -> None:
        try:
            begin(connections["default"])
        except OperationalError as problem:
            said.append(str(problem))
        finally:
            connections["default"].close()

    other = threading.Thread(target=write)
    other.start()
    other.join()
    assert said == ["database is locked"]
    assert not is_free()  # it is the first one's
    connections["default"].rollback()
    assert is_free()


def test_every_thread_gets_its_turn(connections: ConnectionHandler) -> None:
    failed: list[Exception] = []

    def write(first: int) -> None:
        connection = connections["default"]
        try:
            for number in range(first, first + 50):
                begin(connection)
                insert(connection, number)
                connection.commit()
        except DatabaseError as problem:
            failed.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(1000 * at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM numbers")
        assert cursor.fetchone() == (400,)


def test_a_process_that_is_forked_meanwhile_can_write(connections: ConnectionHandler) -> None:
    base._writing.acquire()
    try:
        child = os.fork()
        if not child:
            os._exit(0 if is_free() else 1)
        _, status = os.waitpid(child, 0)
    finally:
        base._writing.release()
    assert os.waitstatus_to_exitcode(status) == 0
