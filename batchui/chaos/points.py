"""Named points in real processes: before and after each commit and each side effect.

With BATCHUI_CHAOS, the path of a folder, a process that reaches a point looks there for an order
for it, takes it, and stops or ends itself by a signal. Without it nothing of this is loaded.
"""

import functools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from batchui.batches.files import DurableFileSystemStorage
from batchui.cloudflare.client import ApiClient

ORDER = "order"
TAKEN = "taken"
# The functions within which a commit or a write is meant, besides anywhere.
PLACES = (
    "move_part",
    "touch_part",
    "claim_part",
    "claim_to_send",
    "store_receipt",
    "_commit",
    "settle",
    "record",
)


class Order(NamedTuple):
    """What the next process does that reaches a point.

    kind: commit, write, store, submit, poll or remove. after: whether it happens first. within: the
    name of a function that calls it; "" for any. signal: KILL or STOP.
    """

    kind: str
    after: bool
    within: str
    signal: str

    def __str__(self) -> str:
        within = f" within {self.within}" if self.within else ""
        return f"{self.signal} {'after' if self.after else 'before'} {self.kind}{within}"


# -- giving orders --------------------------------------------------------------------------------


def give(folder: Path, order: Order) -> None:
    """Leave an order for whoever reaches its point first."""
    draft = folder / "draft"
    draft.write_text(json.dumps(order))
    draft.replace(folder / ORDER)


def taken(folder: Path) -> int:
    """The id of the process that took the order; 0 if none did yet."""
    try:
        text = (folder / TAKEN).read_text()
    except FileNotFoundError:
        return 0
    return int(text or 0)


def withdraw(folder: Path) -> None:
    """Take the order back, and forget who took the last one."""
    for name in (ORDER, TAKEN):
        (folder / name).unlink(missing_ok=True)


# -- obeying --------------------------------------------------------------------------------------


def install(folder: Path) -> None:
    """Let this process, and those it forks, obey the orders in a folder."""
    obey = Obedience(folder)
    patch = BaseDatabaseWrapper
    patch._commit = obey.around("commit", patch._commit)  # type: ignore[attr-defined]
    connection_created.connect(obey.watch_writes, weak=False, dispatch_uid="chaos")
    storage: Any = DurableFileSystemStorage
    storage._save = obey.around("store", storage._save)
    storage.delete_tree = obey.around("remove", storage.delete_tree)
    client: Any = ApiClient
    client.submit = obey.around("submit", client.submit)
    client.poll = obey.around("poll", client.poll)


class Obedience:
    """A process that obeys orders."""

    def __init__(self, folder: Path) -> None:
        self._order = folder / ORDER
        self._taken = folder / TAKEN

    def around(self, kind: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """The function `act` with a point before and one after it."""

        @functools.wraps(act)
        def surrounded(*args: Any, **kwargs: Any) -> Any:
            self.reach(kind, after=False)
            result = act(*args, **kwargs)
            self.reach(kind, after=True)
            return result

        return surrounded

    def watch_writes(self, connection: BaseDatabaseWrapper, **_: Any) -> None:
        """A statement outside a transaction is a commit of its own."""

        def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if connection.in_atomic_block or not sql.startswith(("UPDATE", "INSERT", "DELETE")):
                return run(sql, params, many, context)
            return self.around("write", run)(sql, params, many, context)

        connection.execute_wrappers.append(execute)

    def reach(self, kind: str, *, after: bool) -> None:
        """Obey the order for this point, if there is one and nobody was faster."""
        if not self._order.exists():
            return
        try:
            order = Order(*json.loads(self._order.read_text()))
        except (FileNotFoundError, ValueError):
            return
        if (order.kind, order.after) != (kind, after) or not _is_within(order.within):
            return
        own = self._order.with_name(f"{os.getpid()}-{time.monotonic_ns()}")
        try:
            self._order.rename(own)
        except FileNotFoundError:  # somebody else took it
            return
        own.write_text(str(os.getpid()))
        own.replace(self._taken)
        os.kill(os.getpid(), getattr(signal, f"SIG{order.signal}"))


def _is_within(name: str) -> bool:
    """Whether a function of this name is being called."""
    if not name:
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == name:
            return True
        frame = frame.f_back
    return False


# By kind, how often an order is about it.
WEIGHTS = ("commit", "commit", "write", "store", "submit", "submit", "poll")


def drawn(kind: float, place: float, *, after: bool, stops: bool) -> Order:
    """The order for two shares from 0 to 1."""
    chosen = WEIGHTS[int(kind * len(WEIGHTS))]
    places = ("", *PLACES) if chosen in ("commit", "write") else ("",)
    return Order(chosen, after, places[int(place * len(places))], "STOP" if stops else "KILL")
