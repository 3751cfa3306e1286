"""Whether words stand in a row: in one of its cells, or in its answer.

Capital and small letters are the same; accents count. A line of a file is looked at as it is
stored, and decoded only if the words may be in it.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from batchui.batches.part_answers import NOTHING, Answer
from batchui.exports.answers import answer_text
from batchui.prompts.reading.rows import cell_text, decode_to_show, shown_text

# What an answer may have with a backslash or with blanks beside it, where its text has none.
_NOT_AS_STORED = frozenset('"\\/:,[]{}')
# Whether a row, by its stored line and its answer, has the words.
HasWords = Callable[[bytes, Answer | None], bool]


def has_words(words: str) -> HasWords:
    """A function that tells whether words stand in a row."""
    wanted = words.lower()
    stored = msgspec.json.encode(words)[1:-1].decode().lower()

    def in_row(line: bytes, answer: Answer | None) -> bool:
        if stored in line.decode().lower() and _in_cells(wanted, decode_to_show(line)):
            return True
        return answer is not None and answer.answer != NOTHING and in_answer(bytes(answer.answer))

    def in_answer(raw: bytes) -> bool:
        # A character may be written as an escape, then the text has to be decoded.
        if b"\\" not in raw:
            return stored in raw.decode(errors="replace").lower()
        return wanted in answer_text(raw).lower()

    return in_row


def may_have_words(words: str) -> Callable[[bytes], bool]:
    """A function that tells whether words may stand in lines of stored rows or answers.

    False: no row of these has them, which is told in a quarter of the time of looking at each.
    """
    stored = msgspec.json.encode(words)[1:-1].decode().lower()
    if not _NOT_AS_STORED.isdisjoint(words):
        return lambda _block: True
    return lambda block: b"\\u" in block or stored in block.decode(errors="replace").lower()


def _in_cells(wanted: str, cells: Any) -> bool:
    if isinstance(cells, dict):
        return any(wanted in cell_text(value).lower() for value in cells.values())
    return any(wanted in shown_text(cell).lower() for cell in cells)
