"""Gives rows the answer of the first row that asks the same question, where it is asked once.

Such a row is never sent. It waits until the first one has an answer, or will have none, and then
has the same fate. A retry does the same again.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from time import monotonic
from typing import NamedTuple

import msgspec

from batchui.batches import files, part_answers
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import Compressed, DamagedFile, read_all_lines
from batchui.batches.models import Part
from batchui.batches.part_answers import NOTHING, Answer, AskedAgain
from batchui.batches.phrases import rows_phrase
from batchui.batches.states import ENDED_PARTS, AnswerStatus

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[int, int]).decode
# The statuses of answers that a row takes over with their text.
WITH_TEXT = (AnswerStatus.ANSWERED, AnswerStatus.UNFIT)
# What stands before the error of a row that got its fate from another one.
_ORIGIN = re.compile(r"^Asked once, with row [\d,]+(?:: |\.)")

# Between two looks of a part. All waiting parts of a batch together look for a tenth of the time.
SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
LOOKING_SHARE = 0.1


class Copied(NamedTuple):
    """What came of looking: the part's new answers, how many they are, how many are missing.

    seconds: how long it took.
    """

    changes: PartChanges
    copied: int
    missing: int
    seconds: float


def store(part: Part, copies: Mapping[int, int]) -> str:
    """Store which rows of a new part (by position) get the answer of which row (by number)."""
    lines = map(_encode, copies.items())
    return Compressed.of_lines([_encode((len(copies), 0)), *lines]).store(files.copies_path(part))


def copies_of(part: Part) -> dict[int, int]:
    """The rows of a part that get the answer of another: position -> number of that row.

    Raises DamagedFile.
    """
    if not part.copies_file:
        return {}
    pairs = list(map(_decode, read_all_lines(part.copies_file)))
    if not pairs or pairs[0][0] != len(pairs) - 1:
        raise DamagedFile(f"The stored file {part.copies_file} is damaged.")
    return dict(pairs[1:])


def copied(part: Part) -> Copied | None:
    """The answers that waiting rows of a part get from other rows; None if no row waits for one.

    Raises DamagedFile.
    """
    begun = monotonic()
    copies = copies_of(part)
    open_rows = set(part_answers.open_positions(part)) - part_answers.rows_sent_alone(part)
    waiting = {at: copies[at] for at in sorted(open_rows) if at in copies}
    if not waiting:
        return None
    found = dict(_answers(part, waiting.values()))
    arrived = {at: _copy(found[row], row) for at, row in waiting.items() if row in found}
    changes: PartChanges = {}
    if arrived:
        changes = part_answers.merge(part, arrived, missing=lambda _: None).store()
    return Copied(changes, len(arrived), len(waiting) - len(arrived), monotonic() - begun)


def pause_after(seconds: float, *, parts: int) -> timedelta:
    """How long a part waits after a look of so many seconds, in a batch of so many parts.

    It reads the answers of every part before it, so in a large batch a look takes long. The last
    part to end wakes those that wait, whatever their pause is.
    """
    pause = timedelta(seconds=seconds * parts / LOOKING_SHARE)
    return min(max(SHORTEST_PAUSE, pause), LONGEST_PAUSE)


def event_of(part: Part, copied: Copied) -> str:
    """The line of the timeline about rows that got the answers of others."""
    rows = rows_phrase(copied.copied)
    return f"Part {part.number}: {rows} got the answers to the same questions, asked once."


def _answers(part: Part, rows: Iterable[int]) -> Iterator[tuple[int, Answer]]:
    """The rows of these numbers that have an answer, or a status that says that they have none."""
    ordered = sorted(rows)
    parts = part.batch.parts.filter(first_row__lte=ordered[-1])
    for other in parts.order_by("number").iterator():
        first, last = other.first_row, other.last_row
        here = ordered[bisect_left(ordered, first) : bisect_right(ordered, last)]
        wanted = {row - first for row in here}
        if other.status not in ENDED_PARTS:  # what is asked again keeps its old answer until then
            wanted -= AskedAgain.of(other).rows
        if not wanted:
            continue
        for at, answer in enumerate(part_answers.read_answers(other)):
            if at not in wanted:
                continue
            if answer is not None:
                yield first + at, answer.own  # what a person corrects is the answer of one row
            elif other.waiting_became:
                yield first + at, Answer(other.waiting_became, error=other.waiting_error)


def _copy(answer: Answer, row: int) -> Answer:
    """The answer of a row for one that asks the same."""
    why = f": {answer.error}" if answer.error else "."
    kept = answer.answer if answer.status in WITH_TEXT else NOTHING
    return Answer(answer.status, kept, f"Asked once, with row {row:,}{why}")


def without_origin(error: str) -> str:
    """The error of a row without the words that say from which row it was taken over."""
    return _ORIGIN.sub("", error)
