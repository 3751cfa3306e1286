"""What keeps a backup from being made, and what the command says of its keys."""

import fcntl
import os
import random
import resource
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection

from batchui.backup import making
from batchui.backup.archive import SQLITE, check
from batchui.backup.making import make
from batchui.backup.problems import NotPossible
from batchui.batches import pointers
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.backup.conftest import nothing_is_left
from tests.batches.conftest import MakeBatch, on_record


def hard_to_pack(count: int) -> bytes:
    """A file of so many rows that is half as large when it is stored."""
    chance = random.Random(1)
    return b"".join([b"text\n", *(b"%032x\n" % chance.getrandbits(128) for _ in range(count))])


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can grow beyond so many bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_leaves_the_earlier_backup_and_no_half_one(
    sandbox: RunningSandbox, receive: MakeBatch, to: Path
) -> None:
    make(to)
    before = to.read_bytes()
    receive(hard_to_pack(40_000))
    with room_for(len(before) + 200_000), pytest.raises(CommandError, match="No backup was made"):
        call_command("backup", to)
    assert list(to.parent.iterdir()) == [to]
    assert to.read_bytes() == before


def test_a_disk_with_too_little_room_is_not_filled(
    sandbox: RunningSandbox, receive: MakeBatch, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(hard_to_pack(130_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2_000_000))
    with pytest.raises(NotPossible) as refused:
        make(to)
    needed = round(sum(map(default_storage.size, pointers.files_of(batch))) / 1e6)
    assert str(refused.value) == (
        f"The files need {needed} MB, and 2 MB are free in {to.parent}. Choose another disk."
    )
    assert nothing_is_left(to)


def test_two_backups_to_one_name_do_not_disturb_each_other(team: Team, to: Path) -> None:
    with making._folder_for(to), pytest.raises(NotPossible, match="is being made"):
        make(to)
    make(to)
    check(to)


def test_a_backup_that_ended_a_moment_ago_is_not_written_over(
    team: Team, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of the first is gone once the second holds it."""
    lock = fcntl.flock

    def late(descriptor: int, kind: int) -> None:
        lock(descriptor, kind)
        shutil.rmtree(to.with_name(f".{to.name}.unfinished"))

    monkeypatch.setattr(fcntl, "flock", late)
    with pytest.raises(NotPossible, match="is being made"):
        make(to)


def test_what_a_killed_backup_left_goes_with_the_next(team: Team, to: Path) -> None:
    folder = to.with_name(f".{to.name}.unfinished")
    folder.mkdir()
    (folder / "draft").write_bytes(b"half")
    (folder / SQLITE).write_bytes(b"half")
    make(to)
    assert list(to.parent.iterdir()) == [to]


def test_an_earlier_backup_is_replaced(team: Team, to: Path) -> None:
    to.write_bytes(b"earlier")
    make(to)
    check(to)


def test_a_place_that_is_none_is_said(team: Team, to: Path, tmp_path: Path) -> None:
    with pytest.raises(NotPossible, match="There is no folder"):
        make(tmp_path / "nowhere" / "batchui.backup")
    with pytest.raises(NotPossible, match="is a folder"):
        make(tmp_path)


def test_a_backup_that_is_not_what_was_written_is_none(
    team: Team, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a disk that loses what it is given."""
    sync = os.fsync

    def lose(descriptor: int) -> None:
        sync(descriptor)
        [draft] = to.parent.glob("*/draft")
        with draft.open("r+b") as content:
            content.seek(tarfile.BLOCKSIZE)  # the first byte of the database
            content.write(b"lost")

    monkeypatch.setattr(os, "fsync", lose)
    with pytest.raises(CommandError, match=r"No backup was made\. .* is damaged: database"):
        call_command("backup", to)
    assert nothing_is_left(to)


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a file of SQLite is damaged")
def test_a_damaged_database_is_said(team: Team, to: Path) -> None:
    for number in range(50):
        on_record(team, name=f"batch {number} " + "x" * 150)
    path = Path(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        cursor.execute("SELECT rootpage FROM sqlite_master WHERE name = 'batches_batch'")
        [page] = cursor.fetchone()
        cursor.execute("PRAGMA page_size")
        [size] = cursor.fetchone()
    connection.close()
    kept = path.read_bytes()
    try:
        with path.open("r+b") as content, closing(connection):
            content.seek((page - 1) * size)
            content.write(b"\xff" * size)
        with pytest.raises(CommandError, match="malformed"):
            call_command("backup", to)
        assert nothing_is_left(to)
    finally:
        connection.close()
        path.write_bytes(kept)


# -- what is said -------------------------------------------------------------------------------


def said(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    call_command("backup", *arguments)
    return capsys.readouterr().err


def test_where_the_keys_are_is_said(
    team: Team, to: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "The keys are not in it" in said(capsys, to)
    assert "The keys are in it: whoever" in said(capsys, to, "--keys")
    settings.SECRET_KEY_FILE = settings.ENCRYPTION_KEY_FILE = None
    assert "The keys are in the environment" in said(capsys, to, "--keys")


def test_keys_that_are_nowhere_are_named_and_not_looked_for_in_the_environment(
    team: Team, to: Path, settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere := tmp_path / "nowhere").mkdir()
    settings.SECRET_KEY_FILE = elsewhere / "secret-key"
    settings.ENCRYPTION_KEY_FILE = elsewhere / "encryption-key"
    told = said(capsys, to, "--keys")
    assert "nor in the environment: secret-key, encryption-key." in told
    assert "The keys are in" not in told
    settings.SECRET_KEY_FILE.write_text(settings.SECRET_KEY)
    told = said(capsys, to, "--keys")
    assert "nor in the environment: encryption-key." in told
    assert "The keys are in it" in told
