"""Keeps background work going: runs django-q2's cluster, and restarts it when it falls silent.

It is needed because of this, seen with django-q2 1.11.1. If a worker process is killed while it
waits, the queue's lock is never released: the cluster looks alive, does nothing, and ignores
SIGTERM. If the monitor process is killed, the cluster works, but acknowledges nothing. If the
sentinel is killed, its workers go on without it. Therefore the cluster has a process group of its
own and a heartbeat, and the whole group gets SIGKILL in the end.

This module uses neither django-q2 nor the tables: `manage.py worker` passes in what it needs.
"""

import logging
import os
import secrets
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType

from django.conf import settings

from batchui.processes import children
from batchui.processes.restarts import Restarts
from batchui.worker.database import first_line

logger = logging.getLogger(__name__)


def stopping() -> bool:
    """Whether background work is asked to stop. Nothing that takes long may begin then.

    A tick asks this before each request, so that it ends in time and leaves no request unsure.
    """
    return bool(settings.STOPPING_FILE) and Path(settings.STOPPING_FILE).exists()


@dataclass(frozen=True)
class Patience:
    """The times that the watchdog waits, in seconds."""

    between_probes: float = 5.0  # less than `lingering.SOON_SECONDS`
    start: float = 60.0  # more than `silence`: for the first sign of life of a new cluster
    silence: float = 30.0
    longest_silence: float = 300.0  # each restart for silence doubles the patience, up to this
    calm: float = 600.0  # after this long without a restart, back to `silence`
    stop: float = 6.0  # for the cluster to finish its work when it stops
    restart: float = 10.0  # the same, when it is restarted
    pauses: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 30.0)  # before a new start


@dataclass(frozen=True)
class Probes:
    """How the watchdog asks the database about the worker that it runs.

    wake: enqueues a tick for it. last_beat: the time of its last heartbeat. is_stalled: whether it
    has taken tasks since a time and acknowledged none of them.
    """

    wake: Callable[[], None]
    last_beat: Callable[[], datetime | None]
    is_stalled: Callable[[datetime], bool] = lambda since: False


class Watchdog:
    """Runs `command` (the cluster) until SIGTERM or SIGINT."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        probes: Probes,
        say: Callable[[str], None],
        patience: Patience = Patience(),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.command = command
        self.probes = probes
        self.say = say
        self.patience = patience
        self.environment = dict(os.environ if environment is None else environment)
        self.stop_asked = False
        self.process: children.Process | None = None
        self.started = 0.0
        self.start_at = 0.0
        self.restarts = Restarts(patience.pauses, patience.calm)
        self.silences = 0
        self._monitor = _Monitor(probes, patience=patience, say=say)

    def run(self) -> None:
        """Watch the cluster until asked to stop; then stop it and return."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        stopping_file = Path(tempfile.gettempdir(), f"batchui-stopping-{secrets.token_hex(8)}")
        self.environment["BATCHUI_STOPPING_FILE"] = str(stopping_file)
        self._monitor.start()
        while not self.stop_asked:
            self._supervise()
            time.sleep(min(0.2, self.patience.between_probes))
        self._monitor.ended = True
        stopping_file.touch()
        try:
            self._stop()
        finally:
            stopping_file.unlink()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.stop_asked = True

    def _supervise(self) -> None:
        """One round: start the cluster, or start it again if it ended, is silent or is stalled."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.start_at:
                self._start()
        elif self.process.poll() is not None:
            self._start_again(f"it {children.how_it_ended(self.process.returncode)}", wait=True)
        elif self._monitor.stalled:
            self._start_again("its work is done, but never acknowledged")
        elif (silence := self._monitor.silence()) > self._bearable():
            self.silences += 1
            self._start_again(f"it has shown no sign of life for {silence:.0f} s")
        elif now - self.started > self.patience.calm:
            self.silences = 0

    def _bearable(self) -> float:
        """Seconds of silence after which the cluster is restarted."""
        patience = self.patience
        seconds = min(patience.silence * 2.0**self.silences, patience.longest_silence)
        return seconds if self._monitor.beat_seen else max(seconds, patience.start)

    def _start(self) -> None:
        self.process = children.launch(self.command, environment=self.environment)
        self.started = time.monotonic()
        self._monitor.forget()
        self.say("Background work has started.")

    def _start_again(self, reason: str, *, wait: bool = False) -> None:
        """End the cluster, and start it again: at once, or after a pause that grows."""
        assert self.process is not None  # noqa: S101
        ran = time.monotonic() - self.started
        pause = self.restarts.next_pause(ran=ran) if wait else 0.0
        when = f"in {pause:g} s" if pause else "now"
        self.say(f"Background work is started again {when}: {reason}.")
        children.stop(self.process, grace=self.patience.restart, hurry=lambda: self.stop_asked)
        self.process = None
        self.start_at = time.monotonic() + pause

    def _stop(self) -> None:
        if self.process is not None:
            self.say("Background work is stopping.")
            if not children.stop(self.process, grace=self.patience.stop):
                self.say(f"It did not stop within {self.patience.stop:g} s, and was ended.")
            self.process = None
        self.say("Background work has stopped.")


class _Monitor(threading.Thread):
    """Wakes the cluster and checks its heartbeat, in a thread of its own.

    The thread is there because a database that hangs must not keep the watchdog from stopping in
    time. While the database does not answer, the cluster does not count as silent.

    Silence is measured with this machine's clock only, because another host's clock may be wrong.
    It begins when the heartbeat was last seen to change.
    """

    def __init__(self, probes: Probes, *, patience: Patience, say: Callable[[str], None]) -> None:
        super().__init__(name="monitor", daemon=True)
        self.probes = probes
        self.patience = patience
        self.say = say
        self.ended = False
        self.stalled = False
        self.beat_seen = False
        self._first_probe = True
        self._last: datetime | None = None
        self._changed = self._probed = time.monotonic()
        self._since = datetime.now().astimezone()
        self._answered = True

    def forget(self) -> None:
        """Start again for a new cluster: forget what was seen before."""
        self.stalled = self.beat_seen = False
        self._changed = self._probed = time.monotonic()
        self._since = datetime.now().astimezone()

    def silence(self) -> float:
        """Seconds from the last change of the heartbeat to the last probe that succeeded."""
        return max(0.0, self._probed - self._changed)

    def run(self) -> None:
        while not self.ended:
            try:
                self._probe()
            except Exception as error:
                self._note_no_answer(error)
            time.sleep(self.patience.between_probes)

    def _probe(self) -> None:
        self.probes.wake()
        beat = self.probes.last_beat()
        since = self._since
        stalled = self.probes.is_stalled(since)
        now = time.monotonic()
        if not self._answered:
            self.say("The database answers again.")
            self._answered = True
            self._changed = now
        if self._first_probe:
            self._first_probe, self._last = False, beat
        elif beat != self._last:
            self._last, self._changed, self.beat_seen = beat, now, True
        self.stalled = stalled and since is self._since  # else a new cluster was started meanwhile
        self._probed = now

    def _note_no_answer(self, error: Exception) -> None:
        if self._answered:
            self._answered = False
            reason = first_line(error)
            self.say(f"The database does not answer ({reason}). Trying again until it does.")
            logger.debug("The watchdog's probe of the database failed", exc_info=error)
