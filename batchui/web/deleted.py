"""Delete, and the page of deleted batches: for 30 days they can be brought back."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from batchui.batches import deleting
from batchui.batches.models import Batch
from batchui.batches.owners import is_author, may_delete
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required

PAGE_SIZE = 25
NOT_YOURS = "Only who made this batch, or an administrator, can delete it or bring it back."
# A message with such a tag has a button that posts to the address in it (`templates/_toasts.html`).
UNDO = "undo:"
STARTED_ALREADY = "This batch was started already, by you or a colleague."
GONE = "This batch was brought back, or removed for good, meanwhile. This page is up to date."


@with_batch
def confirm_delete(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The dialog before Delete."""
    return render(request, "batches/_confirm_delete.html", {"batch": batch})


@post_only
@with_batch
def delete(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Delete a batch that is not under way."""
    return _take_out(
        request,
        batch,
        deleting.delete,
        otherwise="This batch has not ended yet. Stop it first, then delete it.",
    )


@post_only
@with_batch
def discard(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Delete a draft. What a colleague has started is deleted on its own page."""
    return _take_out(request, batch, deleting.discard, otherwise=STARTED_ALREADY)


def _take_out(
    request: MemberRequest, batch: Batch, take: Callable[..., bool], *, otherwise: str
) -> HttpResponseBase:
    """Take a batch out of the history, and offer to bring it back; `otherwise`: why it stays."""
    if not may_delete(batch, request.user):
        messages.error(request, NOT_YOURS)
        return redirect(batch)
    if take(batch, by=request.user):
        text = f"“{batch.name}” was deleted. It can be brought back for 30 days."
        address = reverse("bring_back", args=[batch.pk])
        messages.success(request, text, extra_tags=f"{UNDO}{address}")
        return redirect("batches")
    batch.refresh_from_db()
    if batch.deleted_at is not None:
        messages.info(request, "A colleague deleted this batch just before you.")
        return redirect("batches")
    messages.error(request, otherwise)
    return redirect(batch)


@member_required
def deleted(request: MemberRequest) -> HttpResponse:
    """The deleted batches of the team that can be brought back."""
    found = deleting.deleted_of(request.team).select_related("created_by", "deleted_by")
    found = found.only(
        *("name", "rows", "status", "deleted_at", "kept_until", "team", "started_by"),
        *("created_by__name", "deleted_by__name"),
    )
    page = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    if request.membership.is_admin:
        theirs = set()
    else:
        theirs = {batch.pk for batch in page if not is_author(batch, request.user)}
    context: dict[str, Any] = {"page": page, "theirs": theirs}
    return render(request, "batches/deleted_batches.html", context)


@post_only
@member_required
def bring_back(request: MemberRequest, pk: UUID) -> HttpResponseBase:
    """Put a deleted batch into the history again, and go to its page."""
    batch = _deleted(request, pk)
    if batch is None or not deleting.bring_back(batch, by=request.user):
        return redirect("deleted")
    messages.success(request, f"“{batch.name}” is back.")
    return redirect(batch)


@post_only
@member_required
def let_go(request: MemberRequest, pk: UUID) -> HttpResponseBase:
    """Remove a deleted batch for good."""
    batch = _deleted(request, pk)
    if batch is not None and deleting.let_go(batch, by=request.user):
        messages.success(request, f"“{batch.name}” is gone for good. Its files go within the hour.")
    return redirect("deleted")


def _deleted(request: MemberRequest, pk: UUID) -> Batch | None:
    """A deleted batch of the team that this person may bring back; None, with a message: none."""
    batch = deleting.deleted_of(request.team).filter(pk=pk).first()
    if batch is None:
        messages.info(request, GONE)
    elif not may_delete(batch, request.user):
        messages.error(request, NOT_YOURS)
        return None
    return batch
