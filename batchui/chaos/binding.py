"""The Worker on Cloudflare's own runtime, between the product and the sandbox.

Its program, workerd, is installed from npm. Like the sandbox it is killed and started again.
"""

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from batchui.bench.surroundings import ROOT, clean_environment
from batchui.chaos.wire import ChaosFailed
from batchui.processes import children
from batchui.teams import connecting
from batchui.teams.connections import ensure_connection
from batchui.teams.founding import first_team
from batchui.teams.models import Connection
from batchui.up.ports import free_port

SECRET = "a-secret-for-campaigns-0123456789abcdef"  # noqa: S105
INSTALL = "npm install --prefix .tools --no-save --ignore-scripts workerd@1.20261117.1"
SECONDS_TO_START = 30.0
# As `tests/worker_binding/worker.capnp`, with the Worker alone.
CONFIG = """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "worker", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-11-01",
      bindings = [
        (name = "BATCHUI_SECRET", text = "{secret}"),
        (name = "AI", wrapped = (
          moduleName = "cloudflare-internal:ai-api",
          innerBindings = [(name = "fetcher", service = "sandbox")])),
      ])),
    (name = "sandbox", external = (address = "{sandbox}", http = ())),
  ],
  sockets = [(name = "worker", address = "127.0.0.1:{port}", http = (), service = "worker")],
);
"""


def programs() -> list[str]:
    """Where workerd may be: as BATCHUI_WORKERD names it, on the PATH, or in `.tools`.

    There it is the program itself, not npm's link to it, which without scripts is one of Node that
    starts the program and does not end it.
    """
    named = [os.environ["BATCHUI_WORKERD"]] if os.environ.get("BATCHUI_WORKERD") else []
    tools = ROOT / ".tools" / "node_modules" / "@cloudflare"
    return [*named, "workerd", *map(str, tools.glob("workerd-*/bin/workerd"))]


@dataclass
class Binding:
    """A running workerd. port: where the Worker listens, also when it is started again."""

    program: str
    config: Path
    port: int
    process: children.Process

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start_again(self) -> children.Process:
        """Start it again at its address."""
        self.process = _launch(self.program, self.config, self.port)
        return self.process


@contextmanager
def running_binding(sandbox: str) -> Iterator[Binding]:
    """A workerd whose binding leads to a sandbox, while the context lasts. Raises ChaosFailed."""
    program = next(filter(None, map(shutil.which, programs())), None)
    if program is None:
        raise ChaosFailed(f"workerd is not installed. Install it with: {INSTALL}")
    port = free_port(0)
    with tempfile.TemporaryDirectory(prefix="batchui-workerd-") as folder:
        shutil.copy(ROOT / "cloudflare-worker" / "worker.js", folder)
        config = Path(folder, "worker.capnp")
        config.write_text(
            CONFIG.replace("{secret}", SECRET)
            .replace("{sandbox}", urlsplit(sandbox).netloc)
            .replace("{port}", str(port))
        )
        binding = Binding(program, config, port, _launch(program, config, port))
        try:
            yield binding
        finally:
            children.end_group(binding.process)


def connect(binding: Binding) -> None:
    """Let new batches of the first team go through the Worker."""
    filled = connecting.unsaved(
        first_team(),
        kind=Connection.Kind.WORKER,
        account_id=urlsplit(binding.address).netloc,
        token=SECRET,
        base_url=binding.address,
    )
    filled.is_default = True
    filled.save()
    if ensure_connection(filled.team) != filled:
        raise ChaosFailed("New batches do not go through the Worker.")


def _launch(program: str, config: Path, port: int) -> children.Process:
    command = [program, "serve", str(config)]
    process = children.launch(command, environment=clean_environment())
    give_up = time.monotonic() + SECONDS_TO_START
    while process.poll() is None and time.monotonic() < give_up:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return process
    raise ChaosFailed("workerd did not start.")
