"""New batch: choosing a file. The upload makes a draft (see `asking/` for its page)."""

from dataclasses import replace
from pathlib import PurePath
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django_htmx.http import (
    HttpResponseClientRedirect,
)

from batchui.batches import deleting, intake, upload_limits
from batchui.batches.catalogues import catalogue_of
from batchui.batches.files import AnyFile
from batchui.batches.models import Batch
from batchui.batches.owners import own_drafts
from batchui.batches.states import EDITABLE
from batchui.prompts.ask import Ask
from batchui.prompts.conversion.kinds import CAN_BE_READ
from batchui.prompts.problems import BadInput
from batchui.teams.connections import ensure_connection
from batchui.web.body_limits import ANYBODY, BESIDES_FILE, lacked_room
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required
from batchui.web.one_prompt import prompt_models
from batchui.web.sample import SAMPLE_NAME, SAMPLE_PROMPT, sample_csv

# The names of what is pasted.
PASTED = PASTED_TABLE, PASTED_LIST = "Pasted table.tsv", "Pasted list.txt"
# In bytes, of what is shown again if it cannot be used.
LONGEST_PASTED = 500_000
NO_FILE = "No file was chosen. Choose one, or drop it here."
# The web server keeps no large body without the cookie of `body_limits.py`.
NOT_ARRIVED = "The file did not arrive. Choose it again; this page is new now, and takes it."


@csrf_exempt  # `_take` checks it, after the size: checking it reads the whole request
@member_required
def new(request: MemberRequest) -> HttpResponseBase:
    """The page to choose a file. The upload makes a draft and leads to the page of the question.

    `?instead=` names a draft whose file had to be corrected. The new draft takes over its question
    and replaces it.
    """
    if request.method != "POST":
        return _upload_page(request)
    size = _size(request)
    if size > settings.MAX_UPLOAD_BYTES + BESIDES_FILE:
        return _upload_page(request, str(upload_limits.too_large(size)))
    if size > upload_limits.room() or lacked_room(request):
        return _upload_page(request, str(upload_limits.nearly_full()))
    return _take(request)


def _size(request: MemberRequest) -> int:
    """The bytes of the request, as the browser announced them."""
    return int(request.META.get("CONTENT_LENGTH") or 0)


@csrf_protect
def _take(request: MemberRequest) -> HttpResponseBase:
    upload = request.FILES.get("file") or _pasted(request)
    if upload is None:
        return _upload_page(request, NO_FILE if _size(request) < ANYBODY else NOT_ARRIVED)
    instead = _corrected_draft(request)
    name, asked = _taken_over(instead, upload.name or "") if instead else ("", Ask())
    try:
        batch = intake.receive(
            upload, team=request.team, by=request.user, name=name, ask=asked, instead=instead
        )
    except BadInput as problem:
        pasted = _text_of(upload) if upload.name in PASTED else ""
        return _upload_page(request, str(problem), upload.name or "", pasted=pasted)
    if instead:
        deleting.discard(instead, by=request.user)
    return _made(request, batch)


def _text_of(upload: AnyFile) -> str:
    """What was pasted, to be corrected where it was typed; "" if it is too long for that."""
    if upload.size > LONGEST_PASTED:
        return ""
    upload.seek(0)
    text: str = upload.read().decode("utf-8", "replace")
    return text


def _pasted(request: MemberRequest) -> "ContentFile[bytes] | None":
    """What was pasted, as a file: cells come with tabs between them, a list without."""
    text = request.POST.get("pasted", "")
    if not text.strip():
        return None
    return ContentFile(text.encode(), PASTED_TABLE if "\t" in text else PASTED_LIST)


@post_only
@member_required
def new_from_sample(request: MemberRequest) -> HttpResponseBase:
    """Make a draft of the sample file, with a prompt."""
    upload = ContentFile(sample_csv(), SAMPLE_NAME)
    asked = Ask(template=SAMPLE_PROMPT)
    try:
        batch = intake.receive(upload, team=request.team, by=request.user, ask=asked)
    except BadInput as problem:
        return _upload_page(request, str(problem), SAMPLE_NAME)
    return _made(request, batch)


@member_required
def sample(request: MemberRequest) -> HttpResponse:
    """The sample file itself."""
    return HttpResponse(
        sample_csv(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{SAMPLE_NAME}"'},
    )


def _taken_over(draft: Batch, file_name: str) -> tuple[str, Ask]:
    """The name and the question of a draft, for the batch that replaces it.

    The name is "" unless a person chose it or both files have the same name. `as_items` and
    `skip_invalid` are not taken over, because they are about the old file.
    """
    was_named = not draft.name.startswith(PurePath(draft.source_name).stem)
    name = draft.name if was_named or file_name == draft.source_name else ""
    return name, replace(draft.ask, as_items=False, skip_invalid=False)


def _corrected_draft(request: MemberRequest) -> Batch | None:
    """The draft that this upload replaces, if `?instead=` names one."""
    try:
        pk = UUID(request.GET.get("instead", ""))
    except ValueError:
        return None
    drafts = Batch.objects.of_team(request.team).filter(own_drafts(request.user))
    return drafts.filter(pk=pk, status__in=EDITABLE).first()


def _made(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if request.htmx:
        return HttpResponseClientRedirect(batch.get_absolute_url())
    return redirect(batch)


def _upload_page(
    request: MemberRequest, problem: str = "", file_name: str = "", *, pasted: str = ""
) -> HttpResponse:
    instead = _corrected_draft(request)
    context = {
        "address": reverse("new") + (f"?instead={instead.pk}" if instead else ""),
        "pasted": pasted,
        "problem": problem,
        "file_name": file_name,
        "can_be_read": CAN_BE_READ,
        "limit": settings.MAX_UPLOAD_BYTES,
        "most_rows": settings.MAX_ROWS,
        "most_columns": settings.MAX_COLUMNS,
        "longest_cell": settings.MAX_CELL_CHARACTERS,
        "instead": instead,
    }
    if not request.htmx and instead is None:
        context["prompt_models"] = prompt_models(catalogue_of(ensure_connection(request.team)))
    page = "batches/_upload.html" if request.htmx else "batches/new.html"
    return render(request, page, context, status=422 if problem else 200)
