"""Try a prompt: one text, answered at once, without a file.

It is a draft of one row with a try, so it has a page, a price and a history like any other, and can
be asked of another model, or made into a batch.
"""

import csv
import io

from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import HttpResponse
from django.urls import reverse

from batchui.batches import intake, tries
from batchui.batches.catalogues import Catalogue, catalogue_of
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import Model, UnknownModel
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.teams.connections import ensure_connection
from batchui.web.errors import post_only
from batchui.web.leading import lead_to
from batchui.web.members import MemberRequest, member_required

FILE_NAME, COLUMN = "Prompt.csv", "prompt"
# Of a prompt, as the name of its draft.
NAMED = 60
NO_PROMPT = "Write a prompt first."
NO_MODEL = "Nothing was asked: choose a model from the list."


def prompt_models(known: Catalogue) -> list[Model]:
    """The models that answer questions, the usual one first."""
    return [model for model in known.models() if model.task == "chat"]


@post_only
@member_required
def new_prompt(request: MemberRequest) -> HttpResponse:
    """Make a draft of one prompt, and ask a model at once."""
    text = request.POST.get("prompt", "").replace("\r\n", "\n").strip()
    offered = {one.name for one in prompt_models(catalogue_of(ensure_connection(request.team)))}
    model = request.POST.get("model", "")
    if not text or model not in offered:
        messages.error(request, NO_MODEL if text else NO_PROMPT)
        return lead_to(request, reverse("new"))
    try:
        batch = intake.receive(
            _file_of(text),
            team=request.team,
            by=request.user,
            name=name_of(text),
            ask=Ask(template=f"{{{{{COLUMN}}}}}", model=model),
            check_now=True,
        )
    except BadInput as problem:
        messages.error(request, str(problem))
        return lead_to(request, reverse("new"))
    _ask(request, batch)
    return lead_to(request, batch.get_absolute_url())


def _ask(request: MemberRequest, batch: Batch) -> None:
    try:
        tries.begin(batch, by=request.user, ask=batch.ask, count=1)
    except (BadInput, UnknownModel) as problem:
        messages.error(request, str(problem))


def _file_of(text: str) -> "ContentFile[bytes]":
    written = io.StringIO(newline="")
    csv.writer(written).writerows([[COLUMN], [text]])
    return ContentFile(written.getvalue().encode(), FILE_NAME)


def name_of(text: str) -> str:
    """The name of a draft of this text: its beginning, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= NAMED else f"{line[: NAMED - 1].rstrip()}…"
