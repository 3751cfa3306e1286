"""The tables that the processes of a test run copy, instead of making each their own."""

import os
import sqlite3
from contextlib import closing

import pytest
from django.db import connection

from batchui.teams.models import Team

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        bool(os.environ.get("BATCHUI_TEST_DATABASE_URL")), reason="only a file is copied"
    ),
]


def test_the_copied_tables_are_those_of_the_migrations_and_empty() -> None:
    Team.objects.create(name="of this test")
    with closing(sqlite3.connect(os.environ["BATCHUI_TEST_TABLES"])) as copied:
        names = [name for (name,) in copied.execute(TABLES)]
        assert copied.execute("SELECT count(*) FROM teams_team").fetchone() == (0,)
    with connection.cursor() as mine:
        mine.execute(TABLES)
        assert names == [name for (name,) in mine.fetchall()]
    assert "django_migrations" in names
