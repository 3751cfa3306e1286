"""Which rows of one part are among the chosen ones: told from its answers, without its rows."""

from collections.abc import Callable, Iterator

from batchui.batches import part_answers
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet.fields import texts_of
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.sheet.selection import CUT, EDITED, FINE, Selection

# Whether a row with this answer is chosen. A row that waits has the status "".
Matches = Callable[[Answer], bool]


def matcher(batch: Batch, selection: Selection) -> Matches:
    """Whether an answer of a part meets the selection, but for its words."""
    if key := selection.reason:
        return lambda one: (
            bool(one.status)
            and (one.status not in FINE or one.is_cut)
            and reason_of(one.status, one.error).key == key
        )
    if (value := selection.value) is not None:
        texts = texts_of(batch, selection.column)
        return lambda one: one.status == "answered" and value in texts(one)
    if selection.shown == EDITED:
        return lambda one: one.edit is not None
    if selection.shown == CUT:
        return lambda one: one.is_cut
    statuses = selection.statuses
    return lambda one: statuses is None or one.status in statuses


def matching(batch: Batch, part: Part, selection: Selection) -> Iterator[tuple[int, Answer | None]]:
    """The chosen rows of a part: their positions (from 0), with their answers.

    Its words do not count here (see `searches.py`). Raises DamagedFile.
    """
    matches = matcher(batch, selection)
    waiting = Answer(part.waiting_became, error=part.waiting_error or None)
    # Most rows are answered: where none of those is chosen, they are told by what stands for them.
    skips_answered = not selection.may_be_answered
    answers = part_answers.read_answers(part, skips_answered=skips_answered)
    for position, answer in enumerate(answers):
        if skips_answered and answer is part_answers.ANSWERED:
            continue
        if matches(answer or waiting):
            yield position, answer
