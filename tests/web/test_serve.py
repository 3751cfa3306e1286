"""`manage.py serve`: the pages alone, for a `Procfile`; never debug pages for other machines."""

import subprocess
import sys
from pathlib import Path

import pytest

from batchui.up.venv import ROOT
from tests.surroundings import clean_environment

# An address that no machine has: what would listen there is refused.
ELSEWHERE = "192.0.2.1"


def run(data: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=clean_environment(BATCHUI_DATA=str(data), **variables),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.processes
def test_debug_pages_are_for_this_machine_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert run(data, "migrate", "--verbosity=0").returncode == 0
    for command in ("serve", "serve_pages"):
        refused = run(data, command, "--host", ELSEWHERE, DEBUG="1")
        assert refused.returncode == 1
        assert "DEBUG is on, and --host lets other machines in" in refused.stderr
        tried = run(data, command, "--host", ELSEWHERE)
        assert f"The web server cannot listen on {ELSEWHERE}" in tried.stderr


@pytest.mark.processes
def test_in_a_folder_that_was_never_prepared_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    data = tmp_path / "data"
    refused = run(data, "serve")
    assert refused.returncode == 1
    [line] = refused.stderr.splitlines()
    assert f"There is no batchui in the data folder {data} yet. Start batchui once" in line
    assert "`manage.py migrate` prepares the database" in line
    assert not data.exists()
