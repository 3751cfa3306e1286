"""Downloads that are chosen, and those that are made as a whole before they are sent."""

from collections.abc import Iterator
from typing import NamedTuple, Self
from uuid import UUID

from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from batchui import security_log
from batchui.batches import files, making
from batchui.batches.export_models import Export
from batchui.batches.exporting import ALL, Choice
from batchui.batches.models import Batch
from batchui.batches.phrases import size_phrase
from batchui.batches.whole_files import KINDS, file_name, kinds_for, said_before
from batchui.exports.names import ANSWER
from batchui.web.access import with_batch
from batchui.web.downloads import NO_PAGE, NO_SUCH_KIND, made_while_sent, refuse_unstarted
from batchui.web.errors import post_only
from batchui.web.forms.download import ROWS, DownloadForm
from batchui.web.members import MemberRequest

MADE_SHOWN = 10
NOT_KEPT = "This file is not kept any more. Make it again on the batch's page."


class MadeFile(NamedTuple):
    """A file that was made or is being made, with its kind, rows and size in words."""

    export: Export
    kind: str
    about: str

    @classmethod
    def of(cls, export: Export, batch: Batch) -> Self:
        """The words for an export of this batch."""
        size = size_phrase(export.size) if export.is_ready else "being made"
        about = [*_chosen(export, batch), size]
        return cls(export, KINDS[export.kind].label, ", ".join(about))


def _chosen(export: Export, batch: Batch) -> Iterator[str]:
    """What goes out: the rows, and what else is not as usual. A workbook keeps its columns."""
    choice = Choice.from_dict(export.choice)
    yield ROWS[choice.only]
    if choice.columns is not None and export.kind != "workbook":
        yield f"{len(choice.columns):,} of {len(batch.columns):,} columns"
    if choice.answer != ANSWER:
        yield f"answers in “{choice.answer}”"
    if choice.whole != ALL.whole:
        yield "with whole answers" if choice.whole == "always" else "without whole answers"


@with_batch
def choose(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """The page to choose a download, and what comes of choosing."""
    refuse_unstarted(batch)
    form = DownloadForm(request.POST if request.method == "POST" else None, batch=batch)
    if request.method == "POST" and form.is_valid():
        kind = form.cleaned_data["kind"]
        Batch.objects.filter(pk=batch.pk).update(
            download_choice=form.choice.to_dict(), download_kind=kind
        )
        # Not by way of its address: that would have the names of all columns.
        if not KINDS[kind].is_whole:
            return made_while_sent(request, batch, form)
        return _begun(request, batch, kind, form.choice)
    context = {
        "batch": batch,
        "form": form,
        "said": said_before(batch),
        "made": [MadeFile.of(export, batch) for export in making.kept(batch)[:MADE_SHOWN]],
    }
    return render(request, "batches/download.html", context, status=422 if form.errors else 200)


@post_only
@with_batch
def make(request: MemberRequest, batch: Batch, kind: str) -> HttpResponseBase:
    """Have a whole download made of everything."""
    refuse_unstarted(batch)
    if kind not in kinds_for(batch) or not KINDS[kind].is_whole:
        raise Http404(NO_SUCH_KIND)
    return _begun(request, batch, kind, Choice())


def _begun(request: MemberRequest, batch: Batch, kind: str, choice: Choice) -> HttpResponseBase:
    export = making.ask_for(batch, kind, choice, by=request.user)
    return redirect("export", batch.pk, export.pk)


@with_batch
def export(request: MemberRequest, batch: Batch, export_id: UUID) -> HttpResponse:
    """The page of a download that is made as a whole: its progress, then the file."""
    found = _found(batch, export_id)
    if request.htmx and found.is_waiting and request.GET.get("seen") == str(found.rows_done):
        return HttpResponse(status=204)
    context = {
        "batch": batch,
        "export": found,
        "kind": KINDS[found.kind],
        "file_name": _name(batch, found),
    }
    page = "batches/_export.html" if request.htmx else "batches/export.html"
    return render(request, page, context)


@with_batch
def export_file(request: MemberRequest, batch: Batch, export_id: UUID) -> HttpResponseBase:
    """The file of a download that was made as a whole."""
    found = _found(batch, export_id)
    if not found.is_ready:
        raise Http404("This file is not made yet.")
    try:
        content = files.open_file(found.file)
    except FileNotFoundError:  # a sweep removes it a moment before its record
        raise Http404(NOT_KEPT) from None
    security_log.record("downloaded", who=request.user.in_log, batch=batch.pk, what=found.kind)
    return FileResponse(
        content,
        as_attachment=True,
        filename=_name(batch, found),
        content_type=KINDS[found.kind].content_type,
        headers=NO_PAGE | {"Cache-Control": "no-store"},
    )


def _found(batch: Batch, export_id: UUID) -> Export:
    found = Export.objects.filter(batch=batch, pk=export_id).first()
    if found is None:
        raise Http404(NOT_KEPT)
    return found


def _name(batch: Batch, export: Export) -> str:
    return file_name(batch, export.kind, timezone.localtime(export.created_at).date())
