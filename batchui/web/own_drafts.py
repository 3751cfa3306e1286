"""A draft is its author's: colleagues read it, and copy it to a draft of their own."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches.models import Batch
from batchui.batches.owners import may_edit
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest

P = ParamSpec("P")

NOT_YOURS = "This draft is {}’s, so nothing was changed. Copy it to a draft of yours to go on."


def with_own_draft(
    view: Callable[Concatenate[MemberRequest, Batch, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Like `with_batch`; and a colleague's draft is not changed: its page says why."""

    @wraps(view)
    def wrapped(
        request: MemberRequest, batch: Batch, /, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        if may_edit(batch, request.user):
            return view(request, batch, *args, **kwargs)
        whose = batch.created_by.name if batch.created_by else "a colleague"
        messages.error(request, NOT_YOURS.format(whose))
        if request.htmx:
            return HttpResponseClientRedirect(batch.get_absolute_url())
        return redirect(batch)

    return with_batch(wrapped)
