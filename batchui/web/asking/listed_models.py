"""The models of a draft's connection: shown, listed anew, or typed in by an administrator."""

from dataclasses import replace

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render

from batchui.batches import goes_to, listing, saved_questions
from batchui.batches.catalogues import TYPED_IN, forget, of_batch
from batchui.batches.models import Batch
from batchui.prompts.jobs import job_of
from batchui.prompts.problems import BadInput
from batchui.teams.administrators import ONLY_ADMINISTRATORS
from batchui.web.access import with_batch
from batchui.web.asking.filling_in import filled, keep_typed
from batchui.web.asking.jobs import ask_for
from batchui.web.asking.model_choice import groups_of
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.forms.model_field import ModelField
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

READ = "The list of models was read."


@with_batch
def models(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The list to choose a model from. `model` in the query is the one that the page has chosen."""
    form = AskForm(batch=batch)
    field, chosen = form.fields["model"], request.GET.get("model", "")
    assert isinstance(field, ModelField)  # noqa: S101
    if field.valid_value(chosen):
        form.initial["model"] = chosen
    context = {"batch": batch, "listing": form.known, "groups": groups_of(form)}
    return render(request, "asking/_models.html", context)


@post_only
@with_own_draft
def read_models(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Read the list of models now."""
    keep_typed(request, batch)
    problem = listing.refresh_models(goes_to.connection_of(batch))
    forget(batch)
    icon = "triangle-alert" if problem else "check"
    return filled(request, batch, problem or READ, icon=icon, can_undo=False)


@post_only
@with_own_draft
def add_model(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Use a model that the list does not have. Only administrators may."""
    if not request.membership.is_admin:
        raise PermissionDenied(ONLY_ADMINISTRATORS)
    before = keep_typed(request, batch)
    name, task = (request.POST.get(field, "")[:200] for field in ("other_model", "other_task"))
    try:
        added = listing.add_model(goes_to.connection_of(batch), name, task=task, by=request.user)
    except BadInput as problem:
        told = f"The model was not added. {problem}"
        return filled(request, batch, told, icon="triangle-alert", can_undo=False)
    forget(batch)
    item_format = of_batch(batch).find(added.name).item_format
    asked = replace(before, model=added.name, options={}, job="")
    job = job_of(asked, item_format)
    saved_questions.fill_in(batch, replace(ask_for(job, batch, asked), model=added.name))
    return filled(request, batch, f"{added.name}: {TYPED_IN}", icon="triangle-alert")
