"""Runs tests once more, on a real PostgreSQL server."""

import os
import subprocess
import sys

import pytest

from batchui.up.venv import ROOT

# This run is on another database already.
not_again = pytest.mark.skipif(
    bool(os.environ.get("BATCHUI_TEST_DATABASE_URL")), reason="this run is on another database"
)


def run_on_postgresql(address: str, *tests: str) -> None:
    """Run these files or folders of tests, but for the stories and what asks for no database.

    Fails if one of them fails.
    address: of an empty database.
    """
    pytest_again = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    which = ["-m", "not browser and not processes", "-p", "tests.postgres.asking"]
    result = subprocess.run(
        [*pytest_again, *which, *tests],
        cwd=ROOT,
        env=os.environ | {"BATCHUI_TEST_DATABASE_URL": address},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"pytest on PostgreSQL said:\n{result.stdout}"
    sys.stdout.write(result.stdout)
