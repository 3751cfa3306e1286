"""What must be true in every state of the model, and the search that visits them all."""

from collections import deque

from batchui.batches.states import ATTEMPT_MOVES, OPEN_PARTS, PART_MOVES, PartStatus
from tests.batches.model import DENIED, NO_LEASE, PERHAPS_SENT, TAKEN, A, P, Rules, State, Step

# How a state was reached first: from which one, by which step.
Origins = dict[State, tuple[State, str] | None]


class Violation(Exception):
    """A state that must not be. invariant: its number. path: the steps that lead there."""

    def __init__(self, invariant: int, why: str) -> None:
        self.invariant = invariant
        self.path: list[str] = []
        super().__init__(why)

    def __str__(self) -> str:
        return f"{self.args[0]}: {' > '.join(self.path)}"


def check_state(state: State) -> None:
    """Raise Violation for what must not be, at whatever moment (invariants 3, 4, 5 and 7)."""
    if state.unrecorded:
        raise Violation(3, "billed, and not on record")
    for attempt in state.attempts:
        if attempt.billed and attempt.status in DENIED and not attempt.receipt:
            raise Violation(3, f"billed, and says {attempt.status}")
        if attempt.status == A.WRITTEN and state.part != P.SENDING:
            raise Violation(3, f"the part is {state.part}, and its attempt says nothing")
        if attempt.status in TAKEN and not attempt.receipt:
            raise Violation(5, f"{attempt.status} without a receipt")
    if state.part == P.STOPPED and any(one.status in PERHAPS_SENT for one in state.attempts):
        raise Violation(3, "its rows say not sent, and it may have been sent")
    if sum(attempt.billed for attempt in state.attempts) > 1 + state.asked + state.retries:
        raise Violation(4, "billed twice unasked")
    if state.part == P.SENDING and state.lease == NO_LEASE:
        raise Violation(7, "it is being sent, without a lease")


def check_step(state: State, step: Step) -> None:
    """Raise Violation for a step that must not be (invariants 5 and 6, and the tables of moves)."""
    before, after = state.part, step.to.part
    if before not in OPEN_PARTS and after in OPEN_PARTS and step.name != "retry":
        raise Violation(6, f"{step.name} reopens what is {before}")
    for old, new in zip(state.attempts, step.to.attempts, strict=False):
        if old.receipt and not new.receipt:
            raise Violation(5, f"{step.name} loses a receipt")
        if new.status != old.status and new.status not in ATTEMPT_MOVES[old.status]:
            raise Violation(5, f"{step.name}: {old.status} -> {new.status}")
    if len(step.to.attempts) < len(state.attempts):
        raise Violation(5, f"{step.name} loses an attempt")
    for old, new in zip(state.workers, step.to.workers, strict=True):
        dropped = old.step == "keep_receipt" != new.step and step.name != "kill"
        if dropped and not step.to.attempts[old.attempt].receipt:
            raise Violation(5, f"{step.name} drops a receipt")
    if after != before and not _is_legal(before, after, step, stopped=step.to.stopped):
        raise Violation(6, f"{step.name}: {before} -> {after} is in no table")


def _is_legal(before: PartStatus, after: PartStatus, step: Step, *, stopped: bool) -> bool:
    """Whether a move is in the table. A move to ready, held or unsure may be ended by Stop at once,
    or by the choice to send again."""
    if after in PART_MOVES[before]:
        return True
    between = {P.READY, P.HELD, P.UNSURE} & PART_MOVES[before] if stopped else set()
    if step.name == A.UNSURE:
        between.add(P.UNSURE)
    return any(after in PART_MOVES[one] | {P.DONE} for one in between) or (
        step.name == "stop" and before in (P.READY, P.HELD) and after == P.DONE
    )


def at_rest(state: State) -> bool:
    """Whether nothing happens by itself any more: it is closed, or waits for a person."""
    return state.part not in OPEN_PARTS or state.part == P.UNSURE


STARTS = (State(), State(resend_once=True))


def explore(rules: Rules) -> int:
    """Visit every state that can be reached. Returns their number. Raises Violation."""
    came_from: Origins = dict.fromkeys(STARTS)
    into: dict[State, list[State]] = {}
    waiting = deque(STARTS)
    while waiting:
        state = waiting.popleft()
        for taken in rules.steps(state):
            step = taken._replace(to=rules.plain(taken.to))
            try:
                check_step(state, taken)
                check_state(taken.to)
            except Violation as violation:
                violation.path = [*_path(state, came_from), step.name]
                raise
            if step.quiet:
                into.setdefault(step.to, []).append(state)
            if step.to not in came_from:
                came_from[step.to] = state, step.name
                waiting.append(step.to)
    _check_that_all_comes_to_rest(came_from, into, full=rules.most_attempts)
    return len(came_from)


def _check_that_all_comes_to_rest(
    came_from: Origins, into: dict[State, list[State]], *, full: int
) -> None:
    """Raise Violation 7 for a state from which no steps without faults lead to rest.

    A part that has used up its attempts (`full`) stands still in the model alone.
    """
    resting = [state for state in came_from if at_rest(state) or len(state.attempts) == full]
    reached, waiting = set(resting), deque(resting)
    while waiting:
        for before in into.get(waiting.popleft(), ()):
            if before not in reached:
                reached.add(before)
                waiting.append(before)
    for state in came_from:
        if state not in reached:
            violation = Violation(7, f"{state.part}, and never comes to rest")
            violation.path = _path(state, came_from)
            raise violation


def _path(state: State, came_from: Origins) -> list[str]:
    names: list[str] = []
    while (before := came_from[state]) is not None:
        state, name = before
        names.append(name)
    return names[::-1]
