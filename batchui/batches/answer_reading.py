"""Reads the answer of a row: whether there is one, and whether it fits the answer columns.

What is stored is the JSON that the model gave, without the code fence or the words around it. The
values of the columns are taken out of it when it is shown or goes out: see `fields_of`.
"""

from collections.abc import Sequence

import msgspec

from batchui.batches.part_answers import NOTHING, Answer
from batchui.batches.states import AnswerStatus
from batchui.cloudflare.json_in_text import unwrapped
from batchui.cloudflare.replies import EMPTY, ItemReply
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fitted


def answer_of(item: ItemReply, columns: Sequence[AnswerColumn]) -> Answer:
    """What an item of a reply means for its row."""
    status: str = item.status
    error, raw = item.error, item.answer
    usage = NOTHING if item.usage is None else msgspec.Raw(item.usage)
    if columns and status == AnswerStatus.ANSWERED and raw is not None:
        status, raw, error = read(raw, columns)
    return Answer(status, NOTHING if raw is None else msgspec.Raw(raw), error, usage)


def read(answer: bytes, columns: Sequence[AnswerColumn]) -> tuple[str, bytes, str | None]:
    """Status, answer and error of a row that is to be answered in these columns.

    answer: JSON on one line, not empty.
    """
    inner = unwrapped(answer, anywhere=True)
    found = fitted(inner, columns)
    if found.problems:
        return AnswerStatus.UNFIT.value, inner, found.error
    if all(value is None for value in found.values):
        return AnswerStatus.EMPTY.value, inner, EMPTY
    return AnswerStatus.ANSWERED.value, inner, None
