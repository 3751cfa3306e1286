"""Everything that touches the database, once more on a real PostgreSQL server."""

import os
import subprocess
import sys

import pytest

from batchui.up.venv import ROOT

pytestmark = pytest.mark.processes

WITH_A_DATABASE = (
    "tests/postgres/test_which_database.py",
    "tests/batches",
    "tests/teams",
    "tests/web",
    "tests/worker",
)


@pytest.mark.skipif(
    bool(os.environ.get("BATCHUI_TEST_DATABASE_URL")), reason="this run is on another database"
)
def test_what_holds_on_sqlite_holds_on_postgresql(postgres_url: str) -> None:
    pytest_again = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*pytest_again, "-m", "not browser and not processes", *WITH_A_DATABASE],
        cwd=ROOT,
        env=os.environ | {"BATCHUI_TEST_DATABASE_URL": postgres_url},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"pytest on PostgreSQL said:\n{result.stdout}"
    sys.stdout.write(result.stdout)
