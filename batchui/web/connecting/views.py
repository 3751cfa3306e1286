"""The page Connections: which ones a team has, and what administrators change about them."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches import refused
from batchui.batches.phrases import parts_phrase
from batchui.cloudflare.event_queue import is_queue_id
from batchui.teams import connecting, testing
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem
from batchui.web.connecting import shown
from batchui.web.connecting.kinds import KINDS
from batchui.web.errors import post_only
from batchui.web.forms.connections import RenameForm
from batchui.web.leading import lead_to
from batchui.web.members import MemberRequest, admin_required, member_required

NO_QUEUE_ID = "The id of a queue has letters, digits and hyphens only. Nothing was changed."
EVENTS_ON = "The queue can be looked into: answers are fetched as soon as it tells of them."
EVENTS_OFF = "No queue is used. batchui asks from time to time, as before."


@member_required
def connections(request: MemberRequest) -> HttpResponse:
    """The connections of the team. Members see which one is used; administrators change them."""
    listed = shown.of_team(request.team)
    return render(
        request,
        "connections/connections.html",
        {
            "listed": listed,
            "used": next((one.connection for one in listed if one.is_used), None),
            "kinds": KINDS.values(),
            "may_change": request.membership.is_admin,
            "administrators": shown.administrators_of(request.team),
        },
    )


@post_only
@admin_required
def test(request: MemberRequest, pk: int) -> HttpResponse:
    """Test a stored connection. If it is let in again, what waited for that goes on."""
    connection = connection_of_team(request, pk)
    tested = testing.test(connection)
    connecting.record_test(connection, tested, by=request.user)
    released = None
    if tested.wrong is None and connection.refused_since is not None:
        released = refused.go_on(connection)
        connection.refresh_from_db()
    if not request.htmx:
        say = messages.error if tested.wrong else messages.success
        say(request, tested.sentence or f"“{connection}” works.")
        return redirect("connections")
    if released is not None:  # the banner goes, too
        messages.success(request, f"“{connection}” is let in again.{going_on(released)}")
        return HttpResponseClientRedirect(reverse("connections"))
    context = {
        "one": shown.one(connection),
        "tested": tested,
        "may_change": True,
    }
    return render(request, "connections/_state.html", context)


@post_only
@admin_required
def rename(request: MemberRequest, pk: int) -> HttpResponse:
    """Give a connection another name."""
    connection = connection_of_team(request, pk)
    form = RenameForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["name"][0]))
        return redirect("connections")
    return _changed(
        request,
        lambda: connecting.rename(connection, form.cleaned_data["name"], by=request.user),
        f"“{connection}” is now called “{form.cleaned_data['name']}”.",
    )


@post_only
@admin_required
def set_queue(request: MemberRequest, pk: int) -> HttpResponse:
    """Name the queue that tells of batch events, once it can be looked into; or none."""
    connection = connection_of_team(request, pk)
    queue_id = request.POST.get("queue_id", "").strip()
    problem = "" if not queue_id or is_queue_id(queue_id) else NO_QUEUE_ID
    if queue_id and not problem:
        problem = testing.problem_of_queue(connection, queue_id)
    if problem and request.htmx:
        context = {"connection": connection, "queue_id": queue_id, "problem": problem}
        return render(request, "connections/_queue_form.html", context, status=422)
    if problem:
        messages.error(request, problem)
        return redirect("connections")
    _changed(
        request,
        lambda: connecting.set_queue(connection, queue_id, by=request.user),
        EVENTS_ON if queue_id else EVENTS_OFF,
    )
    return lead_to(request, reverse("connections"))


@post_only
@admin_required
def make_default(request: MemberRequest, pk: int) -> HttpResponse:
    """Let new batches go to a connection."""
    connection = connection_of_team(request, pk)
    return _changed(
        request,
        lambda: connecting.make_default(connection, by=request.user),
        f"New batches go to “{connection}”. Those that were started stay where they are.",
    )


@post_only
@admin_required
def remove(request: MemberRequest, pk: int) -> HttpResponse:
    """Let a connection take no new batches."""
    connection = connection_of_team(request, pk)
    return _changed(
        request,
        lambda: connecting.remove(connection, by=request.user),
        f"“{connection}” was removed. Batches that were started with it go on.",
    )


def _changed(request: MemberRequest, change: Callable[[], object], said: str) -> HttpResponse:
    """Make a change, and say that it was made or why not."""
    try:
        change()
    except TeamProblem as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, said)
    return redirect("connections")


def connection_of_team(request: MemberRequest, pk: int) -> Connection:
    """The connection of the team with this number; 404 if another team has it or it is gone."""
    known = Connection.objects.filter(team=request.team, removed_at=None).select_related("team")
    return get_object_or_404(known, pk=pk)


def going_on(released: int) -> str:
    """ " 3 parts that waited go on.", or ""."""
    if not released:
        return ""
    return f" {parts_phrase(released)} that waited {'goes' if released == 1 else 'go'} on."
