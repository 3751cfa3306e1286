"""Two runs of one file side by side: which rows have other answers, what each run cost and took."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from batchui import security_log
from batchui.batches import compared_rows, comparing
from batchui.batches.agreeing import agree, shared_columns
from batchui.batches.compared_rows import Pair
from batchui.batches.comparison_models import Comparison
from batchui.batches.models import Batch
from batchui.batches.results import Result
from batchui.exports.answers import answer_text
from batchui.exports.csv import spreadsheet_delimiter, table_chunks
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fields_of
from batchui.web.access import gone, with_batch
from batchui.web.downloads import attachment, refuse_unstarted, streamed
from batchui.web.members import MemberRequest, member_required
from batchui.web.sheet.cells import cut, value_text
from batchui.web.sheet.panel import split_columns

ROWS_PAGE = 50
# So many cells say which row it is, where none was asked about.
CELLS_SHOWN = 3
NOT_THE_SAME = (
    "These two did not ask the same file. Tick two runs of one file: for example a batch and what "
    "“Run again, with changes” made of it."
)
OTHER_SHEETS = (
    "These two asked different sheets of one workbook: “{}” and “{}”. Tick two runs of one sheet."
)


class Column(NamedTuple):
    """A column that was compared. percent: of the rows that both answered, how many agree."""

    name: str
    same: int
    rows: int
    percent: str


class Side(NamedTuple):
    """A value of an answer column, in both runs."""

    name: str
    one: str
    other: str
    differs: bool


class Line(NamedTuple):
    """A row of the page. sides: one for each column, or one for whole answers."""

    number: int
    cells: str
    differs: bool
    sides: list[Side]
    one_status: str
    other_status: str


@with_batch
def choose(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """The runs with which a batch can be compared; at once the page of both if `?with=` has one."""
    refuse_unstarted(batch)
    found = comparing.other_runs(batch).select_related("connection", "created_by", "started_by")
    context = {"batch": batch, "runs": found[: comparing.MOST_OFFERED]}
    return render(request, "comparing/choose.html", context)


@member_required
def two(request: MemberRequest) -> HttpResponseBase:
    """The page of two batches that were ticked in the history: `?batch=` twice."""
    ids = []
    for text in request.GET.getlist("batch")[:3]:
        try:
            ids.append(UUID(text))
        except ValueError:
            continue
    found = list(Batch.objects.of_team(request.team).filter(pk__in=ids).order_by("created_at"))
    if len(ids) != 2 or len(found) != 2:
        messages.error(request, "Tick two batches to compare them.")
        return redirect("batches")
    if not comparing.other_runs(found[0]).filter(pk=found[1].pk).exists():
        messages.error(request, _why_not(*found))
        return redirect("batches")
    return redirect("compare", found[0].pk, found[1].pk)


def _why_not(one: Batch, other: Batch) -> str:
    """Why two batches cannot be compared, in a sentence."""
    if names := comparing.other_sheets(one, other):
        return OTHER_SHEETS.format(*names)
    return NOT_THE_SAME


def with_both(
    view: Callable[[MemberRequest, Batch, Batch], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Give a view the two batches that the address names, if they are runs of one file.

    For a deleted one the answer is 410, as on its own page.
    """

    @with_batch
    @wraps(view)
    def wrapped(request: MemberRequest, batch: Batch, other: UUID) -> HttpResponseBase:
        refuse_unstarted(batch)
        runs = comparing.other_runs(batch).select_related("connection", "created_by", "started_by")
        second = runs.filter(pk=other).first()
        if second is not None:
            return view(request, batch, second)
        deleted = Batch.objects.filter(pk=other, team=request.team).exclude(deleted_at=None)
        if found := deleted.select_related("deleted_by").first():
            return gone(request, found)
        raise Http404("Your team has no such run of the same file, or of the same sheet.")

    return wrapped


@with_both
def compare(request: MemberRequest, batch: Batch, second: Batch) -> HttpResponse:
    """Two runs side by side, the rows that differ first. `?show=all`: all rows."""
    comparison = comparing.compare(batch, second)
    comparison.one, comparison.other = batch, second
    only_different = request.GET.get("show") != "all"
    page: Page[Any] = Paginator(range(_count(comparison, only_different)), ROWS_PAGE).get_page(
        request.GET.get("rows")
    )
    found = compared_rows.page(
        comparison,
        only_different=only_different,
        offset=page.start_index() - 1 if page.object_list else 0,
        limit=len(page.object_list),
    )
    context = {
        "batch": batch,
        "runs": (batch, second),
        "comparison": comparison,
        "one_answered": comparison.different - (comparison.answered - comparison.agree),
        "agree_percent": _percent(comparison.agree, comparison.answered),
        "columns": [Column(*one, _percent(one[1], one[2])) for one in _columns(comparison)],
        "show": "" if only_different else "all",
        "page": page,
        "lines": [_line(pair, batch, second) for pair in found],
    }
    is_fragment = request.htmx.target == "compared"
    page_of_both = "comparing/_compared.html" if is_fragment else "comparing/compare.html"
    return render(request, page_of_both, context)


