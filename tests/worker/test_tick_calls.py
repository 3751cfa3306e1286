"""One tick: what it may call, and what a step that breaks leaves behind.

The clock, the pool and the pauses are the test's; parts, files, database and sandbox are real. Each
step closes its database connection, so these tests cannot run in one transaction.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from batchui.batches import call_limit, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import tick
from tests.batches.conftest import MakeBatch, another_account, posts, rows, statuses
from tests.worker.ticking import calls_left, run

pytestmark = pytest.mark.django_db(transaction=True)


def test_as_much_is_begun_as_the_call_limit_leaves(
    sandbox: RunningSandbox, twenty: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 10
    pool = run()
    assert len(pool.begun) == posts(sandbox) == 5


@pytest.fixture
def start_elsewhere(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> Callable[[], Batch]:
    """A function that starts a batch of one part, at another account."""

    def make() -> Batch:
        another_account(settings)
        settings.CLOUDFLARE_API_URL = sandbox.base_url
        return start(rows(5))

    return make


def test_a_connection_without_calls_does_not_hold_up_another(
    twenty: Batch, start_elsewhere: Callable[[], Batch], settings: Any
) -> None:
    other = start_elsewhere()
    settings.CALLS_PER_5_MINUTES = 4  # so that none comes back while this test runs
    call_limit.take(twenty.connection, 1_000_000)
    pool = run()
    assert [part.batch_id for _, part in pool.begun] == [other.pk]


def test_polls_that_may_not_be_made_do_not_hold_up_what_another_connection_sends(
    twenty: Batch, start_elsewhere: Callable[[], Batch], settings: Any
) -> None:
    run()
    Part.objects.update(next_poll_at=timezone.now())
    other = start_elsewhere()
    settings.CALLS_PER_5_MINUTES = 4  # so that none comes back while this test runs
    call_limit.take(twenty.connection, 1_000_000)
    pool = run()
    assert [part.batch_id for _, part in pool.begun] == [other.pk]


def test_parts_of_every_connection_are_begun_together(
    twenty: Batch, start_elsewhere: Callable[[], Batch]
) -> None:
    other = start_elsewhere()
    begun = tick.next_work(8, besides=())
    assert len(begun) == 8
    assert {part.batch_id for _, part in begun} == {twenty.pk, other.pk}


def test_calls_that_were_not_made_are_given_back(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 100
    stop = iter([False])  # asked by the tick; by then each step is to stop
    pool = run(is_stopping=lambda: next(stop, True))
    assert len(pool.begun) == 3
    assert posts(sandbox) == 0
    assert calls_left() == pytest.approx(50, abs=0.5)
    assert statuses(batch) == [PartStatus.READY] * 3  # for the next worker, at once


def test_calls_that_were_made_are_not_given_back(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES, settings.FIRST_POLL_SECONDS = 100, 1000
    run()
    assert posts(sandbox) == 3
    assert calls_left() == pytest.approx(47, abs=0.5)


def test_a_part_that_another_worker_has_costs_no_call(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 100
    part = batch.parts.get(number=1)
    assert call_limit.take(batch.connection, 1) == 1
    Part.objects.filter(pk=part.pk).update(status=PartStatus.SENDING, epoch=1)
    tick.take_step(sending.send, part, lambda: False)
    assert posts(sandbox) == 0
    assert calls_left() == pytest.approx(50, abs=0.5)


# -- a step that breaks -------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
def test_a_step_that_breaks_leaves_its_part_to_its_lease_and_stops_no_other(
    sandbox: RunningSandbox, batch: Batch, caplog: pytest.LogCaptureFixture
) -> None:
    broken = batch.parts.get(number=2)

    def breaks(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "batches_attempt"') and params[0] == broken.pk:
            raise OperationalError("the database is away")
        return execute(sql, params, *rest)

    with connection.execute_wrapper(breaks):
        run()
    assert statuses(batch) == [PartStatus.DONE, PartStatus.SENDING, PartStatus.DONE]
    broken.refresh_from_db()
    assert broken.lease_until is not None
    assert broken.lease_until > timezone.now()
    assert f"Part 2 of batch {batch.pk}: unexpected error" in caplog.messages


def test_a_step_that_breaks_may_have_made_its_call(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 100

    def breaks(part: Part) -> bool:
        raise ZeroDivisionError

    assert call_limit.take(batch.connection, 1) == 1
    tick.take_step(breaks, batch.parts.get(number=1), lambda: False)
    assert calls_left() == pytest.approx(49, abs=0.5)


def test_a_pool_that_was_given_is_not_shut_down(team: Team) -> None:
    with ThreadPoolExecutor(1) as pool:
        tick.run_tick(pool=pool)
        assert pool.submit(lambda: 5).result() == 5
