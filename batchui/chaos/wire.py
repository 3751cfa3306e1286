"""The running sandbox: started and ended here, with its script of faults."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.processes import children


class ChaosFailed(Exception):
    """The campaign itself cannot go on. The text says why."""


@dataclass
class Wire:
    """A running sandbox. address: of its API. store: the file with its requests."""

    address: str
    store: Path
    process: children.Process

    def script(self, steps: Sequence[dict[str, Any]]) -> None:
        """Replace the script of faults."""
        root = self.address.removesuffix("/client/v4")
        request = urllib.request.Request(  # noqa: S310
            f"{root}/control/script", method="PUT", data=json.dumps(list(steps)).encode()
        )
        with urllib.request.urlopen(request, timeout=20) as reply:  # noqa: S310
            reply.read()


@contextmanager
def running_wire(store: Path, *, port: int = 0) -> Iterator[Wire]:
    """A sandbox in a process of its own, while the context lasts. Raises ChaosFailed."""
    process = launch(store, port)
    try:
        yield Wire(address_of(process), store, process)
    finally:
        children.stop(process, grace=5)
        if process.stdout is not None:
            process.stdout.close()


def launch(store: Path, port: int) -> children.Process:
    """Start a sandbox process."""
    command = [sys.executable, "-m", "batchui.chaos.api", str(store), str(port)]
    environment = clean_environment(PYTHONPATH=str(ROOT))
    return children.launch(command, environment=environment, output=subprocess.PIPE)


def address_of(process: children.Process) -> str:
    """The address that a sandbox process prints when it listens. Raises ChaosFailed."""
    assert process.stdout is not None  # noqa: S101
    line = process.stdout.readline().decode().strip()
    if not line.startswith("http://"):
        raise ChaosFailed(f"The sandbox did not start: {line}")
    return line
