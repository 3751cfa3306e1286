"""Fills the question of a draft in: from a starting point, from a saved question, or as it was."""

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render

from batchui.batches import saved_questions
from batchui.batches.models import Batch, SavedQuestion
from batchui.prompts.ask import Ask
from batchui.prompts.jobs import BY_SLUG as JOBS_BY_SLUG
from batchui.prompts.problems import BadInput
from batchui.web.asking.jobs import ask_for, is_offered
from batchui.web.asking.other_columns import fitted
from batchui.web.asking.saving import save_typed
from batchui.web.asking.starting_points import BY_SLUG, starting_context
from batchui.web.asking.views import check_context, question_context, sheet_context
from batchui.web.errors import post_only
from batchui.web.forms.ask import AskForm
from batchui.web.members import MemberRequest
from batchui.web.own_drafts import with_own_draft

TAKEN_BACK = "The question is as it was before."


@post_only
@with_own_draft
def start_from(request: MemberRequest, batch: Batch, slug: str) -> HttpResponseBase:
    """Fill in a starting point. What was typed is kept, to be taken back."""
    point = BY_SLUG.get(slug)
    if point is None:
        raise Http404("There is no such starting point.")
    before = keep_typed(request, batch)
    saved_questions.fill_in(batch, point.ask(batch, before))
    return filled(request, batch, f"“{point.label}” was filled in.")


@post_only
@with_own_draft
def choose_job(request: MemberRequest, batch: Batch, slug: str) -> HttpResponseBase:
    """Let a draft do another job. What was typed stays where it fits, and can be brought back."""
    job = JOBS_BY_SLUG.get(slug)
    if job is None or not is_offered(job, batch):
        raise Http404("There is no such job.")
    before = keep_typed(request, batch)
    saved_questions.fill_in(batch, ask_for(job, batch, before))
    opens = job.slug == "categories"
    return filled(request, batch, f"“{job.label}” was chosen.", opens_lines=opens)


@post_only
@with_own_draft
def use_saved(request: MemberRequest, batch: Batch, saved: int) -> HttpResponseBase:
    """Fill in a saved question of the team."""
    question = get_object_or_404(SavedQuestion, pk=saved, team=request.team, deleted_at=None)
    before = keep_typed(request, batch)
    fits = fitted(batch, saved_questions.as_saved(question, before))
    saved_questions.fill_in(batch, fits.ask, saved=question)
    sentence = f"“{question.name}” was filled in. {fits.told}".strip()
    return filled(request, batch, sentence, icon="triangle-alert" if fits.misses else "check")


@post_only
@with_own_draft
def undo(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Take back that a question was filled in."""
    saved_questions.take_back(batch)
    return filled(request, batch, TAKEN_BACK, can_undo=False)


@post_only
@with_own_draft
def save(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Save the question under a name; answers with the list of saved questions."""
    keep_typed(request, batch)
    name = request.POST.get("question_name", "")
    context = {"batch": batch, "saving_name": name[:200]}
    try:
        saved = saved_questions.save(batch, name, by=request.user)
    except BadInput as problem:
        context |= {"saving_problem": str(problem), **starting_context(batch)}
        return render(request, "asking/_saved_questions.html", context, status=422)
    context |= {"just_saved": saved, **starting_context(batch)}
    return render(request, "asking/_saved_questions.html", context)


def keep_typed(request: MemberRequest, batch: Batch) -> Ask:
    """Save what is typed; returns it."""
    if "template" in request.POST:
        save_typed(batch, AskForm(request.POST, batch=batch))
        batch.refresh_from_db()
    return batch.ask


def filled(
    request: MemberRequest,
    batch: Batch,
    sentence: str,
    *,
    can_undo: bool = True,
    icon: str = "check",
    opens_lines: bool = False,
) -> HttpResponseBase:
    """The question as it is filled in now, and the sheet with the columns of its answers."""
    if not request.htmx:
        return redirect(batch)
    context = {
        **check_context(batch),
        **sheet_context(request, batch),
        **question_context(request, batch, AskForm(batch=batch)),
        "filled_in": sentence,
        "filled_icon": icon,
        "can_undo": can_undo,
        "opens_lines": opens_lines,
    }
    response: HttpResponse = render(request, "asking/_filled_in.html", context)
    return response
