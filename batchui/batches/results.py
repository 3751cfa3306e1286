"""Reads and writes the answers of a part, and joins them to its rows.

An answers file has one line for each row, in row order: `null` for a row without an answer of its
own, else `[status, answer, error, usage]`. All rows with `null` have the same status
(`Part.waiting_became`): they still wait, are unsent or missing, or failed with the whole part.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import Any, NamedTuple, TypeVar

import msgspec

from batchui.batches import files
from batchui.batches.changes import PartChanges
from batchui.batches.compressed import Compressed, DamagedFile, read_lines
from batchui.batches.models import Batch, Part
from batchui.batches.states import RETRYABLE_ANSWERS, AnswerStatus
from batchui.prompts.reading.rows import decode_to_show

Item = TypeVar("Item")

NOTHING = msgspec.Raw(b"null")


class Answer(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What came back for a row. `answer` and `usage` are JSON as received, `null` for none."""

    status: str
    answer: msgspec.Raw = NOTHING
    error: str | None = None
    usage: msgspec.Raw = NOTHING


class Result(NamedTuple):
    """A row of the file with its answer. `status` is "" while it waits for one.

    cells: None if they are lost (see `readable_results`).
    """

    row: int
    cells: Any
    status: str
    answer: bytes | None
    error: str | None
    usage: bytes | None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Answer | None).decode


class NewAnswers(NamedTuple):
    """A version of a part's answers that is not stored yet."""

    name: str
    changes: PartChanges
    content: Compressed

    def store(self) -> PartChanges:
        """Store it. Returns the changes that make it the part's current version, in one UPDATE."""
        self.content.store(self.name)
        return self.changes


def read_answers(part: Part) -> Iterator[Answer | None]:
    """The answer of each row of the part, in row order.

    None: the row has no answer of its own, or a retry will ask it again.
    """
    if not part.answers_file:
        return iter([None] * part.rows)
    answers: Iterator[Answer | None] = map(_decode, read_lines(part.answers_file, lines=part.rows))
    if not part.forget_unanswered:
        return answers
    return (
        None if answer is not None and answer.status in RETRYABLE_ANSWERS else answer
        for answer in answers
    )


def new_answers(part: Part, answers: Iterable[Answer | None]) -> NewAnswers:
    """A new version of a part's answers, to be stored."""
    counts: Counter[str] = Counter()

    def lines() -> Iterator[bytes]:
        for answer in answers:
            if answer is not None:
                counts[answer.status] += 1
            yield _encode(answer)

    content = Compressed.of_lines(lines())
    version = part.answers_version + 1
    name = files.answers_path(part, version=version)
    changes: PartChanges = {
        "answers_file": name,
        "answers_version": version,
        "forget_unanswered": False,
        "answered": counts["answered"],
        "empty": counts["empty"],
        "failed": counts["failed"],
        "missing": counts["missing"],
        "unsent": counts["unsent"],
        "invalid": counts["invalid"],
    }
    return NewAnswers(name, changes, content)


def merge(
    part: Part, arrived: dict[int, Answer], *, missing: Callable[[int], Answer | None]
) -> NewAnswers:
    """Add the answers that `arrived` (by position in the part) to the ones already stored.

    A new answer replaces an old one, but a row that is answered stays answered: two requests may
    have brought the same row. `missing(position)` is the answer of a row that has neither.
    """

    def merged() -> Iterator[Answer | None]:
        for position, old in enumerate(read_answers(part)):
            answer = arrived.get(position)
            if answer is not None and (_is_answered(answer) or not _is_answered(old)):
                yield answer
            elif old is not None:
                yield old
            else:
                yield missing(position)

    return new_answers(part, merged())


def _is_answered(answer: Answer | None) -> bool:
    return answer is not None and answer.status == AnswerStatus.ANSWERED


def open_positions(part: Part) -> list[int]:
    """The positions (from 0) of the rows that wait for an answer."""
    return [position for position, answer in enumerate(read_answers(part)) if answer is None]


