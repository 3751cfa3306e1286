"""The views of one batch: its page, its live fragments, and people's actions."""

from datetime import datetime
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet, Sum
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django_htmx.http import trigger_client_event

from batchui.batches import call_limit, decisions, intake
from batchui.batches.costs import charged_twice
from batchui.batches.due import MOST_UNDER_WAY, requests_under_way
from batchui.batches.exporting import added_columns
from batchui.batches.many_parts import AtStop, rows_at_stop
from batchui.batches.models import WAITING_FOR_COPIES, Batch, Event, Part
from batchui.batches.phrases import rows_are
from batchui.batches.questions import LEFT_OUT_SENTENCES
from batchui.batches.retrying import rows_of_retry
from batchui.batches.states import STARTED, BatchStatus, PartStatus
from batchui.prompts.problems import BadInput
from batchui.teams.models import Connection
from batchui.web import open_questions
from batchui.web.access import with_batch
from batchui.web.errors import post_only
from batchui.web.members import MemberRequest
from batchui.web.new import ask_page
from batchui.web.rows import rows_context
from batchui.web.standstill import nothing_moves

PARTS_PAGE = 24
EVENTS_SHOWN = 30
TOO_MANY_REQUESTS = (
    "{} requests are under way at Cloudflare, the most at one time. The next ones are sent as "
    "answers come back."
)
TOO_MANY_CALLS = (
    "The limit of {:,} calls to Cloudflare in five minutes is reached. batchui goes on as calls "
    "become free again."
)


