"""What can become of a POST, and that no row is silently sent twice."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, lifecycle, pauses, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, rows, send_all, work, written

pytestmark = pytest.mark.django_db


def posts(sandbox: RunningSandbox) -> int:
    return len(sandbox.calls("submit"))


def after_the_lease() -> datetime:
    return timezone.now() + due.LEASE + timedelta(seconds=1)


def test_the_attempt_is_on_record_before_the_post(sandbox: RunningSandbox, part: Part) -> None:
    lifecycle.move_part(part, PartStatus.SENDING)
    prepared = sending.write_attempt(part)
    assert prepared is not None
    attempt, body = prepared
    assert Attempt.objects.get(pk=attempt.pk).status == AttemptStatus.WRITTEN
    assert (attempt.items, attempt.payload_size) == (part.rows, len(body))
    assert posts(sandbox) == 0


def test_an_accepted_part_keeps_its_receipt(sandbox: RunningSandbox, part: Part) -> None:
    sending.send(part)
    attempt = part.attempts.get()
    assert part.status == PartStatus.QUEUED
    assert attempt.request_id == sandbox.calls("submit")[0].request_id


def test_a_lost_receipt_is_never_resent_silently(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = work(batch, rounds=3)
    assert batch.status == BatchStatus.ATTENTION
    assert posts(sandbox) == batch.part_count
    unsure = batch.parts.get(status=PartStatus.UNSURE)
    assert unsure.message
    assert unsure.attempts.get().status == AttemptStatus.UNSURE


def test_a_person_sends_an_unsure_part_again(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    work(batch, rounds=3)
    assert decisions.send_again(batch.parts.get(status=PartStatus.UNSURE), by=None)
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    assert posts(sandbox) == batch.part_count + 1


def test_a_person_leaves_an_unsure_part_out(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_before", "call": "submit"})
    work(batch, rounds=3)
    unsure = batch.parts.get(status=PartStatus.UNSURE)
    assert decisions.leave_out(unsure, by=None)
    batch = work(batch)
    assert batch.status == BatchStatus.PROBLEMS
    assert batch.missing == unsure.rows


def test_an_unsure_part_is_sent_again_once_where_that_was_chosen(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 0})
    batch = start(rows(10), resend_once=True)
    for _ in range(4):
        send_all()
        Part.objects.update(resume_at=None)
    assert posts(sandbox) == 2
    assert batch.parts.get().status == PartStatus.UNSURE


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "error", "status": 500},
        {"fault": "error", "status": 408, "code": 3007},
        {"fault": "garbage"},
        {"fault": "truncated"},
        {"fault": "cut_after", "reset": True},
        {"fault": "no_request_id"},
    ],
)
def test_what_may_have_been_sent_is_unsure(
    sandbox: RunningSandbox, start: MakeBatch, fault: dict[str, object]
) -> None:
    sandbox.script(fault | {"call": "submit"})
    batch = start(rows(5))
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.UNSURE
    assert part.waiting == 5


def test_what_certainly_was_not_sent_is_sent_later(
    sandbox: RunningSandbox, start: MakeBatch, settings: object
) -> None:
    batch = start(rows(5))
    Connection.objects.update(base_url="http://127.0.0.1:9/client/v4")
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.READY
    assert part.resume_at is not None
    assert part.resume_at > timezone.now()
    assert part.message
    assert part.attempts.get().status == AttemptStatus.NOT_SENT
    Connection.objects.update(base_url=sandbox.base_url)
    Part.objects.update(resume_at=None)
    assert work(batch).status == BatchStatus.FINISHED


@pytest.mark.parametrize("code", [3003, 5004, 5006, 5007, 8007])
def test_a_refusal_for_good_fails_the_rows_with_its_reason(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "submit"})
    batch = work(start(rows(5)))
    assert batch.status == BatchStatus.FAILED
    assert batch.failed == 5
    assert batch.parts.get().waiting_error
    assert posts(sandbox) == 1


@pytest.mark.parametrize("code", [3040, 3050, 3021])
def test_busy_is_held_and_comes_back(sandbox: RunningSandbox, start: MakeBatch, code: int) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "submit"})
    batch = start(rows(5))
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.HELD
    assert part.resume_at is not None
    assert due.release_held() == 0
    Part.objects.update(resume_at=timezone.now())
    Connection.objects.update(paused_until=None)
    assert due.release_held() == 1
    assert work(batch).status == BatchStatus.FINISHED


def test_the_daily_allocation_holds_the_whole_connection_until_midnight(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 3036, "call": "submit", "times": 0})
    sending.send(due.ready_parts(1)[0])
    assert due.ready_parts(10) == []
    held = batch.parts.get(status=PartStatus.HELD)
    assert held.resume_at == pauses.next_midnight(timezone.now())
    assert posts(sandbox) == 1


def test_midnight_is_in_utc() -> None:
    late = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    assert pauses.next_midnight(late) == datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.parametrize("code", [10000, 5016, 3023])
def test_a_bad_token_waits_for_a_person(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "submit"})
    batch = start(rows(5))
    send_all()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    part = batch.parts.get()
    assert (part.status, part.resume_at) == (PartStatus.HELD, None)
    assert due.release_held() == 0
    assert decisions.try_now(batch, by=None) == 1
    assert work(batch).status == BatchStatus.FINISHED


def test_too_large_a_request_is_cut_smaller(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "error", "code": 3006, "call": "submit", "times": 2})
    batch = work(start(rows(20)))
    assert batch.status == BatchStatus.FINISHED
    assert batch.answered == 20
    sizes = [call.items for call in sandbox.calls("submit")]
    assert sizes[:3] == [20, 10, 5]
    assert sum(sizes[2:]) == 20


def test_one_row_too_large_fails_alone(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "error", "code": 3006, "call": "submit", "times": 3})
    batch = work(start(rows(3)))
    assert (batch.failed, batch.answered) == (1, 2)


def test_a_worker_that_died_before_its_attempt_sent_nothing(
    sandbox: RunningSandbox, part: Part
) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now())
    assert sending.rescue(timezone.now() + timedelta(seconds=1)) == 1
    part.refresh_from_db()
    assert part.status == PartStatus.READY


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


def test_a_receipt_that_comes_after_the_lease_ran_out_is_kept(
    sandbox: RunningSandbox, part: Part
) -> None:
    attempt = written(part)
    sending.rescue(after_the_lease())
    sending.apply_outcome(part, attempt, sending.Accepted("late"))
    part.refresh_from_db()
    attempt.refresh_from_db()
    assert part.status == PartStatus.QUEUED
    assert attempt.request_id == "late"
    assert posts(sandbox) == 0


def test_a_part_is_claimed_by_one_worker(sandbox: RunningSandbox, part: Part) -> None:
    other = Part.objects.select_related("batch__connection").get(pk=part.pk)
    sending.send(part)
    sending.send(other)
    assert posts(sandbox) == 1


def test_the_oldest_batch_goes_first_but_none_waits_for_all_of_another(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    old, young = start(rows(75)), start(rows(50))
    order = [(part.batch_id, part.number) for part in due.ready_parts(4)]
    assert order == [(old.pk, 1), (young.pk, 1), (old.pk, 2), (young.pk, 2)]


def test_only_so_many_parts_are_under_way_at_once(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "MOST_UNDER_WAY", 2)
    send_all()
    assert posts(sandbox) == 2
    send_all()
    assert posts(sandbox) == 2
