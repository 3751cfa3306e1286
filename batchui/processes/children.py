"""Starts and stops child processes, with all that they start (standard library only).

Each child leads its own process group. So Ctrl-C reaches only the starter, and processes that a
child leaves behind can be found and ended.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import IO

from batchui.processes import procfs

PARENT_DEATH = Path(__file__).with_name("parent_death.py")
PR_SET_CHILD_SUBREAPER = 36

Process = subprocess.Popen[bytes]


def launch(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    output: IO[bytes] | int | None = None,
) -> Process:
    """Start `command` (an absolute path and its arguments), tied to this process.

    It is asked to stop (SIGTERM) when the calling thread ends, so call this from the main thread.
    output: for its stdout and stderr; by default they go to those of this process.
    """
    tied = [sys.executable, "-I", "-S", str(PARENT_DEATH), str(os.getpid()), *command]
    return subprocess.Popen(
        tied,
        bufsize=0,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        process_group=0,
    )


def ask_to_stop(process: Process) -> None:
    """Send SIGTERM to the process, which ends its own children."""
    if process.poll() is None:
        process.terminate()


def end_group(process: Process) -> None:
    """Send SIGKILL to all that is left of the process's group, and collect the process."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:  # macOS: what is left of the group has ended already
        pass
    process.wait()


def stop(process: Process, *, grace: float, hurry: Callable[[], bool] = lambda: False) -> bool:
    """Ask the process to stop, wait `grace` seconds or until `hurry`, then end its whole group.

    Returns whether the process stopped by itself in time.
    """
    ask_to_stop(process)
    give_up = time.monotonic() + grace
    while process.poll() is None and time.monotonic() < give_up and not hurry():
        time.sleep(0.02)
    in_time = process.poll() is not None
    end_group(process)
    return in_time


def how_it_ended(returncode: int) -> str:
    """The end of a process in words: `ended with status 1`, or `was killed by SIGKILL`."""
    if returncode >= 0:
        return f"ended with status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    return f"was killed by {name}"


def adopt_orphans() -> None:
    """Let descendants whose parent ends become children of this process (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def collect_orphans(*, besides: Collection[int]) -> None:
    """Collect the adopted children that ended, which otherwise stay in the table of processes.

    besides: the ids of processes that were launched here. Their ends are for who launched them.
    """
    while (ended := _an_ended_child()) is not None and ended not in besides:
        os.waitpid(ended, os.WNOHANG)


def _an_ended_child() -> int | None:
    """The id of a child that ended and was not collected; None: there is none."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # no child at all
        return None
    return None if found is None else found.si_pid


def end_strays(*, grace: float = 0.5) -> list[int]:
    """End all children that this process still has. Returns their process ids.

    Call it at the very end, when all children that were launched here have been collected: the rest
    are adopted ones. They get SIGTERM, and SIGKILL after `grace` seconds.
    """
    strays = _children()
    for stop_signal in (signal.SIGTERM, signal.SIGKILL):
        for child in _children():
            os.kill(child, stop_signal)
        give_up = time.monotonic() + grace
        while _children() and time.monotonic() < give_up:
            time.sleep(0.02)
    return strays


def _children() -> list[int]:
    """The ids of this process's living children. Children that ended are collected."""
    children = []
    for pid, state, parent in procfs.running():
        if parent != os.getpid():
            continue
        if state == "Z":
            os.waitpid(pid, os.WNOHANG)
        else:
            children.append(pid)
    return children
