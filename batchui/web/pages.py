"""What people do to a batch: a button, and a view behind it."""

from django.contrib import messages
from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from batchui.batches import decisions, empty_answers, intake
from batchui.batches.exporting import added_columns
from batchui.batches.many_parts import AtStop, rows_at_stop
from batchui.batches.models import Batch
from batchui.batches.phrases import counted, rows_are
from batchui.batches.retrying import rows_of_retry
from batchui.batches.states import BatchStatus
from batchui.prompts.problems import BadInput
from batchui.web import deleted, holds
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest


@post_only
@with_batch
def stop(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Send nothing more of a batch."""
    rows = rows_at_stop(batch.parts.all())
    if decisions.stop(batch, by=request.user):
        batch.refresh_from_db()
        messages.success(request, _stopped(batch, rows))
    else:
        messages.info(request, "There was nothing to stop. A colleague may have been quicker.")
    return redirect(batch)


def _stopped(batch: Batch, rows: AtStop) -> str:
    """The message after Stop. A batch of which all was sent ends as it would have without it."""
    said = {BatchStatus.STOPPING: "Stopping.", BatchStatus.STOPPED: "Stopped."}
    sentences = [said.get(BatchStatus(batch.status), "Nothing more is sent.")]
    if batch.status == BatchStatus.STOPPING:
        sentences.append("Answers to rows that were already sent still come in.")
    if rows.left_out:
        sentences.append(f"{rows_are(rows.left_out)} left out.")
    return " ".join(sentences)


@post_only
@with_batch
def retry(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Send the rows without an answer again."""
    retried = rows_of_retry(batch)
    if decisions.retry(batch, by=request.user):
        messages.success(request, str(retried))
    else:
        messages.info(request, "There was nothing to retry. A colleague may have been quicker.")
    return redirect(batch)


@post_only
@with_batch
def count_empty(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Let empty answers count as answered."""
    number = empty_answers.count_as_answered(batch, by=request.user)
    if number:
        they = f"{counted(number, 'empty answer')} {'counts' if number == 1 else 'count'}"
        tag = f"{deleted.UNDO}{reverse('count_as_empty', args=[batch.pk])}"
        messages.success(request, f"{they} as answered now.", extra_tags=tag)
    else:
        messages.info(request, "There was nothing to count. A colleague may have been quicker.")
    return redirect(batch)


@post_only
@with_batch
def count_as_empty(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Let empty answers that count as answered be empty again."""
    number = empty_answers.count_as_empty(batch, by=request.user)
    if number:
        they = f"{counted(number, 'answer')} {'counts' if number == 1 else 'count'}"
        messages.success(request, f"{they} as empty again.")
    else:
        messages.info(request, "There was nothing to take back. A colleague may have been quicker.")
    return redirect(batch)


@post_only
@with_batch
def run_again(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Make a draft with the same file and question, and go to its page."""
    try:
        copy = intake.run_again(batch, by=request.user)
    except BadInput as problem:
        messages.error(request, str(problem))
        return redirect(batch)
    messages.success(
        request, "This is a new draft with the same file and settings. Change what you like."
    )
    return redirect(copy)


@post_only
@with_batch
def ask_further(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Make a draft whose file is the sheet of this batch with its answers, and go to its page."""
    try:
        draft = intake.ask_further(batch, by=request.user)
    except BadInput as problem:
        messages.error(request, str(problem))
        return redirect(batch)
    answer = added_columns(batch)[0]
    messages.success(
        request,
        f"This is a new draft. Its file has the rows of “{batch.name}” with their answers: use "
        f"{{{{{answer}}}}} in your question.",
    )
    return redirect(draft)


@post_only
@with_batch
def try_now(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Send what is on hold now."""
    hold = holds.what_holds(batch)
    if hold is None:
        messages.info(request, "Nothing is on hold any more.")
    elif not hold.can_be_ended:
        messages.info(request, hold.message)
    else:
        decisions.try_now(batch, by=request.user)
        messages.success(request, hold.tried)
    return redirect(batch)
