"""The page of a batch and its tabs, each with an address of its own."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.states import STARTED
from batchui.web.access import with_batch
from batchui.web.asking.views import ask_page, draft_row
from batchui.web.members import MemberRequest, member_required
from batchui.web.sheet.attention import attention_context
from batchui.web.sheet.chips import chips_context
from batchui.web.sheet.gaps import gaps_of
from batchui.web.sheet.glance import has_typed_answers, values_expected
from batchui.web.sheet.grid import grid_of
from batchui.web.sheet.live import live_context, live_counts, watched_of
from batchui.web.sheet.panel import reply_context, row_context
from batchui.web.sheet.parts import part_context, parts_context
from batchui.web.sheet.searching import search_context
from batchui.web.sheet.timeline import timeline_of
from batchui.web.sheet.view import SheetView


@with_batch
def batch(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The page of a batch: the question, if it is not started; else its sheet."""
    if batch.status not in STARTED:
        return ask_page(request, batch)
    return _sheet(request, batch, SheetView.of(request, batch), tab="sheet")


@with_batch
def attention(request: MemberRequest, batch: Batch) -> HttpResponse:
    """What needs a person: why rows have no answer, each reason once, and what to do."""
    _started(batch)
    return _tab(request, batch, "attention", attention_context(batch))


@with_batch
def row(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """One row in full: the panel alone for htmx, else the page of the sheet that has the row."""
    if batch.status not in STARTED:
        return draft_row(request, batch, number)
    _started(batch)
    view = SheetView.of(request, batch)
    if "show" not in request.GET:
        view = view.but(show="", page=view.page)  # the row stands among all rows
    context = row_context(batch, view, number)
    if _wants(request, "panel"):
        return render(request, "sheet/_panel.html", context)
    return _sheet(request, batch, view.but(row=number), tab="sheet", more=context)


@with_batch
def row_reply(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """What Cloudflare's reply says of a row, for its technical details."""
    _started(batch)
    return render(request, "sheet/_row_reply.html", reply_context(batch, number))


@with_batch
def timeline(request: MemberRequest, batch: Batch) -> HttpResponse:
    """What was done to a batch, and how it went, in a handful of lines."""
    _started(batch)
    lines = timeline_of(batch)
    if _wants(request, "timeline"):
        return render(request, "sheet/_timeline.html", {"batch": batch, "lines": lines})
    return _tab(request, batch, "timeline", {"lines": lines})


@with_batch
def parts(request: MemberRequest, batch: Batch) -> HttpResponse:
    """One page of the table of parts."""
    _started(batch)
    context = parts_context(request, batch)
    if _wants(request, "parts"):
        return render(request, "batches/_parts.html", context)
    return _tab(request, batch, "parts", context)


@with_batch
def asked(request: MemberRequest, batch: Batch) -> HttpResponse:
    """What was asked, of whom, and by whom."""
    _started(batch)
    return _tab(request, batch, "asked", {})


@member_required
def keys(request: MemberRequest) -> HttpResponseBase:
    """The keys of a sheet, for its dialog."""
    return render(request, "sheet/_keys.html") if request.htmx else redirect("batches")


@with_batch
def part(request: MemberRequest, batch: Batch, number: int) -> HttpResponseBase:
    """The technical details of a part: what happened to it, and its attempts.

    Opened as a page, the address leads to the part's row in the table.
    """
    context = part_context(batch, number)
    if not request.htmx:
        table = reverse("parts", args=[batch.pk])
        return redirect(f"{table}?part={number}#part-{number}")
    return render(request, "batches/_part.html", context)


def _sheet(
    request: MemberRequest,
    batch: Batch,
    view: SheetView,
    *,
    tab: str,
    more: dict[str, Any] | None = None,
) -> HttpResponse:
    """The page with the grid; for htmx only what another page of rows changes."""
    is_fragment = _wants(request, "grid-area") or _wants(request, "grid-rows")
    grid = grid_of(batch, view)
    context = {
        "batch": batch,
        "view": view,
        "grid": grid if is_fragment else grid.at_first(),
        "here": batch.get_absolute_url(),
        "rows_url": reverse("row", args=[batch.pk, 0]).removesuffix("0/"),
        "row_query": view.query(page=1),
        "watched": watched_of(batch, view, grid),
        "glance_values": values_expected(batch),
        "has_typed_answers": has_typed_answers(batch),
        **chips_context(batch, view),
        **search_context(batch, view),
    } | (more or {})
    if request.htmx and (gaps := gaps_of(request)):
        return render(request, "sheet/_grid_rows.html", context | {"grid": grid.between(gaps)})
    if is_fragment:
        context |= live_counts(batch) | {"is_fragment": True}
        return render(request, "sheet/_grid_area.html", context)
    return _tab(request, batch, tab, context)


def _tab(request: MemberRequest, batch: Batch, tab: str, context: dict[str, Any]) -> HttpResponse:
    context = live_context(batch) | {"tab": tab} | context
    context["by_part"] = request.GET.get("by_part", "")
    return render(request, "sheet/sheet.html", context)


def _wants(request: MemberRequest, fragment: str) -> bool:
    """Whether htmx asks for the element with this id alone."""
    again = request.htmx.history_restore_request
    return bool(request.htmx) and not again and request.htmx.target == fragment


def _started(batch: Batch) -> None:
    """Raise Http404 for a batch without parts: it has no sheet yet."""
    if not batch.is_started:
        raise Http404("This batch has not been started, so its rows have no answers yet.")
