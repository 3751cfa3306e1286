"""Waiting for processes, and reading what they say."""

import threading
import time
from collections.abc import Callable, Iterable
from typing import IO, TypeVar

import psutil

T = TypeVar("T")


def until(look: Callable[[], T | None], *, seconds: float = 60) -> T:
    """What `look` returns as soon as that is true; fails after `seconds`."""
    give_up = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < give_up, f"nothing came within {seconds:g} s"
        time.sleep(0.02)
    return found


def gone(family: Iterable[psutil.Process], *, seconds: float) -> None:
    """Fail unless every process of the family ends within `seconds`; what is left is ended."""
    _, alive = psutil.wait_procs(list(family), timeout=seconds)
    alive = [process for process in alive if is_alive(process)]
    for process in alive:
        process.kill()
    assert not alive, f"left behind: {alive}"


def is_alive(process: psutil.Process) -> bool:
    """Whether a process still runs; one that ended and waits to be collected does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Reader:
    """Collects the lines of a pipe as they come."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.lines: list[str] = []
        self._pipe = pipe
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        for line in self._pipe:
            self.lines.append(line.decode().rstrip())

    def wait_for(self, text: str, *, seconds: float = 20) -> str:
        """The first line with `text` in it, waited for."""
        try:
            return until(
                lambda: next((line for line in self.lines if text in line), None), seconds=seconds
            )
        except AssertionError:
            raise AssertionError(f"“{text}” was not said. Said:\n{self}") from None

    def close(self) -> None:
        self._thread.join(5)
        self._pipe.close()

    def __str__(self) -> str:
        return "\n".join(self.lines)
