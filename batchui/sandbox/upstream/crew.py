"""The threads that work off the requests of one upstream."""

import contextlib
import sqlite3
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from batchui.sandbox.upstream.http_calls import Line
from batchui.sandbox.upstream.outcomes import (
    Answered,
    Away,
    Faulty,
    NoModel,
    Outcome,
    Unaskable,
    ask,
)
from batchui.sandbox.upstream.pauses import TRIES, Patience, Pause, Weather
from batchui.sandbox.upstream.settings import Upstream
from batchui.sandbox.upstream.turns import Turn, Turns, Work
from batchui.sandbox.upstream.work_store import WorkStore

_SECONDS_WITHOUT_DISK = 5.0
_SECONDS_TO_END = 0.5
T = TypeVar("T")


class Stopped(Exception):
    """The sandbox ends."""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call under way. pause: the one at whose end it is made; None if there was none."""

    line: Line
    pause: Pause | None


class Crew:
    """Asks the items of its requests, as many at once as the upstream takes, and stores answers.

    A thread begins when there is work, and ends when there is none. store: of the requests.
    """

    def __init__(self, upstream: Upstream, store: WorkStore, *, patience: Patience) -> None:
        self.store = store
        self._patience = patience
        self._stop = threading.Event()
        # It guards all that follows, and is notified of each change.
        self._changed = threading.Condition()
        self._lines = [Line(upstream)]  # the last one is used; others may have calls under way
        self._weather = Weather(patience)
        self._turns = Turns()
        self._hands: set[threading.Thread] = set()
        self._asking = 0
        self._runs_waiting = 0

    @property
    def line(self) -> Line:
        """The way to the upstream."""
        return self._lines[-1]

    def use(self, upstream: Upstream) -> None:
        """Ask this upstream from now on. What is under way ends with the one before."""
        with self._changed:
            if upstream != self.line.upstream:
                self._lines.append(Line(upstream))
                self._weather = Weather(self._patience)
                self._hire()

    def add(self, request_id: str, *, model: str, left: Sequence[int]) -> None:
        """Work off a request. left: the positions of its items without an answer.

        Raises sqlite3.Error if none is left, and that cannot be stored.
        """
        if not left:
            self.store.finish(request_id)
            return
        work = Work(id=request_id, model=model, since=time.monotonic(), fresh=deque(left))
        with self._changed:
            self._turns.add(work)
            self._hire()

    def trouble(self) -> str:
        """Why a person must do something before anything is answered; "" if nobody must."""
        with self._changed:
            pause = self._weather.pause
            return pause.reason if pause and pause.needs_person else ""

    def run(self, raw: bytes, *, model: str) -> Outcome:
        """Ask one item (JSON) at once: before those of requests, but not more than allowed."""
        ends = time.monotonic() + self._patience.run
        with self._changed:
            self._runs_waiting += 1
            has_place = self._changed.wait_for(self._has_place, timeout=self._patience.run)
            self._runs_waiting -= 1
            if not has_place:
                return Away(f"{self.line.upstream.server} is busy with other rows")
            pause, now = self._weather.pause, time.monotonic()
            if pause and pause.asked_for and now < pause.until:
                self._changed.notify_all()  # the place is free for others
                return Away(pause.reason, wait=pause.until - now)
            call = self._begun()
        seconds = min(call.line.upstream.seconds, max(1.0, ends - time.monotonic()))
        outcome: Outcome = Faulty("The sandbox could not ask")
        try:
            outcome = ask(call.line, raw, name=model, seconds=seconds)
        finally:
            with self._changed:
                self._ended(call, outcome)
        return outcome

    def close(self) -> None:
        """End every call and thread. What is under way is asked again after the next start."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
            hands = list(self._hands)
        for line in self._lines:
            line.cut()
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in hands:
            thread.join(max(0, deadline - time.monotonic()))

    # -- whose turn it is; the lock is held -------------------------------------------------------

    def _has_place(self) -> bool:
        return self._asking < self.line.upstream.concurrency

    def _begun(self) -> _Call:
        self._asking += 1
        return _Call(self.line, self._weather.pause)

    def _ended(self, call: _Call, outcome: Outcome) -> None:
        self._asking -= 1
        if call.line is self.line:
            self._weather.note(outcome, began_in=call.pause, now=time.monotonic())
        self._changed.notify_all()

    def _hire(self) -> None:
        """Begin threads if items wait; one that finds none ends at once."""
        wanted = self.line.upstream.concurrency if self._turns.count() else 0
        # Where the system starts no more threads, those that are there go on.
        with contextlib.suppress(RuntimeError):
            while len(self._hands) < wanted and not self._stop.is_set():
                thread = threading.Thread(target=self._work, daemon=True)
                thread.start()
                self._hands.add(thread)
        self._changed.notify_all()

    def _turn_or_wait(self) -> Turn | None:
        """An item to ask; None once something has changed."""
        now, pause = time.monotonic(), self._weather.pause
        is_full = self._asking + self._runs_waiting >= self.line.upstream.concurrency
        if is_full or (pause and pause.being_tried):
            self._changed.wait()
        elif pause and now < pause.until:
            self._changed.wait(pause.until - now)
        elif turn := self._turns.take(now):
            return turn
        elif (soonest := self._turns.soonest()) is not None:
            self._changed.wait(max(0, soonest - now))
        return None

    # -- what a thread does -----------------------------------------------------------------------

    def _work(self) -> None:
        """Ask items while there are any."""
        try:
            with contextlib.suppress(Stopped):
                while found := self._next():
                    self._settle(*found, self._asked(*found))
        finally:
            with self._changed:
                self._hands.discard(threading.current_thread())

    def _next(self) -> tuple[Turn, _Call] | None:
        """Wait for an item to ask. None if there is none. Raises Stopped."""
        with self._changed:
            while not self._stop.is_set():
                is_one_too_many = len(self._hands) > self.line.upstream.concurrency
                if is_one_too_many or not self._turns.count():
                    # Now, so that whoever adds an item knows that this thread does not take it.
                    self._hands.discard(threading.current_thread())
                    return None
                if turn := self._turn_or_wait():
                    call = self._begun()
                    if call.pause:
                        call.pause.being_tried = True
                    return turn, call
        raise Stopped

    def _asked(self, turn: Turn, call: _Call) -> Outcome:
        """Ask the item of a turn. Raises Stopped."""
        work = turn.work
        raw = self._kept(lambda: self.store.asked(work.id, turn.position))
        if raw is None:
            return Unaskable("The request was dropped")  # so nobody will read this
        self._kept(lambda: self.store.begin(work.id))
        try:
            seconds = call.line.upstream.seconds
            return ask(call.line, raw, name=work.model, seconds=seconds)
        except Exception as exc:
            traceback.print_exc(file=sys.stderr)
            return Faulty(f"The sandbox could not ask: {type(exc).__name__}")

    def _settle(self, turn: Turn, call: _Call, outcome: Outcome) -> None:
        """Store what came of an item, or ask it again later. Raises Stopped."""
        if self._stop.is_set():
            raise Stopped  # which may be why its call was cut
        with self._changed:
            again = self._weather.again(turn, outcome)
            if again:
                self._turns.back(again[0], at=time.monotonic() + again[1])
            self._ended(call, outcome)
            self._hire()
            now = time.monotonic()
            hopeless = [(work, self._weather.hopeless(work.since, now=now)) for work in self._turns]
        for work, why in hopeless:
            if why:
                self._fail_rest(work, why)
        if not again:
            self._keep(turn, outcome)

    # -- what is stored ---------------------------------------------------------------------------

    def _keep(self, turn: Turn, outcome: Outcome) -> None:
        """Store the answer to an item, or why it has none."""
        work, position = turn.work, turn.position
        if isinstance(outcome, Answered):
            result, read, written = outcome.result, outcome.read, outcome.written
            self._kept(
                lambda: self.store.answer(
                    work.id, position, result=result, read=read, written=written
                )
            )
        else:
            tries = f" ({TRIES} times)" if isinstance(outcome, Faulty | Away) else ""
            why = f"{outcome.reason}{tries}"
            self._kept(lambda: self.store.fail(work.id, [position], why))
            if isinstance(outcome, NoModel):
                self._fail_rest(work, why)
        with self._changed:
            self._turns.settle(turn)
        self._end(work)

    def _fail_rest(self, work: Work, why: str) -> None:
        """Ask no further item of a request: all that are left have failed."""
        with self._changed:
            left = self._turns.give_up(work)
        self._kept(lambda: self.store.fail(work.id, left, why))
        with self._changed:
            self._turns.given_up(work)
        self._end(work)

    def _end(self, work: Work) -> None:
        """End a request if nothing is left of it."""
        with self._changed:
            is_done = self._turns.remove_if_done(work)
        if is_done:
            self._kept(lambda: self.store.finish(work.id))

    def _kept(self, store: Callable[[], T]) -> T:
        """What `store` returns. On a full disk it is tried until there is room: answers cost time.

        Raises Stopped.
        """
        while not self._stop.is_set():
            try:
                return store()
            except sqlite3.Error:
                self._stop.wait(_SECONDS_WITHOUT_DISK)
        raise Stopped
