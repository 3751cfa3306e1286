"""Asks chosen rows of an ended batch again, and no others: those with one reason, or single ones.

The good answer of a row stays until another one has come. All other rows keep their fate. Rows
whose answers were cut off can be asked with a longer answer than the batch's.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from django.db import transaction
from django.db.models import F

from batchui.batches import many_parts, part_answers, references, settling
from batchui.batches.catalogues import of_batch
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer, AskedAgain
from batchui.batches.phrases import rows_are
from batchui.batches.preparing import limits_for
from batchui.batches.retrying import open_again
from batchui.batches.sheet.matching import matching
from batchui.batches.sheet.reasons import reason_of
from batchui.batches.sheet.selection import EDITED, Selection
from batchui.batches.sheet.sizes import sizes
from batchui.batches.signals import work_waits
from batchui.batches.states import ENDED_PARTS, RETRYABLE_ANSWERS, AnswerStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts import ask
from batchui.prompts.item_settings import LONGEST_FIELDS
from batchui.prompts.model_facts import longest_with_room, longest_written, room_for_reasoning
from batchui.prompts.problems import BadInput
from batchui.teams.models import User

# So many rows can be ticked at one time.
MOST_TICKED = 1_000
# No answer may be longer, in tokens, whatever the model.
MOST_TOKENS = next(one.about.most or 0 for one in ask.fields() if one.name == "max_tokens")
_SHORT = "short"


class AskAgain(NamedTuple):
    """What asking rows again means: how many of them have no answer, and how many have one.

    edited: of those, how many a person has corrected by hand. short: of all, how many need a longer
    answer.
    """

    unanswered: int = 0
    answered: int = 0
    edited: int = 0
    short: int = 0

    @property
    def rows(self) -> int:
        return self.unanswered + self.answered


class _Plan(NamedTuple):
    """The rows of a part that are asked again, and the changes of the part that do it."""

    part: Part
    means: AskAgain
    changes: PartChanges


def meaning_of(batch: Batch, *, chosen: Selection | Collection[int]) -> AskAgain:
    """What asking these rows again would mean. chosen: as in `ask_again`."""
    return _sum(_means(_counted(part, positions)) for part, positions in _chosen(batch, chosen))


def ask_again(
    batch: Batch,
    *,
    chosen: Selection | Collection[int],
    by: User | None,
    longest: int | None = None,
) -> AskAgain:
    """Ask rows of a batch again.

    chosen: a selection of rows that need attention, or row numbers. longest: the longest answer of
    these rows, in tokens besides their reasoning; one of `longer_answers`, or None for the batch's
    own.

    Returns what was done: nothing if the batch has not ended, if it was deleted, or if the rows
    cannot be asked. Rows of parts that have changed meanwhile are left alone, and so are those of
    parts whose files are damaged.
    """
    asked = AskedAgain(is_alone=not isinstance(chosen, Selection), longest=longest)
    most = None if longest is None else _rows_at_once(batch, longest)
    plans = [
        plan
        for part, positions in _chosen(batch, chosen)
        if (plan := _plan(part, asked._replace(rows=frozenset(positions)), most=most)) is not None
    ]
    with transaction.atomic():
        batch = settling.lock(batch.pk)
        if batch.deleted_at is not None or not batch.has_ended:
            return AskAgain()
        done = [plan.means for plan in plans if many_parts.reopen_chosen(plan.part, plan.changes)]
        means = _sum(done)
        if not means.rows:
            return means
        open_again(batch)
        settling.record(batch, "retry", _event(means, longest), by=by)
        batch.refresh_from_db()
        settling.settle(batch)
    work_waits.send(Batch, batch=batch)
    return means


def longer_answers(batch: Batch) -> range | None:
    """How long the answers of rows that are asked again may be, in tokens, from the batch's own on.

    Besides their reasoning, for which there is room. None: no longer ones can be asked for.
    Ready-made requests say themselves how long theirs are.
    """
    asked = batch.ask
    if asked.as_items:
        return None
    try:
        model = of_batch(batch).find(asked.model)
        own = references.item_writer(batch).longest([])
    except (BadInput, UnknownModel):  # of a batch of an older version
        return None
    if own is None:
        return None
    if LONGEST_FIELDS.isdisjoint(asked.options):  # an option says all of it, the reasoning included
        own -= room_for_reasoning(model, asked.effort)
    with_room = longest_with_room(model, asked.effort)
    most = MOST_TOKENS if with_room is None else min(MOST_TOKENS, with_room)
    return range(own, most + 1) if own < most else None


def _rows_at_once(batch: Batch, longest: int) -> int:
    """The rows of one request, for answers of up to `longest` tokens."""
    model = of_batch(batch).find(batch.ask.model)
    asked = references.with_longest(batch.ask, longest)
    return limits_for(model, max_tokens=longest_written(model, asked)).rows


def _means(counted: Counter[str]) -> AskAgain:
    """What rows with these counts come to."""
    others = sum(rows for name, rows in counted.items() if name not in (EDITED, _SHORT))
    answered = counted[AnswerStatus.ANSWERED]
    return AskAgain(others - answered, answered, counted[EDITED], counted[_SHORT])


def _sum(some: Iterable[AskAgain]) -> AskAgain:
    return AskAgain(*map(sum, zip(*some, strict=True)))


def _event(means: AskAgain, longest: int | None) -> str:
    limit = f", with answers of up to {longest:,} tokens" if longest else ""
    kept = (
        f" {rows_are(means.answered)} answered already, and charged a second time; the answers "
        "stay until others come."
        if means.answered
        else ""
    )
    return f"Asked again: {rows_are(means.rows)} sent again, as chosen{limit}.{kept}"


# -- which rows ---------------------------------------------------------------------------------


def _chosen(batch: Batch, chosen: Selection | Collection[int]) -> Iterator[tuple[Part, list[int]]]:
    """The ended parts with chosen rows that can be asked, and the positions of these."""
    if batch.is_looked_up:
        return
    if isinstance(chosen, Selection):
        wanted = sizes(batch, chosen).parts
        for part in batch.parts.filter(pk__in=wanted, status__in=ENDED_PARTS).order_by("number"):
            yield from _with_positions(part, _selected(batch, part, chosen))
        return
    numbers = sorted(set(chosen))[:MOST_TICKED]
    if not numbers:
        return
    parts = batch.parts.filter(first_row__lte=numbers[-1], status__in=ENDED_PARTS)
    for part in parts.filter(first_row__gt=numbers[0] - F("rows")).order_by("number"):
        here = {number - part.first_row for number in numbers if number <= part.last_row}
        yield from _with_positions(part, _ticked(part, here))


def _with_positions(part: Part, found: Iterable[int]) -> Iterator[tuple[Part, list[int]]]:
    try:
        positions = list(found)
    except DamagedFile:
        return
    if positions:
        yield part, positions


def _selected(batch: Batch, part: Part, chosen: Selection) -> Iterator[int]:
    for position, answer in matching(batch, part, chosen):
        if _status_of(part, answer) in RETRYABLE_ANSWERS or (answer and answer.is_cut):
            yield position


def _ticked(part: Part, positions: Collection[int]) -> Iterator[int]:
    may_be = (*RETRYABLE_ANSWERS, AnswerStatus.ANSWERED)
    for position, answer in enumerate(part_answers.read_answers(part)):
        if position in positions and _status_of(part, answer) in may_be:
            yield position


def _status_of(part: Part, answer: Answer | None) -> str:
    return answer.status if answer else part.waiting_became


def _counted(part: Part, positions: Collection[int]) -> Counter[str]:
    """How many of these rows have each status, were corrected by hand, and need a longer answer."""
    wanted = set(positions)
    counted: Counter[str] = Counter()
    for at, answer in enumerate(part_answers.read_answers(part)):
        if at in wanted:
            counted[_status_of(part, answer)] += 1
            counted[EDITED] += bool(answer and answer.edit)
            counted[_SHORT] += bool(answer and reason_of(answer.status, answer.error).needs_longer)
    return counted


# -- what is done with a part -------------------------------------------------------------------


def _plan(part: Part, asked: AskedAgain, *, most: int | None) -> _Plan | None:
    """The changes that ask rows of a part again. most: the rows of one request; None: as before."""
    try:
        counted = _counted(part, asked.rows)
        changes = _as_own_lines(part)
        others = None if changes else _others(part, asked.rows)
    except DamagedFile:
        return None
    means = _means(counted)
    del counted[AnswerStatus.ANSWERED], counted[EDITED], counted[_SHORT]
    for status, rows in counted.items():
        changes[status] = getattr(part, status) - rows  # type: ignore[literal-required]
    changes["asked_again"] = asked._replace(others=others).kept()
    if most is not None:
        changes["send_limit"] = min(part.send_limit or most, most)
    return _Plan(part, means, changes)


def _as_own_lines(part: Part) -> PartChanges:
    """A version of the answers in which every row has a line of its own; {} if it is not needed.

    What an earlier retry lets wait, and then became something else, is told by no file.
    """
    if not (part.forget_unanswered or part.asked_again):
        return {}
    return part_answers.new_answers(part, part_answers.own_lines(part)).store()


def _others(part: Part, positions: Collection[int]) -> Answer | None:
    """What became of the rows without a line of their own that are not asked again."""
    for position, answer in enumerate(part_answers.read_answers(part)):
        if answer is None and position not in positions:
            return Answer(part.waiting_became, error=part.waiting_error)
    return None
