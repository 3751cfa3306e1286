"""The campaign inside: steps die at a random line, statement or file operation.

Each step is a child process that was forked from this one, so a kill takes milliseconds, and
thousands run in minutes. A child has only the thread that forked it: a lock that another one held
just then, perhaps inside SQLite, is never released in it. So a campaign needs a process without
other threads.
"""

import faulthandler
import gc
import logging
import os
import random
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connections

from batchui.batches import clients
from batchui.batches.models import Batch
from batchui.batches.phrases import Say
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus
from batchui.chaos import actors, rest, triggers, verdict
from batchui.chaos.draws import Draws
from batchui.chaos.figures import Figures
from batchui.chaos.passing import pass_time
from batchui.chaos.triggers import KILLED, Trigger
from batchui.chaos.wire import ChaosFailed, Wire
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.processes import procfs
from batchui.processes.parent_death import ask_to_stop_with_parent

ESCAPED = 70
LEASES = 7  # the invariant about them
SECONDS_FOR_A_STEP = 60.0
# A child that hangs is asked where it stands, and has so long to write that down.
WHERE, SECONDS_TO_WRITE = signal.SIGUSR1, 1.0
# So many batches are kept going.
BATCHES_AT_ONCE = 4
ACTIONS: dict[str, float] = {"work": 6, "decide": 4, "start": 1, "upload": 0.5}
# Of so many decisions the first is taken that there is something to decide about.
DRAWN_DECISIONS = 3
# How much time passes at once, in minutes, by weight.
PAUSES: dict[float, float] = {0.2: 2, 2: 3, 6: 4, 7 * 60: 1}
# A worker looks again so soon; and so often it does in a minute.
SECONDS_BETWEEN_WORK, WORK_IN_A_MINUTE = 3, 20
ROUNDS_BETWEEN_LOOKS = 20


class Step(NamedTuple):
    """What a child process does, and where it dies. name: for the log."""

    name: str
    act: Callable[[], object]
    trigger: Trigger | None
    seed: int

    def __str__(self) -> str:
        return f"{self.name} ({self.trigger})" if self.trigger else self.name


