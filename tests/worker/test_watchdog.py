"""Background work comes back, whatever is done to its processes."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from batchui.up.venv import ROOT
from tests.project.helpers import Reader, gone, until
from tests.surroundings import clean_environment

pytestmark = pytest.mark.processes


@dataclass
class Running:
    """A watchdog that runs a real cluster, and what it says."""

    program: psutil.Popen
    lines: Reader
    beats: Path

    def cluster(self) -> psutil.Process:
        """The process of `qcluster`."""
        return until(lambda: next(iter(self.program.children()), None))

    def parts(self) -> list[psutil.Process]:
        """Sentinel, worker, worker, monitor, pusher: in the order they were started."""

        def complete() -> list[psutil.Process] | None:
            with suppress(psutil.NoSuchProcess):  # the cluster has just been replaced
                found = sorted(self.cluster().children(recursive=True), key=lambda part: part.pid)
                return found if len(found) == 5 else None
            return None

        return until(complete)

    def next_beat(self, *, seconds: float = 20) -> float:
        """Wait for a sign of life later than now; returns when it came."""
        now = time.time()
        return until(lambda: self.beat_after(now), seconds=seconds)

    def beat_after(self, moment: float) -> float | None:
        at = self.beats.stat().st_mtime if self.beats.exists() else 0.0
        return at if at > moment else None


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    program = psutil.Popen(
        [sys.executable, "-m", "tests.worker.cluster_program"],
        cwd=ROOT,
        env=clean_environment(
            DJANGO_SETTINGS_MODULE="tests.worker.cluster_settings",
            CLUSTER_FOLDER=str(tmp_path),
            PYTHONPATH=str(ROOT),
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    running = Running(program, Reader(program.stdout), tmp_path / "beats")
    try:
        running.next_beat()
        yield running
    finally:
        if program.poll() is None:
            family = program.children(recursive=True)
            program.terminate()
            program.wait(10)
            gone(family, seconds=5)
        running.lines.close()


SENTINEL, WORKERS, PUSHER = slice(0, 1), slice(1, 3), slice(4, 5)


def kill(parts: list[psutil.Process]) -> None:
    for part in parts:
        part.kill()


@pytest.mark.parametrize("victims", [SENTINEL, PUSHER], ids=["sentinel", "pusher"])
def test_a_killed_part_of_the_cluster_does_not_silence_background_work(
    running: Running, victims: slice
) -> None:
    kill(running.parts()[victims])
    running.next_beat()
    running.next_beat()


def test_a_cluster_wedged_by_killed_workers_is_restarted_with_a_reason(running: Running) -> None:
    wedged = running.cluster().pid
    kill(running.parts()[WORKERS])
    running.lines.wait_for("started again now: it has shown no sign of life for")
    until(lambda: running.cluster().pid != wedged)
    running.next_beat()


def test_a_killed_cluster_leaves_nothing_behind_and_is_started_again(running: Running) -> None:
    parts = running.parts()
    running.cluster().kill()
    running.lines.wait_for("it was killed by SIGKILL")
    gone(parts, seconds=5)
    running.next_beat()


@pytest.mark.parametrize("ask", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_once_and_leaves_nothing_behind(running: Running, ask: int) -> None:
    family = [running.cluster(), *running.parts()]
    began = time.monotonic()
    running.program.send_signal(ask)
    assert running.program.wait(10) == 0
    assert time.monotonic() - began < 4
    gone(family, seconds=0.5)


def test_it_stops_in_time_even_when_the_cluster_is_wedged(running: Running) -> None:
    killed = running.parts()[WORKERS]
    kill(killed)
    until(lambda: not set(killed) & set(running.parts()))  # replaced, but waiting for their lock
    family = [running.cluster(), *running.parts()]
    running.program.terminate()
    assert running.program.wait(10) == 0
    gone(family, seconds=0.5)


def test_the_cluster_stops_when_the_watchdog_is_killed(running: Running) -> None:
    family = [running.cluster(), *running.parts()]
    running.program.kill()
    gone(family, seconds=10)


def test_the_rest_of_the_cluster_stops_when_all_above_it_are_killed(running: Running) -> None:
    sentinel, *rest = running.parts()
    above = [running.cluster(), sentinel]
    for part in above:  # so that none of them stops another in the meantime
        part.suspend()
    kill([running.program, *above])
    gone(rest, seconds=10)