class Lost(NamedTuple):
    """In place of a line that cannot be read, because its file is damaged or not there."""

    why: str


def part_results(part: Part) -> Iterator[Result]:
    """The rows of a part, each with its answer. Raises DamagedFile if a file is damaged."""
    lines = read_lines(part.rows_file, lines=part.rows)
    return _joined(part, lines, read_answers(part))


def readable_results(part: Part) -> Iterator[Result]:
    """The rows of a part as far as they can be read, for people.

    `cells` is None for a row whose text is lost. A row whose answer is lost is `missing`. The error
    of both says why.
    """
    lines = read_lines(part.rows_file, lines=part.rows)
    return _joined(part, _or_lost(lines, part.rows), _or_lost(read_answers(part), part.rows))


def without_lost(part: Part) -> NewAnswers | None:
    """A version of the answers with those that can be read; None if all can be.

    The other rows wait again.
    """
    try:
        for _ in read_answers(part):
            pass
    except DamagedFile:
        kept = _or_lost(read_answers(part), part.rows)
        return new_answers(part, (None if isinstance(one, Lost) else one for one in kept))
    return None


def _or_lost(found: Iterator[Item], number: int) -> Iterator[Item | Lost]:
    """So many items; a `Lost` for each one from which on the file is damaged."""
    read = 0
    try:
        for item in islice(found, number):
            read += 1
            yield item
    except DamagedFile as problem:
        yield from repeat(Lost(str(problem)), number - read)


def _joined(
    part: Part, lines: Iterator[bytes | Lost], answers: Iterator[Answer | Lost | None]
) -> Iterator[Result]:
    waiting_error = part.waiting_error or None
    number = part.first_row
    for line, answer in zip(lines, answers, strict=True):
        cells, lost = (None, line.why) if isinstance(line, Lost) else (decode_to_show(line), None)
        if answer is None:
            error = waiting_error or lost
            yield Result(number, cells, part.waiting_became, None, error, None)
        elif isinstance(answer, Lost):
            yield Result(number, cells, AnswerStatus.MISSING.value, None, answer.why, None)
        else:
            yield Result(
                number,
                cells,
                answer.status,
                _json_or_none(answer.answer),
                answer.error or lost,
                _json_or_none(answer.usage),
            )
        number += 1


def _json_or_none(raw: msgspec.Raw) -> bytes | None:
    return None if raw == NOTHING else bytes(raw)


def results(batch: Batch) -> Iterator[Result]:
    """Every row of a started batch, in file order (see `readable_results`)."""
    for part in batch.parts.order_by("number").iterator():
        yield from readable_results(part)


READ_FOR_ROWS = (
    "batch",
    "number",
    "first_row",
    "rows",
    "rows_file",
    "answers_file",
    "forget_unanswered",
    "waiting_became",
    "waiting_error",
    *(status.value for status in AnswerStatus),
)

SHOWN: dict[str, tuple[str, ...]] = {
    "answered": ("answered",),
    "attention": ("empty", "failed", "missing", "unsent", "invalid"),
}


def count_shown(batch: Batch, shown: str) -> int:
    """How many rows a filter shows. `shown`: "all", "answered" or "attention"."""
    return sum(getattr(batch, status) for status in SHOWN[shown]) if shown in SHOWN else batch.rows


def page(batch: Batch, *, shown: str, offset: int, limit: int) -> list[Result]:
    """One page of a batch's rows.

    The counts of the parts tell which part to open, so only the parts of the page are read.
    """
    found: list[Result] = []
    statuses = SHOWN.get(shown)
    for part in batch.parts.order_by("number").only(*READ_FOR_ROWS):
        size = sum(getattr(part, status) for status in statuses) if statuses else part.rows
        if offset >= size:
            offset -= size
            continue
        for result in readable_results(part):
            if statuses and result.status not in statuses:
                continue
            if offset:
                offset -= 1
                continue
            found.append(result)
            if len(found) == limit:
                return found
    return found