class Inside:
    """One campaign. `run` it."""

    def __init__(self, figures: Figures, wire: Wire, *, say: Say) -> None:
        self.figures = figures
        self.wire = wire
        self.say = say
        self.draws = Draws(figures.seed)
        self.receipts: dict[int, str] = {}
        self.edits: set[verdict.Edited] = set()
        self.errors = Path(settings.DATA, "escaped.txt")
        self.stands = Path(settings.DATA, "stands.txt")

    def run(self, kills: int) -> None:
        """Kill so many steps, let everything come to rest, and give the verdict.

        Raises ChaosFailed if a step hangs, or if this process has other threads.
        """
        _refuse_other_threads()
        self._warm_up()
        rounds, said = 0, time.monotonic()
        while self.figures.kills < kills:
            self._round()
            rounds += 1
            if rounds % ROUNDS_BETWEEN_LOOKS == 0:
                self._note_what_stays()
            if time.monotonic() - said > 10:
                said = time.monotonic()
                self.say(f"{self.figures.kills:,} of {kills:,} kills …")
        self._come_to_rest()
        self._note_escaped()
        verdict.give(
            self.figures,
            store=self.wire.store,
            address=self.wire.address,
            receipts=self.receipts,
            edited=self.edits,
        )
        connections.close_all()

    def _warm_up(self) -> None:
        """Take one batch from its upload to its end here, so that no child has to import anything.

        The children take over what is loaded, and nothing that is open.
        """
        actors.upload(self.draws.file())
        actors.start(0.0)
        while not verdict.is_quiet():
            actors.work()
            pass_time(minutes=1)
        clients.close_all()
        connections.close_all()
        gc.collect()
        gc.freeze()

    def _round(self) -> None:
        """Draw faults, one or two steps, where they die, and how much time passes."""
        draws = self.draws
        if draws.chance(0.3):
            self.wire.script(draws.faults())
        elif draws.chance(0.3):
            self.wire.script([])
        steps = [self._step()]
        if draws.chance(0.3):
            steps.append(self._step())
        self._take(steps)
        if draws.chance(0.05):
            self._look_now()
        if draws.chance(0.5):
            pass_time(minutes=draws.one_of(PAUSES))

    def _step(self) -> Step:
        draws = self.draws
        action, file, share = draws.one_of(ACTIONS), draws.file(), draws.share()
        names = [draws.one_of(actors.WEIGHTS) for _ in range(DRAWN_DECISIONS)]
        kind = draws.one_of(dict.fromkeys(triggers.KINDS, 1.0))
        most = triggers.KINDS[kind] // (1 if action == "work" else 4)
        nth = 1 + int(most * draws.share() ** 1.5)
        trigger = Trigger(kind, nth, after=draws.chance(0.5))
        if _is_idle():
            action = "upload" if not _drafts() else "start"
        if action == "upload":
            return Step("upload", partial(actors.upload, file), trigger, draws.seed())
        if action == "start":
            return Step("start", partial(actors.start, share), trigger, draws.seed())
        if action == "decide":
            act = partial(actors.decide_one_of, names, share)
            return Step(" or ".join(names), act, trigger, draws.seed())
        return Step("work", actors.work, trigger, draws.seed())

    def _take(self, steps: list[Step]) -> None:
        """Let the steps run, at the same time, each in a child process.

        Raises ChaosFailed if one hangs.
        """
        connections.close_all()
        waiting = {self._fork(step): step for step in steps}
        give_up = time.monotonic() + SECONDS_FOR_A_STEP
        while waiting:
            for child, status in _ended(waiting):
                self._count(waiting.pop(child), status)
            if waiting and time.monotonic() > give_up:
                raise ChaosFailed(self._told(waiting))
            time.sleep(0.001)

    def _count(self, step: Step, status: int) -> None:
        if status == KILLED:
            self.figures.kills += 1
        elif status == 0:
            self.figures.survived += 1
        elif status != ESCAPED:  # whose traceback is in the file
            self.figures.escaped.append(f"{step} ended with {status}")

    def _fork(self, step: Step) -> int:
        child = os.fork()
        if child:
            return child
        status = ESCAPED
        try:
            ask_to_stop_with_parent()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            faulthandler.register(WHERE, self.stands.open("a"), all_threads=True)
            random.seed(step.seed)
            self._log_errors()
            if step.trigger is not None:
                triggers.arm(step.trigger)
            step.act()
            status = 0
        except BaseException:
            self._write(f"{step}:\n{traceback.format_exc()}")
        finally:
            os._exit(status)

    def _told(self, hanging: Mapping[int, Step]) -> str:
        """End children that hang. Returns a sentence that names them, and where they stood."""
        steps = " and ".join(map(str, hanging.values()))
        for child in hanging:
            os.kill(child, WHERE)
        time.sleep(SECONDS_TO_WRITE)
        for child in hanging:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return (
            f"A step did not end within {SECONDS_FOR_A_STEP:g} s: {steps}.\n"
            f"{self.stands.read_text()}"
        )

    def _log_errors(self) -> None:
        """Write down errors that the product caught and logged: they may be mistakes, too."""

        class Handler(logging.Handler):
            def emit(handler, record: logging.LogRecord) -> None:  # noqa: N805
                self._write(handler.format(record))

        logging.getLogger().handlers = [Handler(logging.ERROR)]

    def _write(self, text: str) -> None:
        with self.errors.open("a") as out:
            out.write(f"{text}\n\0")

    def _note_escaped(self) -> None:
        if self.errors.exists():
            texts = self.errors.read_text().split("\0")
            self.figures.escaped += [text.strip() for text in texts if text.strip()]

    def _note_what_stays(self) -> None:
        self.receipts = {**verdict.receipts(), **self.receipts}
        self.edits |= verdict.edits()

    def _look_now(self) -> None:
        """Check what goes on in the middle of it: every kill must leave the truth behind.

        Nobody is at work just now. Leases are over because time passed at once, which is no fault.
        """
        for batch in verdict.open_batches():
            for finding in look(Scope(batch=batch, skew=timedelta())).findings:
                known = {one.place for one in self.figures.findings}
                if finding.invariant != LEASES and finding.place not in known:
                    self.figures.findings.append(finding)

    def _come_to_rest(self) -> None:
        """End the faults, let people decide what waits for them, and work until all is quiet."""
        self.wire.script([])
        rest.try_everything_now()
        rest.come_to_rest(self.figures, decide=self._decide, work=self._work)
        self._take([Step("work", actors.work, None, 1)])

    def _decide(self) -> None:
        decide = {"send again": 2.0, "leave out": 1.0, "ask again": 1.0, "try again": 1.0}
        for _ in range(verdict.waiting_for_people()):
            name, share = self.draws.one_of(decide), self.draws.share()
            self._take([Step(name, partial(actors.decide, name, share), None, 1)])

    def _work(self, minutes: float) -> None:
        pass_time(minutes=minutes)
        for _ in range(WORK_IN_A_MINUTE):
            self._take([Step("work", actors.work, None, 1)])
            if verdict.is_quiet():
                return
            pass_time(seconds=SECONDS_BETWEEN_WORK)


def _is_idle() -> bool:
    """Whether fewer batches go on than should."""
    return (
        Batch.objects.filter(status__in=ACTIVE_BATCHES, deleted_at=None).count() < BATCHES_AT_ONCE
    )


def _drafts() -> bool:
    return Batch.objects.filter(status=BatchStatus.DRAFT, deleted_at=None, rows__gt=0).exists()


def _refuse_other_threads() -> None:
    others = procfs.threads() - 1 if procfs.is_there() else 0
    if others:
        raise ChaosFailed(
            f"This process has other threads ({others}), and their locks would stay locked in the "
            "children that it forks. Run the campaign in a process of its own."
        )


def _ended(children: Iterable[int]) -> list[tuple[int, int]]:
    """Those of the child processes that have ended, each with its exit status."""
    looks = [os.waitpid(child, os.WNOHANG) for child in children]
    return [(child, os.waitstatus_to_exitcode(status)) for child, status in looks if child]
