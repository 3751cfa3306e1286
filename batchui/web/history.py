"""The Batches page: the history of the team. Active batches come first, then the newest."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Case, Q, QuerySet, Value, When
from django.http import HttpResponse
from django.shortcuts import render

from batchui.batches.models import LONGEST_NAME, Batch
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus
from batchui.teams.models import User
from batchui.web import open_questions
from batchui.web.members import MemberRequest, member_required

PAGE_SIZE = 25
# What a row of the history does not show. A batch may have a megabyte of it.
LARGE = (
    *("template", "instruction", "options"),
    *("source_format", "blanks", "sample", "problem", "problem_rows", "above", "converted"),
)
# The same of the batch about which it asks further: of that one only the name is shown.
DEFERRED = (*LARGE, *(f"asked_after__{name}" for name in LARGE))
PEOPLE_AND_CHAIN = ("created_by", "started_by", "asked_after")

# The status filter: word in the address -> name on the page, and the statuses it shows.
STATUS_FILTERS: dict[str, tuple[str, frozenset[BatchStatus]]] = {
    "active": ("Active", ACTIVE_BATCHES),
    "draft": ("Drafts", frozenset({BatchStatus.DRAFT})),
    "finished": ("Finished", frozenset({BatchStatus.FINISHED})),
    "problems": ("With problems", frozenset({BatchStatus.PROBLEMS, BatchStatus.FAILED})),
    "stopped": ("Stopped", frozenset({BatchStatus.STOPPED})),
}


@member_required
def batches(request: MemberRequest) -> HttpResponse:
    """The history, filtered by name, status and person. The filters are in the address."""
    found = _filtered(request, Batch.objects.of_team(request.team))
    found = (
        found.defer(*DEFERRED)
        .select_related(*PEOPLE_AND_CHAIN)
        .order_by(
            Case(When(status__in=ACTIVE_BATCHES, then=Value(0)), default=Value(1)), "-created_at"
        )
    )
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "page": page,
        "seen": _seen_query(page),
        "query": request.GET.get("q", ""),
        "status": request.GET.get("status", ""),
        "person": request.GET.get("person", ""),
        "status_filters": [(word, name) for word, (name, _) in STATUS_FILTERS.items()],
        "people": User.objects.filter(membership__team=request.team).order_by("name"),
        "questions": open_questions.of_team(request.team),
        "filtered": any(request.GET.get(key) for key in ("q", "status", "person")),
    }
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        return render(request, "batches/_history.html", context)
    return render(request, "batches/batches.html", context)


@member_required
def changes(request: MemberRequest) -> HttpResponse:
    """The rows of the history that changed since a page showed them; 204 if none did.

    `?seen=` has each active batch on that page, with the version that it shows: see `_seen_query`.
    """
    seen = _seen(request)
    found = list(
        Batch.objects.of_team(request.team)
        .filter(pk__in=seen)
        .defer(*DEFERRED)
        .select_related(*PEOPLE_AND_CHAIN)
    )
    context: dict[str, Any] = {
        "changed": [batch for batch in found if batch.version != seen[batch.pk]],
        "gone": seen.keys() - {batch.pk for batch in found},
        "seen": _seen_query(found),
    }
    if not context["changed"] and not context["gone"]:
        return HttpResponse(status=204)
    context["questions"] = open_questions.of_team(request.team)
    return render(request, "batches/_history_changes.html", context)


def _seen_query(batches: Iterable[Batch]) -> str:
    """The parameters with which a page asks for `changes`; "" if no batch is active."""
    active = [batch for batch in batches if batch.is_active]
    return urlencode([("seen", f"{batch.pk}.{batch.version}") for batch in active])


def _seen(request: MemberRequest) -> dict[UUID, int]:
    """What `_seen_query` wrote, as id -> version. Anything else is ignored."""
    seen = {}
    for text in request.GET.getlist("seen"):
        pk, _, version = text.partition(".")
        with suppress(ValueError):
            seen[UUID(pk)] = int(version)
    return seen


def _filtered(request: MemberRequest, batches: QuerySet[Batch]) -> QuerySet[Batch]:
    query = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_NAME]
    if query:
        batches = batches.filter(name__icontains=query)
    if request.GET.get("status") in STATUS_FILTERS:
        batches = batches.filter(status__in=STATUS_FILTERS[request.GET["status"]][1])
    person = request.GET.get("person", "")
    if person.isdecimal():
        pk = int(person[:18])
        batches = batches.filter(Q(started_by=pk) | Q(started_at=None, created_by=pk))
    return batches
