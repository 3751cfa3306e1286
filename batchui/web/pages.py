"""The page of a batch, its live part, its rows, and what a person may do with it."""

import json
from dataclasses import dataclass
from typing import Any

import msgspec
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django_htmx.http import trigger_client_event

from batchui.batches import intake, lifecycle, results, tasks
from batchui.batches.models import Batch, Event
from batchui.batches.results import Result
from batchui.batches.states import PartStatus
from batchui.prompts.problems import BadInput
from batchui.prompts.rows import as_object, cell_text

from .access import with_batch
from .errors import post_only
from .filled import prompt_filler
from .members import MemberRequest
from .new import NOT_STARTED_PHASES, ask_page

ROWS_PAGE = 25
PARTS_PAGE = 24
EVENTS_SHOWN = 30
# Longer text is cut in the table and opens in full.
LONG_TEXT = 280


@with_batch
def batch(request: MemberRequest, batch: Batch) -> HttpResponse:
    """A batch: what to ask, as long as it is a draft; else how it goes and what came back."""
    if batch.status in NOT_STARTED_PHASES:
        return ask_page(request, batch)
    context = _live_context(request, batch) | _rows_context(request, batch)
    context["events"] = _events(batch)
    return render(request, "batches/batch.html", context)


@with_batch
def live(request: MemberRequest, batch: Batch) -> HttpResponse:
    """What changes by itself on the page of a batch; 204 while nothing did."""
    if request.GET.get("seen") == str(batch.version):
        return HttpResponse(status=204)
    response = render(request, "batches/_live.html", _live_context(request, batch))
    return trigger_client_event(response, "batch-changed")


@with_batch
def timeline(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The latest events."""
    return render(request, "batches/_timeline.html", {"batch": batch, "events": _events(batch)})


@with_batch
def rows(request: MemberRequest, batch: Batch) -> HttpResponse:
    """A page of rows with prompt and answer."""
    return render(request, "batches/_rows.html", _rows_context(request, batch))


@with_batch
def row(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """One row in full."""
    if not 1 <= number <= batch.rows or not batch.is_started:
        raise Http404(f"This batch has no row {number:,}.")
    result = results.page(batch, shown="all", offset=number - 1, limit=1)[0]
    context = {
        "batch": batch,
        "row": _shown(batch, [result])[0],
        "columns": [(name, cell_text(v)) for name, v in _columns(batch, result).items()],
        "usage": json.loads(result.usage) if result.usage else None,
    }
    return render(request, "batches/_row.html", context)


@post_only
@with_batch
def stop(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if lifecycle.stop(batch, by=request.user):
        messages.success(request, "Stopped. Answers to what was sent before still come in.")
    else:
        messages.info(request, "There was nothing to stop: the batch had ended already.")
    return redirect(batch)


@post_only
@with_batch
def retry(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    unanswered = batch.unanswered
    if lifecycle.retry(batch, by=request.user):
        tasks.enqueue_tick()
        messages.success(request, f"{unanswered:,} rows are sent again.")
    else:
        messages.info(request, "There was nothing to retry. A colleague may have been quicker.")
    return redirect(batch)


@post_only
@with_batch
def run_again(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    copy = intake.run_again(batch, by=request.user)
    tasks.wake_intake(copy)
    messages.success(request, "A new draft with the same file and settings. Change what you like.")
    return redirect(copy)


@post_only
@with_batch
def delete(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if lifecycle.delete(batch, by=request.user):
        messages.success(request, f"“{batch.name}” was deleted.")
        return redirect("batches")
    messages.error(request, "A batch that is on its way cannot be deleted. Stop it first.")
    return redirect(batch)


@post_only
@with_batch
def release(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if lifecycle.release(batch, by=request.user):
        tasks.enqueue_tick()
        messages.success(request, "The parts on hold are tried again now.")
    else:
        messages.info(request, "No part is on hold any more.")
    return redirect(batch)


@post_only
@with_batch
def decide(request: MemberRequest, batch: Batch, number: int, choice: str) -> HttpResponseBase:
    """Send an unsure part again, or leave it out."""
    part = get_object_or_404(batch.parts, number=number)
    act = {"send-again": lifecycle.send_again, "leave-out": lifecycle.leave_out}[choice]
    if act(part, by=request.user):
        tasks.enqueue_tick()
    else:
        messages.info(
            request, f"Part {number} no longer needs a decision. This page is up to date."
        )
    return redirect(batch)


@with_batch
def part(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """Technical details of a part: its attempts and what Cloudflare said."""
    found = get_object_or_404(batch.parts, number=number)
    context = {"batch": batch, "part": found, "attempts": found.attempts.all()}
    return render(request, "batches/_part.html", context)


# -- what the fragments show --------------------------------------------------------------------


def _live_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    parts = Paginator(batch.parts.order_by("number"), PARTS_PAGE)
    page = parts.get_page(request.GET.get("parts"))
    undecided = list(batch.parts.filter(status=PartStatus.UNSURE).order_by("number")[:20])
    on_hold = batch.parts.filter(status=PartStatus.HELD).order_by("number").first()
    return {
        "batch": batch,
        "parts": page,
        "undecided": undecided,
        "on_hold": on_hold,
    }


def _events(batch: Batch) -> QuerySet[Event]:
    return batch.events.select_related("actor")[:EVENTS_SHOWN]


def _rows_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    shown = request.GET.get("shown", "all")
    if shown not in results.SHOWN:
        shown = "all"
    count = results.count_shown(batch, shown)
    pages = Paginator(range(count), ROWS_PAGE)
    page = pages.get_page(request.GET.get("rows"))
    found = results.page(batch, shown=shown, offset=(page.number - 1) * ROWS_PAGE, limit=ROWS_PAGE)
    shown_rows = _shown(batch, found)
    return {
        "batch": batch,
        "shown": shown,
        "row_pages": page,
        "shown_rows": shown_rows,
        "rows_wait": batch.is_active and (not shown_rows or any(not r.status for r in shown_rows)),
        "attention_count": results.count_shown(batch, "attention"),
    }


@dataclass(frozen=True)
class ShownRow:
    """A row as the page shows it: texts, whole."""

    number: int
    prompt: str
    answer: str
    status: str
    error: str

    @property
    def is_long(self) -> bool:
        """Whether the table cuts it."""
        return max(len(self.prompt), len(self.answer)) > LONG_TEXT


def _shown(batch: Batch, found: list[Result]) -> list[ShownRow]:
    fill = prompt_filler(batch, batch.template, as_items=batch.as_items)
    return [
        ShownRow(
            number=result.row,
            prompt=_prompt(fill, result),
            answer=_answer_text(result.answer),
            status=result.status,
            error=result.error or "",
        )
        for result in found
    ]


def _prompt(fill: Any, result: Result) -> str:
    try:
        return str(fill(result.cells))
    except (BadInput, IndexError, KeyError, TypeError):
        return ""  # an invalid row has no prompt; its error says why


def _answer_text(answer: bytes | None) -> str:
    """An answer as people read it: a text as it is, anything else as indented JSON."""
    if answer is None:
        return ""
    if bytes(answer[:1]) == b'"':
        return str(msgspec.json.decode(answer))
    return msgspec.json.format(bytes(answer), indent=2).decode()


def _columns(batch: Batch, result: Result) -> dict[str, Any]:
    return as_object(result.cells, batch.columns)
