"""The campaign with real processes: web server, worker and sandbox are killed, frozen and started.

Each kill comes at a random moment, or at a named point that a process reaches (`points.py`).
"""

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, connections
from django.utils import timezone

from batchui.batches.phrases import Say
from batchui.bench.person import Person
from batchui.chaos import points, presses, rest, verdict
from batchui.chaos.binding import Binding
from batchui.chaos.draws import Draws, chosen
from batchui.chaos.figures import Figures
from batchui.chaos.passing import pass_time
from batchui.chaos.services import Services, send
from batchui.chaos.wire import ChaosFailed, Wire
from batchui.up import prepare
from batchui.up.ports import free_port
from batchui.worker.heartbeat import latest_beat

# What is killed, by weight: all processes of a service, one of them, or everything.
TARGETS: Mapping[str, float] = {
    "worker": 5,
    "one of worker": 3,
    "web": 1,
    "one of web": 1,
    "wire": 0.5,
    "everything": 0.5,
}
# Where batches go through a Worker, its runtime is killed, too.
WITH_BINDING = {**TARGETS, "binding": 1}
SECONDS_TO_START = 180
# How long a process may take to reach the point at which it is to die.
SECONDS_TO_REACH = 4.0
SHORTEST_RUN, LONGEST_RUN = 0.3, 5.0
LONGEST_FREEZE = 2.5
# Of real time, for what a worker does in the last minutes of a campaign.
SECONDS_FOR_A_TURN = 40.0


