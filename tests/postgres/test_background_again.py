"""What touches the database, on PostgreSQL: one of three files that run side by side."""

import pytest

from tests.postgres.again import not_again, run_on_postgresql

pytestmark = [pytest.mark.processes, not_again]


def test_background_on_postgresql(postgres_url: str) -> None:
    run_on_postgresql(postgres_url, "tests/worker", "tests/doctor", "tests/backup")
