"""What became of a row, in words: at which try, with how many tokens, at what cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.money import precise, usd_of
from batchui.batches.one_row import OneRow, answered_by, asked_with, tries
from batchui.batches.phrases import free_words
from batchui.batches.spending import prices_of
from batchui.batches.states import CAME_BACK, AnswerStatus, AttemptStatus
from batchui.web import status_words

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
# How the tokens of a row are called in its usage.
_READ, _WRITTEN = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
_ENDS = {
    AnswerStatus.ANSWERED: "Answered",
    AnswerStatus.EMPTY: "Came back empty",
    AnswerStatus.UNFIT: "Came back with something that does not fit",
    AnswerStatus.FAILED: "Failed",
    AnswerStatus.MISSING: "Came back without this row",
}

# What has tokens: an answer came back, of whatever use.
_CAME = (AnswerStatus.ANSWERED, AnswerStatus.EMPTY, AnswerStatus.UNFIT)


@dataclass(frozen=True)
class Tokens:
    """What a row used. is_about: it is the average of its part, as the row's own is not known.

    cost: “$0.00007”, “free in the sandbox”; "" if the price is not known.
    """

    read: int
    written: int
    is_about: bool
    cost: str


@dataclass(frozen=True)
class Became:
    """What became of a row.

    sentence: such as “Answered at the second try.” tries: how often it was sent. answered_by: the
    request whose reply it has.
    """

    sentence: str
    tries: int
    answered_by: Attempt | None
    tokens: Tokens | None


def became_of(batch: Batch, row: OneRow) -> Became:
    """What became of a row of a batch."""
    sent = tries(row)
    by = answered_by(sent)
    return Became(_sentence(batch, row, sent, by), len(sent), by, _tokens(batch, row))


def cost_text(batch: Batch, *, read: int, written: int) -> str:
    """What so many tokens cost, as text; "" if the price is not known."""
    if batch.connection.is_free:
        return free_words(batch.connection)
    usd = usd_of(batch.ask.model, read=read, written=written, prices=prices_of(batch))
    return "" if usd is None else precise(usd)


def _sentence(batch: Batch, row: OneRow, sent: Sequence[Attempt], by: Attempt | None) -> str:
    status, part = row.result.own_status, row.part
    if not status:
        return _waits(batch, part, sent)
    other = asked_with(row)
    if other is not None and not sent:
        return f"Row {other:,} asks the same. It was asked once, and both have its answer."
    end = _ENDS.get(AnswerStatus(status))
    if end is None:
        return "It was not sent."
    if by is None:
        return f"{end}."
    place = [one.pk for one in sent].index(by.pk)
    return f"{end} at {_try(place)}."


def _waits(batch: Batch, part: Part, sent: Sequence[Attempt]) -> str:
    """What a row waits for: its part, which is named if the batch has several."""
    shown = status_words.of_part(part)
    name = f"Part {part.number:,} of {batch.part_count:,}" if batch.part_count > 1 else "Its part"
    before = any(one.status != AttemptStatus.ACCEPTED for one in sent)
    again = " It is asked again." if before else ""
    return f"{name}: {shown.word}. {shown.sentence}{again}".strip()


def _try(place: int) -> str:
    return f"the {_ORDINALS[place]} try" if place < len(_ORDINALS) else f"try {place + 1}"


def _tokens(batch: Batch, row: OneRow) -> Tokens | None:
    part = row.part
    usage = _usage(row.result.usage)
    if usage is not None:
        read, written = usage
        return Tokens(read, written, False, cost_text(batch, read=read, written=written))
    came = sum(getattr(part, status.value) for status in CAME_BACK)
    if row.result.status not in CAME_BACK or not came:
        return None
    if not part.prompt_tokens or asked_with(row) is not None:
        return None
    read, written = round(part.prompt_tokens / came), round(part.completion_tokens / came)
    return Tokens(read, written, True, cost_text(batch, read=read, written=written))


def _usage(raw: bytes | None) -> tuple[int, int] | None:
    """The tokens read and written in a row's own usage; None if it has none."""
    try:
        usage = msgspec.json.decode(raw or b"null")
    except msgspec.DecodeError:
        return None
    if not isinstance(usage, dict):
        return None
    counts = [next((usage[n] for n in names if n in usage), 0) for names in (_READ, _WRITTEN)]
    if not all(isinstance(n, int | float) and 0 <= n < 1e12 for n in counts) or not any(counts):
        return None
    return int(counts[0]), int(counts[1])
