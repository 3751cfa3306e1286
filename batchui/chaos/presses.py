"""People who press buttons over HTTP while processes are killed."""

import random
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db import DatabaseError, connection

from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus
from batchui.bench.person import Person
from batchui.chaos import actors, forms
from batchui.chaos.draws import Draws, File

# By the name of a decision: its address, below that of the batch or the part.
ADDRESSES: Mapping[str, str] = {
    "stop": "/batches/{batch}/stop/",
    "retry": "/batches/{batch}/retry/",
    "try now": "/batches/{batch}/try-now/",
    "run again": "/batches/{batch}/run-again/",
    "delete": "/batches/{batch}/delete/",
    "send again": "/batches/{batch}/parts/{part}/send-again/",
    "ask again": "/batches/{batch}/parts/{part}/ask-again/",
    "try again": "/batches/{batch}/parts/{part}/try-again/",
    "leave out": "/batches/{batch}/parts/{part}/leave-out/",
    "send all again": "/batches/{batch}/decide/unclear/send-again/",
    "leave all out": "/batches/{batch}/decide/unclear/leave-out/",
    "bring back": "/deleted/{batch}/bring-back/",
}
AT_THE_END: Mapping[str, float] = {"send again": 3, "ask again": 1, "try again": 1, "leave out": 1}
BATCHES_AT_ONCE = 6
LONGEST_PAUSE = 0.6
ANSWERED = 302


class Pressed(NamedTuple):
    """One press: what it was, and the status of the answer; 0 if nobody answered."""

    name: str
    status: int


@dataclass
class Presser:
    """Presses buttons in a thread of its own, until it is told to stop.

    seed: of what is pressed; in which order does not depend on the time.
    """

    person: Person
    seed: int

    def __post_init__(self) -> None:
        self.presses: list[Pressed] = []
        self.failed = ""
        self._draws = Draws(self.seed)
        self._drawn = random.Random(self.seed)  # noqa: S311
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._press_on, name="people", daemon=True)

    def begin(self) -> None:
        """Let them press."""
        self._thread.start()

    def end(self) -> None:
        """Let them finish what they do, and stop."""
        self._stop.set()
        self._thread.join(60)

    @property
    def answered(self) -> int:
        """The number of presses that a page took."""
        return sum(press.status == ANSWERED for press in self.presses)

    def _press_on(self) -> None:
        try:
            while not self._stop.wait(self._draws.share() * LONGEST_PAUSE):
                self._next()
        except Exception:
            self.failed = traceback.format_exc()
        finally:
            connection.close()

    def _next(self) -> None:
        draws = self._draws
        file, share, upload = draws.file(), draws.share(), draws.chance(0.3)
        names, decides = [draws.one_of(actors.WEIGHTS) for _ in range(3)], draws.chance(0.6)
        self._drawn = random.Random(draws.seed())  # noqa: S311
        try:
            if upload and _few_go_on():
                batch: object = self.person.choose_file(file.name, file.content)
                self._start(batch, file)
            elif decides:
                self.decide_one_of(names, share)
            else:  # somebody finds a draft whose start was lost
                drafts = Batch.objects.filter(status=BatchStatus.DRAFT, deleted_at=None)
                batch = drafts.filter(rows__gt=0).values_list("pk", flat=True).first()
                self._start(batch or "", file)
        except DatabaseError:
            connection.close()

    def _start(self, batch: object, file: File) -> None:
        """Press Start on the page of a draft."""
        if batch:
            self._press("start", f"/batches/{batch}/start/", forms.start(file))

    def decide_one_of(self, names: Sequence[str], share: float) -> None:
        """Press the first of these buttons that there is."""
        any(self.decide(name, share) for name in names)

    def decide(self, name: str, share: float) -> bool:
        """Press a button of one of the batches or parts that have it. False: none has it."""
        target = actors.target_of(name, share)
        if target is None:
            return False
        batch = target if isinstance(target, Batch) else target.batch
        if name in forms.LOOKS:
            self.person.look(f"/batches/{batch.pk}/{forms.LOOKS[name]}")
            return True
        if name in forms.FORMS:
            form = forms.FORMS[name](batch, self._drawn)
            if form is not None:
                self._press(name, f"/batches/{batch.pk}/{form.address}", form.fields)
            return form is not None
        part = "" if isinstance(target, Batch) else target.number
        self._press(name, ADDRESSES[name].format(batch=batch.pk, part=part))
        return True

    def _press(self, button: str, address: str, fields: forms.Fields | None = None) -> None:
        self.presses.append(Pressed(button, self.person.press(address, **fields or {})))


def _few_go_on() -> bool:
    going_on = Batch.objects.filter(status__in=ACTIVE_BATCHES, deleted_at=None)
    return going_on.count() < BATCHES_AT_ONCE


def chosen_name(draws: Draws) -> tuple[str, float]:
    """A decision about what waits at the end, and about which of it."""
    return draws.one_of(AT_THE_END), draws.share()
