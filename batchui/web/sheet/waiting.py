"""Which cells of a page wait for an answer, and which of them have changed since.

The page keeps this in the address of its poll, so that the server keeps nothing for a page, and
opens no file of a part that is as it was.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import NamedTuple

from django.db.models import F, Q, Value

from batchui.batches.models import Batch, Part
from batchui.batches.one_row import some_rows
from batchui.batches.part_answers import AskedAgain
from batchui.batches.results import READ_FOR_ROWS, Result
from batchui.batches.states import OPEN_PARTS, AnswerStatus, PartStatus

# Rows that one poll asks about.
MOST_ROWS = 100
READ = (*READ_FOR_ROWS, "status", "message", "answers_version")
READ_OF_OPEN = ("batch", "number", "first_row", "rows", "status", "message", "answers_version")

# How many rows of a part have come to an end, for queries.
_ENDED = sum((F(status.value) for status in AnswerStatus), start=Value(0))
_LETTERS = {status: chr(ord("a") + place) for place, status in enumerate(PartStatus)}
_ENTRY = re.compile(r"(\d{1,6})([a-h])(\d{1,6})_(\d{1,9})_(\d{1,9})", re.ASCII)


class Waiting(NamedTuple):
    """Rows of a part, one after the other, that wait: what the page knows of them.

    state: a letter for the status of the part. version: of its answers.
    """

    part: int
    state: str
    version: int
    first: int
    last: int


class Cells(NamedTuple):
    """A row whose cells have changed. status: of its part, where it waits."""

    result: Result
    status: PartStatus | None


class Changed(NamedTuple):
    """What has changed on a page: these rows, and what waits now."""

    rows: list[Cells]
    waiting: list[Waiting]


def waits_in(part: Part) -> PartStatus:
    """The status that says what the waiting rows of a part wait for.

    Those that get the answer of another row wait as if they were still to be sent.
    """
    return PartStatus.READY if part.waits_for_copies else PartStatus(part.status)


def parts_of(batch: Batch, results: Sequence[Result]) -> dict[int, Part]:
    """The parts of those of these rows that wait, by number. The rows stand in order. One query."""
    if not results or (batch.has_ended and all(result.status for result in results)):
        return {}
    open_parts = batch.parts.alias(ended=_ENDED).filter(
        Q(ended__lt=F("rows")) | Q(status__in=OPEN_PARTS, asked_again__isnull=False)
    )
    first, last = results[0].row, results[-1].row
    found = list(
        open_parts.filter(first_row__lte=last, first_row__gt=first - F("rows"))
        .order_by("first_row")
        .only(*READ_OF_OPEN, "asked_again")
    )
    firsts = [part.first_row for part in found]
    again = {part.number: rows_asked_again(part) for part in found}
    places = ((result, bisect_right(firsts, result.row) - 1) for result in results)
    return {
        result.row: found[place]
        for result, place in places
        if place >= 0 and _waits(result, again[found[place].number])
    }


def rows_asked_again(part: Part) -> AbstractSet[int]:
    """The numbers of the rows of a part that were chosen to be asked again, and that wait."""
    if part.status not in OPEN_PARTS:
        return frozenset()
    return {part.first_row + position for position in AskedAgain.of(part).rows}


def _waits(result: Result, again: AbstractSet[int]) -> bool:
    """Whether something will come for a row. One that is asked again keeps its answer till then."""
    return not result.status or result.row in again


def of_page(parts: Mapping[int, Part]) -> list[Waiting]:
    """The entries for the waiting rows of a page, each with its part."""
    return [
        entry
        for part, rows in groupby(parts, lambda row: parts[row])
        for entry in entries(part, list(rows))
    ]


def entries(part: Part, rows: Sequence[int]) -> list[Waiting]:
    """The entries for waiting rows of a part, which stand in order."""
    state = _LETTERS[waits_in(part)]
    runs = groupby(enumerate(rows), lambda pair: pair[1] - pair[0])
    found = ([number for _, number in run] for _, run in runs)
    return [Waiting(part.number, state, part.answers_version, run[0], run[-1]) for run in found]


def as_text(waiting: Iterable[Waiting]) -> str:
    """The entries as the page keeps them: “7c1_152_177.8a0_178_203”."""
    return ".".join(f"{one.part}{one.state}{one.version}_{one.first}_{one.last}" for one in waiting)


def read(text: str) -> list[Waiting]:
    """The entries in a text. What makes no sense is left out; of too many rows, the last ones."""
    found: list[Waiting] = []
    left = MOST_ROWS
    for entry in text.split(".")[:MOST_ROWS]:
        fits = _ENTRY.fullmatch(entry)
        if fits is None:
            continue
        first, last = int(fits[4]), int(fits[5])
        if not 0 <= last - first < left:
            continue
        left -= last - first + 1
        found.append(Waiting(int(fits[1]), fits[2], int(fits[3]), first, last))
    return found


def changes(batch: Batch, waiting: Sequence[Waiting]) -> Changed:
    """What has changed of these rows. One query, and the files of the parts that have changed."""
    parts = batch.parts.filter(number__in={one.part for one in waiting})
    known = {part.number: part for part in parts.only(*READ)}
    changed = Changed([], [])
    for number, these in groupby(waiting, lambda one: one.part):
        if number in known:
            _of_part(known[number], list(these), changed)
    return changed


def _of_part(part: Part, waiting: list[Waiting], changed: Changed) -> None:
    status = waits_in(part)
    now = (_LETTERS[status], part.answers_version)
    moved = [one for one in waiting if (one.state, one.version) != now]
    changed.waiting.extend(one for one in waiting if one not in moved)
    wanted = {row for one in moved for row in range(one.first, one.last + 1)}
    here = sorted(row - part.first_row for row in wanted if part.first_row <= row <= part.last_row)
    still: list[int] = []
    again = rows_asked_again(part)
    for result in some_rows(part, here) if here else ():
        waits = _waits(result, again)
        changed.rows.append(Cells(result, status if waits else None))
        if waits:
            still.append(result.row)
    changed.waiting.extend(entries(part, still))
