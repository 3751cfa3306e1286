"""Runs `manage.py up` for the bench, and reads its processes and the progress of a batch."""

import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from batchui.bench.surroundings import (
    DATABASE,
    ROOT,
    Api,
    BenchFailed,
    bring_tables,
    product_environment,
)
from batchui.processes import children, procfs

SECONDS_TO_START = 120
SECONDS_TO_STOP = 15
READY = "batchui is ready: "
# Statuses that a batch does not leave by itself.
ENDS = {"attention", "failed", "finished", "finished with problems", "stopped"}
# Between two queries of the database.
SECONDS_BETWEEN_CHECKS = 0.02
# The kinds of the children of `up`, by a text in their command line.
KINDS = (
    ("manage.py serve_pages", "web"),
    ("manage.py worker", "watchdog"),
    ("batchui.sandbox", "sandbox"),
)


@dataclass
class Used:
    """The resources of the processes of a kind: CPU seconds of all of them, the peak of the
    largest one, their number."""

    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    processes: int = 0


@dataclass
class Product:
    """A running `up`. first_page: the link that it printed."""

    process: children.Process
    data: Path
    log: Path
    first_page: str
    seconds_to_start: float

    def wait_for(self, batch: str, arrived: Callable[[str, int], bool]) -> None:
        """Return as soon as `arrived(status, answered rows)` of a batch is true.

        Raises BenchFailed if the batch, or `up`, ends before that.
        """
        while not arrived(*(found := self._state(batch))):
            if found[0] in ENDS or self.process.poll() is not None:
                raise BenchFailed(f"The batch got no further than “{found[0]}”.{self.last_lines()}")
            time.sleep(SECONDS_BETWEEN_CHECKS)

    def used(self) -> dict[str, Used]:
        """The resources of all processes so far, by kind."""
        found: dict[str, Used] = {}
        for pid, kind in self.all_processes():
            try:
                peak, cpu = procfs.peak_bytes(pid), procfs.cpu_seconds(pid)
            except OSError:  # it ended meanwhile
                continue
            used = found.setdefault(kind, Used())
            used.peak_bytes = max(used.peak_bytes, peak)
            used.cpu_seconds += cpu
            used.processes += 1
        return found

    def processes(self, kind: str) -> list[int]:
        """The ids of the running processes of a kind."""
        return [pid for pid, found in self.all_processes() if found == kind]

    def all_processes(self) -> list[tuple[int, str]]:
        """The id and the kind of every running process."""
        return list(_family(self.process.pid))

    def last_lines(self) -> str:
        """The last lines that `up` printed, to be added to a sentence."""
        return _last_lines(self.log)

    def _state(self, batch: str) -> tuple[str, int]:
        query = "SELECT status, answered FROM batches_batch WHERE id = ?"
        with closing(sqlite3.connect(self.data / DATABASE, timeout=20)) as database:
            status, answered = database.execute(query, [batch.replace("-", "")]).fetchone()
        return status, answered


@contextmanager
def running_product(
    data: Path, api: Api, *, from_nothing: bool = False, **variables: str
) -> Iterator[Product]:
    """A running `manage.py up` on a free port, with its data in `data`, while the context lasts.

    from_nothing: it makes its tables itself, as at a first start.
    """
    if from_nothing:
        data.mkdir(parents=True)
    else:
        bring_tables(data)
    log = data.with_name("up.log")
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(_free_port())]
    began = time.perf_counter()
    with log.open("wb") as output:
        process = children.launch(
            command, environment=product_environment(data, api, **variables), output=output
        )
    try:
        first_page = _first_page(process, log)
        yield Product(process, data, log, first_page, time.perf_counter() - began)
    finally:
        children.stop(process, grace=SECONDS_TO_STOP)


def _first_page(process: children.Process, log: Path) -> str:
    """The link that `up` prints when its pages answer."""
    give_up = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < give_up:
        printed = log.read_text()
        if READY in printed and "\n" in (found := printed.partition(READY)[2]):
            return found.splitlines()[0]
        time.sleep(SECONDS_BETWEEN_CHECKS)
    raise BenchFailed(f"`up` did not start.{_last_lines(log)}")


def _last_lines(log: Path) -> str:
    return "\n".join(["\n`up` printed:", *log.read_text().splitlines()[-20:]])


def _family(root: int) -> Iterator[tuple[int, str]]:
    """Every process of `up`, with its kind.

    Processes below the watchdog, which may rename themselves, are `worker`; any other process has
    the kind of its parent.
    """
    by_parent = procfs.children()
    waiting = [(root, "up")]
    while waiting:
        pid, kind = waiting.pop()
        yield pid, kind
        waiting += [(child, _kind(child, parent=kind)) for child in by_parent.get(pid, [])]


def _kind(pid: int, *, parent: str) -> str:
    if parent != "up":
        return {"watchdog": "worker"}.get(parent, parent)
    try:
        command = procfs.command(pid)
    except OSError:  # it ended meanwhile
        return parent
    return next((kind for mark, kind in KINDS if mark in command), parent)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
