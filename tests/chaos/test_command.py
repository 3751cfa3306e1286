"""Campaigns as they are started: the table, what is refused, what an interruption leaves."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.chaos.binding import INSTALL, programs
from batchui.chaos.figures import COLUMNS
from batchui.processes import procfs
from tests.conftest import required_program
from tests.project.helpers import until

pytestmark = pytest.mark.processes

COMMAND = [sys.executable, str(ROOT / "manage.py"), "chaos"]


def chaos(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], env=clean_environment(), capture_output=True, text=True, check=False
    )


def figures(printed: str) -> dict[str, str]:
    """The last line of the printed table."""
    line = [line for line in printed.splitlines() if line.startswith("| ")][-1]
    return dict(zip(COLUMNS, line.strip("| ").split(" | "), strict=True))


def test_it_prints_a_table_and_how_to_do_it_again() -> None:
    """One of the inside is enough: `.ci/run` does the others, and is red if anything is off."""
    ended = chaos("--kills", "4", "--seed", "2", "--inside")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = figures(ended.stdout)
    assert int(found["kills"]) >= 4
    assert (found["campaign"], found["database"], found["seed"]) == ("inside", "sqlite", "2")
    assert [found[name] for name in COLUMNS[8:]] == ["0"] * 5
    assert "Again: manage.py chaos --kills" in ended.stdout
    assert "--seed 2 --database sqlite --inside" in ended.stdout


def test_batches_can_go_through_the_worker() -> None:
    required_program(*programs(), install=INSTALL)
    ended = chaos("--kills", "4", "--seed", "3", "--inside", "--worker")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = figures(ended.stdout)
    assert found["campaign"] == "inside, Worker"
    assert int(found["requests accepted"]) > 0
    assert [found[name] for name in COLUMNS[8:]] == ["0"] * 5


def test_a_campaign_without_kills_is_refused() -> None:
    ended = chaos("--kills", "0")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--kills must be at least 1" in ended.stderr


# With real processes there are a web server and a worker, with their children, besides.
@pytest.mark.parametrize(
    ("number", "options", "family"),
    [(signal.SIGTERM, [], 4), (signal.SIGINT, ["--inside"], 1)],
)
def test_an_interrupted_campaign_leaves_no_process_and_no_folder(
    tmp_path: Path, number: signal.Signals, options: list[str], family: int
) -> None:
    process = subprocess.Popen(
        [*COMMAND, "--kills", "1000", "--seed", "3", *options],
        env=clean_environment(TMPDIR=str(tmp_path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        until(lambda: len(_family(tmp_path)) >= family, seconds=90)
        process.send_signal(number)
        process.wait(60)
        assert process.returncode != 0
        until(lambda: not _family(tmp_path), seconds=20)
        assert not list(tmp_path.glob("batchui-chaos-*"))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for pid in _family(tmp_path):
            os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)


def _family(folder: Path) -> list[int]:
    """The processes whose data folder is below `folder`."""
    wanted = f"BATCHUI_DATA={folder}".encode()
    found = []
    for pid, state, _ in procfs.running():
        try:
            environment = (procfs.PROC / str(pid) / "environ").read_bytes()
        except OSError:
            continue
        if state != "Z" and wanted in environment:
            found.append(pid)
    return found
