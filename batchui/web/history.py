"""The Batches page: the history of the team. Active batches come first, then the newest."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from batchui.batches.models import Batch, Label
from batchui.teams.models import User
from batchui.web import holds, open_questions, shared, watchers
from batchui.web.draft_folds import MOST_SHOWN, drafts_in, folds, not_drafts
from batchui.web.history_filters import MOST_FOUND, STATUS_FILTERS, Filters, chosen
from batchui.web.holds import Holds
from batchui.web.look_ups import under_way_context
from batchui.web.members import MemberRequest, member_required
from batchui.web.remembered import Remembered
from batchui.web.shared import Shared
from batchui.web.watchers import Watcher

PAGE_SIZE = 25
# What a row of the history does not show. A batch may have a megabyte of it.
LARGE = (
    *("template", "instruction", "options"),
    *("source_format", "blanks", "sample", "problem", "problem_rows", "above", "converted"),
)
# The same of the batch about which it asks further: of that one only the name is shown.
DEFERRED = (*LARGE, *(f"asked_after__{name}" for name in LARGE))
_A_MARK = re.compile(r"[0-9]{1,18}p?")
PEOPLE_AND_CHAIN = ("created_by", "started_by", "asked_after", "connection")
# In characters: of a question; a line has room for fewer.
QUESTION_SHOWN = 240
# The marks of the batches of a team that a page shows; and what is told to a page that shows these
# marks, now that they are those. Many watch the same page.
Marks = frozenset[tuple[UUID, str]]
marks = Remembered[tuple[int, frozenset[UUID]], dict[UUID, str]](1.0, most=1_000)
news = Remembered[tuple[int, Marks, Marks], Shared](shared.SECONDS, most=shared.MOST)


@member_required
def batches(request: MemberRequest) -> HttpResponse:
    """The history, filtered by words, status, person and label. The filters are in the address.

    Without a filter drafts stand in folds of their own; with one, among the others.
    """
    filters = Filters.of(request.GET)
    drafts = [] if filters else folds(_with_all(Batch.objects.of_team(request.team)), request.user)
    found = chosen(request.team, filters, Q() if filters else not_drafts())
    page = Paginator(found.ids, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = _in_order(page)
    shown = [*lines, *drafts_in(drafts)]
    context: dict[str, Any] = {
        "page": page,
        "lines": lines,
        "drafts": drafts,
        "holds": (paused := holds.of(shown)),
        "seen": _seen_query(shown, paused),
        "filters": filters,
        "is_cut": found.is_cut,
        "most_found": MOST_FOUND,
        "status_filters": [(word, name) for word, (name, _) in STATUS_FILTERS.items()],
        "team_labels": Label.objects.filter(team=request.team),
        "people": User.objects.filter(membership__team=request.team).order_by("name"),
        "questions": open_questions.of_team(request.team),
        **under_way_context(request.team),
    }
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        return render(request, "batches/_history.html", context)
    return render(request, "batches/batches.html", context)


@member_required
def changes(request: MemberRequest) -> HttpResponse:
    """The rows of the history that changed since a page showed them; 204 if none did.

    `?seen=` has each active batch on that page, with the version that it shows: see `_seen_query`.
    """
    watchers.remember(request)
    return _changes(request, request.team.pk)


def changes_at_once(request: HttpRequest, watcher: Watcher) -> HttpResponse:
    """The answer of `changes` to somebody who has watched before."""
    return _changes(request, watcher.team_id)


def _changes(request: HttpRequest, team_id: int) -> HttpResponse:
    seen = _seen(request)
    now = marks.get((team_id, frozenset(seen)), lambda: _marks_of(team_id, seen))
    if now == seen:
        return HttpResponse(status=204)
    key = (team_id, frozenset(seen.items()), frozenset(now.items()))
    return news.get(key, lambda: _news(team_id, seen)).response(request)


def _marks_of(team_id: int, wanted: Iterable[UUID]) -> dict[UUID, str]:
    """The marks of those of these batches that are there."""
    found = Batch.objects.of_team(team_id).filter(pk__in=wanted).only("status", "version")
    paused = holds.of(found)
    return {batch.pk: _mark(batch, paused) for batch in found}


def _news(team_id: int, seen: Mapping[UUID, str]) -> Shared:
    """What is told to everybody in a team whose page shows these batches with these marks."""
    found = list(_with_all(Batch.objects.of_team(team_id).filter(pk__in=seen)))
    paused = holds.of(found)
    context: dict[str, Any] = {
        "changed": [batch for batch in found if _mark(batch, paused) != seen[batch.pk]],
        "gone": seen.keys() - {batch.pk for batch in found},
        "holds": paused,
        "seen": _seen_query(found, paused),
        "questions": open_questions.of_team(team_id),
    }
    events = ["history-changed"]
    # For the pictures of the last days. One that ended has its last rows, so they come at once.
    if any(not batch.is_active for batch in found):
        events.append("batch-ended")
    return Shared.made("batches/_history_changes.html", context, *events)


def _with_all(batches: QuerySet[Batch]) -> QuerySet[Batch]:
    """The batches with all that their lines show, and nothing large."""
    question = Substr("template", 1, QUESTION_SHOWN)
    found = batches.defer(*DEFERRED).select_related(*PEOPLE_AND_CHAIN)
    return found.prefetch_related("labels").annotate(question=question)


def _in_order(ids: Iterable[UUID]) -> list[Batch]:
    """The batches with these ids, in their order."""
    wanted = list(ids)
    found = {batch.pk: batch for batch in _with_all(Batch.objects.filter(pk__in=wanted))}
    return [found[pk] for pk in wanted if pk in found]


def _mark(batch: Batch, paused: Holds) -> str:
    """A text that changes when the line of a batch must be shown again.

    Another batch may pause the connection, or end its pause; the version stays the same then.
    """
    return f"{batch.version}p" if batch.pk in paused else f"{batch.version}"


def _seen_query(batches: Iterable[Batch], paused: Holds) -> str:
    """The parameters with which a page asks for `changes`; "" if no batch is active."""
    active = [batch for batch in batches if batch.is_active]
    return urlencode([("seen", f"{batch.pk}.{_mark(batch, paused)}") for batch in active])


def _seen(request: HttpRequest) -> dict[UUID, str]:
    """What `_seen_query` wrote, as id -> mark. Anything else is ignored."""
    seen = {}
    for text in request.GET.getlist("seen")[: PAGE_SIZE + 2 * MOST_SHOWN]:
        pk, _, mark = text.partition(".")
        with suppress(ValueError):
            if _A_MARK.fullmatch(mark):
                seen[UUID(pk)] = mark
    return seen
