"""Two hosts that share a database and a bucket, and nothing else: each with a folder of its own."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx
import psutil

from batchui.processes import children
from batchui.up.ports import free_port
from batchui.up.venv import ROOT
from tests import surroundings
from tests.project.helpers import Reader, until
from tests.surroundings import clean_environment

SECONDS_TO_START = 180
WEB, WORKER = ([str(ROOT / "manage.py"), name] for name in ("serve", "worker"))
IMPATIENT_WORKER = ["-m", "tests.stories.impatient_worker"]
PASSWORD = "kettle-orchard-9"


@dataclass
class Service:
    """A process of one host, and what it said."""

    process: children.Process
    lines: Reader


@dataclass
class Host:
    """One machine's web and worker processes, in a data folder of their own."""

    data: Path
    address: str
    web: Service
    worker: Service

    def cluster(self) -> psutil.Process:
        """The process that the worker's watchdog looks after; it leads a group of its own."""
        watchdog = psutil.Process(self.worker.process.pid)
        return until(lambda: next(iter(watchdog.children()), None))

    def freeze(self) -> None:
        """Let the cluster hang, with everything in it: it lives, and does nothing."""
        os.killpg(self.cluster().pid, signal.SIGSTOP)


@contextmanager
def running_host(data: Path, *, worker_of: list[str] = WORKER, **variables: str) -> Iterator[Host]:
    """A web and a worker process while the context lasts. worker_of: what the worker runs."""
    variables |= {"BATCHUI_DATA": str(data), "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    environment = clean_environment(**variables)
    port = free_port(0)
    with ExitStack() as stack:
        web = stack.enter_context(_running(environment, *WEB, "--port", str(port)))
        worker = stack.enter_context(_running(environment, *worker_of))
        address = f"http://127.0.0.1:{port}"
        until(lambda: _answers(address), seconds=SECONDS_TO_START)
        worker.lines.wait_for("Background work has started.", seconds=SECONDS_TO_START)
        yield Host(data, address, web, worker)


def manage(*arguments: str, data: Path, **variables: str) -> str:
    """What a command of `manage.py` prints; it must succeed."""
    done = surroundings.manage(*arguments, data=data, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Person:
    """Somebody who uses the pages without a browser: forms are sent as a browser sends them."""

    def __init__(self, host: Host) -> None:
        self.http = httpx.Client(base_url=host.address, follow_redirects=True, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def at(self, host: Host) -> "Person":
        """The same person, signed in, at the pages of another host."""
        other = Person(host)
        other.http.cookies = self.http.cookies
        return other

    def send(self, form: str, to: str = "", /, **fields: object) -> httpx.Response:
        """Open the page with a form, fill it in and send it; fields that are bytes are files."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.http.get(form).text)
        assert token, f"{form} has no form"
        data = {"csrfmiddlewaretoken": token[1]}
        data |= {name: str(value) for name, value in fields.items() if not isinstance(value, bytes)}
        files = {
            name: (f"{name}.csv", value)
            for name, value in fields.items()
            if isinstance(value, bytes)
        }
        answer = self.http.post(to or form, data=data, files=files or None)
        assert answer.status_code == httpx.codes.OK, answer.text[-2000:]
        return answer


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/healthz") as answer:
            return bool(answer.status == httpx.codes.OK)
    except OSError:
        return False


@contextmanager
def _running(environment: dict[str, str], *arguments: str) -> Iterator[Service]:
    process = children.launch(
        [sys.executable, *arguments],
        environment=environment,
        output=subprocess.PIPE,
    )
    assert process.stdout is not None
    lines = Reader(process.stdout)
    try:
        yield Service(process, lines)
    finally:
        family = psutil.Process(process.pid).children(recursive=True)
        children.stop(process, grace=10)
        for child in family:
            if child.is_running():
                child.kill()
        lines.close()
