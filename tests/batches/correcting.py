"""Answers that are corrected by hand, and the batches that have them."""

from typing import Any

import msgspec
import pytest

from batchui.batches import corrections, results
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch
from batchui.batches.part_answers import Answer
from batchui.batches.results import Result
from batchui.doctor.examine import look
from batchui.doctor.records import Scope
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MakeBatch, accepted, counted, in_files, work
from tests.batches.sheet.made import made, no, yes

COLUMNS = (
    AnswerColumn("tone", "one_of", ("good", "bad")),
    AnswerColumn("score", "number"),
    AnswerColumn("tags", "several_of", ("food", "staff")),
    AnswerColumn("again", "yes_no"),
)

WHOLE = {"tone": "good", "score": 3, "tags": ["food"], "again": True}


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user(email="bob@example.com", name="Bob", password=None)


@pytest.fixture
def some(team: Team) -> Batch:
    """Rows 1 to 5: answered, answered, failed, empty | missing."""
    return made(team, [yes("one"), yes("two"), no(), no("empty")], [no("missing")])


@pytest.fixture
def with_columns(team: Team) -> Batch:
    unfit = Answer("unfit", msgspec.Raw(b'{"tone":"sunny","score":4}'), "“tone” is “sunny”.")
    return made(team, [yes(WHOLE), unfit, no()], answer_columns=to_json(COLUMNS))


@pytest.fixture
def batch(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """Ten real rows, of which the third has failed and the fifth is empty."""
    sandbox.script({"fault": "failed", "items": [2]}, {"fault": "empty", "items": [4]})
    return work(accepted(start))


def row(batch: Batch, number: int) -> Result:
    [found] = [one for one in results.results(batch) if one.row == number]
    return found


def seen(batch: Batch, number: int, at: int = 0) -> str:
    return seen_of(row(batch, number).answer, batch.ask.answer_columns, at)


def correct(batch: Batch, number: int, written: Any, by: User | None = None, at: int = 0) -> str:
    """What is wrong with a correction; "" if it was saved."""
    saw = seen(batch, number, at)
    return corrections.correct(batch, number, at=at, written=written, seen=saw, by=by).problem


def put_back(batch: Batch, number: int, by: User | None = None) -> str:
    saw = seen_of(row(batch, number).answer, (), 0)
    return corrections.put_back(batch, number, seen=saw, by=by).problem


def all_is_well(batch: Batch) -> None:
    assert [str(one) for one in look(Scope(batch=batch.pk)).findings] == []
    batch.refresh_from_db()
    assert batch.edited == sum(one.edit is not None for one in results.results(batch))
    assert counted(batch) == in_files(batch)
