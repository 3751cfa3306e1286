"""Where a draft goes: the line in the bar, and choosing another connection for it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches import goes_to
from batchui.batches.models import Batch
from batchui.teams.models import Connection
from batchui.web.asking.saving import save_typed
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

GOES_ELSEWHERE = (
    "Nothing was started: meanwhile somebody changed where this batch goes. It goes to “{}” now. "
    "Look at the price, then press Start again."
)
NOT_CHOSEN = "Nothing was changed: this batch was started, or nothing can be sent there any more."


def where_context(batch: Batch) -> dict[str, Any]:
    """The connection that a draft goes to, and those that it could go to instead."""
    now = goes_to.connection_of(batch)
    return {"goes_to": now, "could_go_to": goes_to.choices(batch, now)}


def goes_elsewhere(batch: Batch, posted: QueryDict) -> Connection | None:
    """The connection that a draft goes to, if the page that was sent shows another one."""
    shown, now = posted.get("goes_to"), goes_to.connection_of(batch)
    return None if shown is None or shown == str(now.pk) else now


@post_only
@with_own_draft
def choose(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Choose the connection of a draft. What is typed is saved; the page comes with its prices."""
    save_typed(batch, AskForm(request.POST, batch=batch))
    chosen = request.POST.get("choose", "")
    known = Connection.objects.filter(team=request.team, pk=chosen) if chosen.isdigit() else None
    connection = known.first() if known is not None else None
    if connection is None or not goes_to.choose(batch, connection):
        messages.error(request, NOT_CHOSEN)
    if request.htmx:
        return HttpResponseClientRedirect(batch.get_absolute_url())
    return redirect(batch)
