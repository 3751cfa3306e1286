"""Workers that die while sending: their parts come back, and nothing is paid twice."""

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from batchui.batches import lifecycle, sending
from batchui.batches.models import Attempt, Part
from batchui.batches.outcomes import CertainlyNotSent
from batchui.batches.states import AttemptStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import written

pytestmark = pytest.mark.django_db


def after_the_lease() -> datetime:
    return timezone.now() + PART_LEASE + timedelta(seconds=1)


def test_a_worker_that_died_before_its_attempt_sent_nothing(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    assert sending.rescue(timezone.now() + timedelta(seconds=1)) == 1
    part.refresh_from_db()
    assert part.status == PartStatus.READY


def test_a_worker_that_wakes_while_its_part_is_rescued_does_not_send_it_besides(
    sandbox: RunningSandbox, part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It slept before it wrote its attempt down, and wakes after the rescuer has read the part."""
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    sleeper = Part.objects.select_related("batch__connection").get(pk=part.pk)
    prepared = []
    stranded = sending.stranded_parts

    def and_the_sleeper_wakes(now: datetime) -> list[Part]:
        found = stranded(now)
        prepared.append(sending.write_attempt(sleeper))
        return found

    monkeypatch.setattr(sending, "stranded_parts", and_the_sleeper_wakes)
    sending.rescue(after_the_lease())
    part.refresh_from_db()
    # Either the sleeper goes on, or the rescuer: never both.
    assert prepared[0] is not None
    assert part.status == PartStatus.SENDING
    assert part.lease_until is not None
    assert part.lease_until > timezone.now()


def test_a_worker_whose_part_was_taken_over_writes_no_attempt_down(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    sleeper = Part.objects.select_related("batch__connection").get(pk=part.pk)
    assert lifecycle.take_over(Part.objects.get(pk=part.pk), PART_LEASE)
    assert sending.write_attempt(sleeper) is None
    assert not Attempt.objects.exists()
    assert not lifecycle.take_over(sleeper, PART_LEASE)


def test_a_worker_that_slept_through_two_rescues_does_not_have_its_part_again(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    sleeper = Part.objects.get(pk=part.pk)
    assert lifecycle.take_over(part, PART_LEASE)
    lifecycle.move_part(part, PartStatus.READY)
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    assert lifecycle.take_over(part, PART_LEASE)
    assert not lifecycle.touch_part(sleeper, message="mine")


def test_a_part_that_is_being_rescued_is_left_to_its_rescuer(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    assert lifecycle.take_over(part, PART_LEASE)
    assert sending.rescue(timezone.now() + PART_LEASE - timedelta(seconds=5)) == 0
    assert sending.rescue(after_the_lease()) == 1  # the rescuer has died, too


def test_a_worker_that_died_around_its_post_leaves_the_part_unsure(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    sending.write_attempt(part)
    sending.rescue(after_the_lease())
    part.refresh_from_db()
    assert part.status == PartStatus.UNSURE


def test_a_worker_that_died_after_its_receipt_loses_nothing(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)
    Attempt.objects.filter(pk=attempt.pk).update(request_id="known", status=AttemptStatus.ACCEPTED)
    sending.rescue(after_the_lease())
    part.refresh_from_db()
    assert part.status == PartStatus.QUEUED


def test_a_part_that_another_worker_rescues_and_sends_meanwhile_is_left_to_it(
    sandbox: RunningSandbox, part: Part
) -> None:
    written(part)
    Part.objects.update(lease_until=timezone.now())
    others = Part.objects.select_related("batch__connection").get(pk=part.pk)
    queries = itertools.count()

    def another_worker_meanwhile(execute: Any, *query: Any) -> Any:
        result = execute(*query)
        if next(queries) == 0:
            lifecycle.move_part(others, PartStatus.READY)
            written(others)  # its POST is under way
        return result

    with connection.execute_wrapper(another_worker_meanwhile):
        sending.rescue(timezone.now())
    part.refresh_from_db()
    assert (part.status, part.epoch) == (PartStatus.SENDING, others.epoch)
    assert part.attempts.latest("number").status == AttemptStatus.WRITTEN


def test_a_part_that_is_being_sent_is_left_to_its_sender(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)  # the POST may be under way right now
    assert sending.rescue(timezone.now()) == 0
    assert sending.rescue(timezone.now() + PART_LEASE - timedelta(seconds=5)) == 0
    part.refresh_from_db()
    attempt.refresh_from_db()
    assert (part.status, attempt.status) == (PartStatus.SENDING, AttemptStatus.WRITTEN)
    assert sending.rescue(after_the_lease()) == 1


@pytest.mark.parametrize("status", sorted(set(PartStatus) - {PartStatus.SENDING}))
def test_only_parts_that_were_being_sent_are_rescued(
    sandbox: RunningSandbox, part: Part, status: PartStatus
) -> None:
    Part.objects.filter(pk=part.pk).update(status=status, lease_until=timezone.now())
    assert sending.rescue(after_the_lease()) == 0
    part.refresh_from_db()
    assert part.status == status


def test_what_became_of_the_last_attempt_decides(sandbox: RunningSandbox, part: Part) -> None:
    sending.apply_outcome(part, written(part), CertainlyNotSent("no network"))
    last = written(part)
    assert sending.rescue(after_the_lease()) == 1
    part.refresh_from_db()
    last.refresh_from_db()
    assert (part.status, last.status) == (PartStatus.UNSURE, AttemptStatus.UNSURE)


def test_a_worker_that_died_before_its_next_attempt_sent_nothing(
    sandbox: RunningSandbox, part: Part
) -> None:
    sending.apply_outcome(part, written(part), CertainlyNotSent("no network"))
    assert lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    assert sending.rescue(after_the_lease()) == 1
    part.refresh_from_db()
    assert part.status == PartStatus.READY
