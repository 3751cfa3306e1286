"""The page of a draft: what to ask of every row, beside the sheet."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import (
    HttpResponseClientRefresh,
    trigger_client_event,
)

from batchui.batches import surveys
from batchui.batches.models import Batch
from batchui.batches.owners import may_delete, may_edit
from batchui.batches.states import STARTED, BatchStatus
from batchui.batches.surveys import Survey
from batchui.prompts.answer_schema import LONGEST_SCHEMA, in_words
from batchui.web.access import with_batch
from batchui.web.asking.begin_with_pictures import begin_with_pictures
from batchui.web.asking.draft_row import draft_row_context
from batchui.web.asking.jobs import shown_jobs
from batchui.web.asking.model_choice import ModelChoice
from batchui.web.asking.price import Price, price_of
from batchui.web.asking.saving import save_typed
from batchui.web.asking.starting_points import starting_context
from batchui.web.asking.where import where_context
from batchui.web.asking.wording import Wording
from batchui.web.before_start import BeforeStart
from batchui.web.errors import post_only
from batchui.web.first_rows import file_context
from batchui.web.forms.answer_columns import SCHEMA
from batchui.web.forms.ask import AskForm
from batchui.web.forms.fitting import has_references_inside
from batchui.web.forms.pictures import shows_pictures_first
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft
from batchui.web.prompt_preview import PromptPreview
from batchui.web.sheet.columns import columns_key
from batchui.web.sheet.draft_grid import draft_grid, rows_with
from batchui.web.sheet.gaps import gaps_of
from batchui.web.sheet.view import SheetView
from batchui.web.standstill import nothing_moves
from batchui.web.trying.columns import TryColumns

# The question and the bar at the bottom take the rest.
SHARE_OF_A_WINDOW = 0.6


def ask_page(
    request: MemberRequest,
    batch: Batch,
    *,
    form: AskForm | None = None,
    row: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a draft: the question, the sheet beside it, and the bar with Start.

    For htmx only what another page of rows changes. A colleague's draft is shown, not offered to be
    changed.
    """
    if request.htmx and (gaps := gaps_of(request)):
        context = sheet_context(request, batch)
        context["grid"] = context["grid"].between(gaps)
        return render(request, "sheet/_grid_rows.html", context)
    if request.htmx and request.htmx.target == "grid-area":
        return render(request, "sheet/_grid_area.html", sheet_context(request, batch))
    if not may_edit(batch, request.user):
        return _others_page(request, batch, row=row)
    if form is None and not batch.ask.model and batch.status == BatchStatus.DRAFT:
        begin_with_pictures(batch)
    form = form or AskForm(batch=batch)
    form.focus_on_first_error()
    question = question_context(request, batch, form)
    context = {
        "form": form,
        **file_context(batch),
        **first_sheet_context(request, batch, row, tried=question["tried"]),
        **check_context(batch),
        **question,
    }
    return render(request, "asking/ask.html", context, status=status)


def _others_page(
    request: MemberRequest, batch: Batch, *, row: dict[str, Any] | None = None
) -> HttpResponse:
    """The page of a colleague's draft: what it asks, its first rows, and a button to copy it."""
    context = {
        "batch": batch,
        "may_discard": may_delete(batch, request.user),
        **file_context(batch),
        **first_sheet_context(request, batch, row),
    }
    return render(request, "batches/others_draft.html", context)