def _count(comparison: Comparison, only_different: bool) -> int:
    if comparison.status != Comparison.Status.DONE:
        return 0
    return compared_rows.count(comparison, only_different=only_different)


def _columns(comparison: Comparison) -> list[tuple[str, int, int]]:
    return [(name, same, both) for name, both, same in comparison.columns]


@with_both
def download(request: MemberRequest, batch: Batch, second: Batch) -> HttpResponseBase:
    """All rows of both runs as CSV, made while it is sent."""
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what="comparison")
    day = timezone.localdate().isoformat()
    return streamed(
        request,
        _csv(batch, second),
        content_type="text/csv; charset=utf-8",
        headers=attachment(f"{batch.name} compared {day}.csv") | {"Cache-Control": "no-store"},
    )


def _csv(one: Batch, other: Batch) -> Iterator[bytes]:
    columns = list(one.format.columns) or ["row"]
    names = [column.name for column, _ in _shared(one, other)] or ["answer"]
    header = ["row number", *columns, "same"]
    for name in names:
        header += [f"{name}: {one.name}", f"{name}: {other.name}"]
    header += [f"status: {one.name}", f"status: {other.name}"]
    rows = (_csv_row(pair, one, other, len(columns)) for pair in compared_rows.pairs(one, other))
    delimiter = spreadsheet_delimiter(one.format.delimiter)
    return table_chunks(header, rows, delimiter=delimiter)


def _csv_row(pair: Pair, one: Batch, other: Batch, width: int) -> list[Any]:
    line = _line(pair, one, other, most=None)
    cells = (_cells(pair.one) or _cells(pair.other))[:width]
    cells += [""] * (width - len(cells))
    answers = [text for side in line.sides for text in (side.one, side.other)]
    same = "no" if pair.differs else "yes"
    return [pair.number, *cells, same, *answers, line.one_status, line.other_status]


def _percent(part: int, whole: int) -> str:
    """ "97%"; "" of nothing. Never 100% while something differs."""
    if not whole:
        return ""
    return f"{100 * part // whole}%" if part < whole else "100%"


def _shared(one: Batch, other: Batch) -> list[tuple[AnswerColumn, AnswerColumn]]:
    return shared_columns(one.ask.answer_columns, other.ask.answer_columns)


def _line(pair: Pair, one: Batch, other: Batch, most: int | None = 400) -> Line:
    """A row as texts. most: of a text, in characters; None: all of it."""
    shared = _shared(one, other)
    answers = [found.answer if found else None for found in (pair.one, pair.other)]
    if shared:
        left = fields_of(answers[0], [column for column, _ in shared])
        right = fields_of(answers[1], [column for _, column in shared])
        values = [
            (column.name, value_text(mine), value_text(theirs), not agree(mine, theirs))
            for (column, _), mine, theirs in zip(shared, left, right, strict=True)
        ]
    else:
        values = [("", answer_text(answers[0]), answer_text(answers[1]), pair.differs)]
    return Line(
        number=pair.number,
        cells=cut(" · ".join(_about(pair, one)), 240),
        differs=pair.differs,
        sides=[
            Side(name, _cut(mine, most), _cut(theirs, most), differs)
            for name, mine, theirs, differs in values
        ],
        one_status=pair.one.status if pair.one else "",
        other_status=pair.other.status if pair.other else "",
    )


def _about(pair: Pair, one: Batch) -> list[str]:
    """Which row it is: what the first run asked about; else its first cells."""
    found = pair.one or pair.other
    used, others = split_columns(one, found.cells if found else None)
    return [text.text for text in used or others[:CELLS_SHOWN]]


def _cut(text: str, most: int | None) -> str:
    return text if most is None else cut(text, most)


def _cells(result: Result | None) -> list[str]:
    cells = result.cells if result else None
    values = cells.values() if isinstance(cells, dict) else cells
    if not isinstance(values, str) and values is not None:
        return [value if isinstance(value, str) else str(value or "") for value in values]
    return [values] if values else []