@with_batch
def batch(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The page of a batch: the question, if it is not started; else its progress and answers."""
    if batch.status not in STARTED:
        return ask_page(request, batch)
    context = _live_context(batch) | _parts_context(request, batch) | rows_context(request, batch)
    context["events"] = _events(batch)
    context["by_part"] = request.GET.get("by_part", "")
    return render(request, "batches/batch.html", context)


@with_batch
def live(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The progress of a batch; 204 if nothing changed since what `?seen=` names."""
    if request.GET.get("seen") == _seen(batch):
        return HttpResponse(status=204)
    context = _live_context(batch) | {"was": request.GET.get("was")}
    response = render(request, "batches/_live_update.html", context)
    return trigger_client_event(response, "batch-changed")


@with_batch
def parts(request: MemberRequest, batch: Batch) -> HttpResponse:
    """One page of the table of parts."""
    return render(request, "batches/_parts.html", _parts_context(request, batch))


@with_batch
def timeline(request: MemberRequest, batch: Batch) -> HttpResponse:
    """The latest events of a batch."""
    return render(request, "batches/_timeline.html", {"batch": batch, "events": _events(batch)})


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
    answer, _, _ = added_columns(batch)
    messages.success(
        request,
        f"This is a new draft. Its file has the rows of “{batch.name}” with their answers: use "
        f"{{{{{answer}}}}} in your question.",
    )
    return redirect(draft)


@post_only
@with_batch
def delete(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Delete a batch that is not under way."""
    if decisions.delete(batch, by=request.user):
        messages.success(request, f"“{batch.name}” was deleted.")
        return redirect("batches")
    batch.refresh_from_db()
    if batch.deleted_at is not None:
        messages.info(request, "A colleague deleted this batch just before you.")
        return redirect("batches")
    messages.error(request, "This batch has not ended yet. Stop it first, then delete it.")
    return redirect(batch)


@post_only
@with_batch
def try_now(request: MemberRequest, batch: Batch) -> HttpResponseBase:
    """Send what is on hold now."""
    hold = _what_holds(batch)
    if hold is None:
        messages.info(request, "Nothing is on hold any more.")
    elif not hold.can_be_ended:
        messages.info(request, hold.message)
    else:
        decisions.try_now(batch, by=request.user)
        messages.success(request, hold.tried)
    return redirect(batch)


@with_batch
def part(request: MemberRequest, batch: Batch, number: int) -> HttpResponse:
    """The technical details of a part: its attempts and Cloudflare's replies."""
    found = _part_of(batch, number)
    context = {"batch": batch, "part": found, "attempts": found.attempts.all()}
    return render(request, "batches/_part.html", context)


# -- what the fragments show --------------------------------------------------------------------


def _live_context(batch: Batch) -> dict[str, Any]:
    return {
        "batch": batch,
        "seen": _seen(batch),
        "nothing_moves": nothing_moves(batch),
        "questions": open_questions.of_parts(batch.parts.all()),
        "on_hold": _what_holds(batch),
        "charged_twice": _charged_twice(batch),
        "failed_because": _why_failed(batch),
        "retried": rows_of_retry(batch) if batch.can_retry else None,
    }


def _charged_twice(batch: Batch) -> dict[str, Any]:
    """How many parts, with how many rows, may have been charged twice. {} in the sandbox.

    {} also while the batch is active: looking at every part at each poll of a page takes too long.
    """
    if batch.connection.is_sandbox or batch.is_active:
        return {}
    return charged_twice(batch.parts.all()).aggregate(parts=Count("pk"), rows=Sum("rows"))


def _seen(batch: Batch) -> str:
    """A text that changes when the progress of a batch must be shown again.

    It has the batch's version, what holds its connection, and why nothing moves at all. Another
    batch may pause the connection, end its pause or fill it; the version of this one stays the
    same then.
    """
    connection = batch.connection
    paused_until = _paused_until(connection)
    pause = f".{paused_until.timestamp()}" if paused_until else ""
    calls = ".calls" if call_limit.is_used_up(connection) else ""
    full = ".full" if batch.is_active and _is_full(connection) else ""
    standstill = f".{why}" if (why := nothing_moves(batch)) else ""
    return f"{batch.version}{pause}{calls}{full}{standstill}"


def _paused_until(connection: Connection) -> datetime | None:
    """Until when nothing is sent through a connection; None: it is not paused now."""
    until = connection.paused_until
    return until if until is not None and until > timezone.now() else None


def _is_full(connection: Connection) -> bool:
    """Whether as many requests of a connection are under way as may be at one time."""
    return requests_under_way()[connection.pk] >= MOST_UNDER_WAY


def _why_failed(batch: Batch) -> str:
    """The reason why no row of a batch was answered.

    "" if the batch has not failed, or only because its parts were left out.
    """
    if batch.status != BatchStatus.FAILED:
        return ""
    parts = batch.parts.exclude(message="").exclude(message__in=LEFT_OUT_SENTENCES)
    return parts.values_list("message", flat=True).first() or ""


class Hold(NamedTuple):
    """Why nothing of a batch is sent now.

    resume_at: when batchui tries again; None: that is not known. is_probing: one part is sent then,
    and the others once Cloudflare has accepted one. can_be_ended: by “Try now”.
    """

    message: str
    resume_at: datetime | None
    is_probing: bool = False
    can_be_ended: bool = True

    @property
    def tried(self) -> str:
        """What “Try now” has done."""
        return "batchui sends one part now." if self.is_probing else "batchui tries again now."


def _what_holds(batch: Batch) -> Hold | None:
    """Why nothing is sent now; None if nothing is on hold."""
    connection = batch.connection
    paused_until = _paused_until(connection)
    probing = connection.failures_in_a_row > 0
    held = batch.parts.filter(~WAITING_FOR_COPIES, status=PartStatus.HELD)
    part = held.order_by("number").first()
    if part is not None:
        return Hold(part.message, part.resume_at or paused_until, probing)
    if paused_until and batch.parts.filter(status=PartStatus.READY).exists():
        return Hold(connection.pause_reason, paused_until, probing)
    if batch.is_active and call_limit.is_used_up(connection):
        message = TOO_MANY_CALLS.format(settings.CALLS_PER_5_MINUTES)
        return Hold(message, resume_at=None, can_be_ended=False)
    if _is_full(connection) and batch.parts.filter(status=PartStatus.READY).exists():
        return Hold(TOO_MANY_REQUESTS.format(MOST_UNDER_WAY), resume_at=None, can_be_ended=False)
    return None


def _parts_context(request: MemberRequest, batch: Batch) -> dict[str, Any]:
    parts = batch.parts.order_by("number")
    page = Paginator(parts, PARTS_PAGE).get_page(request.GET.get("parts"))
    twice = charged_twice(parts.filter(pk__in=[part.pk for part in page]))
    return {"batch": batch, "parts": page, "twice": set(twice.values_list("number", flat=True))}


def _events(batch: Batch) -> QuerySet[Event]:
    return batch.events.select_related("actor")[:EVENTS_SHOWN]


def _part_of(batch: Batch, number: int) -> Part:
    part = batch.parts.filter(number=number).first()
    if part is None:
        raise Http404(f"This batch has no part {number:,}.")
    return part
