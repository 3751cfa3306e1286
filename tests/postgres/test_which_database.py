"""The suite runs on the database that it was asked to run on."""

import os

import pytest
from django.db import connection


@pytest.mark.django_db
def test_the_database_is_the_one_that_was_asked_for() -> None:
    asked = "postgresql" if os.environ.get("BATCHUI_TEST_DATABASE_URL") else "sqlite"
    assert connection.vendor == asked
