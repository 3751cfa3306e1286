"""A database that is a copy: what it takes for unsent may have been sent since it was made.

Only people can know whether it was, so each such part waits for a decision. Parts of which the copy
has a receipt need none: their answers are fetched, which costs nothing.
"""

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from batchui.batches import lifecycle, many_parts, part_answers, settling, trying
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import UNANSWERED, Attempt, Batch, Part
from batchui.batches.part_answers import AskedAgain
from batchui.batches.phrases import parts_phrase, rows_phrase
from batchui.batches.states import (
    OPEN_PARTS,
    RETRYABLE_ANSWERS,
    SENT_PARTS,
    AttemptStatus,
    BatchStatus,
    PartStatus,
    Question,
)

PUT_BACK = "batchui was put back to an earlier state."
TO_BE_SENT = Q(status__in=(PartStatus.READY, PartStatus.SENDING, PartStatus.HELD, *SENT_PARTS)) | Q(
    status=PartStatus.UNSURE, question=Question.DAMAGED
)
# Attempts that are written together.
AT_ONCE = 500


def let_people_decide(reason: str) -> int:
    """Let nothing be sent that may have been sent since this database was copied.

    reason: a sentence that says what the database was copied from. Returns the number of parts that
    people must decide. Batches that were being cut into parts become drafts again. A retry of rows
    that may have been retried since says that they may be charged twice. So it is with batches that
    were deleted and can be brought back.
    """
    _back_to_drafts(reason)
    trying.ask_nothing_more(f"{PUT_BACK} {reason}")
    parts = Part.objects.filter(Q(batch__deleted_at=None) | Q(batch__kept_until__gt=timezone.now()))
    concerned: set[UUID] = set()
    for some in (_perhaps_sent(parts), _perhaps_retried(parts)):
        concerned.update(some.values_list("batch", flat=True).distinct().order_by())
    asked = 0
    for batch_id in concerned:
        with transaction.atomic():
            asked += _of_batch(settling.lock(batch_id), reason)
    return asked


def _back_to_drafts(reason: str) -> None:
    problem = (
        f"{PUT_BACK} {reason} Perhaps this batch was started and sent since. If it "
        "was and you start it, it is charged twice."
    )
    # One that was deleted does not move.
    for batch in Batch.objects.filter(status=BatchStatus.PREPARING):
        lifecycle.move_batch(
            batch,
            BatchStatus.DRAFT,
            event=f"Not started: {problem}",
            problem=problem,
            started_at=None,
            started_by=None,
        )


def _of_batch(batch: Batch, reason: str) -> int:
    """Ask people about the parts of a batch, which is locked. Returns how many parts."""
    retried = list(_perhaps_retried(batch.parts.all()).values_list("pk", flat=True))
    found = list(_perhaps_sent(batch.parts.all()).values_list("pk", flat=True))
    parts = Part.objects.filter(pk__in=found)
    Attempt.objects.filter(part__in=parts, status=AttemptStatus.WRITTEN).update(
        status=AttemptStatus.UNSURE, message=reason, finished_at=timezone.now()
    )
    _note_attempts(parts, reason)
    many_parts.let_people_decide(parts, reason)
    if batch.stop_requested_at is not None:
        many_parts.stop(parts)
    said = [f"{parts_phrase(len(found))} may have been sent."] if found else []
    if rows := _note_attempts(Part.objects.filter(pk__in=retried), reason):
        said.append(
            f"{rows_phrase(rows)} without an answer may have been sent since. A retry may be "
            "charged twice."
        )
    if said:
        settling.record(batch, "restored", " ".join([PUT_BACK, reason, *said]))
    if found:
        settling.settle(batch)
    return len(found)


def _perhaps_sent(parts: QuerySet[Part]) -> QuerySet[Part]:
    """Parts that would be sent, except those of which every open row has a receipt."""
    receipt = Attempt.objects.filter(
        part=OuterRef("pk"), status=AttemptStatus.ACCEPTED, items__gte=OuterRef("open_rows")
    )
    waiting = parts.filter(TO_BE_SENT)
    counted = waiting.filter(asked_again__isnull=True).annotate(open_rows=many_parts.WAITING_ROWS)
    chosen = waiting.filter(asked_again__isnull=False).prefetch_related("attempts")
    no_receipt = [part.pk for part in chosen if not _is_whole_again(part)]
    return parts.filter(
        Q(pk__in=counted.exclude(Exists(receipt)).values("pk")) | Q(pk__in=no_receipt)
    )


def _is_whole_again(part: Part) -> bool:
    """Whether a request since then has a receipt for all rows that somebody chose to ask again.

    The counts of the part say nothing about them: those that have an answer do not wait.
    """
    rows = len(AskedAgain.of(part).rows)
    return any(
        attempt.status == AttemptStatus.ACCEPTED
        and attempt.number > part.attempts_before
        and attempt.items >= rows
        for attempt in part.attempts.all()
    )


def _perhaps_retried(parts: QuerySet[Part]) -> QuerySet[Part]:
    """Parts that have ended with rows that a retry would send, and no attempt says unsure."""
    ended = parts.filter(status__in=(PartStatus.DONE, PartStatus.STOPPED))
    retryable = ended.alias(to_send=UNANSWERED).filter(to_send__gt=0)
    return retryable.exclude(_is_unclear())


def _is_unclear() -> Exists:
    return Exists(Attempt.objects.filter(part=OuterRef("pk"), status=AttemptStatus.UNSURE))


def _note_attempts(parts: QuerySet[Part], reason: str) -> int:
    """Write down for each part an attempt that may have been made, unless there is one.

    Returns the number of rows of these attempts.
    """
    without = list(parts.exclude(_is_unclear()).values_list("pk", flat=True).order_by())
    rows = 0
    for first in range(0, len(without), AT_ONCE):
        some = Part.objects.filter(pk__in=without[first : first + AT_ONCE])
        attempts = [_perhaps_made(part, reason) for part in some.prefetch_related("attempts")]
        Attempt.objects.bulk_create(attempts)
        rows += sum(attempt.items for attempt in attempts)
    return rows


def _perhaps_made(part: Part, reason: str) -> Attempt:
    known, positions = list(part.attempts.all()), _perhaps_in_it(part)
    return Attempt(
        part=part,
        number=len(known) + 1,
        positions=positions,
        items=len(positions) if positions else part.waiting or part.unanswered,
        payload_size=known[-1].payload_size if known else 0,
        status=AttemptStatus.UNSURE,
        message=reason,
        finished_at=timezone.now(),
    )


def _perhaps_in_it(part: Part) -> list[int] | None:
    """The positions of the rows that such an attempt had; None: all, or they cannot be read."""
    if (part.waiting or part.unanswered) == part.rows:
        return None
    if part.asked_again and part.status in OPEN_PARTS:
        return _asked_again(part)
    sent = ("",) if part.waiting else RETRYABLE_ANSWERS
    try:
        return [
            position
            for position, answer in enumerate(part_answers.read_answers(part))
            if (answer.status if answer else part.waiting_became) in sent
        ]
    except (DamagedFile, OSError):
        return None


def _asked_again(part: Part) -> list[int] | None:
    """The positions of the rows that somebody chose to ask again; None: they cannot be read."""
    try:
        return part_answers.open_positions(part)
    except (DamagedFile, OSError):
        return None
