"""Whether two answers agree: texts but for blanks around them, numbers by value, lists as sets."""

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from batchui.exports.answers import answer_text
from batchui.prompts.answer_columns import AnswerColumn, folded
from batchui.prompts.answer_fitting import fields_of

# A longer text is no number.
LONGEST_NUMBER = 40
# The values of an answer, by column.
Values = Callable[[bytes | None], Sequence[Any]]

_decode = msgspec.json.Decoder(float_hook=Decimal).decode


def agree(one: Any, other: Any) -> bool:
    """Whether two values of an answer are the same to a reader. None is a blank one."""
    if type(one) is type(other) and one == other:  # without looking at what they mean
        return True
    one, other = _plain(one), _plain(other)
    return bool(type(one) is type(other) and one == other)


def _plain(value: Any) -> Any:
    """A value as it is compared."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal):
        return Decimal(str(value)).normalize()
    if isinstance(value, str):
        text = value.strip()
        return _number(text) if len(text) <= LONGEST_NUMBER else text
    if isinstance(value, list):
        return frozenset(repr(_plain(one)) for one in value)
    return {name: _plain(one) for name, one in value.items()}


def _number(text: str) -> Any:
    """The number that a text is; the text itself, or None for a blank one, if it is none."""
    if not text:
        return None
    if text[0] not in "+-.0123456789" or not text.isascii():
        return text
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return number.normalize() if number.is_finite() else text


def shared_columns(
    one: Sequence[AnswerColumn], other: Sequence[AnswerColumn]
) -> list[tuple[AnswerColumn, AnswerColumn]]:
    """The columns with one name in two batches."""
    others = {folded(column.name): column for column in other}
    return [
        (column, others[folded(column.name)]) for column in one if folded(column.name) in others
    ]


def compared(
    one: Sequence[AnswerColumn], other: Sequence[AnswerColumn]
) -> tuple[list[str], Values, Values]:
    """The names of the columns that two batches share, and how the values of each are read.

    Batches without a column in common are compared by their whole answers; no names then.
    """
    shared = shared_columns(one, other)
    if not shared:
        return [], _whole, _whole
    of_one, of_other = ([pair[side] for pair in shared] for side in (0, 1))
    return (
        [column.name for column in of_one],
        lambda answer: fields_of(answer, of_one),
        lambda answer: fields_of(answer, of_other),
    )


def _whole(answer: bytes | None) -> Sequence[Any]:
    if answer is None:
        return (None,)
    try:
        value = _decode(answer)
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            value = _decode(value.strip())
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = answer_text(answer)
    return (value,)
