"""Trying a draft's question on a few rows: what is pressed, and the answers as they come."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRefresh, trigger_client_event

from batchui.batches import decisions, surveys, tries
from batchui.batches.models import Batch, Try
from batchui.batches.owners import may_edit
from batchui.batches.try_rows import Which
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.problems import BadInput
from batchui.web.access import with_batch
from batchui.web.asking.price import price_of
from batchui.web.asking.saving import save_typed
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft
from batchui.web.trying.columns import TryColumns

NO_SUCH = "There is no such try any more. Reload the page."
UNDER_WAY = "This try is under way. Stop it first."
NO_SUCH_CHOICE = "These rows cannot be tried."
# Characters of the list of ticked rows, and digits of a number in it.
MOST_TICKED, LONGEST_NUMBER = 1_000, 9


@post_only
@with_own_draft
def begin(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Try the question as it is typed. It is saved in the draft, too."""
    form = AskForm(request.POST, batch=batch)
    save_typed(batch, form)
    batch.refresh_from_db()
    earliest = tries.of(batch).first()
    try:
        if problem := _problem(form):
            raise BadInput(problem)
        tries.begin(
            batch, by=request.user, ask=batch.ask, which=_which(request), numbers=_ticked(request)
        )
    except (BadInput, UnknownModel) as problem:
        return _refused(request, batch, str(problem))
    still = earliest and tries.of(batch).filter(pk=earliest.pk).exists()
    return _changed(request, batch, gone=earliest.number if earliest and not still else None)


def _problem(form: AskForm) -> str:
    """What is wrong with the question; rows that cannot be asked do not matter for a try."""
    names = [name for name in form.errors if name not in ("skip_invalid", "name", "__all__")]
    return str(form.errors[names[0]][0]) if names else ""


def _which(request: MemberRequest) -> Which:
    try:
        return Which(request.POST.get("which", Which.FIRST))
    except ValueError:
        raise BadRequest(NO_SUCH_CHOICE) from None


def _ticked(request: MemberRequest) -> list[int]:
    ticked = request.POST.getlist("rows")[:MOST_TICKED]
    return [
        int(one)
        for one in ticked
        if one.isascii() and one.isdecimal() and len(one) <= LONGEST_NUMBER
    ]


def _refused(request: MemberRequest, batch: Batch, sentence: str) -> HttpResponseBase:
    if not request.htmx:
        messages.error(request, sentence)
        return redirect(batch)
    return _bar(request, batch, sentence)


def _changed(request: MemberRequest, batch: Batch, *, gone: int | None = None) -> HttpResponseBase:
    """The button, after the columns have changed: the sheet is loaded again.

    gone: the number of the try whose place a new one took.
    """
    if not request.htmx:
        return redirect(batch)
    return trigger_client_event(_bar(request, batch, gone=gone), "tries-changed")


def _bar(
    request: MemberRequest, batch: Batch, sentence: str = "", *, gone: int | None = None
) -> HttpResponse:
    context = {
        "batch": batch,
        "tried": TryColumns.of(batch, is_free=request.is_free),
        "try_problem": sentence,
        "gone": gone,
    }
    return render(request, "trying/_bar.html", context, status=422 if sentence else 200)


@with_batch
def live(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The answers that have come; 204 if there is none since what `?seen=` names."""
    seen, tried = request.GET.get("seen", ""), TryColumns.of(batch, is_free=request.is_free)
    if seen == tried.seen:
        return HttpResponse(status=204)
    is_same_try = tried.is_of_the_same_try(seen)
    context: dict[str, Any] = {
        "batch": batch,
        "tried": tried,
        "changed": tried.columns[-1:] if is_same_try else [],
        "cells": tried.cells_since(seen) if is_same_try else [],
        "may_try": may_edit(batch, request.user),
    }
    if not tried.under_way:  # now it is known how long answers are
        context["price"] = price_of(batch, surveys.survey_of(batch))
    response = render(request, "trying/_live.html", context)
    # A try was begun or removed elsewhere: this sheet has other columns, and is loaded again.
    return response if is_same_try else trigger_client_event(response, "tries-changed")


@post_only
@with_own_draft
def stop(request: MemberRequest, batch: Batch, number: int) -> HttpResponseBase:
    """Ask no more rows of a try."""
    tries.stop(_try_of(batch, number))
    return _bar(request, batch) if request.htmx else redirect(batch)


@post_only
@with_own_draft
def remove(request: MemberRequest, batch: Batch, number: int) -> HttpResponseBase:
    """Remove a try, with its answers."""
    if not tries.remove(_try_of(batch, number)):
        return _refused(request, batch, UNDER_WAY)
    return _changed(request, batch)


@post_only
@with_own_draft
def use(request: MemberRequest, batch: Batch, number: int) -> HttpResponseBase:
    """Take the wording and the settings of a try back into the draft."""
    if decisions.edit(batch, ask=_try_of(batch, number).ask):
        messages.success(request, f"The question is that of try {number} again.")
    return HttpResponseClientRefresh() if request.htmx else redirect(batch)


def _try_of(batch: Batch, number: int) -> Try:
    found = tries.of(batch).filter(number=number).first()
    if found is None:
        raise Http404(NO_SUCH)
    return found
