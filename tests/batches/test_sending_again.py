"""What people decide of rows and parts that did not get through: which are sent again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, deleting, due, many_parts
from batchui.batches.models import Batch, Part
from batchui.batches.questions import LEFT_OUT
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from tests.batches.conftest import another_account, attempt_on_record, on_record

pytestmark = pytest.mark.django_db

IN_AN_HOUR = timedelta(hours=1)


def ended(team: Team, **fields: Any) -> Batch:
    """A batch that ended: one part whole, one with a row that failed."""
    batch = on_record(team, parts=2, status=BatchStatus.PROBLEMS, answered=19, failed=1, **fields)
    batch.parts.update(status=PartStatus.DONE, answered=10)
    batch.parts.filter(number=2).update(answered=9, failed=1)
    return batch


def test_retry_opens_only_parts_with_rows_to_ask(team: Team, ana: User, woken: list[Batch]) -> None:
    batch = ended(team, stop_requested_at=timezone.now())
    assert decisions.retry(batch, by=ana)
    whole, part = batch.parts.order_by("number")
    assert (whole.status, whole.epoch) == (PartStatus.DONE, 0)
    assert (part.status, part.failed, part.answered) == (PartStatus.READY, 0, 9)
    batch.refresh_from_db()
    assert batch.stop_requested_at is None
    assert (batch.status, batch.failed) == (BatchStatus.RUNNING, 0)
    event = batch.events.get(kind="retry")
    assert (event.text, event.actor) == ("Retry: 1 row is sent again.", ana)
    assert woken == [batch]


@pytest.mark.parametrize("status", PartStatus)
def test_only_parts_that_ended_are_opened_again_and_only_held_ones_released(
    team: Team, status: PartStatus
) -> None:
    parts = on_record(team).parts.all()
    parts.update(status=status)
    assert many_parts.release(parts) == (status == PartStatus.HELD)
    parts.update(status=status)
    assert many_parts.reopen(parts) == (status in {PartStatus.DONE, PartStatus.STOPPED})


def test_retry_forgets_what_the_part_went_through(team: Team) -> None:
    batch = ended(team)
    batch.parts.filter(number=2).update(
        status=PartStatus.STOPPED,
        failures_in_a_row=5,
        resends=1,
        message="Stopped before it was sent.",
        waiting_became="unsent",
        waiting_error="Stopped before it was sent.",
        resume_at=timezone.now() + IN_AN_HOUR,
        lease_until=timezone.now() + IN_AN_HOUR,
        empty=1,
        missing=1,
        unsent=1,
        invalid=1,
        answered=5,
    )
    assert decisions.retry(batch, by=None)
    part = batch.parts.get(number=2)
    assert part.status == PartStatus.READY
    assert (part.failures_in_a_row, part.resends, part.message) == (0, 0, "")
    assert (part.waiting_became, part.waiting_error) == ("", "")
    assert (part.resume_at, part.lease_until, part.forget_unanswered) == (None, None, True)
    assert {status: n for status, n in part.answer_counts().items() if n} == {
        "answered": 5,
        "invalid": 1,
    }
    assert [ready.pk for ready in due.ready_parts(5)] == [part.pk]


def test_retry_takes_every_request_so_far_for_an_earlier_one_and_none_that_comes(
    team: Team,
) -> None:
    batch = on_record(team, parts=2, status=BatchStatus.STOPPED, unsent=20)
    batch.parts.update(status=PartStatus.STOPPED, unsent=10, attempts_before=0)
    tried = batch.parts.get(number=2)
    for _ in range(2):
        attempt_on_record(tried)
    assert decisions.retry(batch, by=None)
    before = batch.parts.order_by("number").values_list("attempts_before", flat=True)
    assert list(before) == [0, 2]


@pytest.mark.parametrize(
    ("fields", "can"),
    [
        ({"status": BatchStatus.RUNNING}, False),
        ({"failed": 0}, False),
        ({"failed": 0, "invalid": 1}, False),
        ({"failed": 0, "empty": 1}, True),
        ({"failed": 0, "missing": 1}, True),
        ({"failed": 0, "unsent": 1}, True),
        ({}, True),
    ],
)
def test_retry_is_for_rows_that_were_asked_and_have_no_answer(
    team: Team, fields: dict[str, Any], can: bool
) -> None:
    batch = ended(team)
    Batch.objects.update(**fields)
    part_fields = {name: n for name, n in fields.items() if name != "status"}
    if part_fields:
        batch.parts.filter(number=2).update(**part_fields)
    assert decisions.retry(batch, by=None) is can
    assert batch.parts.filter(status=PartStatus.READY).exists() is can


def test_retry_after_a_colleague_deleted_the_batch_opens_nothing(
    team: Team, woken: list[Batch]
) -> None:
    batch = ended(team)
    assert deleting.delete(Batch.objects.get(), by=None)
    assert not decisions.retry(batch, by=None)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.PROBLEMS
    assert not batch.parts.filter(status=PartStatus.READY).exists()
    assert not batch.events.exists()
    assert woken == []


@pytest.mark.parametrize(
    ("status", "stays"),
    [(AttemptStatus.ACCEPTED, True), (AttemptStatus.ANSWERED, False)],
    ids=["an answer waits there", "nothing waits there"],
)
def test_retry_leaves_the_account_only_where_no_answer_waits_there(
    sandbox: RunningSandbox, team: Team, settings: Any, status: AttemptStatus, stays: bool
) -> None:
    batch = ended(team)
    old = batch.connection
    attempt_on_record(batch.parts.get(number=2), status=status)
    another = on_record(team).parts.get()  # what waits for another batch is of no account
    attempt_on_record(another, status=AttemptStatus.ACCEPTED)
    another_account(settings)
    assert decisions.retry(batch, by=None)
    batch.refresh_from_db()
    assert (batch.connection == old) is stays


# -- one part -----------------------------------------------------------------------------------


def unsure(team: Team) -> Part:
    """A part nobody is sure of, after some trouble."""
    batch = on_record(team, status=BatchStatus.ATTENTION)
    batch.parts.update(
        status=PartStatus.UNSURE,
        resume_at=timezone.now() + IN_AN_HOUR,
        message="The line was cut.",
        failures_in_a_row=5,
    )
    return batch.parts.get()


def test_a_part_that_is_sent_again_is_sent_at_once(
    team: Team, ana: User, woken: list[Batch]
) -> None:
    part = unsure(team)
    assert decisions.send_again(part, by=ana)
    assert [ready.pk for ready in due.ready_parts(5)] == [part.pk]
    part.refresh_from_db()
    assert (part.message, part.failures_in_a_row) == ("", 0)
    event = part.batch.events.get()
    assert event.text == "Part 1 is sent again. Its rows may be charged twice."
    assert (event.actor, event.part_number) == (ana, 1)
    assert woken == [part.batch]


def test_a_part_that_is_left_out_is_missing(team: Team, ana: User) -> None:
    part = unsure(team)
    assert decisions.leave_out(part, by=ana)
    part.refresh_from_db()
    assert (part.status, part.missing, part.waiting) == (PartStatus.DONE, 10, 0)
    why = LEFT_OUT[Question.UNCLEAR]
    assert (part.waiting_became, part.waiting_error, part.message) == ("missing", why, why)
    assert part.batch.events.get(part_number=1).actor == ana


@pytest.mark.parametrize("status", sorted(set(PartStatus) - {PartStatus.UNSURE}))
def test_only_a_part_nobody_is_sure_of_is_sent_again_or_left_out(
    team: Team, woken: list[Batch], status: PartStatus
) -> None:
    part = unsure(team)
    Part.objects.update(status=status, failures_in_a_row=0)  # nor is it in trouble
    part.refresh_from_db()
    assert not decisions.send_again(part, by=None)
    assert not decisions.leave_out(part, by=None)
    part.refresh_from_db()
    assert (part.status, part.missing) == (status, 0)
    assert woken == []


# -- try now ------------------------------------------------------------------------------------


def test_try_now_sends_what_is_on_hold_whatever_its_connection_waits_for(
    team: Team, ana: User, woken: list[Batch]
) -> None:
    batch = on_record(team, parts=2, status=BatchStatus.ATTENTION)
    batch.parts.filter(number=1).update(status=PartStatus.HELD)
    Connection.objects.update(paused_until=timezone.now() + IN_AN_HOUR, pause_reason="Bad token.")
    assert decisions.try_now(batch, by=ana) == 1
    assert len(due.ready_parts(5)) == 2
    batch.refresh_from_db()
    assert batch.status == BatchStatus.QUEUED
    assert batch.connection.pause_reason == ""
    assert batch.events.get(kind="try now").actor == ana
    assert woken == [batch]


def test_try_now_says_nothing_where_nothing_was_on_hold(team: Team) -> None:
    batch = on_record(team)
    assert decisions.try_now(batch, by=None) == 0
    assert not batch.events.exists()


def test_try_now_leaves_other_connections_to_their_pause(team: Team) -> None:
    batch = on_record(team)
    others = on_record(Team.objects.create(name="Others")).connection
    Connection.objects.update(paused_until=timezone.now() + IN_AN_HOUR, pause_reason="Later.")
    decisions.try_now(batch, by=None)
    others.refresh_from_db()
    assert others.paused_until is not None
    assert others.pause_reason == "Later."
    assert ensure_connection(team).paused_until is None
