"""Keeps the parts of `manage.py up` running, and shows what they say (standard library only).

One thread and one loop: read what the parts print, start again what ended, stop everything when
asked. Every line is shown under its part's name: `web     | Listening`.
"""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import IO

from batchui.processes import children

SECONDS_TO_STOP = 8.0
# Pauses before a part that ended is started again; it begins anew after a calm minute.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
CALM_SECONDS = 60.0
LONGEST_LINE = 16 * 1024
READ_BYTES = 64 * 1024
COLOURS = {"web": 36, "worker": 35, "sandbox": 33, "up": 32}


@dataclass
class Part:
    """A process that must be running: its name, its command, and how it is doing."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    process: children.Process | None = None
    started: float = 0.0
    start_at: float | None = 0.0
    failures: int = 0
    last_line: str = ""
    unread: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> IO[bytes]:
        """The pipe with what the running part prints; reading it never waits."""
        assert self.process is not None  # noqa: S101
        assert self.process.stdout is not None  # noqa: S101
        return self.process.stdout

    def next_pause(self) -> float:
        """Seconds to wait before the part is started again; grows while it keeps ending."""
        if time.monotonic() - self.started > CALM_SECONDS:
            self.failures = 0
        self.failures += 1
        return PAUSES[min(self.failures, len(PAUSES)) - 1]


class Screen:
    """Prints lines with their part's name before them, coloured on a terminal alone.

    `closed` becomes true when nobody reads stdout any more; what is shown then goes nowhere.
    """

    def __init__(self, *, names: Sequence[str], colours: bool) -> None:
        self.width = max(map(len, names), default=0)
        self.colours = colours
        self.closed = False

    def show(self, name: str, line: str) -> None:
        label = f"{name:<{self.width}} |"
        if self.colours:
            label = f"\033[{COLOURS.get(name, 37)}m{label}\033[0m"
        self.say(f"{label} {line}")

    def say(self, line: str) -> None:
        """Print a line as it is."""
        try:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
        except OSError:
            self.closed = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class Supervisor:
    """Runs `parts` until it is asked to stop (SIGINT, SIGTERM, SIGHUP, or `ask_to_stop`)."""

    def __init__(
        self, parts: Sequence[Part], *, screen: Screen, grace: float = SECONDS_TO_STOP
    ) -> None:
        self.parts = parts
        self.screen = screen
        self.grace = grace
        self.stopping = False
        self.hurry = False
        self._selector = selectors.DefaultSelector()

    def run(self, *, each_round: Callable[[], None] = lambda: None) -> None:
        """Start the parts, keep them running, and return when all of them have stopped.

        `each_round` is called a few times a second, between the parts' lines.
        """
        children.adopt_orphans()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self._on_signal)
        try:
            while not self.stopping and not self.screen.closed:
                self._start_those_due()
                self._listen(seconds=0.05)
                self._notice_the_ended()
                each_round()
        finally:
            self._stop_all()

    def ask_to_stop(self) -> None:
        """End `run` soon; a second time, without waiting for the parts."""
        self.hurry = self.stopping
        self.stopping = True

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask_to_stop()

    def _start_those_due(self) -> None:
        for part in self.parts:
            if part.start_at is not None and time.monotonic() >= part.start_at:
                part.process = children.launch(
                    part.command, environment=part.environment, output=subprocess.PIPE
                )
                part.started, part.start_at = time.monotonic(), None
                os.set_blocking(part.output.fileno(), False)
                self._selector.register(part.output, selectors.EVENT_READ, part)

    def _listen(self, *, seconds: float) -> None:
        """Show what the parts say within `seconds`."""
        if not self._selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._selector.select(seconds):
            part: Part = key.data
            if received := part.output.read(READ_BYTES):
                part.unread += received
                self._show_lines(part)
            else:
                self._selector.unregister(part.output)

    def _show_lines(self, part: Part, *, rest: bool = False) -> None:
        """Show the whole lines received; the `rest` too at the end, or where it grows long."""
        *lines, part.unread = part.unread.split(b"\n")
        if part.unread and (rest or len(part.unread) > LONGEST_LINE):
            lines.append(part.unread)
            part.unread = bytearray()
        for line in lines:
            text = line.decode(errors="replace").rstrip()
            if text:
                part.last_line = text
                self.screen.show(part.name, text)

    def _notice_the_ended(self) -> None:
        for part in self.parts:
            if part.process is None or part.process.poll() is None:
                continue
            reason = children.how_it_ended(part.process.returncode)
            self._let_go(part)
            pause = part.next_pause()
            part.start_at = time.monotonic() + pause
            last = f" (its last line: “{part.last_line}”)" if part.last_line else ""
            self.screen.show(part.name, f"This part {reason}{last}. Starting again in {pause:g} s.")
            part.last_line = ""

    def _let_go(self, part: Part) -> None:
        """End what is left of a part's group, show its last words, close its pipe."""
        assert part.process is not None  # noqa: S101
        children.end_group(part.process)
        if part.output in self._selector.get_map():
            self._selector.unregister(part.output)
            while received := part.output.read(READ_BYTES):
                part.unread += received
        self._show_lines(part, rest=True)
        part.output.close()
        part.process = None

    def _stop_all(self) -> None:
        """Ask every part to stop; after `grace` seconds, or a second signal, end them."""
        running = [part for part in self.parts if part.process is not None]
        for part in running:
            assert part.process is not None  # noqa: S101
            children.ask_to_stop(part.process)
        give_up = time.monotonic() + self.grace
        while any(part.process and part.process.poll() is None for part in running):
            if time.monotonic() > give_up or self.hurry:
                break
            self._listen(seconds=0.05)
        for part in running:
            self._let_go(part)
        children.end_strays()
        self._selector.close()
