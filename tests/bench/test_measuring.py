"""What is read from clocks and from /proc."""

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.processes import procfs
from tests.bench.slow_to_prepare import HELD_BYTES, SECONDS_TO_PREPARE

HOLD_80_MB = "held = bytearray(b'x') * 80_000_000; del held; print(); input()"
WORK = "import time\nwhile time.process_time() < 0.3: pass\nprint(); input()"


def child(code: str) -> subprocess.Popen[bytes]:
    """A Python that has run `code` as far as its first print, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    return process


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    """What the stopwatch says of a side that takes long to prepare, and then does nothing."""
    done = subprocess.run(
        [sys.executable, "-m", "batchui.bench.stopwatch", "tests.bench.slow_to_prepare"],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=clean_environment(),
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_clock_leaves_preparing_out(measured: dict[str, Any]) -> None:
    assert measured["seconds"] < SECONDS_TO_PREPARE / 2
    assert measured["cpu_seconds"] < SECONDS_TO_PREPARE / 2


def test_the_peak_does_not(measured: dict[str, Any]) -> None:
    assert measured["peak_bytes"] > HELD_BYTES


def test_what_a_side_returns_is_handed_on(measured: dict[str, Any]) -> None:
    assert measured["details"] == {"said": "done"}


def test_the_peak_is_that_of_the_past_and_of_the_process_alone() -> None:
    """The kernel's `ru_maxrss` would count what this large process holds while it forks."""
    held = bytearray(b"x") * 200_000_000
    with child(HOLD_80_MB) as process:
        peak = procfs.peak_bytes(process.pid)
        process.communicate(b"\n")
    assert 80_000_000 < peak < 150_000_000 < len(held)


def test_cpu_seconds_are_those_of_the_process() -> None:
    with child(WORK) as process:
        time.sleep(0.05)
        used = procfs.cpu_seconds(process.pid)
        process.communicate(b"\n")
    assert used == pytest.approx(0.3, abs=0.15)


def test_children_are_found_by_their_parent() -> None:
    with child(WORK) as process:
        assert process.pid in procfs.children()[os.getpid()]
        assert "process_time" in procfs.command(process.pid)
        process.communicate(b"\n")


def test_a_process_that_ended_is_an_os_error() -> None:
    with child("print()") as process:
        process.communicate(b"")
    for ask in (procfs.peak_bytes, procfs.cpu_seconds, procfs.command):
        with pytest.raises(OSError, match="No such"):
            ask(process.pid)


def test_settings_of_whoever_starts_the_bench_stay_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("BATCHUI_MAX_ROWS", "DATABASE_URL", "SECURE_PROXY", "DJANGO_SETTINGS_MODULE"):
        monkeypatch.setenv(name, "theirs")
    found = clean_environment(BATCHUI_DATA="ours")
    assert "theirs" not in found.values()
    assert found["BATCHUI_DATA"] == "ours"
    assert found["PATH"] == os.environ["PATH"]