def draft_row(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """One row of a draft: the panel alone for htmx, else the page with the row in view."""
    context = draft_row_context(batch, number)
    if request.htmx and request.htmx.target == "panel":
        context["row_query"] = SheetView.of(request, batch).query(row=None)
        context["tried"] = TryColumns.of(batch, is_free=request.is_free)
        return render(request, "asking/_row.html", context)
    return ask_page(request, batch, row=context)


def sheet_context(
    request: MemberRequest,
    batch: Batch,
    row: dict[str, Any] | None = None,
    *,
    tried: TryColumns | None = None,
) -> dict[str, Any]:
    """What the sheet needs: the page of its rows that the address names, or that has the row.

    tried: what was tried, where that is known already.
    """
    view = SheetView.of(request, batch)
    if row and "page" not in request.GET:
        view = view.but(row=row["opened"])
    grid = draft_grid(batch, view)
    tried = tried or TryColumns.of(batch, is_free=request.is_free)
    beyond = tried.beyond({row.number for row in grid.rows})
    return {
        "tried": tried,
        "tried_beyond": rows_with(batch, beyond, grid.columns),
        "tried_span": 1 + len(grid.columns.shown) + len(tried.columns),
        "may_try": may_edit(batch, request.user),
        "batch": batch,
        "view": view,
        "grid": grid,
        "columns_key": columns_key(batch),
        "here": reverse("batch", args=[batch.pk]),
        "rows_url": reverse("row", args=[batch.pk, 0]).removesuffix("0/"),
        "row_query": view.query(page=grid.page.number),
        **(row or {}),
    }


def first_sheet_context(
    request: MemberRequest,
    batch: Batch,
    row: dict[str, Any] | None,
    *,
    tried: TryColumns | None = None,
) -> dict[str, Any]:
    """The same for a whole page: only its first rows, unless one of the others was tried."""
    context = sheet_context(request, batch, row, tried=tried)
    grid = context["grid"].at_first(share=SHARE_OF_A_WINDOW)
    known, sent = ({row.number for row in rows} for rows in (grid.rows, grid.rows_sent))
    tries: TryColumns = context["tried"]
    return context if tries.beyond(known) != tries.beyond(sent) else context | {"grid": grid}


def question_context(request: MemberRequest, batch: Batch, form: AskForm) -> dict[str, Any]:
    """What follows the question: its filled prompt, the model's words, what is said of its rows."""
    typed = form.as_typed()
    preview = PromptPreview.of(batch, typed, row=request.POST.get("row", ""))
    choice = ModelChoice.of(form)
    wording = Wording.of(batch, form.job_chosen)
    _furnish(form, wording)
    return {
        "batch": batch,
        "form": form,
        "preview": preview,
        "model_choice": choice,
        "job": form.job_chosen,
        "listing": form.known,
        "references_inside": has_references_inside(batch),
        "pictures_first": form.shows_pictures or shows_pictures_first(batch),
        "jobs": shown_jobs(batch, form.job_chosen),
        "wording": wording,
        "before_start": BeforeStart.of(batch, preview.survey),
        "answer_words": _answer_words(batch, typed),
        "price": price_of_draft(batch, preview.survey),
        **starting_context(batch),
        "tried": TryColumns.of(batch, is_free=request.is_free, model=choice.chosen.name),
    }


def _answer_words(batch: Batch, typed: Mapping[str, Any]) -> str:
    """What is sent about the answer columns with every row; "" without any."""
    columns = batch.ask.answer_columns
    return in_words(columns) if columns and not typed["as_items"] else ""


def price_of_draft(batch: Batch, survey: Survey | None) -> Price | None:
    """The price of a draft; None while its file is being read."""
    return price_of(batch, survey) if batch.status == BatchStatus.DRAFT else None


def _furnish(form: AskForm, wording: Wording) -> None:
    """Give the field of the question what the page does with it: see `static/asking.js`."""
    attrs = form.fields["template"].widget.attrs
    attrs |= {"placeholder": wording.placeholder, "aria-autocomplete": "list"}
    attrs["aria-controls"] = "column-list"
    if not form.first_error:
        attrs["autofocus"] = True


@post_only
@with_own_draft
def preview(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The filled prompt of the row in view, with what is typed. It is saved in the draft too.

    A sheet that shows other columns than the question wants is asked for anew (`static/asking.js`).
    With `?save` it is saved only: the page is being left.
    """
    form = AskForm(request.POST, batch=batch)
    save_typed(batch, form)
    if "save" in request.GET:
        return HttpResponse(status=204)
    batch.refresh_from_db()
    # A page whose file was being read has not got what the bar says, until it asks for it.
    has_bar = batch.status == BatchStatus.DRAFT and "read_as" in request.POST
    context = question_context(request, batch, form) | {"has_bar": has_bar}
    response = render(request, "asking/_previewed.html", context)
    return trigger_client_event(response, "columns-wanted", {"key": columns_key(batch)})


@post_only
@with_batch
def answer_columns(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The lines of the answer columns, made of a JSON schema that was pasted, or why not.

    Nothing is saved: the page does that, as after every change.
    """
    form = AskForm(request.POST, batch=batch)
    form.full_clean()
    is_wrong = "answer_columns" in form.errors
    context = {
        "batch": batch,
        "form": form,
        "pasted_schema": request.POST.get(SCHEMA, "")[:LONGEST_SCHEMA] if is_wrong else "",
    }
    return render(request, "asking/_answer_columns.html", context)


@with_batch
def checking(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """How much of the file has been read; at the end, the Start button."""
    if batch.status in STARTED:
        return HttpResponseClientRefresh()
    context = check_context(batch) | {"as_fragment": True}
    is_fresh = request.GET.get("form", batch.format_key) != batch.format_key
    if batch.is_active and not is_fresh and request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=204)
    was_preparing = request.GET.get("phase") == BatchStatus.PREPARING
    asks_otherwise = is_fresh and batch.format.items  # another model, and no question
    if is_fresh and not batch.is_active and may_edit(batch, request.user):
        asks_otherwise = begin_with_pictures(batch) or asks_otherwise
    ended = was_preparing and batch.status != BatchStatus.PREPARING
    if batch.is_unusable or ended or asks_otherwise:
        return HttpResponseClientRefresh()
    if is_fresh:
        context["fresh_file"] = True
    if is_fresh or not batch.is_active:
        context |= file_context(batch) | sheet_context(request, batch)
    if not batch.is_active:
        survey = surveys.survey_of(batch)
        context["before_start"] = BeforeStart.of(batch, survey)
        context["price"] = price_of_draft(batch, survey)
    response = render(request, "asking/_bar.html", context)
    return response if batch.is_active else trigger_client_event(response, "file-read")


def check_context(batch: Batch) -> dict[str, Any]:
    why = nothing_moves() if batch.is_active else ""
    seen = f"{batch.version}.{why}" if why else str(batch.version)
    where = where_context(batch) if batch.status == BatchStatus.DRAFT else {}
    return {"batch": batch, "nothing_moves": why, "seen": seen, **where}
