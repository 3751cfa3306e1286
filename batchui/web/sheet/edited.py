"""What a sheet says of answers that people corrected: who, when, and which values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from batchui.batches.part_answers import Edit
from batchui.batches.results import Result
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.answer_fitting import fields_of
from batchui.teams.models import User

SOMEBODY = "somebody"


@dataclass(frozen=True)
class Mark:
    """Who corrected an answer, and when."""

    who: str
    at: datetime


# By the number of the row.
Marks = Mapping[int, Mark]


def marks_of(rows: Iterable[Result]) -> Marks:
    """The marks of the rows that were corrected. One query, if there are any."""
    edits = {row.row: row.edit for row in rows if row.edit is not None}
    if not edits:
        return {}
    ids = {edit.by for edit in edits.values() if edit.by is not None}
    names = dict(User.objects.filter(pk__in=ids).values_list("pk", "name"))
    return {row: _mark(edit, names) for row, edit in edits.items()}


def _mark(edit: Edit, names: Mapping[int, str]) -> Mark:
    who = names.get(edit.by, SOMEBODY) if edit.by is not None else SOMEBODY
    return Mark(who, datetime.fromtimestamp(edit.at, UTC))


def places_of(result: Result, wanted: Sequence[AnswerColumn]) -> frozenset[int]:
    """Which answer columns of a row have another value than the model's own, from 0."""
    if result.edit is None:
        return frozenset()
    if not wanted:
        return frozenset({0})
    now, own = (fields_of(one, wanted) for one in (result.answer, result.own_answer))
    return frozenset(at for at in range(len(wanted)) if now[at] != own[at])
