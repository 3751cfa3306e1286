"""Reads the answer of a row: whether there is one, and whether it fits the answer columns.

What is stored is the JSON that the model gave, without the code fence or the words around it. The
values of the columns are taken out of it when it is shown or goes out: see `fields_of`. An answer
that was cut off at the longest answer is kept, and counts as answered; its error says so.
"""

from collections.abc import Sequence

import msgspec

from batchui.batches.part_answers import CUT_OFF, NOTHING, Answer
from batchui.batches.states import AnswerStatus
from batchui.cloudflare.answers import ALLOW_LONGER, AT_THE_LIMIT, CUT_SHORT
from batchui.cloudflare.json_in_text import unwrapped
from batchui.cloudflare.replies import EMPTY, ItemReply, written_tokens
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fitted

# Of an answer that was cut off, by its status; one without a word says itself why (`answers.py`).
_CUT_OFF = {
    AnswerStatus.ANSWERED.value: CUT_OFF,
    AnswerStatus.UNFIT.value: (
        f"The answer was cut off: it reached {AT_THE_LIMIT}, so it does not fit the answer "
        f"columns. {ALLOW_LONGER}, then ask this row again."
    ),
    AnswerStatus.EMPTY.value: CUT_SHORT,
}


def answer_of(
    item: ItemReply, columns: Sequence[AnswerColumn], longest: int | None = None
) -> Answer:
    """What an item of a reply means for its row.

    longest: the longest answer that was asked for, in tokens, if it is known. An answer with as
    many was cut off, unless the item says that it was not.
    """
    status: str = item.status
    error, raw = item.error, item.answer
    usage = NOTHING if item.usage is None else msgspec.Raw(item.usage)
    if columns and status == AnswerStatus.ANSWERED and raw is not None:
        status, raw, error = read(raw, columns)
    if (item.cut or longest is not None) and _is_cut(item, longest):
        known = error is not None and AT_THE_LIMIT in error
        error = error if known else _CUT_OFF.get(status, error)
    return Answer(status, NOTHING if raw is None else msgspec.Raw(raw), error, usage)


def _is_cut(item: ItemReply, longest: int | None) -> bool:
    if item.cut is not None or longest is None or item.usage is None:
        return bool(item.cut)
    return written_tokens(item.usage) >= longest


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
