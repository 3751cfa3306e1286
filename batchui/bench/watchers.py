"""`manage.py bench --watchers N`: what it costs that N people watch pages.

The real web server runs, as `up` and `serve` start it, with a team of running batches. Each watcher
has a session, a connection and an address of its own, and asks as often as the page says
(`polls.py`). Meanwhile another process does what a worker would do (`watched.py`).
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchui.batches.phrases import Say
from batchui.bench.figures import Figures, unit_seconds
from batchui.bench.own_process import own_environment
from batchui.bench.polls import Seen, watch
from batchui.bench.surroundings import ROOT, BenchFailed
from batchui.processes import children, procfs
from batchui.processes.web_server import answers

# How long polls are counted, and the batches that change, each so often.
SECONDS, BATCHES, CHANGE_EVERY = 20.0, 50, 2.0
SECONDS_TO_START = 60
GRACE = 5
WIDTH = 34


@dataclass(frozen=True)
class Watched:
    """What a crowd saw in so many seconds, and the CPU seconds of the server and of the crowd."""

    seen: Seen
    seconds: float
    web: float
    crowd: float

    @property
    def polls(self) -> int:
        """How many were answered. Raises BenchFailed if none was."""
        if not self.seen.seconds:
            raise BenchFailed("No poll was answered.")
        return len(self.seen.seconds)

    def line(self, name: str) -> str:
        """The figures in columns: see `HEAD`."""
        polls = sorted(self.seen.seconds)
        if not polls:
            raise BenchFailed(f"{name}: no poll was answered.")
        p50, p95 = (1000 * polls[int(len(polls) * share)] for share in (0.5, 0.95))
        new = 100 * self.seen.statuses[200] / len(polls)
        return (
            f"{name:{WIDTH}}{len(polls) / self.seconds:8.0f}{new:7.0f}{p50:9.1f}{p95:9.1f}"
            f"{1000 * polls[-1]:9.0f}{100 * self.web / self.seconds:8.0f}"
            f"{1000 * self.web / len(polls):9.2f}{100 * self.crowd / self.seconds:8.0f}"
            f"{self.seen.connections / len(polls):9.2f}"
        )

    def troubles(self) -> str:
        """What went wrong, in a sentence; "" for nothing."""
        wrong = [
            f"{number:,} answered {status}"
            for status, number in sorted(self.seen.statuses.items())
            if status not in (200, 204)
        ]
        if self.seen.dropped:
            wrong.append(f"{self.seen.dropped:,} left out because the one before had no answer yet")
        if self.seen.lost:
            wrong.append(f"{self.seen.lost:,} connections lost")
        return f"  Of its polls: {', '.join(wrong)}." if wrong else ""


HEAD = (
    f"{'':{WIDTH}}{'polls/s':>8}{'new %':>7}{'p50 ms':>9}{'p95 ms':>9}{'worst':>9}"
    f"{'web %':>8}{'ms each':>9}{'crowd %':>8}{'opened':>9}"
)


def measure(
    watchers: int, say: Say, *, database: str = "", seconds: float | None = None
) -> Figures:
    """Print how `watchers` people fare who watch the same pages, for so many seconds each.

    Returns what a poll takes, in units of work. database: the address of an empty one; "" for
    SQLite. Raises BenchFailed.
    """
    seconds = SECONDS if seconds is None else seconds
    unit, took = unit_seconds(), Figures()
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="batchui-bench-") as folder:
        environment = own_environment(Path(folder, "data"), database)
        with _working(environment, watchers) as work, _serving(environment, Path(folder)) as web:
            made = work.made
            say(
                f"{watchers:,} watchers, {seconds:.0f} s each, "
                f"{database.partition(':')[0] or 'sqlite'}; load of the machine {before:.1f}.\n"
                "“new”: polls with news. “web”: CPU of the web processes, % of a core; “ms each”: "
                "the same of a poll. “crowd”: CPU of those who ask. “opened”: connections a poll.\n"
            )
            say(HEAD)
            for name, pages, is_changing in (
                ("one batch, nothing changes", [made["still"]], False),
                ("the history, nothing changes", [made["history"]], False),
                (f"{BATCHES} batches that change", made["changing"], True),
                ("the history, they change", [made["history"]], True),
            ):
                found = _watch(
                    web, work, made["cookies"], pages, seconds=seconds, is_changing=is_changing
                )
                say(found.line(name))
                took[f"a poll of {name}, units of CPU"] = found.web / found.polls / unit
                if troubles := found.troubles():
                    say(troubles)
    return took


@dataclass
class Work:
    """The process that makes the team, and changes it. made: what it printed first."""

    process: "subprocess.Popen[str]"
    made: Mapping[str, Any]

    def ask(self, line: str) -> int:
        """Tell it to `change` the batches, or to `rest`. Returns how many parts it has moved."""
        assert self.process.stdin is not None  # noqa: S101
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return int(_next(self.process)["moved"])


@dataclass(frozen=True)
class Web:
    """The running web server. server: its host and port."""

    server: str
    pid: int

    def cpu_seconds(self) -> float:
        """User and system time of its processes so far."""
        family, by_parent = [self.pid], procfs.children()
        for pid in family:
            family += by_parent.get(pid, [])
        return sum(map(procfs.cpu_seconds, family))


def _watch(
    web: Web,
    work: Work,
    cookies: Sequence[str],
    pages: Sequence[str],
    *,
    seconds: float,
    is_changing: bool,
) -> Watched:
    """Let everybody watch these pages for so many seconds. is_changing: their batches are."""
    at: list[float] = []

    def note() -> None:
        at.extend((time.monotonic(), web.cpu_seconds(), time.process_time()))

    work.ask("change" if is_changing else "rest")
    with ThreadPoolExecutor(1) as own_thread:  # this one may have an event loop already
        crowd = watch(web.server, pages, cookies, seconds=seconds, begin=note)
        seen = own_thread.submit(asyncio.run, crowd).result()
    note()
    lasted, web_cpu, own = (end - start for start, end in zip(at[:3], at[3:], strict=True))
    if not work.ask("rest") and is_changing:
        raise BenchFailed("No batch was changed.")
    return Watched(seen, lasted, web_cpu, own)


@contextmanager
def _working(environment: Mapping[str, str], watchers: int) -> Iterator[Work]:
    command = [sys.executable, "-m", "batchui.bench.with_django", "batchui.bench.watched"]
    command += [str(watchers), str(BATCHES), str(CHANGE_EVERY)]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Work(process, _next(process))


def _next(process: "subprocess.Popen[str]") -> dict[str, Any]:
    assert process.stdout is not None  # noqa: S101
    line = process.stdout.readline()
    if not line:
        raise BenchFailed("The team could not be made, or changed; the reason is above.")
    found: dict[str, Any] = json.loads(line)
    return found


@contextmanager
def _serving(environment: Mapping[str, str], folder: Path) -> Iterator[Web]:
    """The web server, with its static files gathered."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(ROOT / "manage.py"), "serve", f"--port={port}"]
    log = folder / "web.log"
    with log.open("wb") as output:
        process = children.launch(command, environment=environment, output=output)
    try:
        give_up = time.monotonic() + SECONDS_TO_START
        while not answers(f"127.0.0.1:{port}", timeout=1):
            if process.poll() is not None or time.monotonic() > give_up:
                raise BenchFailed(f"The web server did not start.\n{log.read_text()}")
            time.sleep(0.05)
        yield Web(f"127.0.0.1:{port}", process.pid)
    finally:
        children.stop(process, grace=GRACE)
