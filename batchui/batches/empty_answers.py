"""Counts empty answers as answered, because a person says so: "none" can be a true answer."""

from django.db import transaction

from batchui.batches import many_parts, part_answers
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import counted
from batchui.batches.settling import lock, record, settle
from batchui.batches.states import AnswerStatus
from batchui.teams.models import User

# The kind of the event.
COUNTED = "counted"


def count_as_answered(batch: Batch, *, by: User | None) -> int:
    """Let the empty answers of an ended batch count as answered from now on.

    No file changes: the parts say so, until a row of theirs gets another answer, which is then
    written down with it. A retry leaves these rows alone; single ones can be asked again. Returns
    how many there are; 0: none, or the batch is under way, or was deleted.
    """
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.deleted_at is not None or not batch.can_count_empty:
            return 0
        number = batch.empty
        they = f"{counted(number, 'empty answer')} count{'s' if number == 1 else ''}"
        record(batch, COUNTED, f"{they} as answered.", by=by)
        many_parts.count_empty(batch.parts.all())
        settle(batch)
    return number


def can_count_as_empty(batch: Batch) -> bool:
    """Whether `count_as_empty` would find something."""
    return batch.has_ended and batch.parts.filter(many_parts.COUNTS_EMPTY).exists()


def count_as_empty(batch: Batch, *, by: User | None) -> int:
    """Take back what `count_as_answered` did. Returns how many answers are empty again.

    Only of parts of which no row has another answer since: in the others it is written down.
    """
    found = [
        (part, number)
        for part in batch.parts.filter(many_parts.COUNTS_EMPTY).order_by("number")
        if (number := _empty_in(part))
    ]
    with transaction.atomic():
        batch = lock(batch.pk)
        if batch.deleted_at is not None or not batch.has_ended:
            return 0
        number = sum(rows for part, rows in found if many_parts.count_as_empty(part, rows))
        if number:
            they = f"{counted(number, 'answer')} count{'s' if number == 1 else ''}"
            record(batch, COUNTED, f"{they} as empty again.", by=by)
            settle(batch)
    return number


def _empty_in(part: Part) -> int:
    """How many rows of a part are empty in its file; 0 if that is damaged."""
    part.empty_counts = False
    try:
        answers = part_answers.read_answers(part, skips_answered=True)
        return sum(answer is not None and answer.status == AnswerStatus.EMPTY for answer in answers)
    except DamagedFile:
        return 0
