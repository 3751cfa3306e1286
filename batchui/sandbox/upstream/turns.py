"""Which item of which request is asked next. Nothing here waits, and nothing is thread-safe."""

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(eq=False, slots=True, kw_only=True)
class Work:
    """A request that is being worked off.

    model: as it was asked for. since: the moment from which it waits (monotonic). fresh: positions
    of items that nobody has asked yet. later: those to ask again, each with the moment. under_way:
    items that are being asked. served: items that had a turn.
    """

    id: str
    model: str
    since: float
    fresh: deque[int]
    later: list[tuple[float, int, "Turn"]] = field(default_factory=list)
    under_way: int = 0
    served: int = 0

    @property
    def is_done(self) -> bool:
        """Whether no item is left, and none is being asked."""
        return not (self.fresh or self.later or self.under_way)

    def due(self, now: float) -> bool:
        """Whether an item can be asked now."""
        return bool(self.fresh or (self.later and self.later[0][0] <= now))


class Turn(NamedTuple):
    """An item to ask.

    tries: how often its answer could not be used. seen: how many items had been answered by the
    upstream when it last was away for this one; -1 if it never was.
    """

    work: Work
    position: int
    tries: int = 0
    seen: int = -1


class Turns:
    """The requests of one upstream, the oldest first."""

    def __init__(self) -> None:
        self._works: dict[str, Work] = {}
        self._is_oldest_next = True

    def __iter__(self) -> Iterator[Work]:
        return iter(list(self._works.values()))

    def add(self, work: Work) -> None:
        """Add a request, unless it is there."""
        self._works.setdefault(work.id, work)

    def remove_if_done(self, work: Work) -> bool:
        """Forget a request of which no item is left or under way. Returns whether it was one."""
        return work.is_done and self._works.pop(work.id, None) is not None

    def give_up(self, work: Work) -> list[int]:
        """Take all items that are left of a request. `given_up` says that this is stored."""
        left = [*work.fresh, *(position for _, position, _ in work.later)]
        work.fresh.clear()
        work.later.clear()
        work.under_way += 1
        return left

    def given_up(self, work: Work) -> None:
        """What `give_up` took is stored as failed."""
        work.under_way -= 1

    def take(self, now: float) -> Turn | None:
        """The next item to ask; None if there is none now. `back` or `settle` gives it back.

        Every other turn is the oldest request's, so that requests finish one after another, and the
        first answers are there soon. The turns between go to the one that had the fewest, so that a
        small request is not behind all large ones.
        """
        due = [work for work in self._works.values() if work.due(now)]
        if not due:
            return None
        work = due[0] if self._is_oldest_next else min(due, key=lambda one: one.served)
        self._is_oldest_next = not self._is_oldest_next
        work.served += 1
        work.under_way += 1
        # One that failed comes last, so that it stops no other if the upstream breaks down over it.
        return Turn(work, work.fresh.popleft()) if work.fresh else heapq.heappop(work.later)[2]

    def back(self, turn: Turn, *, at: float) -> None:
        """Ask an item again, from a moment on."""
        turn.work.under_way -= 1
        heapq.heappush(turn.work.later, (at, turn.position, turn))

    def settle(self, turn: Turn) -> None:
        """An item has its answer, or none for good."""
        turn.work.under_way -= 1

    def soonest(self) -> float | None:
        """The first moment at which an item is to be asked again; None if there is none."""
        return min((work.later[0][0] for work in self._works.values() if work.later), default=None)

    def count(self) -> int:
        """How many items wait for their turn."""
        return sum(len(work.fresh) + len(work.later) for work in self._works.values())
