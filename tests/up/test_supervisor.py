"""The parts of `manage.py up`: shown, started again, stopped, and never left behind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from batchui.up.supervisor import SECONDS_TO_STOP
from batchui.up.venv import ROOT
from tests.project.helpers import Reader, gone, until
from tests.up.supervised_program import GRACE

pytestmark = pytest.mark.processes

CALM = "import time; print('calm'); time.sleep(60)"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf');"
    "time.sleep(60)"
)
# Starts a child in a process group of its own, as the worker starts the cluster.
PARENT = (
    "import subprocess, sys, time;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], process_group=0);"
    "print('parent'); time.sleep(60)"
)


@dataclass
class Running:
    program: psutil.Popen
    lines: Reader

    def family(self) -> list[psutil.Process]:
        return [psutil.Process(self.program.pid), *self.program.children(recursive=True)]

    def stop(self, ask: int = signal.SIGTERM) -> float:
        """Ask it to stop; returns the seconds it took."""
        began = time.monotonic()
        self.program.send_signal(ask)
        assert self.program.wait(12) == 0
        return time.monotonic() - began


Start = Callable[..., Running]


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[Running] = []

    def start(**parts: str) -> Running:
        program = psutil.Popen(
            [
                *(sys.executable, "-m", "tests.up.supervised_program"),
                *(f"{name}={code}" for name, code in parts.items()),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        started.append(Running(program, Reader(program.stdout)))
        return started[-1]

    yield start
    for running in started:
        if running.program.poll() is None:
            family = running.family()
            running.stop()
            gone(family, seconds=1)
        running.lines.close()


def test_lines_stand_under_the_name_of_their_part(start: Start) -> None:
    running = start(web="print('Grüße', end=''); " + CALM, worker=CALM)
    assert running.lines.wait_for("Grüße") == "web    | Grüßecalm"
    assert running.lines.wait_for("worker") == "worker | calm"


def test_a_line_that_does_not_end_is_shown_in_pieces(start: Start) -> None:
    running = start(web="print('x' * 100_000, end=''); " + CALM)
    running.lines.wait_for("calm")
    assert sum(line.count("x") for line in running.lines.lines) == 100_000


def test_a_part_that_ends_is_started_again_saying_why(start: Start) -> None:
    running = start(web="print('no such table'); raise SystemExit(3)", worker=CALM)
    line = running.lines.wait_for("This service")
    assert line == (
        "web    | This service ended with status 3 (its last line: “no such table”). "
        "Starting again in 1 s."
    )
    again = running.lines.wait_for("Starting again in 2 s.")
    assert "ended with status 3" in again


def test_a_part_that_is_killed_is_started_again_saying_so(start: Start) -> None:
    running = start(web=CALM)
    running.lines.wait_for("calm")
    [web] = running.program.children()
    web.kill()
    running.lines.wait_for("This service was killed by SIGKILL (its last line: “calm”).")
    until(lambda: running.lines.lines.count("web | calm") == 2)


def test_what_a_killed_part_leaves_behind_in_its_group_ends_with_it(start: Start) -> None:
    code = (
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
        "print('forked'); time.sleep(60)"
    )
    running = start(web=code)
    running.lines.wait_for("forked")
    web, child = running.program.children(recursive=True)
    web.kill()
    gone([web, child], seconds=3)


@pytest.mark.parametrize("ask", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_ends_every_part_at_once(start: Start, ask: int) -> None:
    running = start(web=CALM, worker=CALM, sandbox=CALM)
    until(lambda: sum("calm" in line for line in running.lines.lines) == 3)
    family = running.family()
    assert running.stop(ask) < 3
    gone(family, seconds=0.5)
    assert running.lines.wait_for("all stopped")


def test_a_part_that_does_not_listen_is_ended_in_time(start: Start) -> None:
    running = start(web=DEAF, worker=CALM)
    running.lines.wait_for("deaf")
    family = running.family()
    assert GRACE < running.stop() < GRACE + 1.5
    gone(family, seconds=0.5)
    assert SECONDS_TO_STOP + 1.5 < 10


def test_a_second_ctrl_c_does_not_wait(start: Start) -> None:
    running = start(web=DEAF)
    running.lines.wait_for("deaf")
    running.program.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert running.stop(signal.SIGINT) < GRACE / 2


def test_a_part_that_waits_for_its_next_start_does_not_delay_the_end(start: Start) -> None:
    running = start(web="raise SystemExit(1)")
    running.lines.wait_for("Starting again in 2 s.")
    assert running.stop() < 2


def test_grandchildren_whose_parent_was_killed_are_not_left_behind(start: Start) -> None:
    running = start(worker=PARENT)
    running.lines.wait_for("parent")
    [worker, grandchild] = running.program.children(recursive=True)
    worker.kill()
    running.lines.wait_for("was killed by SIGKILL")
    running.stop()
    gone([grandchild], seconds=0.5)


def test_orphans_that_ended_do_not_fill_the_table_of_processes(start: Start) -> None:
    running = start(worker=PARENT)
    running.lines.wait_for("parent")
    [worker, orphan] = running.program.children(recursive=True)
    worker.kill()
    until(lambda: orphan.ppid() == running.program.pid)
    orphan.kill()
    until(lambda: not psutil.pid_exists(orphan.pid))


def test_parts_stop_when_the_supervisor_itself_is_killed(start: Start) -> None:
    running = start(web=CALM, worker=CALM)
    until(lambda: sum("calm" in line for line in running.lines.lines) == 2)
    family = running.family()
    running.program.kill()
    gone(family, seconds=3)


def test_it_stops_when_nobody_reads_any_more() -> None:
    reading, writing = os.pipe()
    chatter = "import time\nwhile True: print('still here'); time.sleep(0.05)"
    program = psutil.Popen(
        [sys.executable, "-m", "tests.up.supervised_program", f"web={chatter}"],
        cwd=ROOT,
        stdout=writing,
        stderr=writing,
    )
    os.close(writing)
    os.read(reading, 10)
    family = program.children(recursive=True)
    os.close(reading)
    assert program.wait(5) == 0
    gone(family, seconds=1)


# Prints numbered lines, and keeps the last number in a file that is named.
COUNTING = (
    "import itertools, pathlib, time\n"
    "for number in itertools.count(1):\n"
    "    print('line', number, flush=True)\n"
    "    pathlib.Path({path!r}).write_text(str(number))\n"
    "    time.sleep(0.005)\n"
)


@contextmanager
def counting(log: Path, counter: Path) -> Iterator[psutil.Popen]:
    """A program with one service that counts, whose output goes to `log`."""
    counter.write_text("0")
    with log.open("w") as output:
        program = psutil.Popen(
            [
                *(sys.executable, "-m", "tests.up.supervised_program"),
                f"web={COUNTING.format(path=str(counter))}",
            ],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
    try:
        yield program
    finally:
        family = [program, *program.children(recursive=True)]
        program.terminate()
        gone(family, seconds=5)


def counts_on(counter: Path) -> None:
    """Wait until the service has printed 50 more lines."""

    def count() -> int:
        return int(until(counter.read_text))  # "" while it is written

    goal = count() + 50
    until(lambda: count() >= goal)


def test_a_full_disk_under_the_log_stops_nothing(tmp_path: Path) -> None:
    with counting(Path("/dev/full"), tmp_path / "counter") as program:
        counts_on(tmp_path / "counter")
        [web] = program.children()
        counts_on(tmp_path / "counter")
        assert program.children() == [web], "the service was started again"
        assert program.poll() is None


def test_when_the_log_can_be_written_again_it_says_how_many_lines_are_missing(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    with counting(log, tmp_path / "counter") as program:
        until(lambda: "line 3\n" in log.read_text())
        unlimited = program.rlimit(psutil.RLIMIT_FSIZE)
        program.rlimit(psutil.RLIMIT_FSIZE, (log.stat().st_size, unlimited[1]))
        counts_on(tmp_path / "counter")
        program.rlimit(psutil.RLIMIT_FSIZE, unlimited)
        until(lambda: "could not be written" in log.read_text())
        counts_on(tmp_path / "counter")
    text = log.read_text()
    [missing] = re.findall(r"^\((\d+) lines could not be written here\.\)$", text, re.M)
    shown = [int(number) for number in re.findall(r"^web \| line (\d+)$", text, re.M)]
    assert max(shown) - len(shown) == int(missing) > 0
