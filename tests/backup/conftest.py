"""An installation to back up: batches with a real sandbox behind them, files, keys."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from batchui.keys import keep, new_fernet_key, new_secret
from batchui.worker.models import Heartbeat
from tests.batches.conftest import batch, files_in, receive, sandbox, shared_sandbox, start, team

__all__ = ["batch", "files_in", "receive", "sandbox", "shared_sandbox", "start", "team"]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, files_in: Path, settings: Any) -> Path:
    """The data folder, with its keys."""
    settings.DATA = tmp_path
    settings.SECRET_KEY_FILE = tmp_path / "secret-key"
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-key"
    settings.SECRET_KEY = keep(settings.SECRET_KEY_FILE, new_secret())
    settings.ENCRYPTION_KEYS = [keep(settings.ENCRYPTION_KEY_FILE, new_fernet_key())]
    settings.FIRST_POLL_SECONDS = settings.LONGEST_PAUSE_SECONDS = 0
    return tmp_path


@pytest.fixture
def to(tmp_path: Path) -> Path:
    """Where a backup is written."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder / "batchui.backup"


@pytest.fixture(autouse=True)
def no_kept_tables(transactional_db: None) -> Iterator[None]:
    """Remove the tables that restores keep."""
    yield
    for schema in kept_schemas():
        with connection.cursor() as cursor:
            cursor.execute(f'DROP SCHEMA "{schema}" CASCADE')


@pytest.fixture
def nobody_works(transactional_db: None) -> Iterator[None]:
    """No worker showed a sign of life in the last minute."""
    Heartbeat.objects.all().delete()
    yield
    connection.close()


def nothing_is_left(to: Path) -> bool:
    """Whether a backup that was not made left nothing where it would have been."""
    return list(to.parent.iterdir()) == []


def kept_schemas() -> list[str]:
    """The schemas in which restores kept the tables that were there."""
    if connection.vendor == "sqlite":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT schema_name FROM information_schema.schemata "
            "WHERE schema_name LIKE 'before_restore_%'"
        )
        return [name for (name,) in cursor.fetchall()]
