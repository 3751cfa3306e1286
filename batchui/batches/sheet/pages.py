"""One page of the chosen rows of a batch, how many there are, and which stands beside which.

The counts of the parts tell which parts a page is in. Only those are opened, and of their rows only
those of the page are decoded.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import NOTHING, Answer, read_answers
from batchui.batches.results import READ_FOR_ROWS, Result, readable_results, results_at
from batchui.batches.sheet import searches
from batchui.batches.sheet.matching import matcher, matching
from batchui.batches.sheet.selection import ALL, Selection
from batchui.batches.sheet.sizes import Sizes, sizes


class Neighbours(NamedTuple):
    """The numbers of the chosen rows before and after a row; None: there is none."""

    before: int | None
    after: int | None


def count(batch: Batch, selection: Selection = ALL) -> int:
    """How many rows are chosen, as far as they are counted."""
    return sizes(batch, selection).rows


def page(
    batch: Batch,
    selection: Selection = ALL,
    *,
    offset: int,
    limit: int,
    known: Sizes | None = None,
) -> list[Result]:
    """One page of the chosen rows, in file order. known: their sizes, if the caller has them."""
    found: list[Result] = []
    wanted, skip = (known or sizes(batch, selection)).of_page(offset=offset, limit=limit)
    chosen = {one.part: one.rows for one in wanted}
    for part in batch.parts.filter(pk__in=chosen).order_by("number").only(*READ_FOR_ROWS):
        most = limit - len(found)
        if not selection.is_counted:  # told from the answers as they are, so none stands behind
            most = min(most, chosen[part.pk] - skip)
        found += _of_part(batch, part, selection, skip, most)
        skip = 0
    return found


def place(batch: Batch, selection: Selection, number: int) -> int | None:
    """How many chosen rows stand before the row with this number; None: it is not among them."""
    part = _part_with(batch, number)
    if part is None:
        return None
    if selection.is_all:
        return number - batch.first_row
    positions = _positions(batch, part, selection)
    at = number - part.first_row
    return (
        sizes(batch, selection).before(part.number) + positions.index(at)
        if at in positions
        else None
    )


def neighbours(batch: Batch, selection: Selection, number: int) -> Neighbours:
    """The chosen rows before and after a row, which need not be among them itself."""
    part = _part_with(batch, number)
    if part is None:
        return Neighbours(None, None)
    numbers = [part.first_row + at for at in _positions(batch, part, selection)]
    before = [one for one in numbers if one < number]
    after = [one for one in numbers if one > number]
    known = sizes(batch, selection)
    stand_before = known.before(part.number) + len(before)
    return Neighbours(
        before[-1] if before else _number_at(batch, selection, known, stand_before - 1),
        after[0] if after else _number_at(batch, selection, known, known.before(part.number + 1)),
    )


def _number_at(batch: Batch, selection: Selection, known: Sizes, offset: int) -> int | None:
    """The number of the chosen row at an offset; None: there is none."""
    if offset < 0:
        return None
    found = page(batch, selection, offset=offset, limit=1, known=known)
    return found[0].row if found else None


def _of_part(batch: Batch, part: Part, selection: Selection, skip: int, limit: int) -> list[Result]:
    try:
        chosen = list(islice(_chosen(batch, part, selection), skip, skip + limit))
        return results_at(part, [at for at, _ in chosen], [answer for _, answer in chosen])
    except DamagedFile:
        return list(islice(_readable(batch, part, selection), skip, skip + limit))


def _chosen(batch: Batch, part: Part, selection: Selection) -> Iterable[tuple[int, Answer | None]]:
    """The positions of the chosen rows of a part (from 0), with their answers."""
    if selection.is_all:
        return enumerate(read_answers(part))
    if selection.words:
        found = set(searches.positions(batch, selection, part.pk))
        return (one for one in enumerate(read_answers(part)) if one[0] in found)
    return matching(batch, part, selection)


def _readable(batch: Batch, part: Part, selection: Selection) -> Iterator[Result]:
    """The chosen rows of a part one of whose files is damaged, as far as they can be read."""
    matches = matcher(batch, selection)
    found = set(searches.positions(batch, selection, part.pk)) if selection.words else None
    for result in readable_results(part):
        if found is not None and result.row - part.first_row not in found:
            continue
        answer = NOTHING if result.answer is None else msgspec.Raw(result.answer)
        if matches(Answer(result.status, answer, result.error, edit=result.edit)):
            yield result


def _positions(batch: Batch, part: Part, selection: Selection) -> Sequence[int]:
    if selection.is_all:
        return range(part.rows)
    if selection.words:
        return searches.positions(batch, selection, part.pk)
    try:
        return [at for at, _ in _chosen(batch, part, selection)]
    except DamagedFile:
        return [one.row - part.first_row for one in _readable(batch, part, selection)]


def _part_with(batch: Batch, number: int) -> Part | None:
    """The part that has the row with this number."""
    before = batch.parts.filter(first_row__lte=number).order_by("-first_row")
    part = before.only(*READ_FOR_ROWS).first()
    return part if part is not None and number <= part.last_row else None
