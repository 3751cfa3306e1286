"""What people decide about a batch, from its start to its end.

A page, the terminal and a program call the same functions. Two people, or two clicks, at the same
moment decide once: the second finds it done, and gets False.
"""

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from batchui.batches import call_limit
from batchui.batches.lifecycle import (
    close_waiting,
    lock,
    move_batch,
    move_part,
    record,
    release_parts,
    reopen_parts,
    settle,
    stop_parts,
)
from batchui.batches.models import Attempt, Batch, Part, asked_fields
from batchui.batches.phrases import rows_are
from batchui.batches.preparing import prepare, prepare_now_or_soon
from batchui.batches.signals import work_waits
from batchui.batches.states import (
    ENDED_BATCHES,
    RETRYABLE_ANSWERS,
    STOPPABLE_BATCHES,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
)
from batchui.prompts.ask import Ask
from batchui.teams.connections import ensure_connection
from batchui.teams.models import User

LEFT_OUT = "It is not known what became of this row; it was left out."
EDITABLE = (BatchStatus.CHECKING, BatchStatus.DRAFT)


def edit(batch: Batch, *, ask: Ask, name: str = "") -> bool:
    """Keep what is typed with a draft. False: it was started.

    A `name` of "" leaves the name as it is.
    """
    named = {"name": name} if name else {}
    drafts = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=EDITABLE)
    return bool(drafts.update(**asked_fields(ask), **named))


def start(
    batch: Batch, *, by: User | None, ask: Ask, name: str = "", prepare_now: bool = False
) -> bool:
    """Start a draft with what is asked. False: it is no draft any more.

    It goes to the team's connection of now, which may have been set up after the upload. A small
    file is cut at once, and any with `prepare_now`; others by a worker. It may turn out that rows
    cannot be asked: then the batch is a draft again, and says so.
    """
    started = batch.status == BatchStatus.DRAFT and move_batch(
        batch,
        BatchStatus.PREPARING,
        event="Started.",
        by=by,
        ask=ask,
        started_at=timezone.now(),
        started_by=by,
        connection=ensure_connection(batch.team),
        problem="",
        problem_rows=[],
        progress_rows=0,
        name=name or batch.name,
    )
    if started and prepare_now:
        prepare(batch.pk)
    elif started:
        prepare_now_or_soon(batch)
    return started


def stop(batch: Batch, *, by: User | None) -> bool:
    """Send nothing more of a batch. What was sent is still fetched, and may be charged.

    Rows not sent become `unsent`; parts nobody is sure about are left out (`missing`).
    False: there is nothing to stop.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.status not in STOPPABLE_BATCHES:
            return False
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=timezone.now())
        batch.refresh_from_db()
        record(batch, "stopping", "Stop was pressed. Nothing more is sent.", by=by)
        stop_parts(batch.parts.all())
        settle(batch)
    return True


def retry(batch: Batch, *, by: User | None) -> bool:
    """Send the rows again that have no answer, and no others. False: there are none.

    They go to the team's connection of now, unless an answer is still to be had at the old one.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if not batch.can_retry:
            return False
        batch.stop_requested_at = None
        if not Attempt.objects.filter(part__batch=batch, status=AttemptStatus.ACCEPTED).exists():
            batch.connection = ensure_connection(batch.team)
        batch.save(update_fields=["stop_requested_at", "connection"])
        record(batch, "retry", f"Retry: {rows_are(batch.unanswered)} sent again.", by=by)
        without = Q()
        for status in RETRYABLE_ANSWERS:
            without |= Q(**{f"{status.value}__gt": 0})
        reopen_parts(batch.parts.filter(without))
        batch.refresh_from_db()
        settle(batch)
    work_waits.send(Batch, batch=batch)
    return True


def send_again(part: Part, *, by: User | None) -> bool:
    """Send a part that may have been sent before; its rows may be charged twice."""
    decided = part.status == PartStatus.UNSURE and move_part(
        part,
        PartStatus.READY,
        event=f"Part {part.number} is sent again. Its rows may be charged twice.",
        by=by,
        resume_at=None,
        message="",
        failures_in_a_row=0,
    )
    if decided:
        work_waits.send(Batch, batch=part.batch)
    return decided


def leave_out(part: Part, *, by: User | None) -> bool:
    """Leave a part that may have been sent: its rows without an answer are `missing`."""
    return part.status == PartStatus.UNSURE and move_part(
        part,
        PartStatus.DONE,
        event=f"Part {part.number} was left out.",
        by=by,
        **close_waiting(part, AnswerStatus.MISSING, LEFT_OUT),
    )


def try_now(batch: Batch, *, by: User | None) -> int:
    """Try the held parts of a batch now, whatever their connection waits for.

    Returns how many there were.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        call_limit.resume(batch.connection_id)
        released = release_parts(batch.parts.all())
        if released:
            record(batch, "try now", "Try now: the parts on hold are sent.", by=by)
            settle(batch)
    work_waits.send(Batch, batch=batch)
    return released


def delete(batch: Batch, *, by: User | None) -> bool:
    """Take a batch out of the history. Its files are removed by the next sweep.

    False while it is on its way: stop it first.
    """
    return bool(
        Batch.objects.filter(
            pk=batch.pk, deleted_at=None, status__in=(*EDITABLE, *ENDED_BATCHES)
        ).update(deleted_at=timezone.now(), deleted_by=by, epoch=F("epoch") + 1)
    )
