"""Rows of tries in a tick: they come first, a few at a time, and within the call limit.

Each step closes its database connection, so these tests cannot run in one transaction.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import call_limit, sending, trying
from batchui.batches.models import Batch
from batchui.batches.try_models import TriedRow, TriedStatus, Try
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import generation, sweep, tick
from tests.batches.conftest import MakeBatch, rows
from tests.batches.trying import begun, statuses
from tests.worker.ticking import calls_left, run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def one(sandbox: RunningSandbox, receive: MakeBatch) -> Try:
    return begun(receive(rows(30)), count=10)


def test_a_tick_asks_every_row_of_a_try(sandbox: RunningSandbox, one: Try) -> None:
    tick.run_tick()
    assert statuses(one) == [TriedStatus.ANSWERED] * 10
    assert len(sandbox.calls("run")) == 10


def test_rows_of_tries_come_before_batches_and_leave_them_half_of_the_threads(
    sandbox: RunningSandbox, twenty: Batch, one: Try
) -> None:
    work = tick.next_work(8, besides=())
    assert [step for step, _ in work] == [trying.ask] * 4 + [sending.send] * 4
    assert [row.number for _, row in work[:4] if isinstance(row, TriedRow)] == [2, 3, 4, 5]
    # While three of them wait for a thread, one more is begun.
    besides = {taken for _, taken in work[1:]}
    more = [taken for _, taken in tick.next_work(8, besides=besides) if isinstance(taken, TriedRow)]
    assert [row.number for row in more] == [2]
    assert not tick.next_work(0, besides=())


def test_a_row_and_a_part_with_the_same_key_are_told_apart(
    sandbox: RunningSandbox, batch: Batch, one: Try
) -> None:
    TriedRow.objects.exclude(number=2).delete()
    part = batch.parts.get(number=1)
    TriedRow.objects.update(id=part.pk)
    assert next(step for step, _ in tick.next_work(8, besides={part})) is trying.ask


def test_no_more_rows_are_asked_than_the_call_limit_leaves(
    sandbox: RunningSandbox, one: Try, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 6
    run()
    assert len(sandbox.calls("run")) == 3
    assert statuses(one).count(TriedStatus.WAITING) == 7


def test_a_call_that_was_not_made_is_given_back(
    sandbox: RunningSandbox, one: Try, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 100
    [row] = trying.waiting(1)
    assert trying.claim(row)
    assert call_limit.take(one.connection, 1) == 1
    tick.take_step(trying.ask, row, lambda: False)
    assert calls_left() == pytest.approx(50, abs=0.5)


def test_a_tick_ends_rows_whose_worker_died(sandbox: RunningSandbox, one: Try) -> None:
    an_hour_ago = timezone.now() - timedelta(hours=1)
    TriedRow.objects.filter(number=2).update(status=TriedStatus.ASKING, lease_until=an_hour_ago)
    tick.run_tick()
    assert statuses(one) == [TriedStatus.UNCLEAR] + [TriedStatus.ANSWERED] * 9


def test_a_tick_that_is_to_stop_asks_nothing(sandbox: RunningSandbox, one: Try) -> None:
    run(is_stopping=lambda: True)
    assert statuses(one) == [TriedStatus.WAITING] * 10


def test_a_copy_of_the_database_asks_nothing(sandbox: RunningSandbox, one: Try) -> None:
    generation.note_restored("It was put back.")
    run()
    assert statuses(one) == [TriedStatus.UNCLEAR] * 10
    assert sandbox.calls("run") == []


def test_tries_go_with_the_files_of_their_batch(sandbox: RunningSandbox, one: Try) -> None:
    sweep.sweep()
    assert Try.objects.exists()
    Batch.objects.update(deleted_at=timezone.now() - timedelta(hours=2))
    sweep.sweep()
    assert not Try.objects.exists()
    assert not TriedRow.objects.exists()
