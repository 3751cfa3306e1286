"""How a batch goes: what its page says of it, and asks again while it is active."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse

from batchui.batches import events
from batchui.batches.costs import charged_twice
from batchui.batches.loading import batch_with
from batchui.batches.look_up_models import ReportedRequest
from batchui.batches.models import Batch
from batchui.batches.owners import is_among, is_author
from batchui.batches.questions import LEFT_OUT_SENTENCES
from batchui.batches.retrying import rows_of_retry
from batchui.batches.sheet import searches
from batchui.batches.sheet.sizes import sizes
from batchui.batches.states import BatchStatus, Question
from batchui.web import holds, open_questions, shared, watchers
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.remembered import Remembered
from batchui.web.shared import News, Shared
from batchui.web.sheet import waiting
from batchui.web.sheet.cells import AnswerCell, answer_cells, said_once
from batchui.web.sheet.chips import attention_count, chips_context, chips_of
from batchui.web.sheet.columns import answer_columns_of
from batchui.web.sheet.edited import marks_of
from batchui.web.sheet.gaps import gaps_of, is_in
from batchui.web.sheet.grid import Grid, grid_of
from batchui.web.sheet.progress import progress_of
from batchui.web.sheet.seen import now_of, seen_of
from batchui.web.sheet.strip import Strip, strip_of
from batchui.web.sheet.view import SheetView
from batchui.web.standstill import nothing_moves
from batchui.web.undecided import Undecided
from batchui.web.watchers import Watcher

# What a poll says of the age of its page alone.
_HOW_OLD = ("seen", "at")


class _Page(NamedTuple):
    """What the news for a page depend on: which batch, as it is; the page; what its reader may do.

    How old the page is makes no difference, so those that come late get what others had.
    """

    batch: UUID
    seen: str
    asked: tuple[tuple[str, tuple[str, ...]], ...]
    may_delete: bool


contexts = Remembered[tuple[UUID, str], dict[str, Any]](shared.SECONDS, most=shared.MOST)
news = News[_Page]("live")


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
    watchers.remember(request)
    seen = seen_of(batch)
    if _is_known(request.GET, seen, batch.version):
        return HttpResponse(status=204)
    may_delete = request.membership.is_admin or is_author(batch, request.user)
    page = _page(request, batch.pk, seen, may_delete)
    return news.get(page, lambda: _made(request, page, batch)).response(request)


def live_at_once(request: HttpRequest, watcher: Watcher, pk: UUID) -> HttpResponse | None:
    """The answer of `live` to somebody who has watched before; None: the view has to say it."""
    now = now_of(pk)
    if now is None or now.team != watcher.team_id:
        return None
    if _is_known(request.GET, now.seen, now.version):
        return HttpResponse(status=204)
    may_delete = watcher.is_admin or is_among(now.authors, watcher.user_id)
    page = _page(request, pk, now.seen, may_delete)
    return news.get(page, lambda: _made(request, page)).response(request)


def _batch(pk: UUID) -> Batch:
    batch = batch_with(pk)
    if batch is None:
        raise Http404
    return batch


def _is_known(asked: QueryDict, seen: str, version: int) -> bool:
    """Whether a page, its rows too, is as new as the batch."""
    return asked.get("seen") == seen and asked.get("at") in (None, str(version))


def _page(request: HttpRequest, pk: UUID, seen: str, may_delete: bool) -> _Page:
    asked = sorted(request.GET.lists())
    kept = tuple((name, tuple(values)) for name, values in asked if name not in _HOW_OLD)
    return _Page(pk, seen, kept, may_delete)


def _made(request: HttpRequest, page: _Page, loaded: Batch | None = None) -> Shared:
    """What is told to everybody with such a page. loaded: its batch, if it is."""
    asked = request.GET
    key = (page.batch, page.seen)
    context = contexts.get(key, lambda: live_context(loaded or _batch(page.batch)))
    batch = context["batch"]
    context = context | {"was": asked.get("was"), "may_delete": page.may_delete}
    context["is_new_strip"] = asked.get("strip") != context["strip"].signature
    if "rows" in asked:
        context |= _rows_context(request, batch)
    events = ["batch-changed"]
    if "whole" in asked:
        events.append("answer-changed")
    if not batch.is_active:
        events.append("batch-ended")
    return Shared.made("batches/_live_update.html", context, *events)


def watched_of(batch: Batch, view: SheetView, grid: Grid) -> Watched:
    """What a page with this grid watches."""
    rows = waiting.as_text(grid.waiting)
    return Watched(view, rows, batch.version, grid.page.number, grid.count)


def live_context(batch: Batch) -> dict[str, Any]:
    """What the progress of a batch needs."""
    strip = strip_of(batch)
    is_held = any(strip.counts[state] for state in ("held", "person"))
    may_be_paused = is_held or holds.connection_paused_until(batch.connection)
    paused = holds.of([batch]) if may_be_paused else {}
    strip = replace(strip, is_paused=batch.pk in paused)
    return {
        **live_counts(batch),
        "seen": (seen := seen_of(batch)),
        "poll_url": _poll_url(batch, seen, strip),
        "strip": strip,
        "progress": progress_of(batch),
        "nothing_moves": nothing_moves() if batch.is_active else "",
        "questions": (questions := open_questions.of_batch(batch)),
        "reported": _reported(batch, questions),
        "on_hold": holds.what_holds(batch, has_held=is_held),
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


def _poll_url(batch: Batch, seen: str, strip: Strip) -> str:
    """Where the page asks what has changed since it was made.

    An ended batch asks for the whole: whoever changes one of its rows may change any of them.
    """
    made_of = {"seen": seen, "was": batch.status, "strip": strip.signature}
    if not batch.is_active:
        made_of["whole"] = "1"
    return f"{reverse('live', args=[batch.pk])}?{urlencode(made_of)}"


def _stopped_by(batch: Batch) -> str:
    """Who pressed Stop last; "" if nobody did, or somebody at the terminal."""
    if batch.stop_requested_at is None:
        return ""
    stops = batch.events.filter(kind="stopping", actor__isnull=False)
    return stops.values_list("actor__name", flat=True).first() or ""


def _rows_context(request: HttpRequest, batch: Batch) -> dict[str, Any]:
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