@dataclass
class Outside:
    """One campaign. `run` it, and `close` it whatever happens."""

    figures: Figures
    wire: Wire
    say: Say
    binding: Binding | None = None
    receipts: dict[int, str] = field(default_factory=dict)
    edits: set[verdict.Edited] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.draws = Draws(self.figures.seed)
        self.log = Path(settings.DATA, "processes.log")
        self.orders = Path(settings.DATA, "orders")
        self.orders.mkdir(exist_ok=True)
        self.port = free_port(0)
        self.services = Services(
            environment=os.environ
            | {
                "BATCHUI_CHAOS": str(self.orders),
                "BATCHUI_SANDBOX_URL": self.wire.address,
                "PYTHONUNBUFFERED": "1",
            },
            log=self.log,
            web_port=self.port,
            wire=self.wire,
            binding=self.binding,
        )
        self.targets = WITH_BINDING if self.binding else TARGETS

    # What a person asks of a product (`bench.person`).

    @property
    def first_page(self) -> str:
        """The link to set it up."""
        return f"http://127.0.0.1:{self.port}{prepare.first_page()}"

    def last_lines(self) -> str:
        """What the processes printed last."""
        return "\n".join(["", *self.log.read_text(errors="replace").splitlines()[-20:]])

    def wait_for(self, batch: str, arrived: object) -> None:
        """Nobody waits for a single batch here."""
        raise NotImplementedError

    # The campaign.

    def run(self, kills: int) -> None:
        """Kill so many times, let everything come to rest, and give the verdict."""
        self.services.ensure()
        self._wait_for_pages()
        with Person(self, seconds=15) as person:
            people = presses.Presser(person, self.draws.seed())
            people.begin()
            said = time.monotonic()
            while self.figures.kills < kills:
                self._round()
                if time.monotonic() - said > 10:
                    said = time.monotonic()
                    self.say(f"{self.figures.kills:,} of {kills:,} kills …")
            people.end()
            self._come_to_rest(people)
        self.services.kill("web")
        self.services.kill("worker")
        self.figures.pressed = people.answered
        self.figures.escaped += filter(None, [people.failed])
        verdict.give(
            self.figures,
            store=self.wire.store,
            address=self.wire.address,
            receipts=self.receipts,
            edited=self.edits,
        )

    def close(self) -> None:
        """End every process."""
        connections.close_all()
        self.services.end()

    def _round(self) -> None:
        """Draw faults, how, when and what is killed or frozen; then start what is missing."""
        draws = self.draws
        faults, changes, clears = draws.faults(), draws.chance(0.3), draws.chance(0.3)
        target, share, wait = draws.one_of(self.targets), draws.share(), draws.share()
        freezes, for_long = draws.chance(0.2), draws.chance(0.5)
        freeze = draws.share() * LONGEST_FREEZE
        named, after = draws.chance(0.5), draws.chance(0.5)
        order = points.drawn(draws.share(), draws.share(), after=after, stops=freezes)
        if changes or clears:
            self.wire.try_script(faults if changes else [])
        if named and self._at_point(order, freeze, for_long=for_long):
            pass
        else:
            time.sleep(SHORTEST_RUN + wait**2 * (LONGEST_RUN - SHORTEST_RUN))
            self._at_random(target, share, freeze, freezes=freezes, for_long=for_long)
        self.services.ensure()
        self._note_what_stays()

    def _at_point(self, order: points.Order, freeze: float, *, for_long: bool) -> bool:
        """Let a process die, or freeze, at a named point. False: none came there in time."""
        points.give(self.orders, order)
        give_up = time.monotonic() + SECONDS_TO_REACH
        while not (pid := points.taken(self.orders)) and time.monotonic() < give_up:
            time.sleep(0.01)
        points.withdraw(self.orders)
        if not pid:
            return False
        if order.signal == "STOP":
            self._thaw([pid], freeze, for_long=for_long)
        else:
            self.figures.kills += 1
        return True

    def _at_random(
        self, target: str, share: float, freeze: float, *, freezes: bool, for_long: bool
    ) -> None:
        pids = self.services.tree(target.removeprefix("one of "))
        if target.startswith("one of "):
            one = chosen(pids, share)
            pids = [one] if one is not None else []
        if freezes:
            send(signal.SIGSTOP, pids)
            self._thaw(pids, freeze, for_long=for_long)
        elif pids:
            send(signal.SIGKILL, pids)
            self.figures.kills += 1
            self.services.collect(pids)

    def _thaw(self, pids: list[int], freeze: float, *, for_long: bool) -> None:
        """Let frozen processes go on after a while; `for_long`: after their leases are over."""
        self.figures.frozen += 1
        if for_long:
            self._pass_time()
        time.sleep(freeze)
        send(signal.SIGCONT, pids)

    def _pass_time(self) -> None:
        """Let time pass, unless a frozen process holds a lock in the database."""
        is_sqlite = connection.vendor == "sqlite"
        impatient = "PRAGMA busy_timeout = 1000" if is_sqlite else "SET lock_timeout = 1000"
        try:
            with connection.cursor() as cursor:
                cursor.execute(impatient)
            pass_time(minutes=6)
        except DatabaseError:
            pass
        finally:
            connection.close()

    def _note_what_stays(self) -> None:
        try:
            self.receipts = {**verdict.receipts(), **self.receipts}
            self.edits |= verdict.edits()
        except DatabaseError:
            connections.close_all()

    def _wait_for_pages(self) -> None:
        give_up = time.monotonic() + SECONDS_TO_START
        while not self.services.pages_answer():
            if time.monotonic() > give_up:
                raise ChaosFailed(f"The pages do not answer.{self.last_lines()}")
            self.services.ensure()
            time.sleep(0.1)

    def _wait_for_worker(self, since: datetime) -> None:
        give_up = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < give_up:
            beat = latest_beat()
            if beat is not None and beat > since:
                return
            time.sleep(0.1)
        raise ChaosFailed(f"The worker does not work.{self.last_lines()}")

    def _come_to_rest(self, people: presses.Presser) -> None:
        """End the faults, let people decide what waits for them, and wait until all is quiet.

        Leases and pauses end at once: no worker lives while time passes.
        """
        self.services.ensure()
        self._wait_for_pages()
        self.wire.script([])
        self.say("Coming to rest …")
        self.services.kill("worker")
        rest.try_everything_now()

        def decide() -> None:
            for _ in range(verdict.waiting_for_people()):
                people.decide(*presses.chosen_name(self.draws))

        rest.come_to_rest(self.figures, decide=decide, work=self._work)

    def _work(self, minutes: float) -> None:
        """Let time pass while no worker lives, then work. A kill would be one more fault."""
        if minutes:
            self.services.kill("worker")
            pass_time(minutes=minutes)
        began = timezone.now()
        self.services.ensure()
        self._wait_for_worker(began)
        give_up = time.monotonic() + SECONDS_FOR_A_TURN
        while time.monotonic() < give_up and not verdict.is_quiet():
            time.sleep(0.1)
