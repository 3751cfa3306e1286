"""What people do in the sheet, each with a batch: try, ask again, correct, search, take away.

Which rows it is about is drawn by `random`, whose seed is that of the step.
"""

import random
from collections.abc import Collection
from random import Random

from batchui.batches import corrections, decisions, deleting, results, tries
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch, Try
from batchui.batches.results import Result
from batchui.batches.sheet import asking_again, digests, searches
from batchui.batches.sheet.selection import STATUSES, Selection
from batchui.batches.try_rows import Which
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput

# So many rows are ticked at most.
TICKED = 4
# Stands in every correction.
CORRECTED = "Corrected by hand"


def _own() -> Random:
    """A generator that is seeded by the step."""
    return Random(random.getrandbits(32))  # noqa: S311


def try_rows(draft: Batch, by: None) -> object:
    """Try a question on a few rows.

    Each has words of its own, and names its row: in some files rows have the same text. So no two
    requests are the same.
    """
    words = f"{random.getrandbits(64):x}"
    ask = Ask(**vars(draft.ask) | {"template": f"Try {words}, {{{{id}}}}: {{{{text}}}}"})
    which = random.choice([Which.FIRST, Which.RANDOM, Which.SAME])  # noqa: S311
    try:
        return tries.begin(draft, by=by, ask=ask, which=which)
    except BadInput:  # one is under way, or there is none yet whose rows could be tried
        return None


def stop_try(draft: Batch, by: None) -> object:
    """Ask no more rows of the latest try, or remove it if it has ended."""
    latest: Try | None = tries.of(draft).last()
    return latest and (tries.stop(latest) or tries.remove(latest))


def ask_a_reason_again(batch: Batch, by: None) -> object:
    """Ask the rows without an answer for one reason again."""
    keys = reasons_of(batch)
    if not keys:
        return None
    chosen = Selection(reason=random.choice(keys))  # noqa: S311
    return asking_again.ask_again(batch, chosen=chosen, by=by)


def reasons_of(batch: Batch) -> list[str]:
    """The keys of the reasons why rows of a batch have no answer."""
    return sorted({key for one in digests.of(batch).reasons for key in one})


def ask_ticked_again(batch: Batch, by: None) -> object:
    """Ask single rows again, also answered ones."""
    return asking_again.ask_again(batch, chosen=ticked(batch, _own()), by=by)


def ticked(batch: Batch, draw: Random) -> Collection[int]:
    """The numbers of a few rows."""
    numbers = range(batch.format.first_row, batch.format.first_row + batch.rows)
    return draw.sample(numbers, k=min(len(numbers), draw.randint(1, TICKED)))


def rename(batch: Batch, by: None) -> object:
    """Give a batch another name."""
    return decisions.rename(batch, f"Named {random.getrandbits(32):x}")


def correct(batch: Batch, by: None) -> object:
    """Correct the answer of a row, or put one back to what the model had answered."""
    row = some_row(batch, _own())
    if row is None:
        return None
    columns = batch.ask.answer_columns
    if row.edit is not None and random.random() < 0.5:  # noqa: S311
        return corrections.put_back(batch, row.row, seen=seen_of(row.answer, (), 0), by=by)
    seen = seen_of(row.answer, columns, 0)
    return corrections.correct(batch, row.row, at=0, written=CORRECTED, seen=seen, by=by)


def some_row(batch: Batch, draw: Random) -> Result | None:
    """One of the rows of one of its parts."""
    parts = list(batch.parts.order_by("number"))
    if not parts:
        return None
    return draw.choice(list(results.readable_results(draw.choice(parts))))


def search(batch: Batch, by: None) -> object:
    """Look for the rows that have a word, and at what the answers are at a glance."""
    shown = random.choice(["", *STATUSES])  # noqa: S311
    searches.search_for(batch, Selection(shown=shown, words="good"))
    return digests.of(batch).fields


def bring_back(batch: Batch, by: None) -> object:
    """Put a deleted batch into the history again."""
    return deleting.bring_back(batch, by=by)
