"""The figures of a batch at a glance: why rows have no answer, and what the answers are.

They are summed up from the digests of the parts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from django.db.models.fields.json import KeyTransform

from batchui.batches.models import Batch
from batchui.batches.sheet import digests
from batchui.batches.sheet.digesting import MOST_VALUES, FieldDigest, ReasonCount
from batchui.batches.sheet.fields import Field, fields_of
from batchui.batches.sheet.reasons import Reason
from batchui.batches.sheet.spread import Together
from batchui.batches.sheet_models import HAS_DIGEST

# A text that has more different values is shown by its lengths.
FEW_VALUES = 12
# Sentences that come again are no labels. Of more than so many, the lengths are shown.
FEW_SENTENCES, WORDS_OF_A_LABEL = 4, 5
# Values that hardly ever come twice are texts, too: 5 rows with 5 different answers.
LEAST_ROWS_A_VALUE = 1.5


class Why(NamedTuple):
    """A reason, and how many rows have no answer for it."""

    reason: Reason
    rows: int


class ValueShare(NamedTuple):
    """A value, how many rows have it, and which share of those that are answered."""

    text: str
    rows: int
    share: float


class FieldGlance(NamedTuple):
    """An answer column at a glance: one of values, numbers and words is there.

    rows: how many rows have a value in it.
    """

    field: Field
    rows: int
    values: Sequence[ValueShare] = ()
    numbers: Together | None = None
    words: Together | None = None


class Glance(NamedTuple):
    """All of it. is_whole: every row is counted."""

    reasons: Sequence[Why]
    fields: Sequence[FieldGlance]
    is_whole: bool


def glance_of(batch: Batch) -> Glance:
    """The figures of a batch, as far as they are counted."""
    found = digests.of(batch)
    return Glance(_reasons(found.reasons), list(_fields(batch, found.fields)), found.is_whole)


def reasons_of(batch: Batch) -> tuple[Sequence[Why], bool]:
    """Why rows have no answer, the most frequent reason first; and whether all are counted."""
    found = digests.of(batch)
    return _reasons(found.reasons), found.is_whole


def reason_with(batch: Batch, key: str) -> Reason | None:
    """The reason with a key, by one part that has it; None: no part that is counted has."""
    found: KeyTransform = KeyTransform(key, "digest__reasons")
    parts = batch.parts.filter(HAS_DIGEST).annotate(found=found).exclude(found=None)
    for counted in parts.order_by("number").values_list("found", flat=True)[:1]:
        return msgspec.convert(counted, ReasonCount).reason(key)
    return None


def _most_common(counted: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent first, and equal ones by their text: a database keeps no order of them."""
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))


def _reasons(parts: Iterable[Mapping[str, ReasonCount]]) -> Sequence[Why]:
    rows: Counter[str] = Counter()
    kinds: dict[str, ReasonCount] = {}
    reasons: dict[str, Reason] = {}
    for one in parts:
        for key, counted in one.items():
            rows[key] += counted.rows
            if key in kinds and kinds[key].example == counted.example:
                continue
            reason = counted.reason(key)
            if key not in reasons or reason.limit > reasons[key].limit:
                kinds[key], reasons[key] = counted, reason
    return [Why(reasons[key], number) for key, number in _most_common(rows)]


def _fields(batch: Batch, parts: Sequence[Sequence[FieldDigest]]) -> Iterable[FieldGlance]:
    for at, field in enumerate(fields_of(batch)):
        found = [one[at] for one in parts if len(one) > at]
        counted = [one for one in found if one.rows]
        if counted:
            yield _field(field, counted)


def _field(field: Field, found: Sequence[FieldDigest]) -> FieldGlance:
    rows = sum(one.rows for one in found)
    if field.kind == "number" or (field.kind == "text" and _are_numbers(found)):
        spreads = [one.numbers for one in found if one.numbers]
        return FieldGlance(field, rows, numbers=Together(spreads))
    values = _values(found)
    words = Together([one.words for one in found if one.words])
    most = FEW_SENTENCES if words.middle > WORDS_OF_A_LABEL else FEW_VALUES
    few = 0 < len(values) <= most and rows >= LEAST_ROWS_A_VALUE * len(values)
    if few or (values and field.kind != "text"):
        shares = [
            ValueShare(text, number, number / rows)
            for text, number in _most_common(values)[:FEW_VALUES]
        ]
        return FieldGlance(field, rows, values=shares)
    return FieldGlance(field, rows, words=words)


def _are_numbers(found: Sequence[FieldDigest]) -> bool:
    """Whether all texts are numbers, of which there are many: a mark of 1 to 5 is a value."""
    values = _values(found)
    return all(one.numbers for one in found) and not 0 < len(values) <= FEW_VALUES


def _values(found: Sequence[FieldDigest]) -> Counter[str]:
    """How many rows have each value; none if they are too many."""
    values: Counter[str] = Counter()
    for one in found:
        if one.values is None:
            return Counter()
        for counted in one.values.values():
            values[counted.text] += counted.rows
        if len(values) > MOST_VALUES:
            return Counter()
    return values
