"""Example rows: a model makes ten about what somebody writes, and they become a draft."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import HttpResponse
from django.urls import reverse

from batchui.batches import example_rows, intake
from batchui.batches.catalogues import catalogue_of
from batchui.prompts.problems import BadInput
from batchui.teams.connections import ensure_connection
from batchui.web.errors import post_only
from batchui.web.leading import lead_to
from batchui.web.members import MemberRequest, member_required
from batchui.web.one_prompt import NO_MODEL, name_of, prompt_models

FILE_NAME = "Example rows.csv"
NOTHING = "Write what the rows are to be about."


@post_only
@member_required
def new_examples(request: MemberRequest) -> HttpResponse:
    """Have rows made, and a draft of them."""
    about = " ".join(request.POST.get("about", "").split())[: example_rows.LONGEST]
    connection = ensure_connection(request.team)
    known = {model.name: model for model in prompt_models(catalogue_of(connection))}
    model = known.get(request.POST.get("model", ""))
    if not about or model is None:
        messages.error(request, NO_MODEL if about else NOTHING)
        return lead_to(request, reverse("new"))
    try:
        made = example_rows.make(connection, model=model, about=about)
        batch = intake.receive(
            ContentFile(made, FILE_NAME),
            team=request.team,
            by=request.user,
            name=f"Examples: {name_of(about)}",
            check_now=True,
        )
    except BadInput as problem:
        messages.error(request, str(problem))
        return lead_to(request, f"{reverse('new')}?{urlencode({'about': about})}#example-rows")
    return lead_to(request, batch.get_absolute_url())
