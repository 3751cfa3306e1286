"""What a person writes in the place of an answer: read, checked, and made into JSON."""

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from batchui.batches.part_answers import NOTHING, Answer
from batchui.batches.states import RETRYABLE_ANSWERS, AnswerStatus
from batchui.exports.answers import answer_text
from batchui.prompts.answer_columns import MOST_CHOICES, AnswerColumn
from batchui.prompts.answer_fitting import Value, fields_of, fitted, with_value

# In characters, of one value. A longer one is not shown on a page, and not edited there.
LONGEST = 100_000
# Of an answer of an embedding or the like, in bytes: nobody edits it as text.
LONGEST_STRUCTURED = 20_000
# Rows of these can be given an answer. Those that were never asked are none of the question's.
MAY_BE_EDITED = (AnswerStatus.ANSWERED, *RETRYABLE_ANSWERS)

TOO_LONG = f"This is too long. Use at most {LONGEST:,} characters."
NOTHING_WRITTEN = "Nothing is written yet. Write an answer, or cancel."
NO_JSON = (
    "The answer is structured data (JSON), and what you wrote is not: {}. Correct it, or cancel."
)
NO_COLUMN = "There is no such answer column."

# What a person wrote: a text, or several choices.
Written = str | Sequence[str]


class CannotBe(Exception):
    """What was written is no value for this answer. str() is a sentence for the page."""


def edited(now: Answer, columns: Sequence[AnswerColumn], at: int, written: Written) -> bytes:
    """The answer of a row with another value at a place, as JSON. It counts as answered.

    at: which answer column, from 0; without columns it is 0. Raises CannotBe.
    """
    answer = None if now.answer == NOTHING else bytes(now.answer)
    if not 0 <= at < max(1, len(columns)):
        raise CannotBe(NO_COLUMN)
    clean = _clean(written)
    is_new = now.status != AnswerStatus.ANSWERED and answer is None
    if is_new and not (clean.strip() if isinstance(clean, str) else clean):
        raise CannotBe(NOTHING_WRITTEN)
    if not columns:
        text = clean if isinstance(clean, str) else "\n".join(clean)
        return _whole(answer, text)
    return with_value(answer, columns, at, _value(columns[at], clean))


def seen_of(answer: bytes | None, columns: Sequence[AnswerColumn], at: int) -> str:
    """What a page keeps of the value that it shows, to notice that somebody else changed it."""
    seen = answer or b""
    if columns and 0 <= at < len(columns):
        seen = with_value(None, columns[at : at + 1], 0, fields_of(answer, columns)[at])
    return sha256(seen).hexdigest()[:16]


def text_to_edit(answer: bytes | None) -> str | None:
    """An answer without columns as the text that a person edits; None: it is too long for that."""
    if answer is None:
        return ""
    if len(answer) > 4 * LONGEST:
        return None
    text = answer_text(answer)
    if _is_structured(answer):
        laid_out = msgspec.json.format(text, indent=2)
        return laid_out if len(text) <= LONGEST_STRUCTURED else None
    return text if len(text) <= LONGEST else None


def _clean(written: Written) -> Written:
    """What was written, with the line breaks of the answers. Raises CannotBe."""
    if not isinstance(written, str):
        return [text for text in written[:MOST_CHOICES] if text.strip()]
    text = written.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if len(text) > LONGEST:
        raise CannotBe(TOO_LONG)
    return text


def _value(column: AnswerColumn, written: Written) -> Value:
    """What was written as the column has it. Raises CannotBe."""
    found = fitted(msgspec.json.encode({column.name: written}), [column])
    if found.problems:
        raise CannotBe(found.error)
    return found.values[0]


def _whole(answer: bytes | None, text: str) -> bytes:
    """The text as an answer of the kind that was there. Raises CannotBe."""
    is_number = answer is not None and not answer.startswith(b'"') and answer_text(answer) != ""
    if answer is None or not is_number:
        return msgspec.json.encode(text)
    try:
        return msgspec.json.format(text, indent=-1).encode()
    except (msgspec.DecodeError, UnicodeEncodeError) as problem:
        if not _is_structured(answer):  # a number or yes/no, which becomes a text
            return msgspec.json.encode(text)
        raise CannotBe(NO_JSON.format(str(problem).rstrip("."))) from None


def _is_structured(answer: bytes) -> bool:
    """Whether an answer is a JSON object or list that can be read."""
    if not answer.startswith((b"{", b"[")):
        return False
    try:
        msgspec.json.decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
