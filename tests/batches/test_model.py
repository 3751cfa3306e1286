"""Every state of the model keeps the promises, and small mistakes in the rules break them."""

from collections.abc import Iterator

import pytest

from batchui.batches.states import AttemptStatus as A
from batchui.batches.states import PartStatus as P
from tests.batches import model
from tests.batches.model import NO_LEASE, OVER, Rules, State, Step
from tests.batches.search import Violation, explore


@pytest.mark.parametrize(("attempts", "decisions"), [(2, 2), (3, 1)])
def test_no_state_that_can_be_reached_breaks_a_promise(attempts: int, decisions: int) -> None:
    """Two workers, kills and ends of leases anywhere, every fault of the wire, and a person."""
    states = explore(Rules(attempts=attempts, decisions=decisions))
    assert states > 30_000


class SendsBeforeTheAttemptIsOnRecord(Rules):
    def look_back(self, state: State, number: int) -> Iterator[Step]:
        sent = state._replace(unrecorded=state.unrecorded + 1)
        yield Step("post", model.at_step(sent, number, "commit"), "worker")


class CommitsAnAttemptOfAPartThatIsSomebodyElses(Rules):
    in_vain = Rules.in_vain - {"commit", "look_back"}

    def commit(self, state: State, number: int) -> Iterator[Step]:
        if len(state.attempts) < self.most_attempts:
            written = state._replace(attempts=(*state.attempts, model.Attempt()))
            worker = model.Worker("post", len(state.attempts), fresh=True)
            yield Step("commit", model.with_worker(written, number, worker), "worker")


class ClaimsWithoutTheEpoch(Rules):
    in_vain = Rules.in_vain - {"claim"}

    def claim(self, state: State, number: int) -> Iterator[Step]:
        moved = model.bumped(state._replace(part=P.SENDING, lease=model.LIVE))
        worker = model.Worker("look_back", fresh=True)
        yield Step("claim", model.with_worker(moved, number, worker), "worker")


class MovesWithoutTheEpoch(Rules):
    in_vain = Rules.in_vain - {"not_sent", "busy", "unsure"}

    def may_move(self, state: State, number: int) -> bool:
        return state.part == P.SENDING


class RescuesWithoutLookingAtTheAttempt(Rules):
    def look_at_attempt(self, state: State, number: int) -> Iterator[Step]:
        yield Step("look", model.at_step(state, number, "was_not_sent"), "worker")


class RescuesWithoutAFence(Rules):
    """The last attempt is read, and then the part is moved: another one may be made in between."""

    def rescue(self, state: State, number: int) -> Iterator[Step]:
        yield Step("read", model.at_step(state, number, "look_at_attempt"), "worker")


class ClaimsWithoutALease(Rules):
    def claim(self, state: State, number: int) -> Iterator[Step]:
        for step in super().claim(state, number):
            yield step._replace(to=step.to._replace(lease=NO_LEASE))


class NeverRescues(Rules):
    def begin(self, state: State, number: int) -> Iterator[Step]:
        if not (state.part == P.SENDING and state.lease == OVER):
            yield from super().begin(state, number)


class TakesALostReceiptForNotSent(Rules):
    def unsure(self, state: State, number: int) -> Iterator[Step]:
        yield self.closed(state, number, P.READY, A.NOT_SENT)


class SendsAgainWithoutBeingAsked(Rules):
    def after_unsure(self, state: State) -> State:
        return model.bumped(state._replace(part=P.READY))


class DropsAReceiptThatComesTooLate(Rules):
    def keep_receipt(self, state: State, number: int) -> Iterator[Step]:
        if state.workers[number].fresh:
            yield from super().keep_receipt(state, number)
        else:
            yield model.give_up(state, number)


class ReopensWhatIsDoneForALateReceipt(Rules):
    def queue(self, state: State, number: int) -> Iterator[Step]:
        if state.part == P.DONE:
            again = model.seen(state, number, "queue").to
            yield self.move(again, number, P.QUEUED, name="queue late")
        else:
            yield from super().queue(state, number)


class CallsWhatIsInDoubtNotSent(Rules):
    def after_stop(self, state: State) -> State:
        ended = super().after_stop(state)
        waits = state.stopped and state.part in (P.READY, P.HELD)
        return ended._replace(part=P.STOPPED) if waits else ended


class ForgetsTheReceiptWhenItIsAnswered(Rules):
    def closed(self, state: State, number: int, to: P, status: A) -> Step:
        step = super().closed(state, number, to, status)
        if status != A.ANSWERED or step.name != A.ANSWERED:
            return step
        at = state.workers[number].attempt
        return step._replace(to=model.changed(step.to, at, receipt=False))


MISTAKES: list[tuple[type[Rules], set[int]]] = [
    (SendsBeforeTheAttemptIsOnRecord, {3}),
    (CommitsAnAttemptOfAPartThatIsSomebodyElses, {3, 4}),
    (ClaimsWithoutTheEpoch, {3, 4, 5, 6}),
    (MovesWithoutTheEpoch, {3, 4}),
    (RescuesWithoutLookingAtTheAttempt, {3}),
    (RescuesWithoutAFence, {3}),
    (ClaimsWithoutALease, {7}),
    (NeverRescues, {7}),
    (TakesALostReceiptForNotSent, {3}),
    (SendsAgainWithoutBeingAsked, {4}),
    (DropsAReceiptThatComesTooLate, {5}),
    (ReopensWhatIsDoneForALateReceipt, {6}),
    (CallsWhatIsInDoubtNotSent, {3}),
    (ForgetsTheReceiptWhenItIsAnswered, {5}),
]


@pytest.mark.parametrize(
    ("rules", "invariants"), MISTAKES, ids=lambda one: getattr(one, "__name__", "")
)
def test_a_planted_mistake_breaks_a_promise(rules: type[Rules], invariants: set[int]) -> None:
    with pytest.raises(Violation) as found:
        explore(rules())
    assert found.value.invariant in invariants, str(found.value)
    assert found.value.path, "the steps that lead there are told"
