"""Answers in a damaged file, which are lost when somebody leaves their part out."""

from collections.abc import Iterable

from batchui.batches import part_answers
from batchui.batches.models import Attempt, Part
from batchui.batches.states import AttemptStatus


def give_up(parts: Iterable[Part]) -> None:
    """Let the rows wait again whose stored answers cannot be read. A Retry can send them then.

    They were paid for, and their attempts say so. The caller has locked the batch; the parts have
    their new values afterwards.
    """
    for part in parts:
        kept = part_answers.without_lost(part)
        if kept is None:
            continue
        before, changes = part.answered, kept.store()
        Part.objects.filter(pk=part.pk).update(**changes)
        part.refresh_from_db()
        _charge_in_vain(part, before - part.answered)


def _charge_in_vain(part: Part, rows: int) -> None:
    """Note on the answered requests of a part, the latest first, that so many answers are lost."""
    for attempt in part.attempts.filter(status=AttemptStatus.ANSWERED).order_by("-number"):
        lost = min(rows, attempt.items - attempt.in_vain)
        Attempt.objects.filter(pk=attempt.pk).update(in_vain=attempt.in_vain + lost)
        rows -= lost
