"""The whole product as a person starts it: `manage.py up` in a data folder of its own."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from batchui.processes import children
from batchui.up.venv import ROOT
from tests.project.helpers import Reader, gone, is_alive, until
from tests.surroundings import clean_environment

# No promises: how late a failure is told, on a machine with much to do.
SECONDS_TO_START = 180
SECONDS_TO_STOP = 60
# Of the sandbox, whose control address the stories use.
TOKEN = "a-token-for-the-sandbox-of-stories"

# Looks often enough for a story that is told in seconds.
QUICK = {
    "BATCHUI_FIRST_POLL_SECONDS": "0.5",
    "BATCHUI_LONGEST_PAUSE_SECONDS": "1",
    "BATCHUI_CALLS_PER_5_MINUTES": "100000",
}


@dataclass
class Product:
    """A running `up`: what it printed, its database, and the sandbox's control address."""

    data: Path
    port: int
    variables: dict[str, str]
    process: children.Process = field(init=False)
    lines: Reader = field(init=False)
    first_page: str = field(init=False)  # what was printed to click
    sandbox: str = field(init=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it (again, after `end`), and wait until it says that it is ready."""
        self.process = children.launch(
            [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(self.port)],
            environment=clean_environment(
                BATCHUI_DATA=str(self.data),
                BATCHUI_SANDBOX_TOKEN=TOKEN,
                BATCHUI_SANDBOX_CONTROL="1",
                **self.variables,
            ),
            output=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.lines = Reader(self.process.stdout)
        try:
            ready = self.lines.wait_for("batchui is ready: ", seconds=SECONDS_TO_START)
            sandbox = self.lines.wait_for("The sandbox listens on ")
        except BaseException:
            self.end()
            raise
        self.first_page = ready.removeprefix("batchui is ready: ")
        self.sandbox = str(re.search(r"http://[^/ ]+", sandbox)[0])  # type: ignore[index]

    def end(self) -> None:
        """Whatever happened, leave nothing running."""
        _end(self.process)
        self.lines.close()

    def control(self, method: str, path: str, body: object = None) -> Any:
        """Ask the sandbox's control address (`batchui.sandbox` documents it)."""
        request = urllib.request.Request(
            f"{self.sandbox}/control/{path}",
            method=method,
            headers={"Authorization": f"Bearer {TOKEN}"},
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def timings(self, *, queued: float, running: float) -> None:
        """How long the sandbox keeps what is submitted from now on in each state, in seconds."""
        wanted = {"queued": queued, "running": running, "per_1000_items": 0, "longest": running}
        self.control("PUT", "timings", wanted)

    def let_parts_run(self) -> None:
        """Let what waits at the sandbox, and what it is given from now on, run: for an hour."""
        self.timings(queued=0, running=3600)
        with closing(sqlite3.connect(self.data / "sandbox.sqlite3", timeout=20)) as database:
            now = time.time()
            query = "UPDATE requests SET runs_at = ?, done_at = ? WHERE runs_at > ?"
            with database:
                database.execute(query, (now, now + 3600, now))

    def let_parts_end(self, *, apart: float) -> None:
        """Let what the sandbox works at end from now on, one so many seconds after the other."""
        with closing(sqlite3.connect(self.data / "sandbox.sqlite3", timeout=20)) as database:
            query = "SELECT id FROM requests WHERE done_at > ? ORDER BY created"
            ids = [found[0] for found in database.execute(query, (time.time(),))]
            moments = [(time.time() + apart * place, one) for place, one in enumerate(ids, 1)]
            with database:
                database.executemany("UPDATE requests SET done_at = ? WHERE id = ?", moments)

    def script(self, *steps: dict[str, Any]) -> None:
        """What goes wrong at the sandbox from now on; nothing without steps."""
        self.control("PUT", "script", list(steps))

    def submissions(self) -> list[dict[str, Any]]:
        """Every POST of a part that the sandbox has seen."""
        return list(self.control("GET", "calls?kind=submit"))

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Look into the product's database: the truth that pages are compared with."""
        with closing(self._connect()) as database:
            return database.execute(query, values).fetchall()

    def change(self, statement: str, *values: object) -> None:
        """Change the product's database, as the passing of time would."""
        with closing(self._connect()) as database, database:
            database.execute(statement, values)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.data / "batchui.sqlite3", timeout=20)

    def status(self, batch: str) -> str:
        """The status of a batch, by its id."""
        return str(self.ask("SELECT status FROM batches_batch WHERE id = ?", _hex(batch))[0][0])

    def statuses(self, batch: str) -> dict[int, str]:
        """The status of each part of a batch, by number."""
        query = "SELECT number, status FROM batches_part WHERE batch_id = ? ORDER BY number"
        return dict(self.ask(query, _hex(batch)))

    def run_out_of_patience(self) -> None:
        """Let every lease end now, and every pause.

        What a living worker sends is then given up, too, and may be unsure: for whoever decides.
        """
        self._bring_forward("lease_until")
        self.end_pauses()

    def end_pauses(self) -> None:
        """Let every pause end now; who works on a part keeps it."""
        self._bring_forward("resume_at", "next_poll_at")
        self.change("UPDATE teams_connection SET paused_until = NULL")

    def _bring_forward(self, *columns: str) -> None:
        for column in columns:
            self.change(
                f"UPDATE batches_part SET {column} = '2000-01-01 00:00:00'"  # noqa: S608
                f" WHERE {column} IS NOT NULL"
            )

    def forget_kills(self) -> None:
        """Let what is killed next be taken up at once: that is done seldom in a while."""
        self.change("DELETE FROM cache WHERE cache_key LIKE '%claims-ended:%'")

    def let_odd_replies_age(self) -> None:
        """Let an hour pass for parts whose reply is looked at again before it is believed."""
        self.change(
            "UPDATE batches_part SET odd_at = '2000-01-01 00:00:00',"
            " next_poll_at = '2000-01-01 00:00:00' WHERE odd_at IS NOT NULL"
        )

    def part(self, name: str) -> psutil.Process:
        """The running process of `web`, `worker` or `sandbox`."""
        marks = {
            "web": "manage.py serve_pages",
            "worker": "manage.py worker",
            "sandbox": "batchui.sandbox",
        }

        def find() -> psutil.Process | None:
            for child in psutil.Process(self.process.pid).children():
                if marks[name] in _command(child):
                    return child
            return None

        return until(find, seconds=20)

    def family(self) -> list[psutil.Process]:
        """Every process that works in the data folder, whoever its parent is."""
        return [process for process in psutil.process_iter() if _works_in(process, self.data)]

    def stop(self) -> float:
        """SIGTERM. Fails unless everything ends, with status 0, and leaves nothing behind.

        Returns the seconds it took.
        """
        family = self.family()
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(SECONDS_TO_STOP) == 0, f"up said:\n{self.lines}"
        took = time.monotonic() - began
        gone(family, seconds=10)
        left = self.family()
        assert not left, f"left behind: {left}"
        return took


@contextmanager
def running_product(
    data: Path, *, from_nothing: bool = False, **variables: str
) -> Iterator[Product]:
    """`manage.py up` on a free port while the context lasts.

    It begins with the empty tables that this run has made, if there are any, as the migrations take
    3 s; from_nothing: as a first start does.
    """
    data.mkdir(parents=True, exist_ok=True)
    if not from_nothing:
        _bring_tables(data)
    # A sandbox of its own: the usual port may be that of another batchui on this machine.
    (data / "sandbox-address").write_text(f"http://127.0.0.1:{_free_port()}/client/v4")
    product = Product(data, _free_port(), variables)
    product.start()
    try:
        yield product
        if product.process.poll() is None:
            product.stop()
    finally:
        product.end()


def _bring_tables(data: Path) -> None:
    made = Path(os.environ.get("BATCHUI_TEST_TABLES", "none"))
    if made.exists() and not (data / "batchui.sqlite3").exists():
        shutil.copyfile(made, data / "batchui.sqlite3")
        (data / "batchui.sqlite3").chmod(0o600)


def _end(process: children.Process) -> None:
    """Whatever happened, leave nothing running."""
    if process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for child in filter(is_alive, children):
            child.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _hex(batch: str) -> str:
    """An id as SQLite keeps it."""
    return batch.replace("-", "")


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _works_in(process: psutil.Process, data: Path) -> bool:
    try:
        return process.pid != os.getpid() and (
            process.environ().get("BATCHUI_DATA") == str(data) and is_alive(process)
        )
    except psutil.Error:
        return False
