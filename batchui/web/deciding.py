"""What people decide about parts: about one, about all of a batch, or about all of their team.

What may be paid twice, or gives rows up, is asked once more in a dialog. The dialog names its
parts, so that parts which need the same decision a moment later are not decided with them.
"""

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from batchui.batches import costs, questions
from batchui.batches.many_parts import rows_at_stop
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import parts_phrase
from batchui.batches.preparing import MOST_PARTS
from batchui.batches.questions import CHOICES, Choice
from batchui.batches.retrying import rows_of_retry
from batchui.batches.states import Question
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest, member_required
from batchui.web.open_questions import of_parts, parts_of_team
from batchui.web.question_words import DONE, DONE_WHILE_FAILING

NO_SUCH = "There is no such decision."
TOO_MANY = f"More than {MOST_PARTS:,} parts cannot be decided about at once. Nothing was changed."
DECIDED_ALREADY = (
    "This was decided already, perhaps by a colleague. Nothing was changed; this page is up to "
    "date."
)


# -- decisions ----------------------------------------------------------------------------------


@post_only
@with_batch
def decide(request: MemberRequest, batch: Batch, number: int, choice: str) -> HttpResponseBase:
    """What to do with one part."""
    part = get_object_or_404(batch.parts, number=number)
    question = questions.question_about(part)
    if question is None or Choice(choice) not in CHOICES[question]:
        messages.info(
            request, f"Part {number} no longer needs this decision. This page is up to date."
        )
    else:
        _decide(request, batch.parts.filter(pk=part.pk), question, Choice(choice))
    # Who decides part by part goes on there.
    folded = f"?by_part={question}#by-part-{question}" if question else ""
    return redirect(f"{batch.get_absolute_url()}{folded}")


@post_only
@with_batch
def decide_all(
    request: MemberRequest, batch: Batch, question: str, choice: str
) -> HttpResponseBase:
    """What to do with all parts of a batch about which the same is asked."""
    _decide(request, batch.parts.all(), *_checked(question, choice))
    return redirect(batch)


@post_only
@member_required
def decide_everywhere(request: MemberRequest, question: str, choice: str) -> HttpResponseBase:
    """What to do with all parts of the team about which the same is asked."""
    _decide(request, parts_of_team(request.team), *_checked(question, choice))
    return redirect("batches")


def _decide(
    request: MemberRequest, parts: QuerySet[Part], question: Question, choice: Choice
) -> None:
    named = request.POST.get("parts")
    if named is not None:
        parts = parts.filter(pk__in=_numbers(named))
    failing = parts.filter(batch__connection__failures_in_a_row__gt=0).exists()
    decided = questions.decide(parts, question, choice, by=request.user)
    if not decided.parts:
        messages.info(request, DECIDED_ALREADY)
        return
    done = (
        (DONE_WHILE_FAILING if failing else DONE)
        .get(choice, DONE[choice])
        .format(parts=parts_phrase(decided.parts), are="is" if decided.parts == 1 else "are")
    )
    early = len(_numbers(named)) - decided.parts if named is not None else 0
    if early > 0:
        done += f" {parts_phrase(early)} no longer needed it."
    messages.success(request, done)


# -- the dialogs that ask once more -------------------------------------------------------------


@with_batch
def confirm(request: MemberRequest, batch: Batch, number: int, choice: str) -> HttpResponse:
    """The dialog before a decision about one part."""
    if choice not in list(Choice):
        raise Http404(NO_SUCH)
    part = get_object_or_404(batch.parts, number=number)
    question = questions.question_about(part)
    parts = batch.parts.filter(pk=part.pk)
    action = reverse(choice.replace("-", "_"), args=[batch.pk, number])
    return _confirm(request, parts, question, Choice(choice), action=action)


@with_batch
def confirm_all(request: MemberRequest, batch: Batch, question: str, choice: str) -> HttpResponse:
    """The dialog before a decision about all parts of a batch."""
    action = reverse("decide_all", args=[batch.pk, question, choice])
    return _confirm(request, batch.parts.all(), *_checked(question, choice), action=action)


@member_required
def confirm_everywhere(request: MemberRequest, question: str, choice: str) -> HttpResponse:
    """The dialog before a decision about all parts of the team."""
    action = reverse("decide_everywhere", args=[question, choice])
    parts = parts_of_team(request.team)
    return _confirm(request, parts, *_checked(question, choice), action=action)


@with_batch
def confirm_stop(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The dialog before Stop, with what becomes of the rows without an answer."""
    if not batch.can_stop:
        return render(request, "batches/_decided_already.html", {"sentence": DECIDED_ALREADY})
    rows = rows_at_stop(batch.parts.all())
    cost = costs.cost_of({batch.pk: rows.sent})
    context = {"batch": batch, "rows": rows, "cost": cost}
    return render(request, "batches/_confirm_stop.html", context)


@with_batch
def confirm_retry(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The dialog before a retry of rows that may have been charged before."""
    doubt = batch.rows_in_doubt
    context = {
        "batch": batch,
        "retried": rows_of_retry(batch),
        "doubt": doubt,
        "cost": costs.cost_of({batch.pk: doubt}),
    }
    return render(request, "batches/_confirm_retry.html", context)


def _confirm(
    request: MemberRequest,
    parts: QuerySet[Part],
    question: Question | None,
    choice: Choice,
    *,
    action: str,
) -> HttpResponse:
    if question is None or choice not in CHOICES[question]:
        return render(request, "batches/_decided_already.html", {"sentence": DECIDED_ALREADY})
    about = questions.about(parts, question).values_list("pk", flat=True)
    these = list(about.order_by("pk")[:MOST_PARTS])
    found = of_parts(Part.objects.filter(pk__in=these))
    asked = next((one for one in found if one.question == question), None)
    if asked is None:
        return render(request, "batches/_decided_already.html", {"sentence": DECIDED_ALREADY})
    context = {
        "asked": asked,
        "offer": asked.offer(choice),
        "action": action,
        "parts": ",".join(map(str, these)),
    }
    return render(request, "batches/_confirm_decision.html", context)


def _checked(question: str, choice: str) -> tuple[Question, Choice]:
    """The question and the choice of an address. Raises Http404 if they do not go together."""
    try:
        found = Question(question), Choice(choice)
    except ValueError:
        raise Http404(NO_SUCH) from None
    if found[1] not in CHOICES[found[0]]:
        raise Http404(NO_SUCH)
    return found


def _numbers(text: str) -> list[int]:
    """The parts that a dialog named. Raises BadRequest for more than it names."""
    found = text.split(",", MOST_PARTS)
    if len(found) > MOST_PARTS:
        raise BadRequest(TOO_MANY)
    return [int(one) for one in found if one.isascii() and one.isdecimal() and len(one) < 19]
