"""Memory, CPU time and parents of processes, from /proc (Linux only)."""

import os
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def is_there() -> bool:
    """Whether this system has /proc."""
    return (PROC / "self" / "status").exists()


def peak_bytes(pid: int | str = "self") -> int:
    """The largest resident memory that a process ever had, in bytes. OSError if it has ended."""
    for line in (PROC / str(pid) / "status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0  # it has ended and waits to be collected


def memory_bytes(pid: int) -> tuple[int, int]:
    """What a process has in memory now: all of it, and its share, both in bytes.

    In the share, a page that several processes have counts for each with its part of it, so that
    the shares of all processes add up (`Rss` and `Pss` of proc_pid_smaps_rollup(5)). OSError if it
    has ended.
    """
    text = (PROC / str(pid) / "smaps_rollup").read_text()
    found = {line.split(":")[0]: line.split()[1] for line in text.splitlines()[1:]}
    return int(found["Rss"]) * 1024, int(found["Pss"]) * 1024


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its ended children. OSError if it has ended."""
    fields = _stat(pid)
    return sum(map(int, fields[11:15])) / TICKS


def command(pid: int) -> str:
    """The command line of a process. OSError if it has ended."""
    return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


def threads() -> int:
    """How many threads this process has, those of libraries included."""
    return len(list((PROC / "self" / "task").iterdir()))


def children() -> dict[int, list[int]]:
    """The process ids of all running processes, by the process id of their parent."""
    found: dict[int, list[int]] = {}
    for pid, _, parent in running():
        found.setdefault(parent, []).append(pid)
    return found


def running() -> Iterator[tuple[int, str, int]]:
    """Every process: its id, its state (`Z`: it ended and waits to be collected), its parent."""
    for folder in PROC.glob("[0-9]*"):
        try:
            state, parent, *_ = _stat(int(folder.name))
        except OSError:  # it ended meanwhile
            continue
        yield int(folder.name), state, int(parent)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/<pid>/stat from the state on (the third in proc(5))."""
    return (PROC / str(pid) / "stat").read_text().rpartition(") ")[2].split()
