"""The drafts of a team, as the history shows them: one's own, and those of colleagues."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.safestring import SafeString

from batchui.batches.models import Batch
from batchui.batches.owners import own_drafts
from batchui.batches.states import EDITABLE
from batchui.teams.models import User

# Of a fold; the filter of the history shows the others.
MOST_SHOWN = 25
# So many drafts of one's own are unfolded.
FEW = 3


@dataclass
class Fold:
    """Some drafts, the newest first. count: how many there are, shown or not.

    ids: of those that are shown. rows: their lines, as HTML.
    """

    whose: str
    title: str
    count: int
    ids: list[UUID] = field(default_factory=list)
    rows: SafeString = SafeString()  # noqa: RUF009

    @property
    def is_open(self) -> bool:
        """Whether the drafts show without unfolding them."""
        return self.whose == "mine" and self.count <= FEW

    @property
    def more(self) -> int:
        """How many there are that are not shown."""
        return self.count - len(self.ids)


def folds(batches: QuerySet[Batch], person: User) -> list[Fold]:
    """The folds that have something in them, still without rows. batches: those of the team.

    It takes three queries at most, however many drafts there are.
    """
    mine = own_drafts(person)
    drafts = batches.filter(status__in=EDITABLE)
    counted = drafts.order_by("status").values_list("status")
    counts = list(counted.annotate(mine=Count("pk", filter=mine), theirs=Count("pk", filter=~mine)))
    found = [
        Fold("mine", "Your drafts", sum(own for _, own, _ in counts)),
        Fold("theirs", "Drafts of colleagues", sum(others for *_, others in counts)),
    ]
    for fold, whose in zip(found, (mine, ~mine), strict=True):
        if fold.count:
            fold.ids = _newest(drafts.filter(whose))
    return [fold for fold in found if fold.count]


def _newest(drafts: QuerySet[Batch]) -> list[UUID]:
    """The ids of the newest of these drafts; those that are being read are among them.

    They are read along the index by status: other indexes have all batches of the team.
    """
    found = drafts.order_by("status", "-created_at").values_list("created_at", "pk")[:MOST_SHOWN]
    return [pk for _, pk in sorted(found, key=itemgetter(0), reverse=True)]


def drafts_in(found: list[Fold]) -> Iterator[UUID]:
    """The ids of all drafts that the folds show."""
    for fold in found:
        yield from fold.ids
