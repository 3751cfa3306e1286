"""Which rows of a draft a try asks, and their requests."""

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from batchui.batches import references
from batchui.batches.catalogues import of_batch
from batchui.batches.draft_rows import read_rows, rows_from
from batchui.batches.models import Batch
from batchui.batches.preparing import limits_for
from batchui.prompts.ask import Ask
from batchui.prompts.items import ItemWriter
from batchui.prompts.model_facts import check_room, longest_written
from batchui.prompts.payload import asked_at_once
from batchui.prompts.problems import BadInput
from batchui.prompts.reading.blocks import Cells
from batchui.prompts.reading.readers import Row
from batchui.prompts.reading.rows import encode_row

# Rows that are looked at for such as can be asked: the first ones, or so many drawn one by one.
LOOKED_AT, DRAWN = 1_000, 100
# Of a file with at most so many rows all are read, to draw from. Of a draft of an older version,
# which cannot be opened in the middle, the first DRAWN_FROM.
READ_AT_ONCE, DRAWN_FROM = 2_000, 20_000
# Bytes of a request. A longer row is not tried: it waits in the database until it is asked.
LONGEST_ITEM = 1_000_000
TOO_LONG = "The row is too long for this model. Shorten it, or choose a model that reads more."


class Which(StrEnum):
    """Which rows are tried. `same`: those of the latest try."""

    FIRST = "first"
    RANDOM = "random"
    SAME = "same"
    CHOSEN = "chosen"


@dataclass(frozen=True)
class Prepared:
    """A row to be tried. item: the body of its request; "" if it cannot be asked: `problem`.

    picture: what it says of its picture, which is fetched when it is asked; "" without one.
    """

    number: int
    item: str = ""
    picture: str = ""
    problem: str = ""


def prepared_rows(
    batch: Batch, ask: Ask, which: Which, *, count: int, numbers: Collection[int] = ()
) -> list[Prepared]:
    """The rows to try, in the order of the file, with their requests.

    count: how many, where none are named by `numbers`. Rows that cannot be asked (blank ones, too
    long ones) are passed over and the next ones taken; one that is named says why. Raises BadInput
    if nothing can be asked of these columns, and UnknownModel.
    """
    prepare = _preparer(batch, ask)
    if which in (Which.SAME, Which.CHOSEN):
        return [prepare(row) for row in _named(batch, numbers)]
    rows = _drawn(batch) if which is Which.RANDOM else islice(read_rows(batch), LOOKED_AT)
    askable = (found for found in map(prepare, rows) if not found.problem)
    return sorted(islice(askable, count), key=lambda found: found.number)


def _preparer(batch: Batch, ask: Ask) -> Callable[[Row], Prepared]:
    """A function that makes the request of a row, or finds out why there is none."""
    model = of_batch(batch).find(ask.model)
    writer = references.checked_writer(batch, ask)
    check_room(model, ask)
    limits = limits_for(model, max_tokens=longest_written(model, ask))
    most = min(limits.question_bytes, LONGEST_ITEM)

    def prepare(row: Row) -> Prepared:
        if row.problem is not None:
            return Prepared(row.number, problem=str(row.problem))
        try:
            if _size(writer, row.number, row.cells, most) > most:
                return Prepared(row.number, problem=TOO_LONG)
            item = writer.encode(row.number, row.cells)
        except BadInput as problem:
            return Prepared(row.number, problem=str(problem))
        return Prepared(
            row.number, item=asked_at_once(item).decode(), picture=writer.picture(row.cells)
        )

    return prepare


def _size(writer: ItemWriter, number: int, cells: Cells, enough: int) -> int:
    return writer.size(number, cells, stored=len(encode_row(cells)), enough=enough)


def _drawn(batch: Batch) -> Iterator[Row]:
    """Rows in a random order: of a file of any size that can be opened in the middle."""
    if batch.rows <= READ_AT_ONCE or not batch.draft_rows_file:
        rows = list(islice(read_rows(batch), DRAWN_FROM))
        random.shuffle(rows)
        yield from rows
        return
    first = batch.format.first_row
    for number in random.sample(range(first, first + batch.rows), DRAWN):
        yield from islice(rows_from(batch, number), 1)


def _named(batch: Batch, numbers: Collection[int]) -> Iterator[Row]:
    for number in sorted(set(numbers)):
        yield from islice(rows_from(batch, number), 1)
