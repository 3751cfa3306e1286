"""A real sandbox on a free port, for tests."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batchui.sandbox.calls import CallRecord
from batchui.sandbox.changed_models import changed_models, read_changes
from batchui.sandbox.options import AT_ONCE, Options, Timings
from batchui.sandbox.scripted_faults import read_steps
from batchui.sandbox.server import SandboxServer
from batchui.sandbox.wire import Sandbox


@dataclass(frozen=True, slots=True)
class RunningSandbox:
    """A running sandbox. base_url: the address of the API, which ends in /client/v4.

    It accepts any account id and, unless the options say one, any token that is not empty.
    """

    base_url: str
    root_url: str
    sandbox: Sandbox

    def script(self, *steps: dict[str, Any]) -> None:
        """Replace the script of faults: `script({"fault": "error", "code": 3040})`.

        Without steps there are no faults. Raises ValueError, with a sentence, for a wrong step.
        """
        self.sandbox.context.script.replace(read_steps(json.dumps(steps).encode()))

    def calls(self, kind: str = "") -> list[CallRecord]:
        """The calls made so far, oldest first. kind: submit, poll, run, search, schema; "": all."""
        return self.sandbox.calls.shown(kind=kind)

    def change_models(self, *changes: dict[str, Any]) -> None:
        """List other models: `change_models({"name": …, "gone": True})`; as usual without any."""
        read = read_changes(json.dumps(changes).encode())
        self.sandbox.context.models = changed_models(read)

    def set_timings(self, timings: Timings) -> None:
        """Change the timings of requests submitted from now on."""
        self.sandbox.context.schedule.timings = timings


@contextmanager
def running_sandbox(
    *,
    data: Path | None = None,
    port: int = 0,
    timings: Timings = AT_ONCE,
    clock: Callable[[], float] = time.time,
    **options: Any,
) -> Iterator[RunningSandbox]:
    """A sandbox on 127.0.0.1 while the context lasts.

    Requests finish at once unless `timings` say otherwise. They are in memory unless `data` is a
    file. options: other fields of `Options`.
    """
    made = Options(data=data, timings=timings, **{"control": True, **options})
    sandbox = Sandbox(made, clock=clock)
    server = SandboxServer(("127.0.0.1", port), sandbox)
    with server.running():
        yield RunningSandbox(server.base_url, server.root_url, sandbox)
