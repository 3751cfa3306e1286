"""The rows of a batch, with prompt and answer: one page of them, or one row in full."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render

from batchui.batches import results
from batchui.batches.models import Batch
from batchui.batches.results import Result
from batchui.batches.states import AnswerStatus
from batchui.exports.answers import answer_text
from batchui.prompts.reading.rows import as_object, cell_text, shown_text
from batchui.web.access import with_batch
from batchui.web.damaged_files import without_path
from batchui.web.members import MemberRequest
from batchui.web.prompt_preview import prompt_filler

ROWS_PAGE = 25
# Longer text is cut in the table; a dialog shows it in full.
LONG_TEXT = 280
# A dialog shows so many characters of each text; the download has all.
LONGEST_TEXT_SHOWN = 100_000


@with_batch
def rows(request: MemberRequest, batch: Batch) -> HttpResponse:
    """One page of the table of rows."""
    if not batch.is_started:
        raise Http404("This batch has not been started, so its rows have no answers yet.")
    return render(request, "batches/_rows.html", rows_context(request, batch))


@with_batch
def rows_filter(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The buttons that choose which rows to show, with the number of rows of each kind."""
    return render(request, "batches/_rows_filter.html", _filter_context(request, batch))


@with_batch
def row(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """One row in full."""
    offset = number - batch.first_row
    if not 0 <= offset < batch.rows or not batch.is_started:
        raise Http404(f"This batch has no row {number:,}.")
    result = results.page(batch, shown="all", offset=offset, limit=1)[0]
    columns = {} if result.cells is None else as_object(result.cells, batch.columns)
    as_text = cell_text if isinstance(result.cells, dict) else shown_text
    context = {
        "batch": batch,
        "row": _shown(batch, [result], most=LONGEST_TEXT_SHOWN + 1)[0],
        "has_row_before": offset > 0,
        "has_row_after": offset + 1 < batch.rows,
        "columns": [
            (name, as_text(value)[: LONGEST_TEXT_SHOWN + 1]) for name, value in columns.items()
        ],
        "most": LONGEST_TEXT_SHOWN,
    }
    return render(request, "batches/_row.html", context)


def rows_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    """What the table of rows needs. `?shown=`: all, answered or attention. `?rows=`: the page."""
    context = _filter_context(request, batch)
    shown = context["shown"]
    pages = Paginator(range(results.count_shown(batch, shown)), ROWS_PAGE)
    page = pages.get_page(request.GET.get("rows"))
    found = results.page(batch, shown=shown, offset=(page.number - 1) * ROWS_PAGE, limit=ROWS_PAGE)
    # Rows stay while somebody reads them; only an incomplete page is refreshed.
    incomplete = any(not result.status for result in found) or (
        shown != "all" and not page.has_next()
    )
    return context | {
        "row_pages": page,
        "shown_rows": _shown(batch, found, most=LONG_TEXT + 1),
        "rows_wait": batch.is_active and incomplete,
    }


def _filter_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    shown = request.GET.get("shown", "all")
    return {
        "batch": batch,
        "shown": shown if shown in results.SHOWN else "all",
        "attention_count": results.count_shown(batch, "attention"),
    }


@dataclass(frozen=True)
class ShownRow:
    """A row as the page shows it."""

    number: int
    prompt: str
    answer: str
    status: str
    error: str

    @property
    def is_long(self) -> bool:
        """Whether the table cuts its prompt or its answer."""
        return max(len(self.prompt), len(self.answer)) > LONG_TEXT


def _shown(batch: Batch, found: list[Result], *, most: int) -> list[ShownRow]:
    """Rows as the page shows them, with at most `most` characters of each text."""
    fill = prompt_filler(batch, batch.ask.template, as_items=batch.ask.as_items)
    return [
        ShownRow(
            number=result.row,
            prompt=_prompt(fill, result, most),
            answer=_answer_text(result.answer)[:most],
            status=result.status,
            error=without_path(result.error or ""),
        )
        for result in found
    ]


def _prompt(fill: Callable[[Any, int], str], result: Result, most: int) -> str:
    # An invalid row was asked nothing, and the text of a row may be lost; its error says why.
    nothing = result.status == AnswerStatus.INVALID or result.cells is None
    return "" if nothing else fill(result.cells, most)


def _answer_text(answer: bytes | None) -> str:
    """An answer as text: a string as it is, anything else as indented JSON."""
    if answer is None:
        return ""
    text = answer_text(answer)
    if answer.startswith(b'"') or not text:
        return text
    return msgspec.json.format(text, indent=2)
