"""Whether an upstream answers now, and when one that does not is tried again.

Nothing here waits, and nothing is thread-safe. Moments are those of the monotonic clock.
"""

from dataclasses import dataclass

from batchui.sandbox.upstream.outcomes import Answered, Away, Faulty, Outcome, Refusing, Unaskable
from batchui.sandbox.upstream.turns import Turn

TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait, in seconds.

    first: before an upstream that is away is tried again; each next pause is twice as long, up to
    `longest`. refusing: before one that refuses is tried again. between_tries: before an item whose
    answer could not be used is asked again; twice as long before the third time. give_up: after so
    long without any answer, what is left of a request has failed. run: for a synchronous run, with
    its wait for a free place.
    """

    first: float = 1.0
    longest: float = 30.0
    refusing: float = 60.0
    between_tries: float = 1.0
    give_up: float = 6 * 3_600.0
    run: float = 120.0


class Pause:
    """The time in which an upstream is asked nothing, and then one item at a time.

    reason: why, in words. needs_person: it refuses. since: when it began. until: when the next try
    may be. asked_for: whether the upstream itself asked to wait until then. being_tried: whether an
    item is under way that may end it.
    """

    def __init__(self, why: Away | Refusing, *, now: float, patience: Patience) -> None:
        self.since = now
        self.until = now
        self.reason = why.reason
        self.needs_person = False
        self.asked_for = False
        self.being_tried = False
        self._tries = 0
        self._patience = patience
        self._note(why, now)

    def again(self, why: Away | Refusing, *, now: float) -> None:
        """The try at its end brought nothing either."""
        self.being_tried = False
        self._tries += 1
        self._note(why, now)

    def longer(self, why: Away | Refusing, *, now: float) -> None:
        """Another item, under way since before it began, came back without an answer, too."""
        if isinstance(why, Away) and why.wait is not None:
            self.until = max(self.until, now + why.wait)

    def _note(self, why: Away | Refusing, now: float) -> None:
        self.reason = why.reason
        self.needs_person = isinstance(why, Refusing)
        self.asked_for = isinstance(why, Away) and why.wait is not None
        self.until = now + self._seconds(why)

    def _seconds(self, why: Away | Refusing) -> float:
        patience = self._patience
        if isinstance(why, Refusing):
            return patience.refusing
        if why.wait is not None:
            return max(why.wait, patience.first)
        return float(min(patience.first * 2 ** min(self._tries, 30), patience.longest))


class Weather:
    """What the outcomes of calls say about the upstream. pause: None while it answers."""

    def __init__(self, patience: Patience) -> None:
        self.pause: Pause | None = None
        self._patience = patience
        self._answered = 0

    def note(self, outcome: Outcome, *, began_in: Pause | None, now: float) -> None:
        """A call has ended. began_in: the pause at whose end it was made, if there was one.

        What was asked before the pause neither ends it nor makes the next one longer.
        """
        is_trial = began_in is self.pause
        if isinstance(outcome, Answered):
            self._answered += 1
        if isinstance(outcome, Unaskable):
            if self.pause and is_trial:
                self.pause.being_tried = False  # for nothing was tried
        elif not isinstance(outcome, Away | Refusing):
            self.pause = None if is_trial else self.pause
        elif self.pause is None:
            self.pause = Pause(outcome, now=now, patience=self._patience)
        elif is_trial:
            self.pause.again(outcome, now=now)
        else:
            self.pause.longer(outcome, now=now)

    def again(self, turn: Turn, outcome: Outcome) -> tuple[Turn, float] | None:
        """The turn in which an item is asked again, and in how many seconds; None if it is not.

        Call it before `note`.
        """
        if isinstance(outcome, Refusing):
            return turn, 0
        if isinstance(outcome, Away):
            # If others were answered since the upstream was away for this item, that is to blame.
            if not outcome.asked or not 0 <= turn.seen < self._answered:
                return turn._replace(seen=self._answered if outcome.asked else turn.seen), 0
        elif not isinstance(outcome, Faulty):
            return None
        if turn.tries + 1 >= TRIES:
            return None
        wait = self._patience.between_tries * 2**turn.tries
        return turn._replace(tries=turn.tries + 1), wait

    def hopeless(self, since: float, *, now: float) -> str:
        """Why a request that waits `since` then has waited for too long; "" if it has not."""
        longest = self._patience.give_up
        if self.pause is None or now - max(self.pause.since, since) < longest:
            return ""
        hours = f"{longest / 3600:g} hours" if longest >= 3600 else f"{longest:g} seconds"
        return f"{self.pause.reason}. It was tried for {hours}"
