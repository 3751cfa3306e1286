"""Gives rows the answer of the first row that asks the same question, where it is asked once.

Such a row is never sent. It waits until the first one has an answer, or will have none, and then
has the same fate. A retry does the same again.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from batchui.batches import files, results
from batchui.batches.changes import PartChanges
from batchui.batches.models import Part
from batchui.batches.phrases import rows_phrase
from batchui.batches.results import NOTHING, Answer
from batchui.batches.states import AnswerStatus

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[int, int]).decode


class Copied(NamedTuple):
    """What came of looking: the part's new answers, how many they are, how many are missing."""

    changes: PartChanges
    copied: int
    missing: int


def store(part: Part, copies: Mapping[int, int]) -> str:
    """Store which rows of a new part (by position) get the answer of which row (by number)."""
    lines = map(_encode, copies.items())
    return files.Compressed.of_lines([_encode((len(copies), 0)), *lines]).store(
        files.copies_path(part)
    )


def copies_of(part: Part) -> dict[int, int]:
    """The rows of a part that get the answer of another: position -> number of that row.

    Raises DamagedFile.
    """
    if not part.copies_file:
        return {}
    pairs = list(map(_decode, files.read_all_lines(part.copies_file)))
    if not pairs or pairs[0][0] != len(pairs) - 1:
        raise files.DamagedFile(f"The stored file {part.copies_file} is damaged.")
    return dict(pairs[1:])


def copied(part: Part) -> Copied | None:
    """The answers that waiting rows of a part get from other rows; None if no row waits for one.

    Raises DamagedFile.
    """
    copies = copies_of(part)
    waiting = {at: copies[at] for at in results.open_positions(part) if at in copies}
    if not waiting:
        return None
    found = dict(_answers(part, set(waiting.values())))
    arrived = {at: _copy(found[row], row) for at, row in waiting.items() if row in found}
    if not arrived:
        return Copied({}, 0, len(waiting))
    changes = results.merge(part, arrived, missing=lambda _: None).store()
    return Copied(changes, len(arrived), len(waiting) - len(arrived))


def event_of(part: Part, copied: Copied) -> str:
    """The line of the timeline about rows that got the answers of others."""
    rows = rows_phrase(copied.copied)
    return f"Part {part.number}: {rows} got the answers to the same questions, asked once."


def _answers(part: Part, rows: Collection[int]) -> Iterator[tuple[int, Answer]]:
    """The rows of these numbers that have an answer, or a status that says that they have none."""
    for other in part.batch.parts.order_by("number").iterator():
        first, last = other.first_row, other.last_row
        wanted = {row - first for row in rows if first <= row <= last}
        if not wanted:
            continue
        for at, answer in enumerate(results.read_answers(other)):
            if at not in wanted:
                continue
            if answer is not None:
                yield first + at, answer
            elif other.waiting_became:
                yield first + at, Answer(other.waiting_became, error=other.waiting_error)


def _copy(answer: Answer, row: int) -> Answer:
    """The answer of a row for one that asks the same."""
    if answer.status == AnswerStatus.ANSWERED:
        return Answer(answer.status, answer.answer, f"Asked once, with row {row:,}.")
    why = f": {answer.error}" if answer.error else "."
    return Answer(answer.status, NOTHING, f"Asked once, with row {row:,}{why}")
