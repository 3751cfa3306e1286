"""The digest of a part: a summary of its answers, small enough to be read with every page.

A page reads those of 1,000 parts. They hold no cycles, so that Python need not look for them.

reasons   why rows have no answer, or one that was cut off: key -> how many, with the status and an
          error as an example
fields    of each answer column, in order: its values where they are few, numbers, lengths
"""

from collections import Counter
from hashlib import sha256

import msgspec

from batchui.batches import part_answers
from batchui.batches.compressed import DamagedFile
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import Answer
from batchui.batches.sheet.fields import Texts, fields_of, texts_of
from batchui.batches.sheet.reasons import Reason, reason_of
from batchui.batches.sheet.selection import FINE
from batchui.batches.sheet.spread import Spread, spread_of

# Of a part: so many reasons are told apart, and so many values of a column. A longer value is text.
MOST_REASONS, MOST_VALUES, LONGEST_VALUE = 60, 40, 80
# In characters: an error that stands for all that have its reason.
LONGEST_EXAMPLE = 400
# The key of the reasons that are too many.
OTHER_REASONS = "other"


class ReasonCount(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """How many rows need attention for a reason; their status, and one of their errors."""

    rows: int
    status: str
    example: str

    def reason(self, key: str) -> Reason:
        """The reason itself."""
        if key == OTHER_REASONS:
            return Reason(OTHER_REASONS, self.status, "other reasons", "Look at these rows.")
        return reason_of(self.status, self.example)


class ValueCount(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """How many rows have a value."""

    rows: int
    text: str


class FieldDigest(msgspec.Struct, frozen=True, gc=False):
    """The values of an answer column. rows: how many have one, or several.

    values: by `value_key`; None: they are too many. numbers: None if a value is no number. words:
    how many words the values have.
    """

    rows: int = 0
    values: dict[str, ValueCount] | None = None
    numbers: Spread | None = None
    words: Spread | None = None


class Summary(msgspec.Struct, frozen=True):
    """What a digest says: nothing, where the answers cannot be read."""

    reasons: dict[str, ReasonCount] = {}
    fields: list[FieldDigest] = []


def value_key(text: str) -> str:
    """The key of a value, which stands in queries: letters and digits."""
    return f"v{sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def summary_of(batch: Batch, part: Part) -> Summary:
    """The digest of a part as it is now, from its answers."""
    reasons = _Reasons()
    columns = [_Column(texts_of(batch, field.name)) for field in fields_of(batch)]
    waiting = Answer(part.waiting_became, error=part.waiting_error or None)
    try:
        for found in part_answers.read_answers(part):
            answer = found or waiting
            if answer.status == "answered":
                for column in columns:
                    column.add(answer)
                if answer.is_cut:
                    reasons.add(answer)
            elif answer.status and answer.status not in FINE:
                reasons.add(answer)
    except DamagedFile:
        return Summary()
    return Summary(reasons.counted(), [column.digest() for column in columns])


class _Reasons:
    """Counts why rows need attention. Of the errors with one reason one is kept as an example."""

    def __init__(self) -> None:
        self._rows: Counter[str] = Counter()
        self._examples: dict[str, tuple[Reason, str]] = {}

    def add(self, answer: Answer) -> None:
        reason = reason_of(answer.status, answer.error)
        key = reason.key
        if key not in self._examples and len(self._examples) >= MOST_REASONS:
            key = OTHER_REASONS
        self._rows[key] += 1
        kept = self._examples.get(key)
        if kept is None or reason.limit > kept[0].limit:  # which says more
            self._examples[key] = reason, (answer.error or "")[:LONGEST_EXAMPLE]

    def counted(self) -> dict[str, ReasonCount]:
        """The reasons, by key."""
        return {
            key: ReasonCount(self._rows[key], reason.status, example)
            for key, (reason, example) in self._examples.items()
        }


class _Column:
    """Takes the values of one answer column."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._rows = 0
        self._values: Counter[str] | None = Counter()
        self._numbers: list[float] | None = []
        self._words: list[float] = []

    def add(self, answer: Answer) -> None:
        texts = self._texts(answer)
        self._rows += bool(texts)
        for text in texts:
            self._words.append(len(text.split()))
            if self._values is not None:
                self._values[text] += 1
                if len(text) > LONGEST_VALUE or len(self._values) > MOST_VALUES:
                    self._values = None
            if self._numbers is not None:
                number = as_number(text)
                if number is None:
                    self._numbers = None
                else:
                    self._numbers.append(number)

    def digest(self) -> FieldDigest:
        values = self._values
        return FieldDigest(
            rows=self._rows,
            values=None
            if values is None
            else {value_key(text): ValueCount(rows, text) for text, rows in values.items()},
            numbers=spread_of(self._numbers or []),
            words=spread_of(self._words),
        )


def as_number(text: str) -> float | None:
    """A text as a number; None if it is none, or too large for a picture."""
    if len(text) > 30:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e300 else None  # also neither NaN nor infinite
