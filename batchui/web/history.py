"""The Batches page: the team's history, newest first, what is active on top."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, QuerySet, Value, When
from django.http import HttpResponse
from django.shortcuts import render

from batchui.batches.models import Batch
from batchui.batches.states import ACTIVE_BATCHES, BatchStatus
from batchui.teams.models import User
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest, member_required

PAGE_SIZE = 25

# What the status filter offers: its word in the address, its name, and what it shows.
STATUS_FILTERS: dict[str, tuple[str, frozenset[BatchStatus]]] = {
    "active": ("Active", ACTIVE_BATCHES),
    "draft": ("Drafts", frozenset({BatchStatus.DRAFT})),
    "finished": ("Finished", frozenset({BatchStatus.FINISHED})),
    "problems": ("With problems", frozenset({BatchStatus.PROBLEMS, BatchStatus.FAILED})),
    "stopped": ("Stopped", frozenset({BatchStatus.STOPPED})),
}


@member_required
def batches(request: MemberRequest) -> HttpResponse:
    """The history, searched by name and filtered by status and person; all in the address."""
    found = _filtered(request, Batch.objects.of_team(request.team))
    found = found.select_related("created_by").order_by(
        Case(When(status__in=ACTIVE_BATCHES, then=Value(0)), default=Value(1)), "-created_at"
    )
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "page": page,
        "query": request.GET.get("q", ""),
        "status": request.GET.get("status", ""),
        "person": request.GET.get("person", ""),
        "status_filters": [(word, name) for word, (name, _) in STATUS_FILTERS.items()],
        "people": User.objects.filter(membership__team=request.team).order_by("name"),
        "filtered": any(request.GET.get(key) for key in ("q", "status", "person")),
    }
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        return render(request, "batches/_history.html", context)
    return render(request, "batches/batches.html", context)


@with_batch
def history_row(request: MemberRequest, batch: Batch) -> HttpResponse:
    """One line of the history, as long as it is active; 204 while nothing changed."""
    if request.GET.get("seen") == str(batch.version):
        return HttpResponse(status=204)
    return render(request, "batches/_history_row.html", {"batch": batch})


def _filtered(request: MemberRequest, batches: QuerySet[Batch]) -> QuerySet[Batch]:
    query = request.GET.get("q", "").replace("\0", "").strip()
    if query:
        batches = batches.filter(name__icontains=query)
    if request.GET.get("status") in STATUS_FILTERS:
        batches = batches.filter(status__in=STATUS_FILTERS[request.GET["status"]][1])
    person = request.GET.get("person", "")
    if person.isdecimal():
        batches = batches.filter(created_by=int(person[:18]))
    return batches
