"""The pictures of a draft: which column has them, and the archive that goes with it."""

from contextlib import suppress
from dataclasses import replace

from django.conf import settings
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django_htmx.http import HttpResponseClientRefresh

from batchui.batches import decisions, picture_archives, saved_questions
from batchui.batches.catalogues import of_batch
from batchui.batches.models import Batch
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput, quoted
from batchui.web.asking.begin_with_pictures import begin_with_pictures, with_pictures
from batchui.web.asking.filling_in import filled, keep_typed
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.forms.pictures import lacks_archive
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

NO_FILE = "No file was chosen. Choose a ZIP archive, or drop it here."


@post_only
@with_own_draft
def choose(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Ask each row with the picture in a column, and a model that sees it; or without."""
    before = batch.ask.picture_column
    column = str(AskForm(request.POST, batch=batch)["picture_column"].value() or "")
    if column and column not in batch.columns:
        raise Http404("The file has no such column.")
    typed = replace(keep_typed(request, batch), picture_column=before)
    decisions.edit(batch, ask=typed)
    batch.refresh_from_db()
    asked = with_pictures(batch, typed, column)
    saved_questions.fill_in(batch, asked)
    missing = lacks_archive(batch, column) if column else ""
    sentence = f"{_said(batch, typed, asked)} {missing}".strip()
    return filled(request, batch, sentence, icon="triangle-alert" if missing else "check")


def _said(batch: Batch, before: Ask, asked: Ask) -> str:
    if not asked.picture_column:
        return "Rows are asked without pictures."
    said = f"Each row is asked with its picture, in {quoted(asked.picture_column)}."
    if asked.model == before.model:
        return said
    known = of_batch(batch)
    seer, blind = (known.find(name).label for name in (asked.model, before.model))
    return f"{said} {blind} cannot see pictures, so {seer} was chosen."


@with_own_draft
def add(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Let an archive with pictures go with a draft; asked for, what its dialog shows."""
    context = {"batch": batch, "upload_limit": settings.MAX_UPLOAD_BYTES}
    if request.method != "POST":
        if not request.htmx:
            return redirect(batch)
        return render(request, "asking/_pictures_dialog.html", context)
    upload = request.FILES.get("pictures")
    try:
        if upload is None:
            raise BadInput(NO_FILE)
        picture_archives.add(batch, upload)
    except BadInput as problem:
        context |= {"problem": str(problem), "file_name": upload.name if upload else ""}
        return render(request, "asking/_pictures_upload.html", context, status=422)
    begin_with_pictures(batch)
    return _back(request, batch)


@post_only
@with_own_draft
def remove(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Let no archive go with a draft any more."""
    with suppress(BadInput):  # it was started: the page says so
        picture_archives.remove(batch)
    return _back(request, batch)


def _back(request: MemberRequest, batch: Batch) -> HttpResponse:
    return HttpResponseClientRefresh() if request.htmx else redirect(batch)
