"""How a batch goes: what its page says of it, and asks again while it is active."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Sum
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django_htmx.http import trigger_client_event

from batchui.batches import call_limit, events
from batchui.batches.costs import charged_twice
from batchui.batches.look_up_models import ReportedRequest
from batchui.batches.models import Batch
from batchui.batches.questions import LEFT_OUT_SENTENCES
from batchui.batches.retrying import rows_of_retry
from batchui.batches.sheet import searches
from batchui.batches.sheet.sizes import sizes
from batchui.batches.states import BatchStatus, Question
from batchui.web import holds, open_questions
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.sheet import waiting
from batchui.web.sheet.cells import AnswerCell, answer_cells, said_once
from batchui.web.sheet.chips import attention_count, chips_context, chips_of
from batchui.web.sheet.columns import answer_columns_of
from batchui.web.sheet.edited import marks_of
from batchui.web.sheet.gaps import gaps_of, is_in
from batchui.web.sheet.grid import Grid, grid_of
from batchui.web.sheet.progress import progress_of
from batchui.web.sheet.strip import Strip, strip_of
from batchui.web.sheet.view import SheetView
from batchui.web.standstill import nothing_moves
from batchui.web.undecided import Undecided


@dataclass(frozen=True)
class Watched:
    """What a page shows of the rows, as its polls say it.

    rows: those that wait (see `waiting.py`). at: the version of the batch that they are of. page:
    the page of the rows. count: how many rows its filter had. more: how many more it has now.
    """

    view: SheetView
    rows: str
    at: int
    page: int
    count: int
    more: int = 0


@with_batch
def live(request: MemberRequest, batch: Batch) -> HttpResponse:
    """What has changed of a batch; 204 if nothing did since what `?seen=` names.

    Of the rows that the page shows, only those come that waited and have changed. With `whole` all
    of them come: the page asks after some time, and others may have changed any of them.
    """
    asked = request.GET
    is_newest = asked.get("at") in (None, str(batch.version))
    if asked.get("seen") == _seen(batch) and is_newest:
        return HttpResponse(status=204)
    context = live_context(batch) | {"was": asked.get("was")}
    context["is_new_strip"] = asked.get("strip") != context["strip"].signature
    if "rows" in asked:
        context |= _rows_context(request, batch)
    response = render(request, "batches/_live_update.html", context)
    if "whole" in asked:
        trigger_client_event(response, "answer-changed")
    if not batch.is_active:
        trigger_client_event(response, "batch-ended")
    return trigger_client_event(response, "batch-changed")


def watched_of(batch: Batch, view: SheetView, grid: Grid) -> Watched:
    """What a page with this grid watches."""
    rows = waiting.as_text(grid.waiting)
    return Watched(view, rows, batch.version, grid.page.number, grid.count)


def live_context(batch: Batch) -> dict[str, Any]:
    """What the progress of a batch needs."""
    paused = holds.of([batch])
    strip = strip_of(batch, is_paused=batch.pk in paused)
    return {
        **live_counts(batch),
        "poll_url": _poll_url(batch, strip),
        "strip": strip,
        "progress": progress_of(batch),
        "nothing_moves": nothing_moves(batch),
        "questions": (questions := open_questions.of_parts(batch.parts.all())),
        "reported": _reported(batch, questions),
        "on_hold": holds.what_holds(batch),
        "holds": paused,
        "is_paused": strip.is_paused,
        "stopped_by": _stopped_by(batch),
        "charged_twice": _charged_twice(batch),
        "failed_because": _why_failed(batch),
        "was_left_out": _was_left_out(batch),
        "retried": rows_of_retry(batch) if batch.can_retry else None,
    }


def _reported(batch: Batch, asked: Sequence[Undecided]) -> list[ReportedRequest]:
    """The requests that one whose receipt was lost may be, where that is asked about."""
    is_unclear = any(one.question == Question.UNCLEAR for one in asked)
    return events.unknown_to(batch) if is_unclear else []


def _poll_url(batch: Batch, strip: Strip) -> str:
    """Where the page asks what has changed since it was made.

    An ended batch asks for the whole: whoever changes one of its rows may change any of them.
    """
    made_of = {"seen": _seen(batch), "was": batch.status, "strip": strip.signature}
    if not batch.is_active:
        made_of["whole"] = "1"
    return f"{reverse('live', args=[batch.pk])}?{urlencode(made_of)}"


def _stopped_by(batch: Batch) -> str:
    """Who pressed Stop last; "" if nobody did, or somebody at the terminal."""
    if batch.stop_requested_at is None:
        return ""
    stops = batch.events.filter(kind="stopping", actor__isnull=False)
    return stops.values_list("actor__name", flat=True).first() or ""


def _rows_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    """The cells that have changed, and what the page watches from now on."""
    asked = request.GET
    view = SheetView.of(request, batch)
    if "whole" in asked and _is_quick(batch, view):
        grid = grid_of(batch, view)
        page, still = grid.page.number, grid.waiting
        answers = [row.answers for row in grid.rows]
    else:
        changed = waiting.changes(batch, waiting.read(asked["rows"]))
        page, still = view.page, changed.waiting
        answers = _cells_of(batch, changed.rows)
    gaps = gaps_of(request)
    cells = [cell for of_row in answers for cell in of_row if not is_in(cell.number, gaps)]
    count = _number(asked.get("count"))
    more = max(0, _count_now(batch, view) - count)
    watched = Watched(view, waiting.as_text(still), batch.version, page, count, more)
    return {"cells": cells, "watched": watched} | chips_context(batch, view)


def _cells_of(batch: Batch, rows: Sequence[waiting.Cells]) -> list[Sequence[AnswerCell]]:
    columns, wanted = answer_columns_of(batch), batch.ask.answer_columns
    marks = marks_of(result for result, _ in rows)
    return list(
        said_once(
            answer_cells(result, columns, wanted, status, marks.get(result.row))
            for result, status in rows
        )
    )


def _is_quick(batch: Batch, view: SheetView) -> bool:
    """Whether the rows of a view are there at once. Else a worker looks through the batch."""
    return not view.selection.words or searches.is_quick(batch)


def _count_now(batch: Batch, view: SheetView) -> int:
    """How many rows a filter has now, as far as they are counted. 0 if all rows are shown.

    0 also for words in a large batch: a worker would look through it again and again.
    """
    selection = view.selection
    if selection.is_all or not _is_quick(batch, view):
        return 0
    return sizes(batch, selection).rows


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0


def live_counts(batch: Batch) -> dict[str, Any]:
    """The counts beside the filters and tabs."""
    return {"batch": batch, "attention_count": attention_count(batch), "chips": chips_of(batch)}


def _charged_twice(batch: Batch) -> dict[str, Any]:
    """How many parts, with how many rows, may have been charged twice. {} where nothing is charged.

    {} also while the batch is active: looking at every part at each poll of a page takes too long.
    """
    if batch.connection.is_free or batch.is_active:
        return {}
    return charged_twice(batch.parts.all()).aggregate(parts=Count("pk"), rows=Sum("rows"))


def _seen(batch: Batch) -> str:
    """A text that changes when the progress of a batch must be shown again.

    It has the batch's version, what holds its connection, and why nothing moves at all. Another
    batch may pause the connection, end its pause or fill it; the version of this one stays the
    same then.
    """
    connection = batch.connection
    paused_until = holds.connection_paused_until(connection)
    pause = f".{paused_until.timestamp()}" if paused_until else ""
    calls = ".calls" if call_limit.is_used_up(connection) else ""
    full = ".full" if batch.is_active and holds.is_full(connection) else ""
    standstill = f".{why}" if (why := nothing_moves(batch)) else ""
    return f"{batch.version}{pause}{calls}{full}{standstill}"


def _why_failed(batch: Batch) -> str:
    """The reason why no row of a batch was answered.

    "" if the batch has not failed, if each row has a reason of its own, or if parts were only left
    out.
    """
    if batch.status != BatchStatus.FAILED:
        return ""
    parts = batch.parts.exclude(message="").exclude(message__in=LEFT_OUT_SENTENCES)
    return parts.values_list("message", flat=True).first() or ""


def _was_left_out(batch: Batch) -> bool:
    """Whether a batch has no answers because people left its parts out."""
    if batch.status != BatchStatus.FAILED:
        return False
    return not batch.parts.exclude(message__in=LEFT_OUT_SENTENCES).exists()
