"""A disk that is full: a small one in memory, with the data folder and SQLite's file on it."""

import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from batchui.worker import heartbeat

SIZE = 4 * 1024 * 1024


@dataclass(frozen=True)
class SmallDisk:
    """A disk of SIZE bytes."""

    folder: Path

    def fill(self, *, leave: int = 0) -> None:
        """Take all room but so many bytes."""
        with suppress(OSError), self._filling.open("wb") as file:
            while True:
                file.write(bytes(4096))
        if leave:
            os.truncate(self._filling, self._filling.stat().st_size - leave)

    def make_room(self) -> None:
        self._filling.unlink()
        _let_postgresql_write()

    @property
    def _filling(self) -> Path:
        return self.folder / "filling"


@pytest.fixture
def small_disk(tmp_path: Path, settings: Settings) -> Iterator[SmallDisk]:
    """A small disk, for the data folder. Skips the test where none can be made."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("only root may mount a disk")
    settings.DATA = folder
    settings.KEEP_FREE_BYTES = 0
    yield SmallDisk(folder)
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def fill_disk(small_disk: SmallDisk, transactional_db: None) -> Iterator[Callable[[], SmallDisk]]:
    """Call it, and the data folder and the database are on a disk that is full.

    With PostgreSQL, whose server is not ours, the database raises the error of a full disk.
    """
    if connection.vendor == "postgresql":
        yield lambda: _full_beside_postgresql(small_disk)
        _let_postgresql_write()
        return
    name = connection.settings_dict["NAME"]
    yield lambda: _full_with_sqlite(small_disk)
    connection.close()
    connection.settings_dict["NAME"] = name


def _full_with_sqlite(disk: SmallDisk) -> SmallDisk:
    copy = disk.folder / "batchui.sqlite3"
    with closing(sqlite3.connect(copy)) as target:
        connection.ensure_connection()
        connection.connection.backup(target)
    connection.close()
    connection.settings_dict["NAME"] = copy
    heartbeat.beat()  # makes the files beside it
    disk.fill()
    return disk


@pytest.fixture
def fill_postgresql(transactional_db: None) -> Iterator[Callable[[], None]]:
    """Call it, and PostgreSQL's own disk is full. That of the data folder has room."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's file is on the disk of the data folder")
    yield _let_postgresql_refuse
    _let_postgresql_write()


def _full_beside_postgresql(disk: SmallDisk) -> SmallDisk:
    heartbeat.beat()
    _let_postgresql_refuse()
    disk.fill()
    return disk


def _let_postgresql_refuse() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$"
        )
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f"CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON {table} "
                "EXECUTE FUNCTION full_disk()"
            )


def _let_postgresql_write() -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION IF EXISTS full_disk CASCADE")
