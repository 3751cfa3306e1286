"""`manage.py serve`: the pages alone, for a `Procfile`; never debug pages for other machines."""

from pathlib import Path

import pytest

from tests.surroundings import manage

# An address that no machine has: what would listen there is refused.
ELSEWHERE = "192.0.2.1"


@pytest.mark.processes
def test_debug_pages_are_for_this_machine_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert manage("migrate", "--verbosity=0", data=data).returncode == 0
    for command in ("serve", "serve_pages"):
        refused = manage(command, "--host", ELSEWHERE, DEBUG="1", data=data)
        assert refused.returncode == 1
        assert "DEBUG is on, and --host lets other machines in" in refused.stderr
        tried = manage(command, "--host", ELSEWHERE, data=data)
        assert f"The web server cannot listen on {ELSEWHERE}" in tried.stderr


@pytest.mark.processes
def test_in_a_folder_that_was_never_prepared_one_sentence_says_what_to_do(tmp_path: Path) -> None:
    data = tmp_path / "data"
    refused = manage("serve", data=data)
    assert refused.returncode == 1
    [line] = refused.stderr.splitlines()
    assert f"There is no batchui in the data folder {data} yet. Start batchui once" in line
    assert "`manage.py migrate` prepares the database" in line
    assert not data.exists()
