"""Lists of numbers and rankings, as a cell of the grid says them: the row in full has all."""

from collections.abc import Sequence

import msgspec

from batchui.exports.answers import answer_text

# So many of a list stand in a cell: it has room for three lines.
NUMBERS_SHOWN, SCORES_SHOWN = 4, 6


class Score(msgspec.Struct):
    """The score of a passage. id: its place among those that were sent, from 0."""

    id: int
    score: float


_scores = msgspec.json.Decoder(list[Score])
_numbers = msgspec.json.Decoder(list[float])


def scores_of(answer: bytes | None) -> list[Score]:
    """The scores of a ranking, the best first; [] if the answer is none."""
    try:
        found = _scores.decode(answer or b"[]")
    except (msgspec.DecodeError, RecursionError):
        return []
    return sorted(found, key=lambda one: one.score, reverse=True)


def in_short(answer: bytes | None) -> str:
    """“768 numbers: -0.051, -0.028, …”, or a score, “0.250”, or of several passages the best first,
    “passage 2: 0.910, passage 1: 0.220”. Anything else as it is.
    """
    if scores := scores_of(answer):
        return _in_order(scores)
    try:
        numbers = _numbers.decode(answer or b"")
    except (msgspec.DecodeError, RecursionError):
        return answer_text(answer)
    more = ", …" if len(numbers) > NUMBERS_SHOWN else ""
    shown = ", ".join(f"{number:.3f}" for number in numbers[:NUMBERS_SHOWN])
    return f"{len(numbers):,} numbers: {shown}{more}" if numbers else answer_text(answer)


def _in_order(scores: Sequence[Score]) -> str:
    if len(scores) == 1:
        return f"{scores[0].score:.3f}"
    shown = [f"passage {one.id + 1}: {one.score:.3f}" for one in scores[:SCORES_SHOWN]]
    more = [f"and {len(scores) - SCORES_SHOWN:,} more"] if len(scores) > SCORES_SHOWN else []
    return ", ".join([*shown, *more])
