"""How numbers are spread: how many, the ends, the middle, and a histogram; of parts, then together.

Of a part at most POINTS of its numbers are kept, at even distances in their order. Each stands for
as many others. So the middle and the histogram of a batch are near the truth; its ends are true.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

import msgspec

POINTS = 33
# Of many parts fewer points of each are looked at, so that about so many are left.
ENOUGH = 8_000


class Spread(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """Of how many numbers, their ends and sum, and some of them in order."""

    count: int
    least: float
    most: float
    total: float
    points: list[float]


def spread_of(numbers: Sequence[float]) -> Spread | None:
    """The spread of the numbers of a part; None for no numbers."""
    if not numbers:
        return None
    ordered = sorted(numbers)
    last = len(ordered) - 1
    if last < POINTS:
        points = ordered
    else:
        points = [ordered[round(at * last / (POINTS - 1))] for at in range(POINTS)]
    return Spread(len(ordered), ordered[0], ordered[-1], sum(ordered), points)


def _weighted(spreads: Sequence[Spread]) -> list[tuple[float, float]]:
    """The points of all spreads, in order, each with how many numbers it stands for."""
    points = sum(len(one.points) for one in spreads)
    step = 1
    while step < POINTS - 1 and points > step * ENOUGH:
        step *= 2
    found: list[tuple[float, float]] = []
    for at, one in enumerate(spreads):
        # Of each part others, so that all of them together are as spread as before.
        kept = one.points[at % step :: step] if len(one.points) == POINTS else one.points
        weight = one.count / len(kept)
        found += [(point, weight) for point in kept]
    return sorted(found)


class Bin(NamedTuple):
    """A bar of a histogram: from where to where, and about how many numbers."""

    start: float
    end: float
    rows: int


class Together:
    """The spreads of several parts as one."""

    def __init__(self, spreads: Iterable[Spread]) -> None:
        listed = list(spreads)
        self.count = sum(one.count for one in listed)
        self.least = min((one.least for one in listed), default=0.0)
        self.most = max((one.most for one in listed), default=0.0)
        self.total = sum(one.total for one in listed)
        self._weighted = _weighted(listed)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def middle(self) -> float:
        """The median, about."""
        passed = 0.0
        for point, weight in self._weighted:
            passed += weight
            if passed * 2 >= self.count:
                return point
        return self.most

    def whole_histogram(self, bins: int) -> list[Bin]:
        """Of whole numbers, at most so many bars: each from a number up to another, included."""
        least = int(self.least)
        width = max(1, ceil((int(self.most) - least + 1) / bins))
        counts = [0.0] * ((int(self.most) - least) // width + 1)
        for point, weight in self._weighted:
            counts[(int(point) - least) // width] += weight
        return [
            Bin(least + at * width, least + at * width + width - 1, round(count))
            for at, count in enumerate(counts)
        ]

    def histogram(self, bins: int) -> list[Bin]:
        """So many bars of the same width; one where all numbers are the same."""
        width = (self.most - self.least) / bins
        if not width:
            return [Bin(self.least, self.most, self.count)]
        counts = [0.0] * bins
        for point, weight in self._weighted:
            counts[min(bins - 1, int((point - self.least) / width))] += weight
        return [
            Bin(self.least + at * width, self.least + (at + 1) * width, round(count))
            for at, count in enumerate(counts)
        ]
