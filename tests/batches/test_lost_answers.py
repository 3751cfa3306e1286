"""Answers in a damaged file: who leaves their part out has a way on, and is told its price."""

from collections.abc import Callable

import pytest
from django.core.files.storage import default_storage

from batchui.batches import decisions, due, lost_answers, sending
from batchui.batches.compressed import Compressed, read_lines
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, Question
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, attempt_on_record, counted, in_files, rows, work

pytestmark = pytest.mark.django_db

Spoil = Callable[[Part], object]


def keep_lines(number: int) -> Spoil:
    """Let the answers file have so many lines; those beyond its five repeat the last."""

    def spoil(part: Part) -> None:
        lines = [line[:-1] for line in read_lines(part.answers_file, lines=part.rows)]
        lines += lines[-1:] * (number - len(lines))
        Compressed.of_lines(lines[:number]).store(part.answers_file)

    return spoil


def retried_with_damage(start: MakeBatch, sandbox: RunningSandbox, spoil: Spoil) -> Batch:
    """A Retry of the one row without an answer, which finds the other four answers damaged."""
    sandbox.script({"fault": "failed", "items": [4]})
    batch = work(start(rows(5)))
    assert decisions.retry(batch, by=None)
    spoil(batch.parts.get())
    for _ in range(3):
        Part.objects.update(resume_at=None)
        sending.send(due.ready_parts(1)[0])
    assert batch.parts.get().question == Question.DAMAGED
    return batch


@pytest.mark.parametrize(
    ("spoil", "kept"),
    [
        (lambda part: default_storage.delete(part.answers_file), 0),
        (keep_lines(0), 0),
        (keep_lines(3), 3),
        (keep_lines(6), 4),
    ],
)
def test_rows_whose_answers_are_lost_are_missing_and_a_retry_sends_them(
    sandbox: RunningSandbox, start: MakeBatch, spoil: Spoil, kept: int
) -> None:
    batch = retried_with_damage(start, sandbox, spoil)
    assert decisions.leave_out(batch.parts.get(), by=None)
    batch.refresh_from_db()
    answered = {"answered": kept} if kept else {}
    assert counted(batch) == in_files(batch) == answered | {"missing": 5 - kept}
    assert batch.rows_in_doubt == 4 - kept
    assert decisions.retry(batch, by=None)
    said = batch.events.filter(text__startswith="Retry:").latest("id").text
    assert (f"Up to {4 - kept} of these rows may be charged twice." in said) is (kept < 4)
    assert counted(work(batch)) == in_files(batch) == {"answered": 5}


@pytest.mark.parametrize(("kept", "in_vain"), [(3, [0, 2]), (0, [3, 2])])
def test_of_several_requests_the_latest_are_the_first_that_were_charged_in_vain(
    sandbox: RunningSandbox, start: MakeBatch, kept: int, in_vain: list[int]
) -> None:
    batch = retried_with_damage(start, sandbox, keep_lines(kept))
    part = batch.parts.get()
    part.attempts.update(items=3, in_vain=0)
    attempt_on_record(part, items=2, in_vain=1, status=AttemptStatus.ANSWERED)
    assert decisions.leave_out(part, by=None)
    found = part.attempts.order_by("number").values_list("in_vain", flat=True)
    assert list(found) == in_vain


def test_one_part_that_can_be_read_does_not_end_the_look_at_the_others(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    work(batch)
    damaged = batch.parts.get(number=2)
    default_storage.delete(damaged.answers_file)
    lost_answers.give_up(batch.parts.order_by("number"))
    assert list(batch.parts.order_by("number").values_list("answered", flat=True)) == [25, 0, 10]


def test_a_part_whose_answers_can_be_read_keeps_them_when_it_is_left_out(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = retried_with_damage(start, sandbox, lambda part: default_storage.delete(part.rows_file))
    before = batch.parts.get()
    assert decisions.leave_out(before, by=None)
    part = batch.parts.get()
    assert (part.answered, part.missing, part.answers_file) == (4, 1, before.answers_file)
    assert Attempt.objects.get().in_vain == 0
