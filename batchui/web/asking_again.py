"""Asking chosen rows again: those without an answer for one reason, or rows that were ticked."""

from collections.abc import Collection

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from batchui.batches import costs
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_are
from batchui.batches.sheet import asking_again
from batchui.batches.sheet.asking_again import MOST_TICKED
from batchui.batches.sheet.selection import Selection
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest

NOTHING = (
    "There was nothing to ask again. The rows may wait already, because a colleague was quicker."
)
NONE_CHOSEN = "No row is chosen that can be asked again. Nothing was changed."
# Digits of a row's number.
MOST_DIGITS = 9


@post_only
@with_batch
def ask_again(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Ask the chosen rows again."""
    means = asking_again.ask_again(batch, chosen=_chosen(request.POST), by=request.user)
    if means.rows:
        messages.success(request, f"{rows_are(means.rows)} asked again.")
    else:
        messages.info(request, NOTHING)
    return redirect(f"{batch.get_absolute_url()}?show=")


@with_batch
def confirm_ask_again(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The dialog before: how many rows they are, what becomes of their answers, what it costs."""
    chosen = _chosen(request.GET)
    means = asking_again.meaning_of(batch, chosen=chosen)
    if not means.rows or not batch.has_ended:
        return render(request, "batches/_decided_already.html", {"sentence": NONE_CHOSEN})
    is_reason = isinstance(chosen, Selection)
    context = {
        "batch": batch,
        "means": means,
        "cost": costs.cost_of({batch.pk: means.rows}),
        "reason": chosen.reason if isinstance(chosen, Selection) else "",
        "numbers": [] if is_reason else chosen,
    }
    return render(request, "sheet/_confirm_ask_again.html", context)


def _chosen(asked: QueryDict) -> Selection | Collection[int]:
    """What a form names: a reason, or the numbers of rows. What is no number is left out."""
    if reason := asked.get("reason", ""):
        return Selection(reason=reason)
    numbers = asked.getlist("rows")[: MOST_TICKED + 1]
    found = {int(one) for one in numbers if one.isascii() and one.isdecimal() and _is_short(one)}
    return sorted(found)


def _is_short(number: str) -> bool:
    return len(number) <= MOST_DIGITS
