"""Every pair of states: legal moves happen, all others are refused."""

from itertools import product
from typing import Any

import pytest

from batchui.batches import lifecycle
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import (
    ATTEMPT_MOVES,
    BATCH_MOVES,
    ENDED_BATCHES,
    PART_MOVES,
    STARTED,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
    derive,
)
from batchui.teams.models import Team
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("was", "to"), list(product(PartStatus, PartStatus)))
def test_a_part_makes_just_the_moves_in_the_table(
    team: Team, was: PartStatus, to: PartStatus
) -> None:
    batch = on_record(team, parts=0)
    part = Part.objects.create(batch=batch, number=1, first_row=1, rows=10, status=was)
    if to in PART_MOVES[was]:
        assert lifecycle.move_part(part, to)
        assert Part.objects.get().status == to
    else:
        with pytest.raises(lifecycle.IllegalMoveError, match=f"part .*: {was} -> {to}"):
            lifecycle.move_part(part, to)
        assert Part.objects.get().status == was


@pytest.mark.parametrize(("was", "to"), list(product(BatchStatus, BatchStatus)))
def test_a_batch_makes_just_the_moves_in_the_table(
    team: Team, was: BatchStatus, to: BatchStatus
) -> None:
    batch = on_record(team, status=was)
    if to in BATCH_MOVES[was]:
        assert lifecycle.move_batch(batch, to)
        assert Batch.objects.get().status == to
    else:
        with pytest.raises(lifecycle.IllegalMoveError, match=f"batch .*: {was} -> {to}"):
            lifecycle.move_batch(batch, to)
        assert Batch.objects.get().status == was


@pytest.mark.parametrize(("was", "to"), list(product(AttemptStatus, AttemptStatus)))
def test_an_attempt_makes_just_the_moves_in_the_table(
    team: Team, was: AttemptStatus, to: AttemptStatus
) -> None:
    part = on_record(team).parts.get()
    attempt = attempt_on_record(part, status=was)
    if to in ATTEMPT_MOVES[was]:
        lifecycle.close_attempt(lifecycle.Closing(attempt, to))
        assert Attempt.objects.get().status == to
    else:
        with pytest.raises(lifecycle.IllegalMoveError, match=f"attempt .*: {was} -> {to}"):
            lifecycle.close_attempt(lifecycle.Closing(attempt, to))
        assert Attempt.objects.get().status == was


def test_a_move_made_on_an_older_epoch_does_not_happen(team: Team) -> None:
    part = on_record(team).parts.get()
    colleague = Part.objects.get(pk=part.pk)
    assert lifecycle.move_part(colleague, PartStatus.SENDING, event="sent by a colleague")
    assert not lifecycle.move_part(part, PartStatus.STOPPED, event="too late")
    assert Part.objects.get(pk=part.pk).status == PartStatus.SENDING
    assert not part.batch.events.filter(text="too late").exists()


def test_every_state_can_be_left_or_is_an_end() -> None:
    for status, moves in PART_MOVES.items():
        assert moves, status
    reachable = set().union(*PART_MOVES.values())
    assert reachable == set(PartStatus)


def derived(
    parts: dict[PartStatus, int],
    answers: dict[AnswerStatus, int] | None = None,
    **more: Any,
) -> BatchStatus:
    options: dict[str, Any] = {"held_for_person": 0, "stop_requested": False} | more
    return derive(parts, answers=answers or {}, **options)


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({PartStatus.READY: 3}, BatchStatus.QUEUED),
        ({PartStatus.SENDING: 1, PartStatus.READY: 2}, BatchStatus.QUEUED),
        ({PartStatus.QUEUED: 3}, BatchStatus.QUEUED),
        ({PartStatus.HELD: 3}, BatchStatus.QUEUED),
        ({PartStatus.RUNNING: 1, PartStatus.QUEUED: 2}, BatchStatus.RUNNING),
        ({PartStatus.DONE: 1, PartStatus.QUEUED: 2}, BatchStatus.RUNNING),
        ({PartStatus.DONE: 1, PartStatus.READY: 2}, BatchStatus.RUNNING),
        ({PartStatus.UNSURE: 1, PartStatus.DONE: 2}, BatchStatus.ATTENTION),
        ({PartStatus.UNSURE: 1, PartStatus.RUNNING: 2}, BatchStatus.ATTENTION),
    ],
)
def test_a_batch_is_where_its_parts_are(parts: Any, status: BatchStatus) -> None:
    assert derived(parts) == status


def test_a_part_held_for_a_person_makes_the_batch_need_attention() -> None:
    assert derived({PartStatus.HELD: 1}, held_for_person=1) == BatchStatus.ATTENTION


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ({AnswerStatus.ANSWERED: 5}, BatchStatus.FINISHED),
        ({AnswerStatus.ANSWERED: 4, AnswerStatus.EMPTY: 1}, BatchStatus.PROBLEMS),
        ({AnswerStatus.ANSWERED: 4, AnswerStatus.INVALID: 1}, BatchStatus.PROBLEMS),
        ({AnswerStatus.EMPTY: 5}, BatchStatus.PROBLEMS),
        ({AnswerStatus.FAILED: 4, AnswerStatus.MISSING: 1}, BatchStatus.FAILED),
    ],
)
def test_how_a_batch_ended_follows_from_its_rows(answers: Any, status: BatchStatus) -> None:
    assert derived({PartStatus.DONE: 2}, answers) == status


def test_a_batch_is_stopping_until_what_was_sent_is_back() -> None:
    sent = {PartStatus.STOPPED: 1, PartStatus.RUNNING: 1}
    back = {PartStatus.STOPPED: 1, PartStatus.DONE: 1}
    assert derived(sent, stop_requested=True) == BatchStatus.STOPPING
    assert derived(back, {AnswerStatus.UNSENT: 1}, stop_requested=True) == BatchStatus.STOPPED


@pytest.mark.parametrize("status", sorted(set(PartStatus) - {PartStatus.DONE, PartStatus.STOPPED}))
def test_a_batch_is_stopping_while_any_part_is_open(status: PartStatus) -> None:
    parts = {PartStatus.STOPPED: 1, status: 1}
    assert derived(parts, stop_requested=True, held_for_person=1) == BatchStatus.STOPPING


def test_a_batch_that_was_stopped_stays_stopped_however_much_is_answered() -> None:
    parts = {PartStatus.STOPPED: 1, PartStatus.DONE: 9}
    assert derived(parts, {AnswerStatus.ANSWERED: 100}) == BatchStatus.STOPPED


def test_every_ended_status_is_a_started_one() -> None:
    assert ENDED_BATCHES < STARTED
