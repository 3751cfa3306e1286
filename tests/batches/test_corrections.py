"""Answers are corrected by hand: nothing is lost, and the model's own comes back with one call."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import corrections, decisions, results
from batchui.batches.answer_editing import LONGEST, NOTHING_WRITTEN, TOO_LONG, seen_of
from batchui.batches.corrections import NEVER_ASKED, NO_EDIT, NO_SUCH_ROW, OVERTAKEN, UNDER_WAY
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import NewAnswers
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team, User
from tests.batches.conftest import counted, in_files
from tests.batches.correcting import (
    COLUMNS,
    WHOLE,
    all_is_well,
    batch,
    bob,
    correct,
    put_back,
    row,
    seen,
    some,
    with_columns,
)
from tests.batches.sheet.made import damage, made, no, yes

__all__ = ["batch", "bob", "some", "with_columns"]

pytestmark = pytest.mark.django_db


def test_the_row_has_the_new_answer_and_keeps_the_models_own(some: Batch, ana: User) -> None:
    before = timezone.now().timestamp()
    assert correct(some, 2, "Two, in truth.", ana) == ""
    found = row(some, 2)
    assert (found.status, found.answer, found.error) == ("answered", b'"Two, in truth."', None)
    assert (found.own_status, found.own_answer) == ("answered", b'"two"')
    assert found.edit is not None
    assert found.edit.by == ana.pk
    assert before <= found.edit.at <= timezone.now().timestamp()
    assert [one.edit for one in results.results(some) if one.row != 2] == [None] * 4
    some.refresh_from_db()
    assert (some.edited, some.answered, some.status) == (1, 2, BatchStatus.PROBLEMS)


def test_a_second_correction_keeps_what_the_model_said_first(
    some: Batch, ana: User, bob: User
) -> None:
    correct(some, 2, "first", ana)
    assert correct(some, 2, "second", bob) == ""
    found = row(some, 2)
    assert (found.answer, found.own_answer) == (b'"second"', b'"two"')
    assert found.edit is not None
    assert found.edit.by == bob.pk


def test_one_call_brings_the_models_own_back(some: Batch, ana: User) -> None:
    before = [row(some, number) for number in range(1, 6)]
    for number in range(2, 6):
        assert correct(some, number, "mine", ana) == ""
    some.refresh_from_db()
    assert (some.status, some.answered, some.edited) == (BatchStatus.FINISHED, 5, 4)
    for number in range(2, 6):
        assert put_back(some, number, ana) == ""
    assert [row(some, number) for number in range(1, 6)] == before
    some.refresh_from_db()
    assert (some.status, some.answered, some.edited) == (BatchStatus.PROBLEMS, 2, 0)
    assert put_back(some, 2) == NO_EDIT


def test_who_writes_what_the_model_had_answered_leaves_no_edit(some: Batch) -> None:
    correct(some, 2, "mine")
    assert correct(some, 2, "two") == ""
    assert row(some, 2).edit is None
    version = Part.objects.order_by("number")[0].answers_version
    assert correct(some, 2, "two") == ""  # nothing to do
    assert Part.objects.order_by("number")[0].answers_version == version


def test_rows_without_an_answer_are_answered_then(some: Batch) -> None:
    for number in (3, 4, 5):
        assert correct(some, number, "by hand") == ""
    some.refresh_from_db()
    assert counted(some) == in_files(some) == {"answered": 5}
    assert (some.status, some.can_retry) == (BatchStatus.FINISHED, False)
    assert row(some, 3).error is None
    assert (row(some, 5).own_status, row(some, 5).own_answer) == ("missing", None)


def test_the_other_rows_of_a_part_that_was_left_out_keep_what_became_of_them(
    batch: Batch,
) -> None:
    """They have no line of their own in the answers: the part says it of all of them."""
    decisions.retry(batch, by=None)
    decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert (batch.unsent, batch.answered) == (2, 8)
    assert correct(batch, 4, "mine") == ""
    all_is_well(batch)
    batch.refresh_from_db()
    assert (batch.unsent, batch.answered, batch.edited) == (1, 9, 1)


def test_a_blank_text_is_no_answer_to_a_row_that_has_none(some: Batch) -> None:
    for blank in ("", "  \n"):
        assert correct(some, 3, blank) == NOTHING_WRITTEN
    assert correct(some, 1, "") == ""  # an answer may be taken away
    assert (row(some, 1).status, row(some, 1).answer) == ("answered", b'""')


def test_rows_that_were_never_asked_stay_so(team: Team) -> None:
    batch = made(team, [yes(), no("invalid"), no("skipped")])
    assert correct(batch, 2, "mine") == NEVER_ASKED
    assert correct(batch, 3, "mine") == NEVER_ASKED
    for number in (0, 4, 900):
        outcome = corrections.correct(batch, number, at=0, written="x", seen="", by=None)
        assert outcome.problem == NO_SUCH_ROW


def test_texts_are_bounded_and_have_the_line_breaks_of_answers(some: Batch) -> None:
    assert correct(some, 1, "a\r\nb\rc\0") == ""
    assert row(some, 1).answer == b'"a\\nb\\nc"'
    assert correct(some, 1, "x" * LONGEST) == ""
    assert correct(some, 1, "x" * (LONGEST + 1)) == TOO_LONG


def test_structured_answers_stay_structured(team: Team) -> None:
    batch = made(team, [yes({"a": [1, 2]}), yes(3), yes('{"not":"parsed"}')])
    assert "is structured data (JSON), and what you wrote is not" in correct(batch, 1, '{"a": ')
    assert correct(batch, 1, '{"a": [1.50]}') == ""
    assert row(batch, 1).answer == b'{"a":[1.50]}'
    assert correct(batch, 2, "4") == ""
    assert row(batch, 2).answer == b"4"
    assert correct(batch, 2, "four") == ""
    assert row(batch, 2).answer == b'"four"'
    assert correct(batch, 3, "{x") == ""
    assert row(batch, 3).answer == b'"{x"'


def test_a_damaged_file_is_said_and_nothing_is_written(some: Batch) -> None:
    saw = seen(some, 4)
    damage(Part.objects.order_by("number")[0], lines=2)
    outcome = corrections.correct(some, 4, at=0, written="x", seen=saw, by=None)
    assert "is damaged" in outcome.problem


def test_one_column_changes_and_the_others_stay(with_columns: Batch) -> None:
    for at, written, value in (
        (0, "Bad", "bad"),
        (1, " 4.50 ", 4.5),
        (2, ["staff", "food"], ["staff", "food"]),
        (3, "no", False),
        (1, "", None),
    ):
        before = json.loads(row(with_columns, 1).answer or b"")
        assert correct(with_columns, 1, written, at=at) == ""
        after = json.loads(row(with_columns, 1).answer or b"")
        assert after == before | {COLUMNS[at].name: value}
    assert json.loads(row(with_columns, 1).own_answer or b"") == WHOLE


def test_what_does_not_fit_is_said_and_not_saved(with_columns: Batch) -> None:
    assert "not one of good, bad" in correct(with_columns, 1, "sunny", at=0)
    assert "which is not a number" in correct(with_columns, 1, "three", at=1)
    assert "not one of food, staff" in correct(with_columns, 1, ["rooms"], at=2)
    assert "neither yes nor no" in correct(with_columns, 1, "perhaps", at=3)
    assert correct(with_columns, 1, "x", at=4) == "There is no such answer column."
    assert correct(with_columns, 1, "x", at=-1) == "There is no such answer column."
    assert row(with_columns, 1).edit is None


def test_what_did_not_fit_is_answered_with_what_fits(with_columns: Batch) -> None:
    assert correct(with_columns, 2, "good", at=0) == ""
    found = row(with_columns, 2)
    assert found.status == "answered"
    assert json.loads(found.answer or b"") == {
        "tone": "good",
        "score": 4,
        "tags": None,
        "again": None,
    }
    assert found.own_status == "unfit"
    assert correct(with_columns, 3, "5", at=1) == ""
    assert correct(with_columns, 3, [], at=2) == ""
    assert put_back(with_columns, 2) == ""
    assert row(with_columns, 2).answer == b'{"tone":"sunny","score":4}'
    with_columns.refresh_from_db()
    assert (with_columns.unfit, with_columns.edited) == (1, 1)


def test_two_columns_of_one_row_do_not_meet(with_columns: Batch, ana: User, bob: User) -> None:
    saw = [seen(with_columns, 1, at) for at in range(2)]
    for at, written, by in ((0, "bad", ana), (1, "5", bob)):
        outcome = corrections.correct(with_columns, 1, at=at, written=written, seen=saw[at], by=by)
        assert outcome.is_saved
    assert json.loads(row(with_columns, 1).answer or b"") == WHOLE | {"tone": "bad", "score": 5}


def test_the_second_of_two_editors_is_told_and_overwrites_nothing(
    some: Batch, ana: User, bob: User
) -> None:
    saw = seen(some, 1)
    assert corrections.correct(some, 1, at=0, written="Ana's", seen=saw, by=ana).is_saved
    second = corrections.correct(some, 1, at=0, written="Bob's", seen=saw, by=bob)
    assert second == (OVERTAKEN, True)
    assert row(some, 1).answer == b'"Ana\'s"'
    old = seen_of(b'"one"', (), 0)
    assert corrections.put_back(some, 1, seen=old, by=bob) == (OVERTAKEN, True)
    assert row(some, 1).answer == b'"Ana\'s"'


@contextmanager
def just_before_the_pointer_is_swapped(monkeypatch: Any, act: Any) -> Iterator[None]:
    """Let something happen once, after the new file is written."""
    real, done = NewAnswers.store, []

    def store(new: NewAnswers) -> Any:
        changes = real(new)
        if not done:
            done.append(True)
            act()
        return changes

    with monkeypatch.context() as patched:
        patched.setattr(NewAnswers, "store", store)
        yield


def test_edits_of_other_rows_of_the_part_at_the_same_moment_both_stay(
    some: Batch, ana: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with just_before_the_pointer_is_swapped(monkeypatch, lambda: correct(some, 2, "Bob's", bob)):
        assert correct(some, 1, "Ana's", ana) == ""
    assert [row(some, n).answer for n in (1, 2)] == [b'"Ana\'s"', b'"Bob\'s"']
    some.refresh_from_db()
    assert some.edited == 2
    assert sorted(some.events.filter(kind="corrected").values_list("times", flat=True)) == [1, 1]


def test_a_retry_that_comes_first_wins_and_the_person_is_told(
    some: Batch, ana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retry() -> None:
        decisions.retry(Batch.objects.get(pk=some.pk), by=None)

    with just_before_the_pointer_is_swapped(monkeypatch, retry):
        assert correct(some, 1, "mine", ana) == UNDER_WAY
    assert row(some, 1).edit is None
    assert not some.events.filter(kind="corrected").exists()


def test_a_kill_between_the_file_and_the_pointer_loses_nothing(
    some: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    before = [row(some, number) for number in range(1, 6)]
    with just_before_the_pointer_is_swapped(monkeypatch, die), pytest.raises(Killed):
        correct(some, 1, "mine")
    some.refresh_from_db()
    assert [row(some, number) for number in range(1, 6)] == before
    assert not some.events.filter(kind="corrected").exists()
    name = Part.objects.order_by("number")[0].answers_file
    assert correct(some, 1, "mine") == ""
    assert Part.objects.order_by("number")[0].answers_file != name
    assert row(some, 1).answer == b'"mine"'
