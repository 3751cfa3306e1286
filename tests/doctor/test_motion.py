"""Planted faults of motion: what stays beyond its lease is found, what is in motion is not."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import due, lifecycle, sending
from batchui.batches.models import Batch, Event, Part, TriedRow, Try
from batchui.batches.states import BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, attempt_on_record, rows
from tests.batches.trying import begun
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db


def ago(**time: float) -> object:
    return timezone.now() - timedelta(**time)


def test_a_part_that_is_sent_beyond_its_lease_is_found(part: Part, find: Find) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE)
    Part.objects.filter(pk=part.pk).update(lease_until=ago(seconds=50))
    assert find() == []
    since = ago(seconds=70)
    Part.objects.filter(pk=part.pk).update(lease_until=since)
    (found,) = find()
    assert (found.invariant, found.kind, found.part, found.since) == (7, "sending", 1, since)


def test_a_part_that_is_sent_without_a_lease_is_found(part: Part, find: Find) -> None:
    lifecycle.move_part(part, PartStatus.SENDING)
    assert places(find()) == [(7, "no lease", 1)]


def test_a_lease_without_an_end_is_found(part: Part, find: Find) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + timedelta(days=1))
    assert places(find()) == [(7, "lease", 1)]


@pytest.mark.parametrize(("due_at", "kind"), [(None, "no poll"), (ago(minutes=11), "poll")])
def test_a_part_that_nobody_polls_is_found(
    sandbox: RunningSandbox, batch: Batch, find: Find, due_at: object, kind: str
) -> None:
    sending.send(due.ready_parts(1)[0])
    Part.objects.filter(number=1).update(next_poll_at=ago(minutes=9))
    assert find() == []
    Part.objects.filter(number=1).update(next_poll_at=due_at)
    assert places(find()) == [(7, kind, 1)]


def test_a_row_that_is_tried_beyond_its_lease_is_found(
    sandbox: RunningSandbox, receive: MakeBatch, find: Find
) -> None:
    begun(receive(rows(3)))
    TriedRow.objects.filter(number=3).update(status="asking", lease_until=ago(seconds=50))
    assert find() == []
    since = ago(seconds=70)
    TriedRow.objects.filter(number=3).update(lease_until=since)
    (found,) = find()
    assert (found.invariant, found.kind, found.row, found.since) == (7, "trying", 3, since)


def test_a_row_that_waits_to_be_tried_for_longer_than_it_may_is_found(
    sandbox: RunningSandbox, receive: MakeBatch, find: Find
) -> None:
    begun(receive(rows(3)), count=1)
    Try.objects.update(created_at=ago(minutes=10, seconds=50))
    assert find() == []
    since = ago(minutes=11, seconds=10)
    Try.objects.update(created_at=since)
    (found,) = find()
    assert (found.invariant, found.kind, found.row, found.since) == (7, "trying", 2, since)
    assert found.what == "Try 1 still waits with it."


@pytest.mark.parametrize("status", [BatchStatus.CHECKING, BatchStatus.PREPARING])
def test_a_file_that_is_read_beyond_its_lease_is_found(
    receive: MakeBatch, find: Find, status: BatchStatus
) -> None:
    receive(rows(3))
    Batch.objects.update(status=status, lease_until=ago(seconds=50))
    assert not [one for one in find() if one.invariant == 7]
    Batch.objects.update(lease_until=ago(seconds=70))
    assert (7, "reading", None) in places(find())


def test_a_connection_that_is_idle_while_parts_are_ready_is_found(batch: Batch, find: Find) -> None:
    assert find() == []
    Event.objects.update(at=ago(minutes=11))
    (found,) = find()
    assert (found.invariant, found.kind, found.batch) == (7, "idle", batch.pk)


@pytest.mark.parametrize("reason", ["paused", "sent a moment ago", "waits for its time", "full"])
def test_a_connection_that_has_a_reason_to_wait_is_no_fault(
    batch: Batch, find: Find, reason: str, start: MakeBatch
) -> None:
    match reason:
        case "paused":
            Connection.objects.update(paused_until=timezone.now())
        case "sent a moment ago":
            attempt_on_record(batch.parts.get(number=1), status="not sent")
        case "waits for its time":
            Part.objects.update(resume_at=timezone.now())
        case "full":
            many = start(rows(60))
            template = many.parts.get(number=1)
            Part.objects.filter(batch=many).delete()
            Part.objects.bulk_create(
                Part(
                    batch=many,
                    number=number,
                    first_row=number,
                    rows=1,
                    rows_file=template.rows_file,
                    status=PartStatus.QUEUED,
                    next_poll_at=timezone.now(),
                )
                for number in range(1, 51)
            )
    Event.objects.update(at=ago(minutes=11))
    assert not [one for one in find() if one.kind == "idle"]
