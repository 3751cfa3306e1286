"""The labels of batches: changed in place beside a batch, and on a page of their own."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from batchui.batches import labels
from batchui.batches.label_models import LONGEST_LABEL, Label
from batchui.batches.models import Batch
from batchui.prompts.problems import BadInput
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required


@with_batch
def of_batch(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """The labels of a batch, or with `?edit` the fields to change them; a POST changes one.

    A POST has `add`, a name, or `remove`, an id.
    """
    if not request.htmx and request.method != "POST":
        return redirect(batch)
    context: dict[str, Any] = {"batch": batch, "is_open": "edit" in request.GET}
    if request.method == "POST":
        context |= {"is_open": True} | _change(request, batch)
        if not request.htmx:
            return redirect(batch)
    else:
        context["focus"] = True
    context["team_labels"] = Label.objects.filter(team=request.team) if context["is_open"] else ()
    status = 422 if "problem" in context else 200
    return render(request, "batches/_labels.html", context, status=status)


def _change(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    """Add labels, with commas between them, or remove one. Returns what the fragment has to say.

    What could not be added stays in the field.
    """
    if removed := request.POST.get("remove", ""):
        if removed.isascii() and removed.isdecimal() and len(removed) < 18:
            for label in Label.objects.filter(team=request.team, pk=int(removed)):
                labels.remove(batch, label)
        return {"focus": True}
    typed = request.POST.get("add", "")
    names = [name.strip() for name in typed.split(",") if name.strip()] or [""]
    for at, name in enumerate(names):
        try:
            labels.add(batch, name)
        except BadInput as problem:
            left = ", ".join(names[at:])
            return {"problem": str(problem), "typed": left[: 2 * LONGEST_LABEL], "focus": True}
    return {"focus": True}


@member_required
def of_team(request: MemberRequest) -> HttpResponse:
    """The labels of the team, to rename, join or delete them."""
    return render(request, "labels/labels.html", {"labels": labels.of_team(request.team)})


def _with_label(view: Callable[[MemberRequest, Label], None]) -> Callable[..., HttpResponseBase]:
    """Give a view the label that the address names, if it is of the team; then show all labels."""

    def wrapped(request: MemberRequest, pk: int) -> HttpResponseBase:
        view(request, get_object_or_404(Label, pk=pk, team=request.team))
        return redirect("labels")

    checked: Callable[..., HttpResponseBase] = post_only(member_required(wrapped))
    return checked


@_with_label
def rename(request: MemberRequest, label: Label) -> None:
    """Give a label another name, which may be that of another one."""
    before, pk = label.name, label.pk
    try:
        named = labels.rename(label, request.POST.get("name", ""))
    except BadInput as problem:
        messages.error(request, str(problem))
        return
    joined = named.pk != pk
    became = f"was joined with “{named.name}”" if joined else f"is “{named.name}” now"
    messages.success(request, f"“{before}” {became}.")


@_with_label
def delete(request: MemberRequest, label: Label) -> None:
    """Delete a label."""
    labels.delete(label)
    messages.success(request, f"The label “{label.name}” was deleted. Its batches stay.")
