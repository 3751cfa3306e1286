"""The drafts of a team, as the history shows them: one's own, and those of colleagues."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from django.db.models import Count, Q, QuerySet

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
    """Some drafts, the newest first. count: how many there are, shown or not."""

    whose: str
    title: str
    count: int
    batches: list[Batch] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether the drafts show without unfolding them."""
        return self.whose == "mine" and self.count <= FEW

    @property
    def more(self) -> int:
        """How many there are that are not shown."""
        return self.count - len(self.batches)


def folds(batches: QuerySet[Batch], person: User) -> list[Fold]:
    """The folds that have something in them. batches: those of the team.

    It takes three queries at most, however many drafts there are.
    """
    mine = own_drafts(person)
    drafts = batches.filter(status__in=EDITABLE)
    counts = drafts.aggregate(mine=Count("pk", filter=mine), theirs=Count("pk", filter=~mine))
    found = [
        Fold("mine", "Your drafts", counts["mine"]),
        Fold("theirs", "Drafts of colleagues", counts["theirs"]),
    ]
    for fold, whose in zip(found, (mine, ~mine), strict=True):
        if fold.count:
            fold.batches = list(drafts.filter(whose).order_by("-created_at")[:MOST_SHOWN])
    return [fold for fold in found if fold.count]


def drafts_in(found: list[Fold]) -> Iterator[Batch]:
    """All drafts that the folds show."""
    for fold in found:
        yield from fold.batches


def not_drafts() -> Q:
    """For queries of batches: those that stand in the history itself."""
    return ~Q(status__in=EDITABLE)
