"""The rows of parts and batches, each joined to its answer."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

import msgspec

from batchui.batches.compressed import DamagedFile, read_lines, read_many_lines
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import (
    CUT,
    EDITED,
    NOTHING,
    Answer,
    Edit,
    Lost,
    or_lost,
    read_answers,
)
from batchui.batches.states import AnswerStatus
from batchui.exports.rows import TextRows
from batchui.prompts.reading.rows import decode_rows, decode_to_show

# The status of a row that has none of `states.AnswerStatus` yet, where rows go out.
WAITING = "waiting"


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
    edit: Edit | None = None

    @property
    def own_status(self) -> str:
        """The status without what a person corrected."""
        return self.edit.status if self.edit else self.status

    @property
    def own_answer(self) -> bytes | None:
        """The model's own answer, where a person corrected it."""
        return _json_or_none(self.edit.answer) if self.edit else self.answer


def part_results(part: Part) -> Iterator[Result]:
    """The rows of a part, each with its answer. Raises DamagedFile if a file is damaged."""
    lines = read_lines(part.rows_file, lines=part.rows)
    return _joined(part, lines, read_answers(part))


def text_rows(part: Part, *, columns: int) -> Iterator[TextRows]:
    """The rows of a part of a text file, many at once, up to the first that has other cells.

    columns: how many cells each of them has. Raises DamagedFile.
    """
    answers = read_answers(part)
    without = Answer(part.waiting_became or WAITING, error=part.waiting_error or None)
    for stored in read_many_lines(part.rows_file, lines=part.rows):
        cells = decode_rows(b"".join(stored))
        some = [answer or without for answer in islice(answers, len(stored))]
        if set(map(len, cells)) != {columns}:
            return
        yield TextRows(
            cast(list[list[str]], cells),
            [_json_or_none(answer.answer) for answer in some],
            [answer.status for answer in some],
            [answer.error for answer in some],
        )


def readable_results(part: Part) -> Iterator[Result]:
    """The rows of a part as far as they can be read, for people.

    `cells` is None for a row whose text is lost. A row whose answer is lost is `missing`. The error
    of both says why.
    """
    result = None
    try:
        for result in part_results(part):
            yield result
    except DamagedFile:
        lines = or_lost(read_lines(part.rows_file, lines=part.rows), part.rows)
        found = _joined(part, lines, or_lost(read_answers(part), part.rows))
        done = result.row - part.first_row + 1 if result else 0
        yield from islice(found, done, None)


def _joined(
    part: Part, lines: Iterator[bytes | Lost], answers: Iterator[Answer | Lost | None]
) -> Iterator[Result]:
    for number, (line, answer) in enumerate(zip(lines, answers, strict=True), part.first_row):
        if type(line) is bytes and type(answer) is Answer:  # as most are
            yield Result(
                number,
                decode_to_show(line),
                answer.status,
                _json_or_none(answer.answer),
                answer.error,
                _json_or_none(answer.usage),
                answer.edit,
            )
        else:
            yield _result(part, number, line, answer)


def results_at(
    part: Part, positions: Sequence[int], answers: Iterable[Answer | None]
) -> list[Result]:
    """The rows at these positions, which are in order, with their `answers`.

    The other lines are passed over without being decoded. Raises DamagedFile.
    """
    found: list[Result] = []
    wanted = iter(zip(positions, answers, strict=True))
    position, answer = next(wanted, (-1, None))
    for at, line in enumerate(read_lines(part.rows_file, lines=part.rows)):
        if at == position:
            found.append(_result(part, part.first_row + at, line, answer))
            position, answer = next(wanted, (-1, None))
            if position < 0:
                break
    return found


def _result(part: Part, number: int, line: bytes | Lost, answer: Answer | Lost | None) -> Result:
    cells, lost = (None, line.why) if isinstance(line, Lost) else (decode_to_show(line), None)
    if answer is None:
        error = part.waiting_error or lost
        return Result(number, cells, part.waiting_became, None, error, None)
    if isinstance(answer, Lost):
        return Result(number, cells, AnswerStatus.MISSING.value, None, answer.why, None)
    return Result(
        number,
        cells,
        answer.status,
        _json_or_none(answer.answer),
        answer.error or lost,
        _json_or_none(answer.usage),
        answer.edit,
    )


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
    "empty_counts",
    "asked_again",
    "times_chosen",
    "waiting_became",
    "waiting_error",
    EDITED,
    CUT,
    *(status.value for status in AnswerStatus),
)
