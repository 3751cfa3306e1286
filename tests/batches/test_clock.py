"""A clock that is set back: what it says of the future does not hold up the work.

The times are as a worker has written them just before its clock went back.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import call_limit, clock, due, lifecycle, long_tasks, pauses, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MakeBatch, on_record, poll_all, rows, send_all, written

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("longest", "most"),
    [
        (PART_LEASE, clock.LONGEST_LEASE),
        (long_tasks.READING_LEASE, clock.LONGEST_LEASE),
        (1.25 * timedelta(seconds=pauses.LONGEST_BACKOFF_SECONDS), clock.LONGEST_PAUSE),
        (timedelta(seconds=pauses.LONGEST_ASKED_SECONDS), clock.LONGEST_PAUSE),
        (DAY, clock.LONGEST_WAIT),
    ],
)
def test_no_time_that_is_written_is_further_off_than_the_longest(
    longest: timedelta, most: timedelta
) -> None:
    assert longest <= most <= DAY  # more would hide a clock that went back by a day


def test_a_lease_is_not_over_where_the_clocks_of_two_hosts_differ_by_half_an_hour() -> None:
    assert PART_LEASE + timedelta(minutes=30) < clock.LONGEST_LEASE


@pytest.mark.parametrize("seconds", [1, 100])
@pytest.mark.parametrize(("off", "is_over"), [(0, False), (1, True)])
def test_what_is_further_off_than_it_can_be_is_over(
    team: Team, seconds: int, off: int, is_over: bool
) -> None:
    now, most = timezone.now(), timedelta(seconds=seconds)
    on_record(team).parts.update(resume_at=now + most + off * SECOND)
    found = Part.objects.filter(clock.is_over("resume_at", most=most, now=now))
    assert found.exists() is is_over


def test_what_is_to_be_sent_is_sent_after_the_clock_went_back_by_a_day(team: Team) -> None:
    part = on_record(team).parts.get()
    Part.objects.update(resume_at=timezone.now() + DAY + MINUTE)
    assert due.ready_parts(5) == [part]


def test_a_pause_ends_after_the_clock_went_back_by_a_day(team: Team) -> None:
    batch = on_record(team)
    call_limit.pause(batch.connection, until=timezone.now() + DAY + MINUTE, reason="A minute.")
    assert len(due.ready_parts(5)) == 1
    # A new pause takes its place, although it ends sooner.
    call_limit.pause(batch.connection, until=timezone.now() + MINUTE, reason="Again.")
    assert due.ready_parts(5) == []
    assert Connection.objects.get().pause_reason == "Again."


def test_a_pause_ends_although_the_process_looked_for_parts_before_it_did(team: Team) -> None:
    batch = on_record(team)
    assert len(due.ready_parts(5)) == 1
    call_limit.pause(batch.connection, until=timezone.now(), reason="A moment.")
    assert len(due.ready_parts(5)) == 1


def test_a_pause_until_midnight_is_still_one(team: Team) -> None:
    batch = on_record(team)
    call_limit.pause(batch.connection, until=timezone.now() + DAY - SECOND, reason="Used up.")
    assert due.ready_parts(5) == []


def test_what_is_on_hold_is_released_after_the_clock_went_back_by_a_day(team: Team) -> None:
    on_record(team).parts.update(status=PartStatus.HELD, resume_at=timezone.now() + DAY + MINUTE)
    assert due.release_held() == 1


def test_what_is_on_hold_until_midnight_is_not_released(team: Team) -> None:
    on_record(team).parts.update(status=PartStatus.HELD, resume_at=timezone.now() + DAY - SECOND)
    assert due.release_held() == 0


def test_what_was_accepted_is_polled_after_the_clock_went_back_by_a_day(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    send_all()
    Part.objects.update(next_poll_at=timezone.now() + DAY + MINUTE)
    assert [part.batch_id for part in due.due_parts(5)] == [batch.pk]
    # Somebody polled it when the clock went back, and did not come to an end.
    Part.objects.update(lease_until=timezone.now() + DAY + PART_LEASE)
    poll_all()  # says that the worker stopped half-way, and waits a minute
    poll_all()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED


def test_a_wait_that_cloudflare_asks_of_a_poll_is_never_taken_for_a_clock_that_went_back(
    team: Team,
) -> None:
    on_record(team).parts.update(
        status=PartStatus.QUEUED, next_poll_at=timezone.now() + pauses.after_failure(0, 86_400.0)
    )
    assert due.due_parts(5) == []


def test_a_part_whose_sender_died_is_rescued_after_the_clock_went_back_by_a_day(
    sandbox: RunningSandbox, part: Part
) -> None:
    written(part)
    Part.objects.update(lease_until=timezone.now() + DAY + PART_LEASE)
    assert sending.rescue(timezone.now()) == 1
    part.refresh_from_db()
    assert part.status == PartStatus.UNSURE


def test_a_file_whose_reader_died_is_read_after_the_clock_went_back_by_a_day(
    team: Team, settings: Any
) -> None:
    batch = on_record(
        team,
        parts=0,
        status=BatchStatus.CHECKING,
        lease_until=timezone.now() + DAY + long_tasks.READING_LEASE,
    )
    assert long_tasks.has_unclaimed()
    assert lifecycle.claim_batch(Batch.objects.get(pk=batch.pk), long_tasks.READING_LEASE)
