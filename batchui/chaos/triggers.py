"""How a child process dies: at the n-th line, SQL statement or file operation of a step.

It dies by `os._exit`: no handler runs, nothing is flushed or rolled back, as after SIGKILL.
"""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection

KILLED = 137
# The product, without what kills it.
PRODUCT = f"{settings.BASE_DIR / 'batchui'}{os.sep}"
CHAOS = f"{PRODUCT}chaos{os.sep}"
FILE_EVENTS = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link"})


class Trigger(NamedTuple):
    """Where a step dies. kind: line, statement or file. nth: at which of them, from 1.

    after: of a statement, whether it is executed first.
    """

    kind: str
    nth: int
    after: bool = False

    def __str__(self) -> str:
        return f"{'after' if self.after else 'at'} {self.kind} {self.nth}"


# The largest number that is drawn of each kind: about what a long step has.
KINDS = {"line": 4_000, "statement": 80, "file": 40}


def arm(trigger: Trigger) -> None:
    """From now on this process dies where the trigger says."""
    ARMED[trigger.kind](trigger)


def _countdown(nth: int) -> Callable[[], bool]:
    """A function that is true when it is called for the n-th time."""
    left = nth

    def is_now() -> bool:
        nonlocal left
        left -= 1
        return left == 0

    return is_now


def _at_line(trigger: Trigger) -> None:
    is_now = _countdown(trigger.nth)

    def in_frame(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line" and is_now():
            os._exit(KILLED)
        return in_frame

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        return in_frame if name.startswith(PRODUCT) and not name.startswith(CHAOS) else None

    sys.settrace(on_call)


def _at_statement(trigger: Trigger) -> None:
    """Statements are all that reach the database, COMMIT included."""
    is_now = _countdown(trigger.nth)

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        return _surrounded(lambda: run(sql, params, many, context))

    def _surrounded(act: Callable[[], Any]) -> Any:
        now = is_now()
        if now and not trigger.after:
            os._exit(KILLED)
        result = act()
        if now:
            os._exit(KILLED)
        return result

    connection.execute_wrappers.append(execute)
    commit = connection._commit  # type: ignore[attr-defined]
    connection._commit = lambda: _surrounded(commit)  # type: ignore[attr-defined]


def _at_file(trigger: Trigger) -> None:
    """File operations are those below the data folder: open, rename, remove, sync."""
    is_now = _countdown(trigger.nth)
    data = str(settings.DATA)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path = arguments[0]
            concerned = isinstance(path, str) and path.startswith(data)
        else:
            concerned = event in FILE_EVENTS
        if concerned and is_now():
            os._exit(KILLED)

    sync = os.fsync

    def fsync(fd: Any) -> None:
        if is_now():
            os._exit(KILLED)
        sync(fd)

    os.fsync = fsync
    sys.addaudithook(hook)


ARMED: dict[str, Callable[[Trigger], None]] = {
    "line": _at_line,
    "statement": _at_statement,
    "file": _at_file,
}
