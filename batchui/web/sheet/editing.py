"""Correcting an answer in the sheet: its form in the panel or in the cell, saving, and undoing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.http import Http404, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import reswap, trigger_client_event

from batchui.batches import corrections
from batchui.batches.answer_editing import LONGEST, MAY_BE_EDITED, seen_of, text_to_edit
from batchui.batches.corrections import NEVER_ASKED, UNDER_WAY, Outcome
from batchui.batches.models import Batch, Part
from batchui.batches.one_row import OneRow
from batchui.batches.results import Result
from batchui.batches.states import ENDED_PARTS, AnswerStatus
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fields_of
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest
from batchui.web.sheet.cells import answer_cells, value_text
from batchui.web.sheet.chips import chips_context
from batchui.web.sheet.columns import answer_columns_of
from batchui.web.sheet.edited import marks_of
from batchui.web.sheet.live import live_context
from batchui.web.sheet.panel import found_row
from batchui.web.sheet.view import SheetView

TOO_LONG = "This answer is too long to be edited here. Correct it in the download."
Place = Literal["panel", "cell"]


@dataclass(frozen=True)
class Form:
    """The form for one value.

    at: which answer column, from 0. kind: of the column; without columns, text. text, values: what
    stands in it. seen: of the value that the person sees. problem: why it was not saved. theirs:
    what somebody else wrote meanwhile; None: nobody did.
    """

    number: int
    at: int
    name: str
    kind: str
    choices: Sequence[str]
    text: str
    values: Sequence[str]
    seen: str
    place: Place
    problem: str = ""
    theirs: str | None = None

    @property
    def id(self) -> str:
        """Of the control."""
        return f"answer-edit-{self.at}" if self.place == "panel" else "cell-edit"

    @property
    def in_textarea(self) -> str:
        """The text behind a line break, which a browser drops: it may begin with one itself."""
        return f"\n{self.text}"


def why_not(part: Part, status: str) -> str:
    """Why the answer of a row cannot be corrected now; "" if it can be."""
    if part.status not in ENDED_PARTS:
        return UNDER_WAY
    return "" if status in MAY_BE_EDITED else NEVER_ASKED


@with_batch
def answer(request: MemberRequest, batch: Batch, number: int, at: int) -> HttpResponseBase:
    """The form for a value of an answer; a POST saves what it has."""
    found = found_row(batch, number)
    asked = request.POST if request.method == "POST" else request.GET
    place: Place = "cell" if asked.get("in") == "cell" else "panel"
    view = SheetView.of(request, batch)
    if request.method == "POST":
        return _save(request, batch, found, at, place, view)
    if not request.htmx:
        return redirect("row", batch.pk, number)
    problem = why_not(found.part, found.result.status)
    form = None if problem else _form(batch, found.result, at, place)
    return _show(request, batch, view, {"form": form, "problem": problem or TOO_LONG})


@post_only
@with_batch
def put_back(request: MemberRequest, batch: Batch, number: int) -> HttpResponseBase:
    """Give a row back what the model had answered."""
    found_row(batch, number)
    seen = request.POST.get("seen", "")
    view = SheetView.of(request, batch)
    outcome = corrections.put_back(batch, number, seen=seen, by=request.user)
    return _saved(request, batch, number, view, outcome)


def _save(
    request: MemberRequest, batch: Batch, found: OneRow, at: int, place: Place, view: SheetView
) -> HttpResponseBase:
    number, seen = found.result.row, request.POST.get("seen", "")
    written = _written(request.POST, _column(batch, at))
    outcome = corrections.correct(batch, number, at=at, written=written, seen=seen, by=request.user)
    if outcome.is_saved:
        return _saved(request, batch, number, view, outcome)
    now = found_row(batch, number).result
    form = _form(batch, now, at, place, written=written, seen=seen, outcome=outcome)
    return _show(request, batch, view, {"form": form, "problem": outcome.problem}, status=422)


def _show(
    request: MemberRequest,
    batch: Batch,
    view: SheetView,
    context: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    context |= {"batch": batch, "view": view, "longest": LONGEST}
    return render(request, "sheet/_edit.html", context, status=status)


def _saved(
    request: MemberRequest, batch: Batch, number: int, view: SheetView, outcome: Outcome
) -> HttpResponseBase:
    """What an edit changes on the page: cells, counts and filters. The panel asks for itself."""
    if not request.htmx or request.htmx.boosted:
        return redirect(f"{reverse('row', args=[batch.pk, number])}{view.query()}")
    batch.refresh_from_db()
    found = found_row(batch, number)
    cells = answer_cells(
        found.result,
        answer_columns_of(batch),
        batch.ask.answer_columns,
        None,
        marks_of([found.result]).get(number),
    )
    said = outcome.problem or f"Row {number:,}: saved."
    context = live_context(batch) | chips_context(batch, view)
    context |= {"view": view, "cells": cells, "said": said, "problem": outcome.problem}
    response = reswap(render(request, "sheet/_edited.html", context), "none")
    return trigger_client_event(response, "answer-changed")


def _written(posted: QueryDict, column: AnswerColumn | None) -> str | list[str]:
    if column is not None and column.kind == "several_of":
        return posted.getlist("value")
    return posted.get("value", "")


def _column(batch: Batch, at: int) -> AnswerColumn | None:
    """The answer column at a place; None without columns. Raises Http404 if there is none."""
    columns = batch.ask.answer_columns
    if at >= max(1, len(columns)):
        raise Http404("This batch has no such answer column.")
    return columns[at] if columns else None


def _form(
    batch: Batch,
    now: Result,
    at: int,
    place: Place,
    *,
    written: str | list[str] | None = None,
    seen: str = "",
    outcome: Outcome | None = None,
) -> Form | None:
    """The form for a value as it is now; None: it is too long.

    written, seen, outcome: of what was not saved. Somebody who was overtaken has seen it now.
    """
    column, columns = _column(batch, at), batch.ask.answer_columns
    is_overtaken = outcome is not None and outcome.is_overtaken
    raw = now.answer if column or now.status == AnswerStatus.ANSWERED else _text_of(now)
    if column is None:
        text, values = text_to_edit(raw), []
    else:
        value = fields_of(raw, columns)[at]
        text, values = value_text(value), value if isinstance(value, list) else []
    if text is None or len(text) > LONGEST:
        return None
    return Form(
        number=now.row,
        at=at,
        name=column.name if column else "Answer",
        kind=column.kind if column else "text",
        choices=("yes", "no") if column and column.kind == "yes_no" else _choices(column),
        text=text if not isinstance(written, str) else written,
        values=values if not isinstance(written, list) else written,
        seen=seen if seen and not is_overtaken else seen_of(now.answer, columns, at),
        place=place,
        problem=outcome.problem if outcome else "",
        theirs=text if is_overtaken else None,
    )


def _choices(column: AnswerColumn | None) -> Sequence[str]:
    return column.choices if column else ()


def _text_of(now: Result) -> bytes | None:
    """What a row without an answer begins with: an empty one has nothing worth keeping."""
    return None if now.status == AnswerStatus.EMPTY else now.answer
