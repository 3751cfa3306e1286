"""How a part is sent, and what can become of its POST."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from batchui.batches import due, lifecycle, pauses, sending
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import CertainlyNotSent
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MakeBatch, posts, rows, send_all, work, written

pytestmark = pytest.mark.django_db


def test_the_attempt_is_on_record_before_the_post(sandbox: RunningSandbox, part: Part) -> None:
    lifecycle.move_part(part, PartStatus.SENDING)
    prepared = sending.write_attempt(part)
    assert prepared is not None
    attempt, body = prepared
    assert Attempt.objects.get(pk=attempt.pk).status == AttemptStatus.WRITTEN
    assert (attempt.items, attempt.payload_size) == (part.rows, len(body))
    assert posts(sandbox) == 0


def test_an_attempt_names_the_rows_it_sends_only_where_it_does_not_send_all(
    sandbox: RunningSandbox, part: Part
) -> None:
    assert written(part).positions is None
    Part.objects.update(status=PartStatus.READY, send_limit=2)
    part.refresh_from_db()
    assert written(part).positions == [0, 1]


def test_an_accepted_part_keeps_its_receipt(sandbox: RunningSandbox, part: Part) -> None:
    assert sending.send(part) is True
    attempt = part.attempts.get()
    assert part.status == PartStatus.QUEUED
    assert attempt.request_id == sandbox.calls("submit")[0].request_id


def test_the_timeline_says_which_rows_were_accepted(sandbox: RunningSandbox, batch: Batch) -> None:
    sending.send(batch.parts.get(number=2))
    told = batch.events.get(kind=PartStatus.QUEUED, part_number=2)
    assert told.text == "Part 2 was accepted (rows 27 to 51)."


def test_what_certainly_was_not_sent_is_sent_later(
    sandbox: RunningSandbox, start: MakeBatch
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


@pytest.mark.parametrize("code", [3042, 5007, 5504])
def test_a_refusal_that_is_not_for_its_rows_fails_them_all_at_once(
    sandbox: RunningSandbox, start: MakeBatch, code: int
) -> None:
    sandbox.script({"fault": "error", "code": code, "call": "submit"})
    batch = work(start(rows(5)))
    assert batch.status == BatchStatus.FAILED
    assert batch.failed == 5
    assert batch.parts.get().waiting_error
    assert batch.parts.get().attempts.get().code == code
    assert posts(sandbox) == 1


def test_a_part_whose_receipt_is_on_record_is_polled_and_not_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    send_all()
    Part.objects.update(status=PartStatus.READY)  # as after a late receipt
    (part,) = due.ready_parts(1)
    assert sending.send(part) is False
    assert part.status == PartStatus.QUEUED
    assert posts(sandbox) == 1
    told = "Part 1 had been accepted after all. Nothing is sent twice."
    assert batch.events.filter(text=told).exists()


def test_a_part_is_claimed_by_one_worker(sandbox: RunningSandbox, part: Part) -> None:
    other = Part.objects.select_related("batch__connection").get(pk=part.pk)
    assert [sending.send(part), sending.send(other)] == [True, False]
    assert posts(sandbox) == 1


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


def test_every_attempt_of_a_part_has_a_number_of_its_own(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "code": 3006, "call": "submit", "times": 2})
    batch = work(start(rows(20)))
    numbers = batch.parts.get().attempts.order_by("pk").values_list("number", flat=True)
    assert list(numbers) == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"template": "{{id}}{{nowhere}}"}, "nowhere"),
        ({"model": "@cf/nobody/no-such-model"}, "no-such-model"),
    ],
    ids=["a row that cannot be asked", "a model that is not known"],
)
def test_a_part_that_cannot_be_made_fails_with_its_reason_and_nothing_is_sent(
    sandbox: RunningSandbox, start: MakeBatch, changed: dict[str, str], reason: str
) -> None:
    batch = start(rows(5))
    Batch.objects.update(**changed)
    (part,) = due.ready_parts(1)
    assert sending.send(part) is False
    part = batch.parts.get()
    assert (part.status, part.failed) == (PartStatus.DONE, 5)
    assert reason in part.waiting_error
    assert posts(sandbox) == 0


def test_a_part_in_which_nothing_waits_is_done_and_nothing_is_sent(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(rows(5)))
    Part.objects.update(status=PartStatus.READY)
    before, said = posts(sandbox), batch.events.filter(part_number=1).count()
    send_all()
    assert posts(sandbox) == before
    assert batch.parts.get().status == PartStatus.DONE
    assert batch.events.filter(part_number=1).count() == said, "nothing happened"


def test_stop_between_the_claim_and_the_attempt_ends_the_part(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    (part,) = due.ready_parts(1)
    Batch.objects.update(stop_requested_at=timezone.now())  # as one who looks a moment later
    assert sending.send(part) is False
    assert (part.status, part.unsent) == (PartStatus.STOPPED, 5)
    assert not part.attempts.exists()
    assert posts(sandbox) == 0
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPED


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_fails_before_the_attempt_leaves_the_part_to_its_lease(
    sandbox: RunningSandbox, start: MakeBatch, error: type[Exception]
) -> None:
    batch = start(rows(5))
    (part,) = due.ready_parts(1)

    def no_attempt_is_stored(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "batches_attempt"'):
            raise error("the database is away")
        return execute(sql, *rest)

    with connection.execute_wrapper(no_attempt_is_stored), pytest.raises(error):
        sending.send(part)
    assert posts(sandbox) == 0
    left = batch.parts.get()
    assert left.status == PartStatus.SENDING
    assert left.lease_until is not None
    assert left.lease_until > timezone.now() + PART_LEASE / 2


def test_an_accepted_part_begins_anew_at_being_polled(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FIRST_POLL_SECONDS = 30
    monkeypatch.setattr(pauses, "SANDBOX_POLL_SECONDS", 30)
    batch = start(rows(5))
    Part.objects.update(
        polls=7,
        failures_in_a_row=3,
        failing_since=timezone.now(),
        odd_kind="gone",
        odd_seen=2,
        odd_at=timezone.now(),
        message="Cloudflare has no room.",
    )
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.QUEUED
    assert (part.polls, part.failures_in_a_row, part.failing_since) == (0, 0, None)
    assert (part.odd_kind, part.odd_seen, part.odd_at, part.message) == ("", 0, None, "")
    assert part.next_poll_at is not None
    assert timedelta(seconds=1) < part.next_poll_at - timezone.now() <= timedelta(seconds=6)


def test_each_failure_to_send_is_waited_for_longer_and_told_once(
    sandbox: RunningSandbox, part: Part
) -> None:
    for number, least in enumerate((1.5, 3, 6, 12)):
        attempt, before = written(part), timezone.now()
        sending.apply_outcome(part, attempt, CertainlyNotSent("No network."))
        after = timezone.now()
        assert part.status == PartStatus.READY
        assert part.message == "No network. batchui tries again by itself."
        assert part.failures_in_a_row == number + 1
        assert part.resume_at is not None
        assert part.resume_at >= before + timedelta(seconds=least)
        assert part.resume_at <= after + timedelta(seconds=least * 5 / 3)
    told = part.batch.events.filter(part_number=1).values_list("text", flat=True)
    assert list(told) == ["Part 1: No network. batchui tries again by itself."]
