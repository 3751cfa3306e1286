"""What people decide about parts: about one, about all of a batch, or about all of their team."""

from collections.abc import Callable

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from batchui.batches import decisions
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import parts_phrase
from batchui.batches.states import PartStatus
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required
from batchui.web.undecided import CHOICES

# By the word for each in addresses.
DECISIONS: dict[str, Callable[..., bool]] = {
    "send-again": decisions.send_again,
    "ask-again": decisions.ask_again,
    "try-again": decisions.try_again,
    "leave-out": decisions.leave_out,
}
DECIDED = {
    "send-again": "{} sent again.",
    "ask-again": "Cloudflare is asked again about {}.",
    "try-again": "batchui tries {} again.",
    "leave-out": "{} left out.",
}


@post_only
@with_batch
def decide(request: MemberRequest, batch: Batch, number: int, choice: str) -> HttpResponseBase:
    """What to do with one part that needs a decision."""
    part = get_object_or_404(batch.parts, number=number)
    if not DECISIONS[choice](part, by=request.user):
        messages.info(
            request, f"Part {number} no longer needs a decision. This page is up to date."
        )
    return redirect(batch)


@post_only
@with_batch
def decide_all(
    request: MemberRequest, batch: Batch, question: str, choice: str
) -> HttpResponseBase:
    """What to do with all parts of a batch about which the same is asked."""
    _decide(request, batch.parts.all(), question, choice)
    return redirect(batch)


@post_only
@member_required
def decide_everywhere(request: MemberRequest, question: str, choice: str) -> HttpResponseBase:
    """What to do with all parts of the team about which the same is asked."""
    parts = Part.objects.filter(batch__team=request.team, batch__deleted_at=None)
    _decide(request, parts, question, choice)
    return redirect("batches")


def _decide(request: MemberRequest, parts: QuerySet[Part], question: str, choice: str) -> None:
    if choice not in {one.name for one in CHOICES.get(question, ())}:
        raise Http404("There is no such decision.")
    asked = parts.filter(status=PartStatus.UNSURE, question=question).select_related("batch")
    decided = sum(DECISIONS[choice](part, by=request.user) for part in asked)
    if decided:
        messages.success(request, DECIDED[choice].format(parts_phrase(decided)))
    else:
        messages.info(request, "Nothing needs this decision any more. This page is up to date.")
