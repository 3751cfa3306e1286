"""Corrects answers by hand: the model's own is kept beside, and one call brings it back.

An edit is a new version of the answers of its part, swapped in by one conditional UPDATE. So it can
be made while nothing of that part is under way. Two people who change the same value do not meet:
who saves second is told.
"""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

import msgspec
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from batchui.batches import lifecycle, part_answers, settling
from batchui.batches.answer_editing import MAY_BE_EDITED, CannotBe, Written, edited, seen_of
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Event, Part
from batchui.batches.part_answers import NOTHING, Answer, Edit
from batchui.batches.phrases import counted
from batchui.batches.states import ENDED_PARTS, AnswerStatus
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fields_of
from batchui.teams.models import User

ANSWERED = AnswerStatus.ANSWERED.value
# The kinds of the events. What one person does within so long is one line of the timeline.
CORRECTED, PUT_BACK = "corrected", "put back"
GATHERED = timedelta(minutes=10)
_LINES = {
    CORRECTED: "{} corrected by hand.",
    PUT_BACK: "{} put back to what the model had answered.",
}
# Others may change other rows of the part at the same moment: so often it is tried, with pauses.
TRIES, PAUSE = 6, 0.05

UNDER_WAY = (
    "Rows of this part are under way. As soon as they have come back, you can correct this answer."
)
NEVER_ASKED = "This row was not asked, so it has no answer to correct."
NO_SUCH_ROW = "There is no such row any more."
NO_EDIT = "This answer is the model's own already."
BUSY = "Others change answers beside this one at the moment. Save once more."
OVERTAKEN = "Somebody else has changed this answer meanwhile. Nothing was overwritten."


class Outcome(NamedTuple):
    """What came of a correction. problem: why nothing was changed, a sentence; "" if it was.

    is_overtaken: the value is not the one that the person saw.
    """

    problem: str = ""
    is_overtaken: bool = False

    @property
    def is_saved(self) -> bool:
        """Whether the row has it now."""
        return not self.problem


# What becomes of a row. Raises CannotBe. None: it is as it was.
Change = Callable[[Answer], Answer | None]


def correct(
    batch: Batch, number: int, *, at: int, written: Written, seen: str, by: User | None
) -> Outcome:
    """Give a row another answer, or another value in one of its answer columns.

    number: of the row. at: which answer column, from 0. seen: of the value that the person saw (see
    `answer_editing.seen_of`).
    """
    columns = batch.ask.answer_columns

    def changed(now: Answer) -> Answer | None:
        if seen_of(_raw(now), columns, at) != seen:
            raise _Overtaken
        answer, own = edited(now, columns, at, written), now.own
        if _is_answered_with(now, answer, columns):
            return None
        if _is_answered_with(own, answer, columns):
            return own  # somebody wrote what the model had answered
        edit = Edit(by.pk if by else None, time.time(), own.status, own.answer, own.error)
        return Answer(ANSWERED, msgspec.Raw(answer), None, now.usage, edit)

    return _change(batch, number, changed, kind=CORRECTED, by=by)


def put_back(batch: Batch, number: int, *, seen: str, by: User | None) -> Outcome:
    """Give a row back what the model had answered. seen: of the whole answer that was seen."""

    def changed(now: Answer) -> Answer | None:
        if now.edit is None:
            raise CannotBe(NO_EDIT)
        if seen_of(_raw(now), (), 0) != seen:
            raise _Overtaken
        return now.own

    return _change(batch, number, changed, kind=PUT_BACK, by=by)


class _Overtaken(Exception):
    pass


def _is_answered_with(row: Answer, answer: bytes, columns: Sequence[AnswerColumn]) -> bool:
    """Whether a row is answered with the same, or with the same in every column."""
    if row.status != ANSWERED:
        return False
    if not columns:
        return _raw(row) == answer
    return fields_of(_raw(row), columns) == fields_of(answer, columns)


def _raw(answer: Answer) -> bytes | None:
    return None if answer.answer == NOTHING else bytes(answer.answer)


def _change(batch: Batch, number: int, changed: Change, *, kind: str, by: User | None) -> Outcome:
    for tried in range(TRIES):
        time.sleep(tried * PAUSE)
        part = batch.parts.filter(first_row__lte=number, first_row__gt=number - F("rows")).first()
        if part is None:
            return Outcome(NO_SUCH_ROW)
        if part.status not in ENDED_PARTS:
            return Outcome(UNDER_WAY)
        try:
            now = _answer_of(part, number)
            if now.status not in MAY_BE_EDITED:
                return Outcome(NEVER_ASKED)
            new = changed(now)
            if new is None or _swapped(part, number, new, kind=kind, by=by):
                return Outcome()
        except _Overtaken:
            return Outcome(OVERTAKEN, is_overtaken=True)
        except (CannotBe, DamagedFile) as problem:
            return Outcome(str(problem))
    return Outcome(BUSY)


def _answer_of(part: Part, number: int) -> Answer:
    """What a row of an ended part has."""
    at = number - part.first_row
    found = next(islice(part_answers.read_answers(part), at, None))
    return found or Answer(part.waiting_became, error=part.waiting_error or None)


def _swapped(part: Part, number: int, new: Answer, *, kind: str, by: User | None) -> bool:
    """Store the answers of a part with a new one, and let the part point to them.

    False: somebody else has changed the part since it was read.
    """
    # 1. Whoever claims it writes a file of a name that nobody else writes.
    if not lifecycle.claim_ended(part):
        return False
    # 2. The file. Rows of which the part alone says what became of them get a line of their own.
    at = number - part.first_row
    answers = enumerate(part_answers.own_lines(part))
    stored = part_answers.new_answers(part, (new if place == at else old for place, old in answers))
    changes = stored.store()
    # 3. The pointer to it, with its line in the timeline.
    with transaction.atomic():
        batch = settling.lock(part.batch_id)
        _note(batch, kind, by)
        is_swapped = batch.deleted_at is None and lifecycle.touch_part(part, **changes)
        if not is_swapped:
            transaction.set_rollback(True)
    return is_swapped


def _note(batch: Batch, kind: str, by: User | None) -> None:
    """Write it into the timeline: in the line of what the same person did just before, if any."""
    since = timezone.now() - GATHERED
    line = batch.events.filter(kind=kind, actor=by, at__gt=since).order_by("-at", "-id").first()
    if line is None:
        settling.record(batch, kind, _LINES[kind].format(counted(1, "answer")), by=by)
    else:
        text = _LINES[kind].format(counted(line.times + 1, "answer"))
        Event.objects.filter(pk=line.pk).update(times=line.times + 1, text=text)
