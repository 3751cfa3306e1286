"""Words and sentences about batches that the page and the terminal share."""

from collections.abc import Callable, Sequence
from itertools import groupby

from batchui.batches.models import Batch
from batchui.batches.part_models import CLEAN_REPLIES_ARE_KEPT
from batchui.teams.models import Connection

# Tells somebody how far something is, in a sentence.
Say = Callable[[str], object]
# Runs of consecutive numbers that a sentence names.
RUNS_NAMED = 12

REPLY_IS_GONE = (
    "The raw reply is not kept any more: one whose answers were stored is kept for "
    f"{CLEAN_REPLIES_ARE_KEPT.days} days."
)
NOT_STARTED = "This batch has not been started, so there are no answers to download yet."


def free_words(connection: Connection) -> str:
    """What stands in place of a price where nobody is paid."""
    return "free on your own server" if connection.is_local else "free in the sandbox"


def rows_phrase(count: int) -> str:
    """ "1 row", "2,500 rows"."""
    return counted(count, "row")


def rows_are(count: int) -> str:
    """ "1 row is", "2,500 rows are"."""
    return f"{rows_phrase(count)} {is_are(count)}"


def is_are(count: int) -> str:
    """ "is", or "are" for a number that is not 1."""
    return "is" if count == 1 else "are"


def size_phrase(size: int) -> str:
    """ "16 KB", "2.4 MB", "1.1 GB": a number of bytes, as pages and the terminal write it.

    The script of the pages (`megabytes` in `static/app.js`) counts megabytes in the same way.
    """
    if size >= 10**9:
        return f"{size / 10**9:,.2f} GB"
    if size >= 10**6:
        return f"{size / 10**6:.{1 if size < 10**7 else 0}f} MB"
    return f"{max(1, round(size / 1000)):,} KB"


def parts_phrase(count: int) -> str:
    """ "1 part", "12 parts"."""
    return counted(count, "part")


def part_numbers(numbers: Sequence[int]) -> str:
    """ "Part 4", "Parts 1 to 3, 7 and 9". `numbers` are in order."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    runs = [some for run in runs for some in ([run[:1], run[1:]] if len(run) == 2 else [run])]
    named = [f"{run[0]:,}" if len(run) == 1 else f"{run[0]:,} to {run[-1]:,}" for run in runs]
    more = len(named) - RUNS_NAMED
    if more > 1:
        left = sum(map(len, runs[RUNS_NAMED:]))
        named = [*named[:RUNS_NAMED], f"{left:,} more"]
    text = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"Part {text}" if len(numbers) == 1 else f"Parts {text}"


def invalid_rows_sentence(count: int) -> str:
    """The sentence about `count` rows that cannot be asked."""
    them = "it" if count == 1 else "them"
    return f"{rows_phrase(count)} cannot be asked. Correct {them} in the file, or skip {them}."


def blank_rows_sentence(count: int) -> str:
    """The sentence about `count` rows with nothing to ask about, which are not to be skipped."""
    has, them = ("has", "it") if count == 1 else ("have", "them")
    return f"{rows_phrase(count)} {has} nothing to ask about. Fill {them} in, or skip {them}."


def problem_of(batch: Batch) -> str:
    """Why a batch cannot start, with the problem of its first bad row; "" if nothing is wrong."""
    problem = batch.problem or (invalid_rows_sentence(batch.bad_rows) if batch.bad_rows else "")
    first = batch.problem_rows[0]["sentence"] if batch.problem_rows else ""
    return " ".join(filter(None, (problem, first)))


def counted(count: int, noun: str) -> str:
    """The number and the noun, such as "1 migration" or "3 migrations"."""
    return f"1 {noun}" if count == 1 else f"{count:,} {noun}s"
