"""The rows of a draft that cannot be asked: a page of all, and a download with the reasons."""

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from batchui import security_log
from batchui.batches.compressed import IF_DAMAGED, DamagedFile
from batchui.batches.models import Batch
from batchui.batches.row_problems import RowProblem, bad_rows_csv, problems_of
from batchui.exports.names import download_name
from batchui.web.access import with_batch
from batchui.web.downloads import attachment, streamed
from batchui.web.errors import FileLost
from batchui.web.members import MemberRequest

PAGE = 100


@with_batch
def row_problems(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The rows that cannot be asked, with what is wrong. `?problems=`: the page."""
    pages = Paginator(range(_count(batch)), PAGE)
    page = pages.get_page(request.GET.get("problems"))
    first = (page.number - 1) * PAGE
    context = {
        "batch": batch,
        "problem_pages": page,
        "problems": _problems(batch, first=first, most=PAGE),
    }
    return render(request, "batches/row_problems.html", context)


@with_batch
def download(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """The same rows as CSV, with the reason in a column of its own."""
    _count(batch)
    _problems(batch, first=0, most=1)
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what="bad rows")
    return streamed(
        request,
        bad_rows_csv(batch),
        content_type="text/csv; charset=utf-8",
        headers=attachment(download_name(f"{batch.name}, to correct", timezone.localdate(), "csv")),
    )


def _problems(batch: Batch, *, first: int, most: int) -> list[RowProblem]:
    try:
        return list(problems_of(batch, first=first, most=most))
    except (DamagedFile, FileNotFoundError):
        raise FileLost(f"The list of these rows cannot be read any more. {IF_DAMAGED}") from None


def _count(batch: Batch) -> int:
    if not batch.problem_count:
        raise Http404("Every row of this file can be asked.")
    return batch.problem_count
