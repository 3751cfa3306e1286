"""The real processes: web server, worker and sandbox, each killed and started again by its id."""

import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from batchui.bench.surroundings import ROOT
from batchui.chaos.binding import Binding
from batchui.chaos.wire import Wire
from batchui.processes import children, procfs
from batchui.processes.web_server import answers, web_server

SECONDS_TO_STOP = 1


@dataclass
class Service:
    """A process that should run. start: makes it."""

    name: str
    start: Callable[[], children.Process]
    process: children.Process | None = None

    def ensure(self) -> bool:
        """Start it unless it runs. Returns whether it was started."""
        if self.process is not None and self.process.poll() is None:
            return False
        self.process = self.start()
        return True

    def tree(self) -> list[int]:
        """The ids of the process and of everything below it, the process first."""
        if self.process is None or self.process.poll() is not None:
            return []
        by_parent = procfs.children()
        found, waiting = [], [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            waiting += sorted(by_parent.get(pid, []))
        return found


@dataclass
class Services:
    """All of them. environment: theirs; log: for what they print."""

    environment: Mapping[str, str]
    log: Path
    web_port: int
    wire: Wire
    binding: Binding | None = None
    running: dict[str, Service] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.running = {
            "web": Service("web", self._web),
            "worker": Service("worker", self._worker),
            "wire": Service("wire", self.wire.start_again, self.wire.process),
        }
        if self.binding is not None:
            start, process = self.binding.start_again, self.binding.process
            self.running["binding"] = Service("binding", start, process)

    def ensure(self) -> None:
        """Start what does not run."""
        for service in self.running.values():
            service.ensure()

    def tree(self, name: str) -> list[int]:
        """The ids of the processes of a service, or of all of them."""
        names = self.running if name == "everything" else [name]
        return [pid for one in names for pid in self.running[one].tree()]

    def kill(self, name: str) -> int:
        """Send SIGKILL to every process of a service. Returns how many there were."""
        pids = self.tree(name)
        send(signal.SIGKILL, pids)
        self.collect(pids)
        return len(pids)

    def collect(self, pids: Collection[int]) -> None:
        """Wait for the end of those among them that were started here."""
        for service in self.running.values():
            if service.process is not None and service.process.pid in pids:
                service.process.wait()

    def pages_answer(self) -> bool:
        """Whether the web server is there."""
        return answers(f"127.0.0.1:{self.web_port}", timeout=5)

    def end(self) -> None:
        """End everything that was started here, and everything that it left behind."""
        for service in self.running.values():
            if service.process is not None:
                children.stop(service.process, grace=0)
        data = f"BATCHUI_DATA={settings.DATA}"
        give_up = time.monotonic() + 5
        while (left := list(_with_variable(data))) and time.monotonic() < give_up:
            send(signal.SIGKILL, left)
            time.sleep(0.05)

    def _launch(self, command: list[str]) -> children.Process:
        with self.log.open("ab") as output:
            return children.launch(command, environment=self.environment, output=output)

    def _web(self) -> children.Process:
        command = web_server(
            sys.executable,
            root=ROOT,
            host="127.0.0.1",
            port=self.web_port,
            seconds_to_stop=SECONDS_TO_STOP,
        )
        return self._launch(command)

    def _worker(self) -> children.Process:
        return self._launch([sys.executable, str(ROOT / "manage.py"), "worker"])


def send(number: signal.Signals, pids: Iterable[int]) -> None:
    """Send a signal to processes, as far as they still run."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _with_variable(variable: str) -> Iterable[int]:
    """The other processes with this environment variable: nobody but a campaign sets its folder."""
    for pid, state, _ in procfs.running():
        if pid in (os.getpid(), os.getppid()) or state == "Z":
            continue
        with suppress(OSError):
            found = (procfs.PROC / str(pid) / "environ").read_bytes().split(b"\0")
            if variable.encode() in found:
                yield pid
