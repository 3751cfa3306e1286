"""The batches of a history by their places: what is under way is first, then the newest.

Each of the two is read along an index, from the nearer end, so that no page of 100,000 batches has
to sort them. To count so many takes longer than to show a page; such a count is kept for a while.
"""

import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import overload
from uuid import UUID

from django.db.models import Count, QuerySet

from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus

# From so many batches on a count is kept, and for so many seconds: as long, what has ended, was
# started or was deleted meanwhile may be missing in it, and in nothing else that a page shows.
KEPT_FROM = 10_000
KEPT_SECONDS = 10
_EVERYTHING = frozenset(BatchStatus)
# Of more than so many histories no count is kept.
_MOST_KEPT = 1_000

_kept: dict[Hashable, tuple[float, int]] = {}


@dataclass(frozen=True)
class InOrder(Sequence[UUID]):
    """The ids of batches; those of a page are read when it is asked for.

    batches: which fit, whatever their status. statuses: those that are shown. key: what a count is
    kept by; None: each time they are counted.
    """

    batches: QuerySet[Batch]
    statuses: frozenset[BatchStatus]
    key: Hashable = None

    def __len__(self) -> int:
        return len(self._active) + self._others

    @overload
    def __getitem__(self, place: int) -> UUID: ...

    @overload
    def __getitem__(self, place: slice) -> list[UUID]: ...

    def __getitem__(self, place: int | slice) -> UUID | list[UUID]:
        """The id at a place, or those of a page. Raises IndexError, as a list does."""
        if not isinstance(place, slice):
            at = range(len(self))[place]
            return self._between(at, at + 1)[0]
        first, last, _ = place.indices(len(self))
        return self._between(first, last)

    def _between(self, first: int, last: int) -> list[UUID]:
        """Those at the places from the first one up to the last, which is not among them."""
        under_way = len(self._active)
        found = self._active[first:last]
        if last > under_way:
            found += self._after(max(0, first - under_way), last - under_way)
        return found

    @cached_property
    def _active(self) -> list[UUID]:
        """All that are under way: never many. In the order of an index, so that it is used."""
        if not (statuses := self.statuses & ACTIVE_BATCHES):
            return []
        found = self.batches.filter(status__in=sorted(statuses)).order_by("status", "-created_at")
        newest = sorted(found.values_list("created_at", "pk"), key=itemgetter(0), reverse=True)
        return [pk for _, pk in newest]

    @cached_property
    def _others(self) -> int:
        """How many there are that are not under way."""
        if not (statuses := self.statuses - ACTIVE_BATCHES):
            return 0
        if self.key is None:
            return self._walk.count()
        until, count = _kept.get(self.key, (0, 0))
        if time.monotonic() < until:
            return count
        found = self.batches.filter(status__in=sorted(statuses)).order_by("status")
        count = sum(number for _, number in found.values_list("status").annotate(Count("pk")))
        if count >= KEPT_FROM:
            _keep(self.key, count)
        return count

    @property
    def _walk(self) -> QuerySet[Batch]:
        """Those that are not under way, in the order in which the history is read.

        Those of one status are read along its index, all others along that of the history, where
        those that do not fit are left out.
        """
        statuses = self.statuses - ACTIVE_BATCHES
        if len(statuses) == 1:
            return self.batches.filter(status__in=statuses).order_by("-created_at")
        unfit = _EVERYTHING - statuses
        return self.batches.exclude(status__in=sorted(unfit)).order_by("-created_at")

    def _after(self, first: int, last: int) -> list[UUID]:
        """Those that are not under way, by their places among themselves."""
        ids = self._walk.values_list("pk", flat=True)
        if first <= self._others // 2:
            return list(ids[first:last])
        return list(ids.reverse()[max(0, self._others - last) : self._others - first])[::-1]


def _keep(key: Hashable, count: int) -> None:
    if len(_kept) >= _MOST_KEPT:
        _kept.clear()
    _kept[key] = (time.monotonic() + KEPT_SECONDS, count)
