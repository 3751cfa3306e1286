"""What the history is asked for, as its address says it: words, status, person, label."""

from dataclasses import dataclass
from typing import NamedTuple, Self
from uuid import UUID

from django.db.models import Case, Q, QuerySet, Value, When
from django.http import QueryDict

from batchui.batches.models import LONGEST_NAME, Batch, SearchText
from batchui.batches.search_models import folded
from batchui.batches.states import ACTIVE_BATCHES, EDITABLE, BatchStatus
from batchui.teams.models import Team
from batchui.web import status_words
from batchui.web.holds import IS_PAUSED

# Of the batches with the words that are searched for: only so many are shown, the newest.
MOST_FOUND = 1000
MOST_WORDS = 8
# A longer number is no id.
MOST_DIGITS = 18

_PAUSED = Q(status=BatchStatus.ATTENTION) | IS_PAUSED
_QUEUED = Q(status__in=(BatchStatus.PREPARING, BatchStatus.QUEUED)) & ~IS_PAUSED
_RUNNING = (Q(status=BatchStatus.RUNNING) & ~IS_PAUSED) | Q(status=BatchStatus.STOPPING)
_PROBLEMS = Q(status__in=(BatchStatus.PROBLEMS, BatchStatus.FAILED))

# The status filter: word in the address -> name on the page, and what it shows. The names are the
# words of `status_words.py`.
STATUS_FILTERS: dict[str, tuple[str, Q]] = {
    "active": ("Under way", Q(status__in=ACTIVE_BATCHES)),
    "draft": (status_words.DRAFT, Q(status__in=EDITABLE)),
    "queued": (status_words.QUEUED, _QUEUED),
    "running": (status_words.RUNNING, _RUNNING),
    "paused": (status_words.PAUSED, _PAUSED),
    "finished": (status_words.FINISHED, Q(status=BatchStatus.FINISHED) | _PROBLEMS),
    "problems": ("Finished, needs attention", _PROBLEMS),
    "stopped": (status_words.STOPPED, Q(status=BatchStatus.STOPPED)),
}
# What is under way is first, then the newest.
_ORDER = (Case(When(status__in=ACTIVE_BATCHES, then=Value(0)), default=Value(1)), "-created_at")


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

    ids: QuerySet[Batch, UUID]
    is_cut: bool = False


def chosen(team: Team, filters: Filters, among: Q) -> Chosen:
    """The batches of a team that fit. among: those that are looked at.

    Counting them, and finding those of a page, takes nothing but indexes and the search texts.
    """
    batches = Batch.objects.of_team(team).filter(among)
    is_cut = False
    if filters.words:
        found = _with_words(team, filters.words)
        is_cut = len(found) == MOST_FOUND
        batches = batches.filter(pk__in=found)
    if filters.status:
        batches = batches.filter(STATUS_FILTERS[filters.status][1])
    if filters.person is not None:
        started = Q(started_by=filters.person)
        batches = batches.filter(started | Q(started_at=None, created_by=filters.person))
    if filters.label is not None:
        batches = batches.filter(labels=filters.label)
    return Chosen(batches.order_by(*_ORDER).values_list("pk", flat=True), is_cut)


def _with_words(team: Team, words: str) -> list[UUID]:
    """The newest batches of a team whose texts have all these words, deleted ones too."""
    found = SearchText.objects.filter(team=team)
    for word in folded(words).split()[:MOST_WORDS]:
        found = found.filter(text__contains=word)
    return list(found.order_by("-pk").values_list("batch_id", flat=True)[:MOST_FOUND])


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None
