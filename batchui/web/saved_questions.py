"""The page of the questions that a team has saved."""

from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from batchui.batches import saved_questions
from batchui.batches.catalogues import catalogue_of
from batchui.batches.models import Batch, SavedQuestion
from batchui.prompts.problems import BadInput
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required

P = ParamSpec("P")

# Of a question, the page names so many batches that used it, among so many latest ones of all.
BATCHES_NAMED = 5
BATCHES_LOOKED_AT = 500


def _with_question(
    view: Callable[Concatenate[MemberRequest, SavedQuestion, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Give a view the question that the address names, if it is of the team. A GET gets 405."""

    @wraps(view)
    def wrapped(
        request: MemberRequest, pk: int, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponseBase:
        saved = get_object_or_404(SavedQuestion, pk=pk, team=request.team)
        return view(request, saved, *args, **kwargs)

    return post_only(member_required(wrapped))  # type: ignore[arg-type]


@member_required
def saved(request: MemberRequest) -> HttpResponse:
    """The saved questions of a team, each with the latest batches that used it."""
    used_by = _used_by(request.team)
    known = catalogue_of(ensure_connection(request.team))
    context = {
        "questions": [
            (one, used_by[one.pk], known.remark(one.ask.model))
            for one in saved_questions.of_team(request.team)
        ],
        "deleted": saved_questions.deleted_of(request.team),
    }
    return render(request, "questions/questions.html", context)


def _used_by(team: Team) -> dict[int, list[Batch]]:
    """The latest started batches of each saved question, by its number. One query."""
    found: dict[int, list[Batch]] = defaultdict(list)
    used = Batch.objects.of_team(team).exclude(saved_question=None)
    used = used.exclude(status__in=saved_questions.UNSTARTED).order_by("-created_at")
    for batch in used.only("name", "saved_question_id")[:BATCHES_LOOKED_AT]:
        if len(found[batch.saved_question_id or 0]) < BATCHES_NAMED:
            found[batch.saved_question_id or 0].append(batch)
    return found


@_with_question
def rename(request: MemberRequest, saved: SavedQuestion) -> HttpResponseBase:
    """Give a question another name."""
    try:
        saved_questions.rename(saved, request.POST.get("name", ""))
    except BadInput as problem:
        messages.error(request, str(problem))
    return redirect("saved_questions")


@_with_question
def delete(request: MemberRequest, saved: SavedQuestion) -> HttpResponseBase:
    """Delete a question. The page offers to take that back."""
    saved_questions.delete(saved)
    messages.success(request, f"“{saved.name}” was deleted. Below it can be brought back.")
    return redirect("saved_questions")


@_with_question
def restore(request: MemberRequest, saved: SavedQuestion) -> HttpResponseBase:
    """Take back that a question was deleted."""
    try:
        saved_questions.restore(saved)
        messages.success(request, f"“{saved.name}” is back.")
    except BadInput as problem:
        messages.error(request, str(problem))
    return redirect("saved_questions")
