"""Example rows: a model makes ten about what somebody writes, and they become a draft."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.files.base import ContentFile
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django_htmx.http import HttpResponseClientRedirect

from batchui.batches import example_rows, intake
from batchui.prompts.problems import BadInput
from batchui.teams.connections import ensure_connection
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required

FILE_NAME = "Example rows.csv"
# Of what was written, as the name of the draft.
NAMED = 60
NOTHING = "Write what the rows are to be about."
NO_MODEL = "Nothing was asked: choose a model from the list."


@post_only
@member_required
def new_examples(request: MemberRequest) -> HttpResponse:
    """Have rows made, and a draft of them."""
    about = " ".join(request.POST.get("about", "").split())[: example_rows.LONGEST]
    connection = ensure_connection(request.team)
    known = {model.name: model for model in example_rows.models(connection)}
    model = known.get(request.POST.get("model", ""))
    if not about or model is None:
        messages.error(request, NO_MODEL if about else NOTHING)
        return _to(request, reverse("new"))
    try:
        made = example_rows.make(connection, model=model, about=about)
        name = about if len(about) <= NAMED else f"{about[: NAMED - 1].rstrip()}…"
        upload = ContentFile(made, FILE_NAME)
        batch = intake.receive(
            upload, team=request.team, by=request.user, name=f"Examples: {name}", check_now=True
        )
    except BadInput as problem:
        messages.error(request, str(problem))
        return _to(request, f"{reverse('new')}?{urlencode({'about': about})}#example-rows")
    return _to(request, batch.get_absolute_url())


def _to(request: MemberRequest, address: str) -> HttpResponse:
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)
