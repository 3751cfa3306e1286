"""Connecting something, and replacing its secret: the form, its test, and what comes of it."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches import refused
from batchui.teams import connecting, testing
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem
from batchui.teams.testing import Verdict
from batchui.web.connecting import shown
from batchui.web.connecting.kinds import KINDS, Kind, kind_of
from batchui.web.connecting.views import connection_of_team, going_on
from batchui.web.forms.connections import ConnectionForm
from batchui.web.members import MemberRequest, admin_required

# What a button of the form does.
TEST, SAVE, SAVE_UNTESTED = "test", "save", "untested"
UNTESTED = "Nothing was saved, because it could not be tested. Try again, or save it without."


@never_cache
@sensitive_post_parameters()
@admin_required
def connect(request: MemberRequest, word: str) -> HttpResponse:
    """Connect an account. It is tested first, and not saved if the test finds something wrong."""
    kind = KINDS.get(word)
    if kind is None:
        raise Http404("There is no such kind of connection.")
    form = kind.form(request.POST or None)
    return _answer(request, kind, form)


@never_cache
@sensitive_post_parameters()
@admin_required
def replace_token(request: MemberRequest, pk: int) -> HttpResponse:
    """Give a connection a new secret. What is under way goes on with it, and what waited for it."""
    connection = connection_of_team(request, pk)
    kind = kind_of(connection)
    if kind is None or not shown.one(connection).may_change:
        messages.error(request, connecting.OF_ENVIRONMENT)
        return redirect("connections")
    form = kind.form(request.POST or None, replaces=connection)
    return _answer(request, kind, form)


def _answer(request: MemberRequest, kind: Kind, form: ConnectionForm) -> HttpResponse:
    if request.method != "POST":
        return _page(request, kind, form)
    if not form.is_valid():
        return _page(request, kind, form, status=422)
    filled, does = form.filled(request.team), request.POST.get("does", SAVE)
    tested = testing.test(filled)
    if tested.wrong and (place := kind.places.get(tested.wrong)) in form.fields:
        form.add_error(place, tested.sentence)
    if does == TEST:
        return _page(request, kind, form, tested=tested, status=422 if tested.wrong else 200)
    if tested.wrong and not (tested.is_away and does == SAVE_UNTESTED):
        return _page(request, kind, form, tested=tested, status=422)
    try:
        said = _save(request, kind, form, filled, tested)
    except TeamProblem as problem:
        form.add_error(None, str(problem))
        return _page(request, kind, form, status=422)
    messages.success(request, said)
    if request.htmx:
        return HttpResponseClientRedirect(reverse("connections"))
    return redirect("connections")


def _save(
    request: MemberRequest, kind: Kind, form: ConnectionForm, filled: Connection, tested: Verdict
) -> str:
    """Store what was filled in. Returns what was done, in a sentence."""
    proven = None if tested.is_away else tested
    if form.replaces is None:
        connection = connecting.connect(filled, by=request.user, tested=proven)
    else:
        connection = connecting.replace_token(form.replaces, filled, by=request.user, tested=proven)
    released = refused.go_on(connection, proven=proven is not None)
    if form.replaces is not None:
        return f"“{connection}” has a new {kind.replaced}.{going_on(released)}"
    if connection.is_default:
        return f"“{connection}” is connected, and new batches go to it.{going_on(released)}"
    return f"“{connection}” is connected. New batches go where they went before."


def _page(
    request: MemberRequest,
    kind: Kind,
    form: ConnectionForm,
    *,
    tested: Verdict | None = None,
    status: int = 200,
) -> HttpResponse:
    template = "connections/_form.html" if request.htmx else "connections/connect.html"
    place = kind.places.get(tested.wrong) if tested and tested.wrong else None
    context = {
        "kind": kind,
        "wrong": form.fields[place].label if place in form.fields else "",
        "form": form,
        "tested": tested,
        "replaces": form.replaces,
        "untested": UNTESTED,
        "saves": request.POST.get("does", SAVE) != TEST,
    }
    return render(request, template, context, status=status)
