"""The search above the grid: what it has found so far, and its Stop."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from batchui.batches.models import Batch, Search
from batchui.batches.sheet import searches
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest
from batchui.web.sheet.view import SheetView


def search_context(batch: Batch, view: SheetView) -> dict[str, Any]:
    """What the page says of its search; {} without one."""
    return {"search": searches.search_for(batch, view.selection)} if view.q else {}


@post_only
@with_batch
def stop_search(request: MemberRequest, batch: Batch, search_id: UUID) -> HttpResponseBase:
    """End a search; what it has found stays."""
    search = get_object_or_404(Search, pk=search_id, batch=batch)
    if not searches.stop(batch, search_id):
        messages.info(request, "The search has ended already.")
    view = SheetView().but(show=search.show, q=search.words)
    query = view.query() if search.show else f"{view.query()}&show="
    return redirect(f"{batch.get_absolute_url()}{query}")
