"""Commands say in one sentence why they cannot work with the database."""

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from batchui.worker.database import why_not_ready

pytestmark = pytest.mark.django_db

WHAT_TO_DO = (
    "Start batchui once (python3 manage.py up). If it runs already, set BATCHUI_DATA and "
    "DATABASE_URL here as they are set there."
)


def test_a_database_that_is_prepared_is_ready() -> None:
    assert why_not_ready() == ""


def test_where_batchui_was_never_started_the_data_folder_is_named_and_stays_empty(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(connection, "vendor", "sqlite")
    monkeypatch.setitem(connection.settings_dict, "NAME", tmp_path / "batchui.sqlite3")
    settings.DATA = tmp_path
    assert why_not_ready() == (
        f"There is no batchui in the data folder {tmp_path} yet. {WHAT_TO_DO}"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_no_file_is_not_looked_for_in_the_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connection, "vendor", "postgresql")
    monkeypatch.setitem(connection.settings_dict, "NAME", str(tmp_path / "batchui"))
    assert why_not_ready() == ""


def test_a_migration_that_waits_is_said_with_what_to_do() -> None:
    [latest] = MigrationLoader(connection).graph.leaf_nodes("worker")
    MigrationRecorder(connection).record_unapplied(*latest)
    assert why_not_ready() == f"The database is not prepared for this version yet. {WHAT_TO_DO}"


def test_an_error_of_the_database_is_said_in_its_first_line() -> None:
    def away(*_: Any) -> None:
        raise OperationalError("\nno password for batchui\nHINT: set one\n")

    with connection.execute_wrapper(away):
        assert why_not_ready() == (
            f"The database cannot be used: no password for batchui. {WHAT_TO_DO}"
        )
