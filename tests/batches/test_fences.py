"""Leases and epochs: only one worker has a part, and one that was overtaken changes nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from batchui.batches import deleting, lifecycle, many_parts, settling
from batchui.batches.lifecycle import Closing
from batchui.batches.long_tasks import READING_LEASE
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Team
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db

OVER = timedelta(seconds=-1)


@pytest.fixture
def part(team: Team) -> Part:
    """Ten rows, ready."""
    return on_record(team).parts.get()


PARTS_CHANGE_HANDS: dict[str, tuple[PartStatus, Callable[[QuerySet[Part]], object]]] = {
    "a move": (
        PartStatus.READY,
        lambda parts: lifecycle.move_part(parts.get(), PartStatus.SENDING),
    ),
    "a claim": (PartStatus.QUEUED, lambda parts: lifecycle.claim_part(parts.get(), PART_LEASE)),
    "a release": (PartStatus.HELD, many_parts.release),
    "a retry": (PartStatus.DONE, many_parts.reopen),
    "a question after a restore": (
        PartStatus.READY,
        lambda parts: many_parts.let_people_decide(parts, "It is a copy."),
    ),
    "a decision to send it": (PartStatus.UNSURE, many_parts.send_undecided),
    "a decision to ask for it": (
        PartStatus.UNSURE,
        lambda parts: many_parts.queue_undecided(parts, next_poll_at=timezone.now()),
    ),
    "a decision to leave it out": (
        PartStatus.UNSURE,
        lambda parts: many_parts.leave_out(parts, "Nobody wants it."),
    ),
    "the end of one that waits": (PartStatus.READY, many_parts.stop),
    "the end of one nobody is sure of": (PartStatus.UNSURE, many_parts.stop),
}


@pytest.mark.parametrize("change", PARTS_CHANGE_HANDS)
def test_who_read_a_part_before_it_changed_hands_can_do_nothing_with_it(
    part: Part, change: str
) -> None:
    status, act = PARTS_CHANGE_HANDS[change]
    Part.objects.update(status=status)
    part.refresh_from_db()
    assert act(Part.objects.filter(pk=part.pk))
    # By whatever way, it comes to stand where it stood, and nobody has it.
    Part.objects.update(status=status, lease_until=None)
    assert not lifecycle.claim_part(part, PART_LEASE)
    assert not lifecycle.touch_part(part, message="mine")
    assert Part.objects.get().message != "mine"


def settle(batches: QuerySet[Batch]) -> bool:
    """Let the parts of a batch be done; its status follows."""
    batch = batches.get()
    batch.parts.update(status=PartStatus.DONE, answered=10)
    with transaction.atomic():
        settling.settle(settling.lock(batch.pk))
    return True


BATCHES_CHANGE_HANDS: dict[str, tuple[BatchStatus, Callable[[QuerySet[Batch]], object]]] = {
    "a move": (
        BatchStatus.CHECKING,
        lambda batches: lifecycle.move_batch(batches.get(), BatchStatus.DRAFT),
    ),
    "a claim": (
        BatchStatus.CHECKING,
        lambda batches: lifecycle.claim_batch(batches.get(), READING_LEASE),
    ),
    "its parts": (BatchStatus.RUNNING, settle),
    "a deletion": (BatchStatus.DRAFT, lambda batches: deleting.delete(batches.get(), by=None)),
}


@pytest.mark.parametrize("change", BATCHES_CHANGE_HANDS)
def test_who_read_a_batch_before_it_changed_hands_can_do_nothing_with_it(
    team: Team, change: str
) -> None:
    status, act = BATCHES_CHANGE_HANDS[change]
    batch = on_record(team, status=status)
    assert act(Batch.objects.filter(pk=batch.pk))
    Batch.objects.update(status=status, lease_until=None, deleted_at=None)
    assert not lifecycle.claim_batch(batch, READING_LEASE)
    assert not lifecycle.touch_batch(batch, problem="mine")
    assert Batch.objects.get().problem == ""


def test_a_status_that_was_set_by_hand_is_not_moved_on_as_if_it_were_another(part: Part) -> None:
    batch = part.batch
    Part.objects.update(status=PartStatus.UNSURE)
    assert not lifecycle.move_part(part, PartStatus.SENDING)
    assert not lifecycle.claim_part(part, READING_LEASE)
    Batch.objects.update(status=BatchStatus.ATTENTION)
    assert not lifecycle.move_batch(batch, BatchStatus.STOPPING)
    assert not lifecycle.touch_batch(batch, problem="mine")


def test_a_part_whose_lease_runs_is_nobody_elses(part: Part) -> None:
    assert lifecycle.claim_part(part, PART_LEASE)
    assert not lifecycle.claim_part(Part.objects.get(), PART_LEASE)
    assert lifecycle.touch_part(part, lease_until=timezone.now() + OVER)
    assert lifecycle.claim_part(Part.objects.get(), PART_LEASE)


def test_a_batch_whose_lease_runs_is_nobody_elses(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.CHECKING)
    assert lifecycle.claim_batch(batch, READING_LEASE)
    assert not lifecycle.claim_batch(Batch.objects.get(), READING_LEASE)
    assert lifecycle.touch_batch(batch, lease_until=timezone.now() + OVER)
    assert lifecycle.claim_batch(Batch.objects.get(), READING_LEASE)


def test_what_happens_to_one_batch_happens_to_no_other(team: Team) -> None:
    batch, other = (on_record(team, status=BatchStatus.CHECKING) for _ in range(2))
    assert lifecycle.claim_batch(batch, READING_LEASE)
    assert lifecycle.touch_batch(batch, progress_rows=5)
    assert lifecycle.move_batch(batch, BatchStatus.DRAFT)
    before = (other.status, other.epoch, other.version, other.progress_rows, other.lease_until)
    other.refresh_from_db()
    after = (other.status, other.epoch, other.version, other.progress_rows, other.lease_until)
    assert after == before


def test_what_happens_to_one_part_happens_to_no_other(team: Team) -> None:
    part, neighbour = on_record(team, parts=2).parts.order_by("number")
    other = on_record(team).parts.get()
    attempts = [attempt_on_record(part), attempt_on_record(neighbour)]
    assert lifecycle.claim_part(part, PART_LEASE)
    assert lifecycle.touch_part(part, message="mine")
    closing = Closing(attempts[0], AttemptStatus.NOT_SENT, "mine")
    assert lifecycle.move_part(part, PartStatus.SENDING, closing=closing)
    lifecycle.store_receipt(attempts[0], "mine")
    for untouched in (neighbour, other):
        untouched.refresh_from_db()
        assert (untouched.status, untouched.epoch) == (PartStatus.READY, 0)
        assert (untouched.message, untouched.lease_until) == ("", None)
    attempts[1].refresh_from_db()
    assert (attempts[1].status, attempts[1].request_id) == (AttemptStatus.WRITTEN, "")
    assert Batch.objects.get(pk=other.batch_id).version == 1


def test_a_lease_ends_with_the_move_unless_the_move_sets_one(part: Part) -> None:
    later = timezone.now() + PART_LEASE
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=later)
    assert Part.objects.get().lease_until == later
    assert lifecycle.move_part(part, PartStatus.QUEUED)
    assert Part.objects.get().lease_until is None


def test_a_lease_ends_with_the_poll_unless_the_poll_sets_one(part: Part) -> None:
    later = timezone.now() + PART_LEASE
    assert lifecycle.touch_part(part, lease_until=later)
    assert Part.objects.get().lease_until == later
    assert lifecycle.touch_part(part)
    assert Part.objects.get().lease_until is None


def test_the_lease_of_a_file_that_is_read_ends_with_the_move(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.CHECKING)
    assert lifecycle.claim_batch(batch, READING_LEASE)
    assert lifecycle.move_batch(batch, BatchStatus.DRAFT)
    assert Batch.objects.get().lease_until is None


def test_a_move_that_is_lost_changes_neither_attempt_nor_batch_nor_timeline(part: Part) -> None:
    attempt = attempt_on_record(part)
    late = Part.objects.get()
    assert lifecycle.move_part(part, PartStatus.SENDING)
    version = Batch.objects.get().version
    closing = Closing(attempt, AttemptStatus.UNSURE)
    assert not lifecycle.move_part(late, PartStatus.STOPPED, closing=closing, event="too late")
    assert not lifecycle.touch_part(late, event="too late")
    assert Attempt.objects.get().status == AttemptStatus.WRITTEN
    assert Batch.objects.get().version == version
    assert not part.batch.events.exists()


def test_a_receipt_that_came_meanwhile_is_not_written_over(part: Part) -> None:
    stale = attempt_on_record(part)
    lifecycle.store_receipt(Attempt.objects.get(), "known")
    lifecycle.close_attempt(Closing(stale, AttemptStatus.UNSURE, "no answer"))
    kept = Attempt.objects.get()
    assert (kept.status, kept.request_id) == (AttemptStatus.ACCEPTED, "known")
    assert stale.status == AttemptStatus.WRITTEN


def test_a_deleted_batch_is_neither_moved_nor_claimed_nor_touched(team: Team) -> None:
    batch = on_record(team, status=BatchStatus.CHECKING, deleted_at=timezone.now())
    assert not lifecycle.claim_batch(batch, READING_LEASE)
    assert not lifecycle.touch_batch(batch, progress_rows=5)
    assert not lifecycle.move_batch(batch, BatchStatus.DRAFT)
    assert Batch.objects.get().status == BatchStatus.CHECKING
