"""Finds the batch that an address names. If it is not there, a page says why."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django_htmx.http import HttpResponseClientRefresh

from batchui import security_log
from batchui.batches import goes_to
from batchui.batches.models import Batch
from batchui.batches.owners import may_delete
from batchui.batches.states import EDITABLE
from batchui.teams.models import Connection
from batchui.web.members import MemberRequest, member_required

P = ParamSpec("P")

NOT_FOUND = (
    "There is no such batch in your team. The address may be incomplete, or the batch belongs to "
    "another team."
)


def _how_deleted(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    is_kept = batch.kept_until is not None and batch.kept_until > timezone.now()
    is_theirs = is_kept and may_delete(batch, request.user)
    return {"batch": batch, "is_kept": is_kept, "may_bring_back": is_theirs}


def gone(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The answer for a deleted batch; what a page asks by itself loads it anew."""
    if request.htmx:
        return HttpResponseClientRefresh()
    return render(request, "batches/deleted.html", _how_deleted(request, batch), status=410)


def with_batch(
    view: Callable[Concatenate[MemberRequest, Batch, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Give a view the batch that the address names.

    For a deleted one the answer is 410, with who deleted it and when. A batch of another team is
    not found.
    """

    @wraps(view)
    def wrapped(
        request: MemberRequest, pk: UUID, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        batch = (
            Batch.objects.filter(pk=pk, team=request.team)
            .select_related("connection", "created_by", "started_by", "deleted_by")
            .first()
        )
        if batch is None:
            if Batch.objects.filter(pk=pk).exists():
                security_log.record("batch of another team", who=request.user.in_log, batch=pk)
            raise Http404(NOT_FOUND)
        if batch.deleted_at is not None:
            return gone(request, batch)
        if batch.connection_chosen and batch.status in EDITABLE:
            _goes_to(request, goes_to.connection_of(batch))
        elif batch.status not in EDITABLE:  # a draft goes to the connection of the moment of Start
            _goes_to(request, batch.connection)
        return view(request, batch, *args, **kwargs)

    return member_required(wrapped)  # type: ignore[arg-type]


def _goes_to(request: MemberRequest, connection: Connection) -> None:
    request.sandbox, request.is_free = connection.is_sandbox, connection.is_free
