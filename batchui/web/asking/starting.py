"""Start: a draft becomes a batch, or its page says what keeps it from that."""

from math import isfinite

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget, trigger_client_event

from batchui.batches import decisions, estimates, surveys
from batchui.batches.models import Batch
from batchui.batches.money import amount
from batchui.batches.states import BatchStatus
from batchui.web.asking.price import Price
from batchui.web.asking.saving import save_typed
from batchui.web.asking.views import ask_page, check_context, price_of_draft, question_context
from batchui.web.asking.where import GOES_ELSEWHERE, goes_elsewhere
from batchui.web.before_start import unaskable_rows
from batchui.web.deleted import STARTED_ALREADY
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

READ_OTHERWISE = (
    "Nothing was started: on another page, you or a colleague changed how the file is read. Look "
    "at the first rows, then press Start again."
)


@post_only
@with_own_draft
def start(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Start a draft. A second click, or a colleague's, starts nothing.

    Nor does a page that shows the file as it was read before, or another connection.
    """
    if batch.status != BatchStatus.DRAFT:
        _explain_not_started(request, batch)
        return _to_batch(request, batch)
    form = AskForm(request.POST, batch=batch)
    if request.POST.get("read_as", batch.format_key) != batch.format_key:
        save_typed(batch, form)
        messages.info(request, READ_OTHERWISE)
        return _to_batch(request, batch)
    if elsewhere := goes_elsewhere(batch, request.POST):
        save_typed(batch, form)
        messages.info(request, GOES_ELSEWHERE.format(elsewhere))
        return _to_batch(request, batch)
    if not form.is_valid():
        if request.htmx:
            save_typed(batch, form)
            batch.refresh_from_db()
        return _refused(request, batch, form)
    save_typed(batch, form)
    batch.refresh_from_db()
    survey = surveys.survey_of(batch)
    if survey and not form.ask.skip_invalid and (why := unaskable_rows(survey)):
        form.add_error("skip_invalid", f"{' '.join(why)} Tick this to skip such rows.")
        return _refused(request, batch, form)
    price = price_of_draft(batch, survey)
    if price and estimates.needs_consent(request.team, price.estimate, agreed=_agreed(request)):
        return _ask_for_consent(request, batch, price)
    estimated = price.estimate.usd if price else None
    if not decisions.start(batch, by=request.user, ask=form.ask, estimated=estimated):
        batch.refresh_from_db()
        _explain_not_started(request, batch)
    return _to_batch(request, batch)


def _to_batch(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if request.htmx:
        return HttpResponseClientRedirect(batch.get_absolute_url())
    return redirect(batch)


def _agreed(request: MemberRequest) -> float | None:
    """The highest price to which the person has agreed; None if nobody was asked, or it is odd."""
    try:
        agreed = float(request.POST.get("agreed", ""))
    except ValueError:
        return None
    return agreed if isfinite(agreed) else None


def _ask_for_consent(request: MemberRequest, batch: Batch, price: Price) -> HttpResponse:
    """The dialog that names the price, before a batch starts that costs more than usual."""
    context = {
        "batch": batch,
        "price": price,
        "above": amount(request.team.confirm_above or 0),
        "risen": _agreed(request) is not None,
    }
    if not request.htmx:
        return render(request, "asking/confirm_price.html", context, status=409)
    response = render(request, "asking/_confirm_price.html", context)
    response = retarget(reswap(response, "innerHTML"), "#decision-detail")
    opened = {"id": "decision-dialog", "opener": "start-button"}
    return trigger_client_event(response, "opens-dialog", opened, after="swap")


def _refused(request: MemberRequest, batch: Batch, form: AskForm) -> HttpResponse:
    """The question with what is wrong in it."""
    if not request.htmx:
        return ask_page(request, batch, form=form, status=422)
    form.focus_on_first_error()
    context = check_context(batch) | question_context(request, batch, form)
    return render(request, "asking/_refused.html", context, status=422)


def _explain_not_started(request: MemberRequest, batch: Batch) -> None:
    if batch.status == BatchStatus.CHECKING:
        messages.info(request, "The file is still being read. Press Start once that is done.")
    elif batch.status == BatchStatus.DRAFT:  # it was read anew at this moment
        messages.info(request, READ_OTHERWISE)
    else:
        messages.info(request, STARTED_ALREADY)
