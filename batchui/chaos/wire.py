"""The running sandbox: started and ended here, with its script of faults."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.processes import children


class ChaosFailed(Exception):
    """The campaign itself cannot go on. The text says why."""


@dataclass
class Wire:
    """A running sandbox. address: of its API. store: the file with its requests.

    options: what it was started with besides (`api.py`).
    """

    address: str
    store: Path
    process: children.Process
    options: Sequence[str] = ()

    def try_script(self, steps: Sequence[dict[str, Any]]) -> None:
        """Replace the script of faults, unless the sandbox is dead or frozen just now."""
        with suppress(OSError):
            self.script(steps)

    def start_again(self) -> children.Process:
        """Start the sandbox again at its address, with the requests that it has in its file."""
        if self.process.stdout is not None:
            self.process.stdout.close()
        port = urlsplit(self.address).port or 0
        self.process = launch(self.store, port, self.options)
        address_of(self.process)
        return self.process

    def script(self, steps: Sequence[dict[str, Any]]) -> None:
        """Replace the script of faults."""
        root = self.address.removesuffix("/client/v4")
        request = urllib.request.Request(  # noqa: S310
            f"{root}/control/script", method="PUT", data=json.dumps(list(steps)).encode()
        )
        with urllib.request.urlopen(request, timeout=5) as reply:  # noqa: S310
            reply.read()


@contextmanager
def running_wire(store: Path, *, options: Sequence[str] = ()) -> Iterator[Wire]:
    """A sandbox in a process of its own, while the context lasts. Raises ChaosFailed."""
    process = launch(store, 0, options)
    wire = Wire("", store, process, options)
    try:
        wire.address = address_of(process)
        yield wire
    finally:
        children.stop(wire.process, grace=5)
        if wire.process.stdout is not None:
            wire.process.stdout.close()


def launch(store: Path, port: int, options: Sequence[str]) -> children.Process:
    """Start a sandbox process."""
    command = [sys.executable, "-m", "batchui.chaos.api", str(store), str(port), *options]
    environment = clean_environment(PYTHONPATH=str(ROOT))
    return children.launch(command, environment=environment, output=subprocess.PIPE)


def address_of(process: children.Process) -> str:
    """The address that a sandbox process prints when it listens. Raises ChaosFailed."""
    assert process.stdout is not None  # noqa: S101
    line = process.stdout.readline().decode().strip()
    if not line.startswith("http://"):
        raise ChaosFailed(f"The sandbox did not start: {line}")
    return line
