"""Look up a request: its form, its page while it is under way, and those of the team."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from batchui.batches import look_ups
from batchui.batches.look_up_models import LookUp
from batchui.batches.look_ups import WrongField
from batchui.batches.models import Batch
from batchui.teams.models import Team
from batchui.web.errors import post_only
from batchui.web.forms.look_up import LookUpForm
from batchui.web.leading import lead_to
from batchui.web.members import MemberRequest, member_required

# Of look-ups under way, in the history.
MOST_SHOWN = 20


@member_required
def begin(request: MemberRequest) -> HttpResponse:
    """The form. What was looked up before leads to it, or to its batch."""
    if request.method != "POST":
        names = ("request_id", "model", "connection")
        known = {name: request.GET[name] for name in names if name in request.GET}
        return _form(request, LookUpForm(team=request.team, initial=known))
    form = LookUpForm(request.POST, team=request.team)
    if not form.is_valid():
        return _form(request, form, status=422)
    asked = form.cleaned_data
    try:
        found = look_ups.begin(team=request.team, by=request.user, **asked)
    except WrongField as wrong:
        form.add_error(wrong.field, str(wrong))
        return _form(request, form, status=422)
    if isinstance(found, Batch):
        messages.info(request, "The answers to this request are here already.")
        return lead_to(request, found.get_absolute_url())
    return lead_to(request, reverse("look_up", args=[found.pk]))


def _form(request: MemberRequest, form: LookUpForm, status: int = 200) -> HttpResponse:
    template = "look_ups/_form.html" if request.htmx else "look_ups/begin.html"
    return render(request, template, {"form": form}, status=status)


@member_required
def look_up(request: MemberRequest, pk: UUID) -> HttpResponse:
    """How far a request is, until its answers are a batch: then that."""
    found = _of_team(request, pk)
    if found.batch is not None:
        return lead_to(request, found.batch.get_absolute_url())
    template = "look_ups/_state.html" if request.htmx else "look_ups/look_up.html"
    return render(request, template, {"look_up": found})


@post_only
@member_required
def look_again(request: MemberRequest, pk: UUID) -> HttpResponse:
    """Look after one that has ended once more."""
    look_ups.look_again(_of_team(request, pk))
    return lead_to(request, reverse("look_up", args=[pk]))


@post_only
@member_required
def forget(request: MemberRequest, pk: UUID) -> HttpResponseBase:
    """Look after one no more."""
    if look_ups.forget(_of_team(request, pk)):
        messages.success(request, "This request is not looked up any more.")
    return lead_to(request, reverse("batches"))


@member_required
def under_way(request: MemberRequest) -> HttpResponse:
    """Those of the team, above the history. `?seen=` names those that the page has shown so far."""
    seen = []
    for text in request.GET.getlist("seen")[:MOST_SHOWN]:
        with suppress(ValueError):
            seen.append(UUID(text))
    context = under_way_context(request.team, seen)
    return render(request, "look_ups/_under_way.html", context)


def under_way_context(team: Team, seen: Sequence[UUID] = ()) -> dict[str, Any]:
    """What is under way, what has ended of those that a page has `seen`, and both as a query."""
    found = list(look_ups.open_of(team)[:MOST_SHOWN])
    ended = []
    if seen:
        shown = LookUp.objects.filter(team=team, pk__in=seen).select_related("batch", "created_by")
        ended = list(shown.exclude(pk__in=[one.pk for one in found]))
    query = urlencode([("seen", one.pk) for one in (*found, *ended)])
    return {"look_ups": found, "ended": ended, "look_ups_seen": query}


def _of_team(request: MemberRequest, pk: UUID) -> LookUp:
    return get_object_or_404(
        LookUp.objects.select_related("batch", "connection", "created_by"),
        pk=pk,
        team=request.team,
    )
