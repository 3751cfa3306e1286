"""New batch: the file, then what to ask of every row, then Start."""

from django.conf import settings
from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from batchui.batches import intake, lifecycle, tasks
from batchui.batches.files import AnyFile
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.cloudflare.catalogue import Model
from batchui.prompts.problems import BadInput
from batchui.prompts.rows import as_list

from .access import with_batch
from .errors import post_only
from .filled import FilledPrompts
from .forms.ask import AskForm
from .members import MemberRequest, member_required
from .sample import SAMPLE_NAME, SAMPLE_PROMPT, sample_csv

NOT_STARTED_PHASES = frozenset({BatchStatus.CHECKING, BatchStatus.DRAFT, BatchStatus.PREPARING})


@member_required
def new(request: MemberRequest) -> HttpResponseBase:
    """Choose a file; its upload makes a draft and goes on to what to ask."""
    if request.method != "POST":
        return _upload_page(request)
    upload = request.FILES.get("file")
    if upload is None:
        return _upload_page(request, "No file was chosen. Choose one, or drop it here.")
    try:
        return _made(request, _received(request, upload))
    except BadInput as problem:
        return _upload_page(request, str(problem), upload.name or "")


@post_only
@member_required
def new_from_sample(request: MemberRequest) -> HttpResponseBase:
    """A draft of the sample file, with a prompt to begin with."""
    batch = _received(request, ContentFile(sample_csv(), SAMPLE_NAME))
    lifecycle.touch_batch(batch, template=SAMPLE_PROMPT)
    return _made(request, batch)


@member_required
def sample(request: MemberRequest) -> HttpResponse:
    """The sample file itself."""
    return HttpResponse(
        sample_csv(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{SAMPLE_NAME}"'},
    )


def ask_page(
    request: MemberRequest, batch: Batch, *, form: AskForm | None = None, status: int = 200
) -> HttpResponse:
    """What to ask of the rows of a draft: the form, the filled prompts, the file's first rows."""
    form = form or AskForm(batch=batch)
    typed = form.as_typed()
    context = {
        "batch": batch,
        "form": form,
        "chosen_model": typed["model"],
        "filled": FilledPrompts.of(batch, typed),
        "sample_rows": _sample_rows(batch),
        "model_groups": _model_groups(),
    }
    return render(request, "batches/ask.html", context, status=status)


@post_only
@with_batch
def preview(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The filled prompts for what is typed; what is typed is kept with the draft."""
    form = AskForm(request.POST, batch=batch)
    typed = form.as_typed()
    if batch.status in (BatchStatus.CHECKING, BatchStatus.DRAFT):
        Batch.objects.filter(
            pk=batch.pk, status__in=(BatchStatus.CHECKING, BatchStatus.DRAFT)
        ).update(**typed)
    context = {"batch": batch, "filled": FilledPrompts.of(batch, typed)}
    return render(request, "batches/_filled.html", context)


@with_batch
def checking(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """How far the reading of the file is, and the Start button once it is read."""
    if batch.status not in NOT_STARTED_PHASES:
        return HttpResponseClientRefresh()
    if batch.is_active and request.GET.get("seen") == str(batch.version):
        return HttpResponse(status=204)
    if request.GET.get("phase") == BatchStatus.PREPARING != batch.status:
        return HttpResponseClientRefresh()
    return render(request, "batches/_check.html", {"batch": batch})


@post_only
@with_batch
def start(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Start a draft. A second click, or a colleague's, finds it started and starts nothing."""
    if batch.status != BatchStatus.DRAFT:
        _explain_not_started(request, batch)
        return redirect(batch)
    form = AskForm(request.POST, batch=batch)
    if not form.is_valid():
        return ask_page(request, batch, form=form, status=422)
    if lifecycle.start(batch, by=request.user, **form.cleaned_data):
        tasks.wake_intake(batch)
    else:
        batch.refresh_from_db()
        _explain_not_started(request, batch)
    return redirect(batch)


def _explain_not_started(request: MemberRequest, batch: Batch) -> None:
    if batch.status == BatchStatus.CHECKING:
        messages.info(request, "The file is still being read. Press Start once that is done.")
    else:
        messages.info(request, "This batch was started already, by you or a colleague.")


def _received(request: MemberRequest, upload: AnyFile) -> Batch:
    batch = intake.receive(upload, team=request.team, by=request.user)
    tasks.wake_intake(batch)
    return batch


def _made(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if request.htmx:
        return HttpResponseClientRedirect(batch.get_absolute_url())
    return redirect(batch)


def _upload_page(request: MemberRequest, problem: str = "", file_name: str = "") -> HttpResponse:
    context = {
        "problem": problem,
        "file_name": file_name,
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1024 // 1024,
        "address": reverse("new"),
    }
    page = "batches/_upload.html" if request.htmx else "batches/new.html"
    return render(request, page, context, status=422 if problem else 200)


TASKS = {
    "chat": "Answer, summarise, extract, rewrite",
    "translation": "Translate",
    "embedding": "Turn text into numbers (embeddings)",
}


def _model_groups() -> list[tuple[str, list[Model]]]:
    """The models on offer, by what they do."""
    return [
        (name, [model for model in catalogue.models() if model.task == task])
        for task, name in TASKS.items()
    ]


def _sample_rows(batch: Batch) -> list[tuple[int, list[str]]]:
    return [
        (number, as_list(cells, batch.columns)) for number, cells in enumerate(batch.first_rows[:5], 1)
    ]
