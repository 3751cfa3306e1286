"""The values of the answer columns, as texts: what filters compare and pictures count."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from batchui.batches.models import Batch
from batchui.batches.part_answers import NOTHING, Answer
from batchui.exports.answers import answer_text
from batchui.prompts import answer_fitting
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import Value

_encode = msgspec.json.Encoder(decimal_format="number").encode

# The one column of a batch whose answers are not cut into columns.
ANSWER = "answer"
# The texts of an answer in a column: several in a column of the kind `several_of`.
Texts = Callable[[Answer], Sequence[str]]


class Field(NamedTuple):
    """An answer column. kind: text, number, yes_no, one_of or several_of."""

    name: str
    kind: str = "text"
    choices: Sequence[str] = ()


def fields_of(batch: Batch) -> tuple[Field, ...]:
    """The answer columns of a batch."""
    columns = batch.ask.answer_columns
    if not columns:
        return (Field(ANSWER),)
    return tuple(Field(one.name, one.kind, one.choices) for one in columns)


def texts_of(batch: Batch, column: str) -> Texts:
    """A function from an answer to its texts in a column; to none if there is no such column."""
    columns = batch.ask.answer_columns
    names = [field.name for field in fields_of(batch)]
    if column not in names:
        return lambda _answer: ()
    if not columns:
        return _whole_answer
    at = names.index(column)
    return lambda answer: _texts(_values(bytes(answer.answer), columns)[at])


# All columns of an answer are looked at before the next answer is.
@lru_cache(maxsize=1)
def _values(answer: bytes, columns: Sequence[AnswerColumn]) -> Sequence[Value]:
    return answer_fitting.fields_of(None if answer == NOTHING else answer, columns)


def _texts(value: Value) -> Sequence[str]:
    """The texts of a value; none for a blank one."""
    if value is None:
        return ()
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, list):
        return value
    return (value if isinstance(value, str) else _encode(value).decode(),)


def _whole_answer(answer: Answer) -> Sequence[str]:
    return () if answer.answer == NOTHING else (answer_text(bytes(answer.answer)).strip(),)
