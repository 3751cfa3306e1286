"""Asking chosen rows again: those that need attention for one reason, or rows that were ticked."""

from collections.abc import Collection
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render

from batchui.batches import costs
from batchui.batches.models import Batch
from batchui.batches.phrases import rows_are
from batchui.batches.sheet import asking_again
from batchui.batches.sheet.asking_again import MOST_TICKED, AskAgain, longer_answers
from batchui.batches.sheet.selection import Selection
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest

NOTHING = (
    "There was nothing to ask again. The rows may wait already, because a colleague was quicker."
)
NONE_CHOSEN = "No row is chosen that can be asked again. Nothing was changed."
NO_SUCH_LIMIT = (
    "The longest answer is a number of tokens from {:,} to {:,}. Nothing was asked again."
)
# Digits of a row's number.
MOST_DIGITS = 9


class Limits(NamedTuple):
    """How long answers may be, in tokens: as long as before, at most, and as suggested."""

    least: int
    most: int
    suggested: int


@post_only
@with_batch
def ask_again(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Ask the chosen rows again, if wanted with a longer answer."""
    given = request.POST.get("longest", "").strip()
    allowed = longer_answers(batch) if given else None
    longest = int(given) if _is_number(given) else 0
    if allowed and longest not in allowed:
        messages.error(request, NO_SUCH_LIMIT.format(allowed[0], allowed[-1]))
        return redirect("attention", pk=batch.pk)
    means = asking_again.ask_again(
        batch,
        chosen=_chosen(request.POST),
        by=request.user,
        longest=longest if allowed and longest > allowed[0] else None,
    )
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
    limits = _limits(batch, means)
    context = {
        "batch": batch,
        "means": means,
        "limits": limits,
        "cost": costs.cost_of({batch.pk: means.rows}, longest=limits and limits.suggested),
        "reason": chosen.reason if isinstance(chosen, Selection) else "",
        "numbers": [] if is_reason else chosen,
    }
    return render(request, "sheet/_confirm_ask_again.html", context)


def _chosen(asked: QueryDict) -> Selection | Collection[int]:
    """What a form names: a reason, or the numbers of rows. What is no number is left out."""
    if reason := asked.get("reason", ""):
        return Selection(reason=reason)
    numbers = asked.getlist("rows")[: MOST_TICKED + 1]
    return sorted({int(one) for one in numbers if _is_number(one)})


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS


def _limits(batch: Batch, means: AskAgain) -> Limits | None:
    """The limits of the answers, where rows need longer ones and can have them."""
    allowed = longer_answers(batch) if means.short else None
    if allowed is None:
        return None
    return Limits(allowed[0], allowed[-1], min(2 * allowed[0], allowed[-1]))
