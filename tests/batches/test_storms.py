"""Sends that end without a confirmation pause their connection, and it goes on by itself."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.utils import timezone

from batchui.batches import call_limit, decisions, due, lifecycle, sending
from batchui.batches.due import SENDING_COUNTS
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Accepted, OnHold, RefusedForGood, TooLarge, Unsure
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team
from tests.batches.conftest import (
    MakeBatch,
    let_the_pause_end,
    paused_until,
    posts,
    rows,
    send_all,
    statuses,
    work,
    written,
)
from tests.batches.spans import Span

pytestmark = pytest.mark.django_db

STORM = {"fault": "error", "status": 503, "call": "submit", "times": 0}


@pytest.fixture
def connection(team: Team) -> Connection:
    return ensure_connection(team)


def test_a_storm_of_errors_costs_one_part_at_a_time_and_goes_on_by_itself(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(250))
    sandbox.script(STORM)
    with Span() as span:
        send_all()  # ten together: nobody knew of the storm
    assert posts(sandbox) == batch.part_count == 10
    batch = start(rows(250))
    for sent, seconds in enumerate((2, 4, 8, 16, 32, 64, 120, 120), 10):
        assert posts(sandbox) == sent
        assert span.sets(paused_until(), seconds)
        Connection.objects.update(paused_until=timezone.now() + timedelta(hours=1))
        send_all()
        assert posts(sandbox) == sent  # nothing while it is paused
        let_the_pause_end()
        with Span() as span:
            send_all()
    sandbox.script()
    let_the_pause_end()
    send_all()  # one, which is confirmed
    assert posts(sandbox) == 19
    send_all()
    assert posts(sandbox) == 20
    assert Connection.objects.get().failures_in_a_row == 0


def test_what_is_sent_after_a_storm_comes_back_without_anybody(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({**STORM, "times": 1})
    sending.send(due.ready_parts(1)[0])
    let_the_pause_end()
    batch = work(batch)
    assert batch.status == BatchStatus.ATTENTION  # for the one part that may have been sent
    assert statuses(batch) == [PartStatus.UNSURE, PartStatus.DONE, PartStatus.DONE]


def test_the_page_of_another_batch_does_not_say_that_its_rows_may_have_been_sent(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script(STORM)
    sending.send(due.ready_parts(1)[0])
    reason = Connection.objects.get().pause_reason
    assert reason == sending.NOT_CONFIRMED
    assert "rows" not in reason


@pytest.mark.parametrize("asked", [7, 600, 3600])
def test_a_503_that_names_a_time_is_obeyed(
    sandbox: RunningSandbox, batch: Batch, asked: int
) -> None:
    sandbox.script({**STORM, "retry_after": asked})
    with Span() as span:
        sending.send(due.ready_parts(1)[0])
    assert span.sets(paused_until(), asked)


def test_the_longest_time_that_is_asked_for_counts_of_those_sent_together(
    connection: Connection,
) -> None:
    call_limit.trip(connection, reason="first", first=100)
    with Span() as span:
        call_limit.trip(connection, reason="second", wait=600)
    call_limit.trip(connection, reason="third", wait=5)
    assert span.sets(paused_until(), 600)
    connection.refresh_from_db()
    assert connection.pause_reason == "second"
    assert connection.failures_in_a_row == 1


def test_a_shorter_time_than_the_pause_does_not_shorten_it(connection: Connection) -> None:
    Connection.objects.update(failures_in_a_row=5)
    with Span() as span:
        call_limit.trip(connection, reason="storm", wait=1)
    assert span.sets(paused_until(), 64)


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 2), (1, 4), (2, 8), (3, 16), (4, 32), (5, 64), (6, 120), (7, 120), (100_000, 120)],
)
def test_each_failure_pauses_twice_as_long_up_to_two_minutes(
    connection: Connection, failures: int, seconds: int
) -> None:
    Connection.objects.update(failures_in_a_row=failures)
    with Span() as span:
        call_limit.trip(connection, reason="storm")
    assert span.sets(paused_until(), seconds)
    connection.refresh_from_db()
    assert (connection.failures_in_a_row, connection.pause_reason) == (failures + 1, "storm")


def test_sends_that_fail_together_count_once(connection: Connection) -> None:
    with Span() as span:
        call_limit.trip(connection, reason="storm", first=600, longest=1000)
    for _ in range(5):
        call_limit.trip(connection, reason="storm", first=600, longest=1000)
    assert Connection.objects.get().failures_in_a_row == 1
    assert span.sets(paused_until(), 600)


def test_a_storm_pauses_no_other_connection(connection: Connection) -> None:
    others = ensure_connection(Team.objects.create(name="Others"))
    Connection.objects.update(failures_in_a_row=3)
    call_limit.trip(connection, reason="storm", wait=60)
    others.refresh_from_db()
    assert (others.paused_until, others.failures_in_a_row) == (None, 3)
    let_the_pause_end()
    call_limit.recover(connection)
    others.refresh_from_db()
    assert others.failures_in_a_row == 3


def test_a_pause_that_cloudflare_asked_for_is_not_cut_short_by_a_storm(
    connection: Connection,
) -> None:
    midnight = timezone.now() + timedelta(hours=5)
    call_limit.pause(connection, until=midnight, reason="daily")
    call_limit.trip(connection, reason="storm", wait=60)
    connection.refresh_from_db()
    assert (connection.paused_until, connection.pause_reason) == (midnight, "daily")


OUTCOMES = [Accepted("known"), RefusedForGood("No.", 5006), TooLarge("Too large.", 3006)]


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
@pytest.mark.parametrize("is_paused", [False, True], ids=["the pause is over", "paused"])
def test_what_cloudflare_takes_or_refuses_ends_a_storm_unless_it_was_sent_before(
    sandbox: RunningSandbox,
    part: Part,
    outcome: Accepted | RefusedForGood | TooLarge,
    is_paused: bool,
) -> None:
    attempt = written(part)
    until = timezone.now() + timedelta(seconds=100 if is_paused else -1)
    Connection.objects.update(failures_in_a_row=4, paused_until=until)
    sending.apply_outcome(part, attempt, outcome)
    connection = Connection.objects.get()
    assert connection.failures_in_a_row == (4 if is_paused else 0)
    assert connection.paused_until == until


def test_a_worker_that_died_while_it_tried_one_does_not_hold_the_others(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(100))
    Connection.objects.update(failures_in_a_row=1)
    part = batch.parts.get(number=1)
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + PART_LEASE)
    assert due.ready_parts(10) == []
    begun = timezone.now() - SENDING_COUNTS
    Part.objects.filter(pk=part.pk).update(lease_until=begun + PART_LEASE)
    assert len(due.ready_parts(10)) == 1


def test_try_now_sends_one_part_in_a_storm_and_the_others_once_one_is_accepted(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(100))
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 2})
    for tries in (1, 2):
        sending.send(due.ready_parts(10)[0])
        assert due.ready_parts(10) == []  # paused
        decisions.try_now(batch, by=None)
        connection = Connection.objects.get()
        assert (connection.paused_until, connection.pause_reason) == (None, "")
        assert len(due.ready_parts(10)) == 1
        assert posts(sandbox) == tries
    sending.send(due.ready_parts(10)[0])
    assert len(due.ready_parts(10)) == 1  # the last of four


@pytest.mark.parametrize(("failures", "told"), [(0, "are sent now."), (1, "the others follow.")])
def test_try_now_says_in_the_timeline_what_is_sent_now(
    batch: Batch, failures: int, told: str
) -> None:
    batch.parts.update(status=PartStatus.HELD)
    Connection.objects.update(failures_in_a_row=failures)
    decisions.try_now(batch, by=None)
    assert batch.events.get(kind="try now").text.endswith(told)


@pytest.mark.parametrize(
    "outcome",
    [
        Unsure("The line was cut."),
        OnHold("Bad token.", 10000, None, everywhere=True),
        OnHold("A minute.", 3021, timezone.now(), everywhere=True),
    ],
)
def test_what_came_of_a_send_and_its_pause_are_stored_together(
    sandbox: RunningSandbox, part: Part, outcome: Unsure | OnHold
) -> None:
    """A worker that dies in between leaves all of it to the lease of the part."""
    attempt = written(part)

    def dies(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('UPDATE "teams_connection"'):
            raise KeyboardInterrupt
        return execute(sql, *rest)

    with database.execute_wrapper(dies), pytest.raises(KeyboardInterrupt):
        sending.apply_outcome(part, attempt, outcome)
    kept = Part.objects.get(pk=part.pk)
    assert (kept.status, Attempt.objects.get().status) == (
        PartStatus.SENDING,
        AttemptStatus.WRITTEN,
    )


def test_a_time_that_was_asked_for_is_that_of_the_outcome(
    sandbox: RunningSandbox, part: Part
) -> None:
    with Span() as span:
        sending.apply_outcome(part, written(part), Unsure("Later.", 5001, 300.0))
    assert span.sets(paused_until(), 300)
