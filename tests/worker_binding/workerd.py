"""Starts workerd, Cloudflare's runtime, with the Worker in it."""

import json
import os
from pathlib import Path

from batchui.chaos.binding import INSTALL, programs
from batchui.processes import children
from tests.conftest import required_program
from tests.project.helpers import until

CONFIG = Path(__file__).with_name("worker.capnp")
SOCKETS = 7


def program() -> str:
    """The path of workerd."""
    return required_program(*programs(), install=INSTALL)


class Workerd:
    """One process, which can be killed and started again.

    log: a file for what it prints. sandbox: host and port of the sandbox.
    """

    def __init__(self, *, log: Path, sandbox: str) -> None:
        self._program = program()
        self._log = log
        self._sandbox = sandbox
        self._process: children.Process | None = None
        self._ports: dict[str, int] = {}

    def start(self) -> None:
        """Start it, unless it runs, and wait until it listens."""
        if self._process is not None and self._process.poll() is None:
            return
        with self._log.open("wb") as output:
            options = ["--control-fd", "1", "--external-addr", f"sandbox={self._sandbox}"]
            command = [self._program, "serve", str(CONFIG), *options]
            self._process = children.launch(command, output=output)
        self._ports = until(self._listening)

    def kill(self) -> None:
        """End it at once, as when a machine fails."""
        if self._process is not None:
            children.end_group(self._process)
            self._process.wait()

    def address(self, socket: str = "worker") -> str:
        """The address of one of the Workers of the configuration."""
        return f"http://127.0.0.1:{self._ports[socket]}"

    def cpu_seconds(self) -> float:
        """How long it has kept processors busy until now."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _listening(self) -> dict[str, int] | None:
        """The ports by socket, once all are there."""
        assert self._process is not None
        told = self._log.read_text()
        assert self._process.poll() is None, f"workerd did not start:\n{told}"
        events = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        ports = {event["socket"]: event["port"] for event in events}
        return ports if len(ports) == SOCKETS else None
