"""Keeps the services of `manage.py up` running and shows their output (standard library only).

One thread with one loop reads the output, restarts services that ended, and stops everything when
asked. Every line is shown after the name of its service: `web     | Listening`.
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
from batchui.processes.restarts import Restarts

SECONDS_TO_STOP = 8.0
SECONDS_BETWEEN_COLLECTIONS = 2.0
# Between two looks at whether a service has ended or all are to stop. Lines are shown at once.
SECONDS_OF_A_ROUND = 0.2
# Seconds before a service that ended is started again.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
CALM_SECONDS = 60.0
LONGEST_LINE = 16 * 1024
READ_BYTES = 64 * 1024
COLOURS = {"web": 36, "worker": 35, "sandbox": 33}


@dataclass
class Service:
    """A process that must be running: its name, its command and its state."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None
    process: children.Process | None = None
    started: float = 0.0
    start_at: float | None = 0.0
    restarts: Restarts = field(default_factory=lambda: Restarts(PAUSES, CALM_SECONDS))
    last_line: str = ""
    unread: bytearray = field(default_factory=bytearray)

    @property
    def output(self) -> IO[bytes]:
        """The pipe with the output of the running service. Reading it never waits."""
        assert self.process is not None  # noqa: S101
        assert self.process.stdout is not None  # noqa: S101
        return self.process.stdout


class Screen:
    """Prints lines after the name of their service, in colour on a terminal.

    `closed` becomes true when nobody reads stdout any more. Lines are thrown away then, and also
    while they cannot be written, for example because the disk is full: that is no reason to stop.
    """

    def __init__(self, *, names: Sequence[str], colours: bool) -> None:
        self.width = max(map(len, names), default=0)
        self.colours = colours
        self.closed = False
        self.lost = 0

    def show(self, name: str, line: str) -> None:
        """Print a line of a service."""
        label = f"{name:<{self.width}} |"
        if self.colours:
            label = f"\033[{COLOURS.get(name, 37)}m{label}\033[0m"
        self.say(f"{label} {line}")

    def say(self, line: str) -> None:
        """Print a line as it is."""
        missed = f"({self.lost:,} lines could not be written here.)\n" if self.lost else ""
        try:
            # Not through a buffer: what it could not write it would try again at every line.
            os.write(sys.stdout.fileno(), f"{missed}{line}\n".encode(errors="replace"))
            self.lost = 0
        except BrokenPipeError:
            self.closed = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError:
            self.lost += 1


class Supervisor:
    """Runs `services` until it is asked to stop (SIGINT, SIGTERM, SIGHUP, or `ask_to_stop`)."""

    def __init__(
        self, services: Sequence[Service], *, screen: Screen, grace: float = SECONDS_TO_STOP
    ) -> None:
        self.services = services
        self.screen = screen
        self.grace = grace
        self.stopping = False
        self.hurry = False
        self._selector = selectors.DefaultSelector()
        self._collect_at = 0.0

    def run(self, *, each_round: Callable[[], None] = lambda: None) -> None:
        """Start the services, keep them running, and return when all of them have stopped.

        each_round: called a few times a second.
        """
        children.adopt_orphans()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, self._on_signal)
        try:
            while not self.stopping and not self.screen.closed:
                self._start_those_due()
                self._listen(seconds=SECONDS_OF_A_ROUND)
                self._notice_the_ended()
                self._collect_orphans()
                each_round()
        finally:
            self._stop_all()

    def ask_to_stop(self) -> None:
        """End `run` soon. The second call: at once, without waiting for the services."""
        self.hurry = self.stopping
        self.stopping = True

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ask_to_stop()

    def _start_those_due(self) -> None:
        for service in self.services:
            if service.start_at is not None and time.monotonic() >= service.start_at:
                service.process = children.launch(
                    service.command, environment=service.environment, output=subprocess.PIPE
                )
                service.started, service.start_at = time.monotonic(), None
                os.set_blocking(service.output.fileno(), False)
                self._selector.register(service.output, selectors.EVENT_READ, service)

    def _listen(self, *, seconds: float) -> None:
        """Show what the services print within `seconds`."""
        if not self._selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._selector.select(seconds):
            service: Service = key.data
            if received := service.output.read(READ_BYTES):
                service.unread += received
                self._show_lines(service)
            else:
                self._selector.unregister(service.output)

    def _show_lines(self, service: Service, *, rest: bool = False) -> None:
        """Show the complete lines. An incomplete one only with `rest`, or if it is too long."""
        *lines, service.unread = service.unread.split(b"\n")
        if service.unread and (rest or len(service.unread) > LONGEST_LINE):
            lines.append(service.unread)
            service.unread = bytearray()
        for line in lines:
            text = line.decode(errors="replace").rstrip()
            if text:
                service.last_line = text
                self.screen.show(service.name, text)

    def _notice_the_ended(self) -> None:
        for service in self.services:
            if service.process is None or service.process.poll() is None:
                continue
            reason = children.how_it_ended(service.process.returncode)
            self._let_go(service)
            pause = service.restarts.next_pause(ran=time.monotonic() - service.started)
            service.start_at = time.monotonic() + pause
            last = f" (its last line: “{service.last_line}”)" if service.last_line else ""
            again = f"Starting again in {pause:g} s."
            self.screen.show(service.name, f"This service {reason}{last}. {again}")
            service.last_line = ""

    def _collect_orphans(self) -> None:
        if time.monotonic() >= self._collect_at:
            self._collect_at = time.monotonic() + SECONDS_BETWEEN_COLLECTIONS
            launched = [one.process.pid for one in self.services if one.process is not None]
            children.collect_orphans(besides=launched)

    def _let_go(self, service: Service) -> None:
        """End what is left of a service's process group, show its last lines, close its pipe."""
        assert service.process is not None  # noqa: S101
        children.end_group(service.process)
        if service.output in self._selector.get_map():
            self._selector.unregister(service.output)
            while received := service.output.read(READ_BYTES):
                service.unread += received
        self._show_lines(service, rest=True)
        service.output.close()
        service.process = None

    def _stop_all(self) -> None:
        """Ask every service to stop; after `grace` seconds, or a second signal, end them."""
        running = [service for service in self.services if service.process is not None]
        for service in running:
            assert service.process is not None  # noqa: S101
            children.ask_to_stop(service.process)
        give_up = time.monotonic() + self.grace
        while any(service.process and service.process.poll() is None for service in running):
            if time.monotonic() > give_up or self.hurry:
                break
            self._listen(seconds=0.05)
        for service in running:
            self._let_go(service)
        children.end_strays()
        self._selector.close()
