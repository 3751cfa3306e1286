"""How a disk that is full is noticed."""

import errno
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.db import InterfaceError, OperationalError
from django.test import RequestFactory
from django.utils import timezone
from psycopg.errors import DiskFull, TooManyConnections
from pytest_django import Settings

from batchui.worker import full_disk, health, heartbeat
from batchui.worker.models import Heartbeat
from tests.full_disk import SmallDisk, fill_disk, small_disk

__all__ = ["fill_disk", "small_disk"]


def test_a_disk_is_full_until_there_is_room_for_a_small_file(small_disk: SmallDisk) -> None:
    assert not full_disk.is_full()
    small_disk.fill()
    assert full_disk.is_full()
    small_disk.fill(leave=full_disk.TRIED_BYTES - 4096)
    assert full_disk.is_full()
    small_disk.fill(leave=full_disk.TRIED_BYTES)
    assert not full_disk.is_full()
    assert [file.name for file in small_disk.folder.iterdir()] == ["filling"]


def test_a_disk_with_room_is_not_full_and_is_not_written(
    settings: Settings, tmp_path: Path
) -> None:
    settings.DATA = tmp_path
    tmp_path.chmod(0o500)
    assert not full_disk.is_full()
    settings.DATA = tmp_path / "no such folder"
    assert not full_disk.is_full()


def of_postgresql(cause: psycopg.Error) -> OperationalError:
    """An error as Django raises it for one of PostgreSQL's."""
    problem = OperationalError(str(cause))
    problem.__cause__ = cause
    return problem


@pytest.mark.parametrize(
    ("problem", "full"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), True),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True),
        (OSError(errno.EIO, "Input/output error"), False),
        (OperationalError("database is locked"), False),
        (of_postgresql(DiskFull("could not extend file")), True),
        (of_postgresql(TooManyConnections("sorry, too many clients already")), False),
        (InterfaceError("connection already closed"), False),
        (ValueError("No space left on device"), False),
        (None, False),
    ],
)
def test_an_error_tells_whether_the_disk_is_full(problem: Exception | None, full: bool) -> None:
    assert full_disk.is_reason_for(problem) is full


def test_the_database_tells_that_the_disk_is_full(fill_disk: Callable[[], SmallDisk]) -> None:
    disk = fill_disk()
    with pytest.raises(OperationalError) as raised:
        heartbeat.beat()
    disk.make_room()
    assert not full_disk.is_full()
    assert full_disk.is_reason_for(raised.value)


def test_any_error_of_the_database_on_a_full_disk_is_of_the_disk(small_disk: SmallDisk) -> None:
    problem = OperationalError("disk I/O error")
    assert not full_disk.is_reason_for(problem)
    small_disk.fill()
    assert full_disk.is_reason_for(problem)
    assert not full_disk.is_reason_for(ValueError("disk I/O error"))


@pytest.mark.django_db
def test_readyz_says_that_the_disk_is_full(small_disk: SmallDisk, settings: Settings) -> None:
    storage = settings.STORAGES["default"] | {"OPTIONS": {"location": small_disk.folder / "files"}}
    settings.STORAGES = settings.STORAGES | {"default": storage}
    heartbeat.beat()
    Heartbeat.objects.update(at=timezone.now() - timedelta(minutes=1))
    small_disk.fill()
    health.forget()
    answer = health.readyz(RequestFactory().get("/readyz"))
    health.forget()
    assert answer.status_code == 503
    checks = json.loads(answer.content)["checks"]
    no_room = {"ok": False, "says": full_disk.SENTENCE}
    assert checks["storage"] == checks["worker"] == no_room
