"""What people decide about a batch, from its start to its end.

A page, the terminal and a program call the same functions. If two people (or two clicks) decide at
the same moment, the first one counts and the second one gets False.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from batchui.batches import call_limit, goes_to, many_parts
from batchui.batches.catalogues import catalogue_of
from batchui.batches.lifecycle import move_batch
from batchui.batches.long_tasks import read_now_or_soon
from batchui.batches.models import UNANSWERED, Batch, Part, asked_fields
from batchui.batches.money import UsdRange
from batchui.batches.phrases import rows_are
from batchui.batches.preparing import prepare
from batchui.batches.questions import Choice, decide, question_about
from batchui.batches.retrying import open_again, rows_of_retry
from batchui.batches.settling import lock, record, settle
from batchui.batches.signals import work_waits
from batchui.batches.states import (
    EDITABLE,
    STOPPABLE_BATCHES,
    BatchStatus,
)
from batchui.prompts.ask import Ask
from batchui.teams.models import User

STOPPED = "Stop was pressed. Nothing more is sent."
# In the timeline; by whether the last send failed.
TRIED_NOW = {
    False: "Try now: the parts on hold are sent now.",
    True: "Try now: one part is sent now. If Cloudflare accepts it, the others follow.",
}


@dataclass(frozen=True)
class Change:
    """Which change of which open page it is. What a page sends may overtake what it sent before."""

    page: str
    number: int


def edit(batch: Batch, *, ask: Ask, name: str = "", change: Change | None = None) -> bool:
    """Save what is typed for a draft.

    False: the draft was started meanwhile, or a later change of the same page is saved already. A
    `name` of "" keeps the old name.
    """
    fields = asked_fields(ask) | ({"name": name} if name else {})
    drafts = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=EDITABLE)
    if change:
        drafts = drafts.exclude(Q(saved_page=change.page, saved_change__gt=change.number))
        fields |= {"saved_page": change.page, "saved_change": change.number}
    return bool(drafts.update(**fields))


def rename(batch: Batch, name: str) -> bool:
    """Give a batch another name, whatever its status. False: it was deleted meanwhile."""
    found = Batch.objects.filter(pk=batch.pk, deleted_at=None)
    return bool(found.update(name=name, version=F("version") + 1))


def start(
    batch: Batch,
    *,
    by: User | None,
    ask: Ask,
    name: str = "",
    estimated: UsdRange | None = None,
    prepare_now: bool = False,
) -> bool:
    """Start a draft with the question `ask`. False: it is no longer a draft.

    estimated: what it is to cost, which is kept beside what it then does cost.

    The batch uses the connection chosen for it, else the one that the team has now. A small file is
    cut into parts at once, and so is any file with `prepare_now`; a worker cuts the others. If rows
    cannot be asked, the batch becomes a draft again, with the reasons.
    """
    connection = goes_to.connection_of(batch)
    prices = catalogue_of(connection).prices_of(ask.model)
    started = batch.status == BatchStatus.DRAFT and move_batch(
        batch,
        BatchStatus.PREPARING,
        event="Started.",
        by=by,
        ask=ask,
        started_at=timezone.now(),
        started_by=by,
        connection=connection,
        problem="",
        problem_rows=[],
        problem_count=0,
        problems_file="",
        progress_rows=0,
        name=name or batch.name,
        estimated_low=estimated and estimated.low,
        estimated_high=estimated and estimated.high,
        usd_read=prices.read,
        usd_written=prices.written,
    )
    if started and prepare_now:
        prepare(batch.pk)
    elif started:
        read_now_or_soon(batch, prepare)
    return started


def stop(batch: Batch, *, by: User | None) -> bool:
    """Send nothing more of a batch. Answers to what was sent are still fetched, and may be charged.

    Rows that were not sent become `unsent`. Unsure parts are left out: their rows become `missing`.
    False: there is nothing to stop.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.status not in STOPPABLE_BATCHES:
            return False
        Batch.objects.filter(pk=batch.pk).update(stop_requested_at=timezone.now())
        batch.refresh_from_db()
        left_out = many_parts.rows_at_stop(batch.parts.all()).left_out
        undecided = f" Undecided: {rows_are(left_out)} left out." if left_out else ""
        record(batch, "stopping", f"{STOPPED}{undecided}", by=by)
        many_parts.stop(batch.parts.all())
        settle(batch)
    return True


def retry(batch: Batch, *, by: User | None) -> bool:
    """Send the rows that have no answer again, and no others.

    They use the team's current connection, unless an accepted request still has its answer at the
    old one. False: there are none, or the batch was deleted meanwhile.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.deleted_at is not None or not batch.can_retry:
            return False
        open_again(batch)
        record(batch, "retry", _retry_event(batch), by=by)
        many_parts.reopen(batch.parts.alias(to_send=UNANSWERED).filter(to_send__gt=0))
        batch.refresh_from_db()
        settle(batch)
    work_waits.send(Batch, batch=batch)
    return True


def _retry_event(batch: Batch) -> str:
    doubt = batch.rows_in_doubt
    charged = f" Up to {doubt:,} of these rows may be charged twice." if doubt else ""
    return f"Retry: {rows_of_retry(batch)}{charged}"


def send_again(part: Part, *, by: User | None) -> bool:
    """Send an unsure part. False: it is no longer unsure, or this is no answer to its question."""
    return _decided(part, Choice.SEND_AGAIN, by)


def ask_again(part: Part, *, by: User | None) -> bool:
    """Ask Cloudflare again for the answers to an unsure part that was sent. It costs nothing.

    False: it is no longer unsure, or this is no answer to its question.
    """
    return _decided(part, Choice.ASK_AGAIN, by)


def try_again(part: Part, *, by: User | None) -> bool:
    """Try a part again one of whose files was damaged. False: it is no longer unsure.

    Its answers are asked for if it was sent; if not, it is sent.
    """
    return _decided(part, Choice.TRY_AGAIN, by)


def leave_out(part: Part, *, by: User | None) -> bool:
    """Leave out an unsure part, or one that was sent: rows without an answer become `missing`.

    False: nothing is asked about the part (see `questions.question_about`).
    """
    return _decided(part, Choice.LEAVE_OUT, by)


def _decided(part: Part, choice: Choice, by: User | None) -> bool:
    question = question_about(part)
    if question is None:
        return False
    as_seen = Part.objects.filter(pk=part.pk, epoch=part.epoch)
    decided = decide(as_seen, question, choice, by=by)
    if decided.parts:
        part.refresh_from_db()
    return bool(decided.parts)


def try_now(batch: Batch, *, by: User | None) -> int:
    """Make the held parts of a batch ready, and end the pause of its connection.

    After a failed send, one part is sent first, and the others once Cloudflare has accepted one.
    Returns the number of parts released.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        call_limit.resume(batch.connection_id)
        released = many_parts.release(batch.parts.all())
        if released:
            failing = batch.connection.failures_in_a_row
            record(batch, "try now", TRIED_NOW[bool(failing)], by=by)
            settle(batch)
    work_waits.send(Batch, batch=batch)
    return released
