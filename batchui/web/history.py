"""The Batches page: the history of the team. Active batches come first, then the newest."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe

from batchui.batches.models import Batch, Label
from batchui.teams.models import Team, User
from batchui.web import holds, open_questions, shared, watchers
from batchui.web.draft_folds import MOST_SHOWN, drafts_in, folds
from batchui.web.history_filters import MOST_FOUND, STATUS_FILTERS, Filters, chosen
from batchui.web.history_lines import Line, lines_of
from batchui.web.history_row import rows_of
from batchui.web.holds import Holds
from batchui.web.look_ups import under_way_context
from batchui.web.members import MemberRequest, member_required
from batchui.web.remembered import Remembered
from batchui.web.shared import News, Shared
from batchui.web.watchers import Watcher

PAGE_SIZE = 25
_A_MARK = re.compile(r"[0-9]{1,18}p?")
# The marks of the batches of a team that a page shows; and what is told to a page that shows these
# marks, now that they are those. Many watch the same page.
Marks = frozenset[tuple[UUID, str]]
marks = Remembered[tuple[int, frozenset[UUID]], dict[UUID, str]](1.0, most=1_000)
news = News[tuple[int, Marks, Marks]](
    "history", lambda key: f"{key[0]} {sorted(key[1])} {sorted(key[2])}"
)


@member_required
def batches(request: MemberRequest) -> HttpResponse:
    """The history, filtered by words, status, person and label. The filters are in the address.

    Without a filter drafts stand in folds of their own; with one, among the others.
    """
    filters = Filters.of(request.GET)
    drafts = [] if filters else folds(Batch.objects.of_team(request.team), request.user)
    found = chosen(request.team, filters)
    page = Paginator(found.ids, PAGE_SIZE).get_page(request.GET.get("page"))
    lines = lines_of(Batch.objects.filter(pk__in=[*page, *drafts_in(drafts)]))
    shown = [line.batch for line in lines.values()]
    paused = holds.of(shown)
    for fold in drafts:
        fold.rows = _rows(fold.ids, lines, paused)
    context: dict[str, Any] = {
        "page": page,
        "rows": _rows(page, lines, paused),
        "drafts": drafts,
        "seen": _seen_query(shown, paused),
        "filters": filters,
        "is_cut": found.is_cut,
        "most_found": MOST_FOUND,
        "status_filters": [(word, name) for word, (name, *_) in STATUS_FILTERS.items()],
        "team_labels": Label.objects.filter(team=request.team),
        "people": _people(request.team),
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
    return news.get(key, lambda: _news(team_id, seen, now)).response(request)


def _marks_of(team_id: int, wanted: Iterable[UUID]) -> dict[UUID, str]:
    """The marks of those of these batches that are there."""
    found = Batch.objects.of_team(team_id).filter(pk__in=wanted).only("status", "version")
    paused = holds.of(found)
    return {batch.pk: _mark(batch, paused) for batch in found}


class _Lines:
    """Lines of the history as they are now, and what is told with them: read and rendered once for
    all pages, whatever each of them showed before.
    """

    def __init__(self, team_id: int, wanted: Iterable[UUID]) -> None:
        self.of_batch = lines_of(Batch.objects.of_team(team_id).filter(pk__in=wanted))
        batches = [line.batch for line in self.of_batch.values()]
        self._paused = holds.of(batches)
        self._rendered: dict[UUID, SafeString] = {}
        self.marks = {batch.pk: _mark(batch, self._paused) for batch in batches}
        self.seen = _seen_query(batches, self._paused)
        self.questions = open_questions.of_team(team_id)
        self.some_ended = any(not batch.is_active for batch in batches)

    def other_than(self, seen: Mapping[UUID, str]) -> SafeString:
        """The rows of those that have another mark."""
        return mark_safe(  # noqa: S308
            "".join(self._row(pk) for pk, mark in self.marks.items() if mark != seen.get(pk))
        )

    def _row(self, pk: UUID) -> SafeString:
        if pk not in self._rendered:
            self._rendered[pk] = rows_of([self.of_batch[pk]], self._paused, oob=True)
        return self._rendered[pk]


current = Remembered[tuple[int, Marks], _Lines](shared.SECONDS, most=100)


def _news(team_id: int, seen: Mapping[UUID, str], now: Mapping[UUID, str]) -> Shared:
    """What is told to everybody in a team whose page shows these batches with these marks.

    now: the marks that they have.
    """
    key = (team_id, frozenset(now.items()))
    lines = current.get(key, lambda: _Lines(team_id, now))
    context: dict[str, Any] = {
        "rows": lines.other_than(seen),
        "gone": seen.keys() - lines.marks.keys(),
        "seen": lines.seen,
        "questions": lines.questions,
    }
    events = ["history-changed"]
    # For the pictures of the last days. One that ended has its last rows, so they come at once.
    if lines.some_ended:
        events.append("batch-ended")
    return Shared.made("batches/_history_changes.html", context, *events)


def _rows(ids: Iterable[UUID], lines: Mapping[UUID, Line], paused: Holds) -> SafeString:
    """The rows of these batches, in their order. One that has just gone has no line any more."""
    return rows_of((lines[pk] for pk in ids if pk in lines), paused)


def _people(team: Team) -> list[tuple[int, str]]:
    """Who is in a team: their ids and names."""
    people = User.objects.filter(membership__team=team).order_by("name")
    return list(people.values_list("pk", "name"))


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
