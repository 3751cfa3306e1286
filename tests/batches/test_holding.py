"""Cloudflare says not now: what waits, for how long, and who has to act."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, pauses, sending
from batchui.batches.models import Batch, Part
from batchui.batches.outcomes import OnHold
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, posts, rows, send_all, work, written

pytestmark = pytest.mark.django_db


def wait_until(moment: datetime | None) -> float:
    """Seconds from now."""
    assert moment is not None
    return (moment - timezone.now()).total_seconds()


@pytest.mark.parametrize("code", [3040, 3050, 3021])
def test_busy_is_held_and_comes_back(sandbox: RunningSandbox, start: MakeBatch, code: int) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "submit"})
    batch = start(rows(5))
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.HELD
    assert part.resume_at is not None
    assert part.attempts.get().code == code
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
    assert held.attempts.get().code == 3036
    assert posts(sandbox) == 1


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
    assert part.attempts.get().code == code
    assert due.release_held() == 0
    assert decisions.try_now(batch, by=None) == 1
    assert work(batch).status == BatchStatus.FINISHED


def test_no_room_for_one_part_leaves_the_others_to_try(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 3040, "call": "submit"})
    sending.send(due.ready_parts(1)[0])
    assert len(due.ready_parts(10)) == 2
    held = batch.parts.get(status=PartStatus.HELD)
    assert 1 < wait_until(held.resume_at) <= 2.5
    assert held.failures_in_a_row == 1


@pytest.mark.parametrize(
    "fault",
    [{"code": 3021}, {"status": 429, "code": 3040, "retry_after": 400}],
    ids=["the limit of a minute", "Retry-After"],
)
def test_a_wait_that_cloudflare_asks_for_holds_the_whole_connection(
    sandbox: RunningSandbox, batch: Batch, fault: dict[str, int]
) -> None:
    sandbox.script({"fault": "error", "call": "submit"} | fault)
    sending.send(due.ready_parts(1)[0])
    assert due.ready_parts(10) == []
    asked = fault.get("retry_after", 60)
    held = batch.parts.get(status=PartStatus.HELD)
    assert asked - 10 < wait_until(held.resume_at) <= asked
    connection = Connection.objects.get()
    assert connection.paused_until == held.resume_at
    assert connection.pause_reason == held.message != ""
    assert posts(sandbox) == 1


def test_a_bad_token_holds_the_whole_connection_for_a_while(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 10000, "call": "submit", "times": 0})
    send_all()
    assert due.ready_parts(10) == []
    assert wait_until(Connection.objects.get().paused_until) == pytest.approx(300, abs=10)


def test_each_hold_is_longer_and_told_once(sandbox: RunningSandbox, part: Part) -> None:
    for number, least in enumerate((1.5, 3, 6, 12)):
        no_room = OnHold("No room.", 3040, timezone.now(), everywhere=False)
        attempt = written(part)
        sending.apply_outcome(part, attempt, no_room)
        assert (part.status, part.message) == (PartStatus.HELD, "No room.")
        assert (attempt.status, attempt.code) == (AttemptStatus.BUSY, 3040)
        assert part.failures_in_a_row == number + 1
        assert least - 0.5 < wait_until(part.resume_at) <= least * 5 / 3
        Part.objects.filter(pk=part.pk).update(resume_at=timezone.now())
        assert due.release_held() == 1
        part.refresh_from_db()
    told = part.batch.events.filter(part_number=part.number).values_list("text", flat=True)
    assert list(told) == ["Part 1 is on hold: No room. batchui tries again by itself."]


def test_a_hold_is_never_shorter_than_cloudflare_asked(sandbox: RunningSandbox, part: Part) -> None:
    until = timezone.now() + timedelta(hours=1)
    sending.apply_outcome(part, written(part), OnHold("Later.", 3036, until, everywhere=True))
    assert part.resume_at == until
    assert Connection.objects.get().paused_until == until


def test_what_a_person_must_mend_is_not_tried_by_the_clock(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    part = due.ready_parts(1)[0]
    sending.apply_outcome(part, written(part), OnHold("Bad token.", 10000, None, everywhere=True))
    assert part.resume_at is None
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
