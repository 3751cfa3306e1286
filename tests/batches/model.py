"""A model of one part, its attempts, two workers and a person. `search.py` visits all its states.

The model knows what `lifecycle`, `sending`, `polling` and `decisions` do, step by step: what is
read, what is written in one transaction, and under which condition. A worker may be killed between
any two steps, or sleep until its lease is over; every POST may be accepted, refused, or accepted
with a lost receipt.

Epochs are numbers without end. What counts is whether the epoch that a worker has seen is still
that of the part: `Worker.fresh`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from batchui.batches.states import (
    OPEN_PARTS,
    SENT_PARTS,
    AttemptStatus,
    PartStatus,
)

P, A = PartStatus, AttemptStatus

TAKEN = frozenset({A.ACCEPTED, A.ANSWERED, A.LOST, A.QUARANTINED})
PERHAPS_SENT = frozenset({A.WRITTEN, A.ACCEPTED, A.UNSURE, A.LOST, A.QUARANTINED})
DENIED = frozenset({A.NOT_SENT, A.BUSY, A.REFUSED})
LIVE, OVER, NO_LEASE = "live", "over", ""


class Attempt(NamedTuple):
    """One POST. billed: the API accepted it. receipt: its receipt is on record."""

    status: AttemptStatus = A.WRITTEN
    billed: bool = False
    receipt: bool = False


class Worker(NamedTuple):
    """A worker: the step that it does next, its attempt, whether the epoch it saw is current."""

    step: str = "idle"
    attempt: int = -1
    fresh: bool = False


IDLE = Worker()


class State(NamedTuple):
    """Everything. unrecorded: requests that were billed without an attempt on record.

    asked: how often a person, or the choice at the start, let it be sent again. retries: how often
    Retry was pressed.
    """

    part: PartStatus = P.READY
    lease: str = NO_LEASE
    attempts: tuple[Attempt, ...] = ()
    workers: tuple[Worker, Worker] = (IDLE, IDLE)
    asked: int = 0
    retries: int = 0
    resend_once: bool = False
    stopped: bool = False
    answered: bool = False
    unrecorded: int = 0


class Step(NamedTuple):
    """A step to another state. by: who does it; quiet: whether it happens also without faults."""

    name: str
    to: State
    by: str
    quiet: bool = True


class Rules:
    """The rules of the product. A planted mistake is a subclass that changes one of them."""

    # The steps of which nothing comes once the part has moved: such a worker is as good as idle.
    in_vain: frozenset[str] = frozenset(
        {
            *("claim", "look_back", "commit", "rescue", "look_at_attempt", "was_accepted"),
            *("may_be_sent", "was_not_sent", "claim_poll", "no_receipt", "poll"),
            *("unsure", "not_sent", "busy", "refused"),
        }
    )

    def __init__(self, *, attempts: int = 2, decisions: int = 2) -> None:
        """attempts: at most. decisions: how often, at most, it is sent again and Retry is pressed
        (each of them once)."""
        self.most_attempts = attempts
        self.most_decisions = decisions

    def may_ask(self, state: State) -> bool:
        return not state.asked and state.asked + state.retries < self.most_decisions

    def may_retry(self, state: State) -> bool:
        return not state.retries and state.asked + state.retries < self.most_decisions

    def plain(self, state: State) -> State:
        """The state with workers in order, and those that can do nothing any more as idle ones."""
        first, second = (
            IDLE if worker.step in self.in_vain and not worker.fresh else worker
            for worker in state.workers
        )
        in_order = (first, second) if first <= second else (second, first)
        return state._replace(workers=in_order)

    def steps(self, state: State) -> Iterator[Step]:
        """Every step that may come next."""
        for number in (0, 1):
            yield from self.of_worker(state, number)
        if state.lease == LIVE:
            yield Step("lease over", state._replace(lease=OVER), "time")
        yield from self.of_person(state)

    # -- workers ---------------------------------------------------------------------------------

    def of_worker(self, state: State, number: int) -> Iterator[Step]:
        worker = state.workers[number]
        if worker.step == "idle":
            yield from self.begin(state, number)
            return
        yield Step("kill", with_worker(state, number, IDLE), "fault", quiet=False)
        act: Callable[[State, int], Iterator[Step]] = getattr(self, worker.step)
        yield from act(state, number)

    def begin(self, state: State, number: int) -> Iterator[Step]:
        """Look for something to do. What is seen may have changed when it is done."""
        if state.part == P.READY:
            yield seen(state, number, "claim")
        elif state.part == P.SENDING and state.lease == OVER:
            yield seen(state, number, "rescue")
        elif state.part in SENT_PARTS and state.lease != LIVE:
            yield seen(state, number, "claim_poll")
        elif state.part == P.HELD:
            yield self.move(state, number, P.READY, name="release")

    def claim(self, state: State, number: int) -> Iterator[Step]:
        if state.part == P.READY and state.workers[number].fresh:
            moved = bumped(state._replace(part=P.SENDING, lease=LIVE), number)
            yield Step(
                "claim", with_worker(moved, number, Worker("look_back", fresh=True)), "worker"
            )
        else:
            yield give_up(state, number)

    def look_back(self, state: State, number: int) -> Iterator[Step]:
        """A receipt on record is used before anything is sent."""
        if any(attempt.status == A.ACCEPTED for attempt in state.attempts):
            yield self.move(state, number, P.QUEUED, name="queue")
        else:
            yield Step("look back", at_step(state, number, "commit"), "worker")

    def commit(self, state: State, number: int) -> Iterator[Step]:
        """The attempt is on record before the POST, if the part still belongs to this worker."""
        if not (state.part == P.SENDING and state.workers[number].fresh):
            yield give_up(state, number)
        elif state.stopped:
            yield self.move(state, number, P.READY, name="stopped before")
        elif len(state.attempts) < self.most_attempts:
            written = state._replace(attempts=(*state.attempts, Attempt()), lease=LIVE)
            worker = Worker("post", len(state.attempts), fresh=True)
            yield Step("commit", with_worker(written, number, worker), "worker")

    def post(self, state: State, number: int) -> Iterator[Step]:
        """The POST, and what comes back of it."""
        billed = changed(state, state.workers[number].attempt, billed=True)
        yield Step("accepted", at_step(billed, number, "keep_receipt"), "worker")
        yield Step("receipt lost", at_step(billed, number, "unsure"), "fault", quiet=False)
        for step in ("unsure", "not_sent", "busy", "refused"):
            yield Step(step, at_step(state, number, step), "fault", quiet=False)

    def keep_receipt(self, state: State, number: int) -> Iterator[Step]:
        """The receipt is stored whatever else has happened."""
        kept = changed(state, state.workers[number].attempt, status=A.ACCEPTED, receipt=True)
        yield Step("keep receipt", at_step(kept, number, "queue"), "worker")

    def queue(self, state: State, number: int) -> Iterator[Step]:
        if state.part == P.SENDING and state.workers[number].fresh:
            yield self.move(state, number, P.QUEUED, name="queue")
        elif state.part == P.UNSURE:  # its receipt came late
            yield self.move(seen(state, number, "queue").to, number, P.QUEUED, name="queue late")
        else:
            yield give_up(state, number)

    def unsure(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.UNSURE, A.UNSURE)

    def not_sent(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.READY, A.NOT_SENT)

    def busy(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.HELD, A.BUSY)

    def refused(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.DONE, A.REFUSED)

    def rescue(self, state: State, number: int) -> Iterator[Step]:
        """Take a part from a worker that seems dead, which cannot commit anything from now on."""
        fenced = state.part == P.SENDING and state.lease == OVER and state.workers[number].fresh
        if fenced:
            taken = bumped(state._replace(lease=LIVE), number)
            worker = Worker("look_at_attempt", fresh=True)
            yield Step("fence", with_worker(taken, number, worker), "worker")
        else:
            yield give_up(state, number)

    def look_at_attempt(self, state: State, number: int) -> Iterator[Step]:
        """What its last attempt says decides."""
        last = state.attempts[-1].status if state.attempts else None
        found = {A.ACCEPTED: "was_accepted", A.WRITTEN: "may_be_sent"}.get(last, "was_not_sent")
        worker = Worker(found, len(state.attempts) - 1, state.workers[number].fresh)
        yield Step("look", with_worker(state, number, worker), "worker")

    def was_accepted(self, state: State, number: int) -> Iterator[Step]:
        yield self.move(state, number, P.QUEUED, name="rescue: accepted")

    def may_be_sent(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.UNSURE, A.UNSURE)

    def was_not_sent(self, state: State, number: int) -> Iterator[Step]:
        yield self.move(state, number, P.READY, name="rescue: not sent")

    def claim_poll(self, state: State, number: int) -> Iterator[Step]:
        if state.part in SENT_PARTS and state.lease != LIVE and state.workers[number].fresh:
            asked = [at for at, one in enumerate(state.attempts) if one.status == A.ACCEPTED]
            taken = bumped(state._replace(lease=LIVE), number)
            worker = Worker("poll" if asked else "no_receipt", max(asked, default=-1), fresh=True)
            yield Step("claim poll", with_worker(taken, number, worker), "worker")
        else:
            yield give_up(state, number)

    def no_receipt(self, state: State, number: int) -> Iterator[Step]:
        yield self.move(state, number, P.UNSURE, name="no receipt")

    def poll(self, state: State, number: int) -> Iterator[Step]:
        if state.workers[number].fresh:
            if state.part == P.QUEUED:
                yield self.move(state, number, P.RUNNING, name="running")
            yield Step("later", with_worker(state._replace(lease=NO_LEASE), number, IDLE), "worker")
        answered = state._replace(answered=True) if state.workers[number].fresh else state
        yield self.closed(answered, number, P.DONE, A.ANSWERED)
        # Some rows have no answer, or all of them; a request that is gone (`lost`) ends as well.
        for attempt in (A.ANSWERED, A.REFUSED):
            yield self.closed(state, number, P.DONE, attempt)._replace(by="fault", quiet=False)
        wrong = self.closed(state, number, P.UNSURE, A.QUARANTINED)
        yield wrong._replace(by="fault", quiet=False)

    # -- a person --------------------------------------------------------------------------------

    def of_person(self, state: State) -> Iterator[Step]:
        if state.part == P.UNSURE:
            if self.may_ask(state):
                again = state._replace(part=P.READY, lease=NO_LEASE, asked=state.asked + 1)
                yield self.pressed("send again", again)
            yield self.pressed("leave out", state._replace(part=P.DONE, lease=NO_LEASE))
            kept = [at for at, one in enumerate(state.attempts) if one.status == A.QUARANTINED]
            if kept:
                asked = changed(state, kept[-1], status=A.ACCEPTED)
                yield self.pressed("ask again", asked._replace(part=P.QUEUED, lease=NO_LEASE))
        if state.part in OPEN_PARTS and not state.stopped:
            yield self.pressed("stop", self.after_stop(state._replace(stopped=True)))
        # Rows without an answer; or answered ones, which somebody chooses to ask again.
        if state.part not in OPEN_PARTS and self.may_retry(state):
            retried = state._replace(part=P.READY, stopped=False, retries=state.retries + 1)
            yield self.pressed("retry", retried)

    def pressed(self, name: str, to: State) -> Step:
        """Every decision is a move: what workers saw before it is old."""
        return Step(name, bumped(to), "person", quiet=False)

    def after_stop(self, state: State) -> State:
        """With Stop, what would be sent, or waits for a person, ends at once."""
        if not state.stopped:
            return state
        statuses = {attempt.status for attempt in state.attempts}
        in_doubt = bool(statuses & PERHAPS_SENT)
        waits = state.part in (P.READY, P.HELD)
        if waits and A.ACCEPTED in statuses:  # its answers are fetched
            return state._replace(part=P.QUEUED, lease=NO_LEASE)
        if state.part == P.UNSURE or (waits and in_doubt):
            return state._replace(part=P.DONE, lease=NO_LEASE)
        return state._replace(part=P.STOPPED, lease=NO_LEASE) if waits else state

    # -- moves -----------------------------------------------------------------------------------

    def may_move(self, state: State, number: int) -> bool:
        """The condition of every UPDATE: the part's epoch is the one that was seen."""
        return state.workers[number].fresh

    def move(self, state: State, number: int, to: PartStatus, *, name: str) -> Step:
        """Move the part, if nobody was faster; then the worker is idle."""
        if name != "release" and not self.may_move(state, number):
            return give_up(state, number)
        moved = bumped(state._replace(part=to, lease=NO_LEASE))
        return Step(name, with_worker(self.after_stop(moved), number, IDLE), "worker")

    def closed(self, state: State, number: int, to: PartStatus, status: AttemptStatus) -> Step:
        """Move the part and end its attempt, both or neither.

        An attempt with another status than the worker has read is left as it is: a receipt came.
        """
        if not self.may_move(state, number):
            return give_up(state, number)
        worker = state.workers[number]
        read = A.ACCEPTED if worker.step == "poll" else A.WRITTEN
        closing = state
        if state.attempts[worker.attempt].status == read:
            closing = changed(state, worker.attempt, status=status)
        step = self.move(closing, number, to, name=f"{status}")
        if to == P.UNSURE and status == A.UNSURE and step.to.part == P.UNSURE:
            return step._replace(to=self.after_unsure(step.to))
        return step

    def after_unsure(self, state: State) -> State:
        """It is sent again by itself only if that was chosen at the start, and once."""
        if state.resend_once and self.may_ask(state):
            return bumped(state._replace(part=P.READY, asked=state.asked + 1))
        return state


def with_worker(state: State, number: int, worker: Worker) -> State:
    first, second = state.workers
    return state._replace(workers=(worker, second) if number == 0 else (first, worker))


def at_step(state: State, number: int, step: str) -> State:
    return with_worker(state, number, state.workers[number]._replace(step=step))


def seen(state: State, number: int, step: str) -> Step:
    """The worker has read the part as it is now."""
    worker = state.workers[number]._replace(step=step, fresh=True)
    return Step("see", with_worker(state, number, worker), "worker")


def give_up(state: State, number: int) -> Step:
    return Step("too late", with_worker(state, number, IDLE), "worker")


def bumped(state: State, owner: int = -1) -> State:
    """The part's epoch is raised: what others than `owner` have seen is old."""
    first, second = (
        worker if number == owner else worker._replace(fresh=False)
        for number, worker in enumerate(state.workers)
    )
    return state._replace(workers=(first, second))


def changed(state: State, attempt: int, **fields: object) -> State:
    attempts = list(state.attempts)
    attempts[attempt] = attempts[attempt]._replace(**fields)  # type: ignore[arg-type]
    return state._replace(attempts=tuple(attempts))
