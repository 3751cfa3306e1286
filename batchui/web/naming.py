"""The title of a batch, which is edited where it stands."""

from django import forms
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from batchui.batches import decisions
from batchui.batches.models import LONGEST_NAME, Batch
from batchui.web.access import with_batch
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft


class NameForm(forms.Form):
    """The name of a batch: one line."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        error_messages={
            "required": "Give it a name.",
            "max_length": f"Use {LONGEST_NAME} characters at most.",
        },
    )

    def clean_name(self) -> str:
        """The name on one line."""
        return " ".join(self.cleaned_data["name"].split())


def name(request: MemberRequest, **kwargs: object) -> HttpResponseBase:
    """The title, or with `?edit` the field to change it; a POST saves it."""
    return (_save if request.method == "POST" else _show)(request, **kwargs)


@with_batch
def _show(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    if not request.htmx:
        return redirect(batch)
    if "edit" in request.GET:
        return render(request, "batches/_title_form.html", {"batch": batch, "typed": batch.name})
    return _title(request, batch)


@with_own_draft
def _save(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    form = NameForm(request.POST)
    if form.is_valid():
        decisions.rename(batch, form.cleaned_data["name"])
        return _title(request, batch) if request.htmx else redirect(batch)
    if not request.htmx:
        return redirect(batch)
    context = {
        "batch": batch,
        "typed": request.POST.get("name", "")[:LONGEST_NAME],
        "problem": form.errors["name"][0],
    }
    return render(request, "batches/_title_form.html", context, status=422)


def _title(request: MemberRequest, batch: Batch) -> HttpResponse:
    batch.refresh_from_db()
    return render(request, "batches/_title.html", {"batch": batch, "focus": True})
