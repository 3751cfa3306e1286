"""What the history is asked for, as its address says it: words, status, person, label."""

from dataclasses import dataclass
from typing import NamedTuple, Self
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict

from batchui.batches.models import LONGEST_NAME, Batch, SearchText
from batchui.batches.search_models import folded
from batchui.batches.states import ACTIVE_BATCHES, EDITABLE, BatchStatus
from batchui.teams.models import Team
from batchui.web import status_words
from batchui.web.history_order import InOrder
from batchui.web.holds import IS_PAUSED, MAY_BE_PAUSED

# Of the batches with the words that are searched for: only so many are shown, the newest.
MOST_FOUND = 1000
MOST_WORDS = 8
# A longer number is no id.
MOST_DIGITS = 18

# The status filter: word in the address -> name on the page, the statuses that it shows, and what
# else must be true. The names are the words of `status_words.py`.
STATUS_FILTERS: dict[str, tuple[str, frozenset[BatchStatus], Q]] = {
    "active": ("Under way", ACTIVE_BATCHES, Q()),
    "draft": (status_words.DRAFT, frozenset(EDITABLE), Q()),
    "queued": (
        status_words.QUEUED,
        frozenset({BatchStatus.PREPARING, BatchStatus.QUEUED}),
        ~IS_PAUSED,
    ),
    "running": (
        status_words.RUNNING,
        frozenset({BatchStatus.RUNNING, BatchStatus.STOPPING}),
        Q(status=BatchStatus.STOPPING) | ~IS_PAUSED,
    ),
    "paused": (
        status_words.PAUSED,
        frozenset(MAY_BE_PAUSED),
        Q(status=BatchStatus.ATTENTION) | IS_PAUSED,
    ),
    "finished": (
        status_words.FINISHED,
        frozenset({BatchStatus.FINISHED, BatchStatus.PROBLEMS, BatchStatus.FAILED}),
        Q(),
    ),
    "problems": (
        "Finished, needs attention",
        frozenset({BatchStatus.PROBLEMS, BatchStatus.FAILED}),
        Q(),
    ),
    "stopped": (status_words.STOPPED, frozenset({BatchStatus.STOPPED}), Q()),
}
_EVERYTHING = frozenset(BatchStatus)


@dataclass(frozen=True)
class Filters:
    """What is asked for; "" and None: everything. person, label: ids."""

    words: str = ""
    status: str = ""
    person: int | None = None
    label: int | None = None

    @classmethod
    def of(cls, asked: QueryDict) -> Self:
        """The filters of an address. What makes no sense is left out."""
        status = asked.get("status", "")
        return cls(
            words=asked.get("q", "").replace("\0", "").strip()[:LONGEST_NAME],
            status=status if status in STATUS_FILTERS else "",
            person=_number(asked.get("person", "")),
            label=_number(asked.get("label", "")),
        )

    def __bool__(self) -> bool:
        return self != type(self)()


class Chosen(NamedTuple):
    """The ids of the batches that fit, in the order of the page.

    is_cut: more batches have the words, and were not looked at.
    """

    ids: InOrder
    is_cut: bool = False


def chosen(team: Team, filters: Filters) -> Chosen:
    """The batches of a team that fit. Without a filter drafts are not among them.

    Counting them, and finding those of a page, takes nothing but indexes and the search texts.
    """
    batches = Batch.objects.of_team(team)
    statuses = _EVERYTHING if filters else _EVERYTHING - set(EDITABLE)
    is_cut = False
    if filters.words:
        found = _with_words(team, filters.words)
        is_cut = len(found) == MOST_FOUND
        batches = batches.filter(pk__in=found)
    if filters.status:
        _, statuses, more = STATUS_FILTERS[filters.status]
        batches = batches.filter(more)
    if filters.person is not None:
        started = Q(started_by=filters.person)
        batches = batches.filter(started | Q(started_at=None, created_by=filters.person))
    if filters.label is not None:
        batches = batches.filter(labels=filters.label)
    # What depends on more than a status is counted each time.
    is_plain = filters == Filters(status=filters.status)
    key = (team.pk, filters.status) if is_plain else None
    return Chosen(InOrder(batches, statuses, key), is_cut)


def _with_words(team: Team, words: str) -> list[UUID]:
    """The newest batches of a team whose texts have all these words, deleted ones too."""
    found = SearchText.objects.filter(team=team)
    for word in folded(words).split()[:MOST_WORDS]:
        found = found.filter(text__contains=word)
    return list(found.order_by("-pk").values_list("batch_id", flat=True)[:MOST_FOUND])


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
