"""One tick claims the parts that it sends together: none that others have, and each batch alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from batchui.batches import due, lifecycle, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import tick
from tests.batches.conftest import MakeBatch, posts, rows, statuses
from tests.worker.ticking import calls_left, run

pytestmark = pytest.mark.django_db(transaction=True)

READY, SENDING = PartStatus.READY, PartStatus.SENDING


@pytest.fixture
def chosen(sandbox: RunningSandbox, batch: Batch, settings: Any) -> list[tuple[Any, Any]]:
    """The three parts of a batch, chosen by a tick, with their calls taken of fifty."""
    settings.CALLS_PER_5_MINUTES = 100
    work = tick.next_work(8, besides=())
    assert [step for step, _ in work] == [sending.send] * 3
    return work


def test_parts_that_another_worker_has_claimed_meanwhile_are_left_to_it(
    batch: Batch, chosen: list[tuple[Any, Any]]
) -> None:
    first, _, third = (part.pk for _, part in chosen)
    theirs = sending.claim(due.in_order([third, first], READY))
    assert [part.pk for part in theirs] == [third, first]
    [(step, part)] = tick.claimed(chosen)
    assert (step, part.number, part.status) == (sending.send_claimed, 2, SENDING)
    assert calls_left() == pytest.approx(49, abs=0.5)
    assert tick.claimed(chosen[::2]) == []


def test_a_claim_is_for_one_worker_and_shows_on_the_page(
    batch: Batch, chosen: list[tuple[Any, Any]]
) -> None:
    batch.refresh_from_db()
    before = Part.objects.get(pk=chosen[0][1].pk)
    [part, *_] = [part for _, part in tick.claimed(chosen)]
    stored = Part.objects.get(pk=part.pk)
    assert (stored.status, stored.lease_until) == (SENDING, part.lease_until)
    assert stored.epoch == part.epoch == before.epoch + 1
    assert part.lease_until is not None
    assert Batch.objects.get(pk=batch.pk).version > batch.version


def test_the_claims_of_a_batch_are_one_transaction(chosen: list[tuple[Any, Any]]) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert len(sending.claim(part for _, part in chosen)) == 3
    words = [query["sql"].split()[0] for query in asked]
    assert words == ["BEGIN", "SELECT", *["UPDATE"] * 3, "UPDATE", "COMMIT"]


def test_what_is_not_ready_cannot_be_claimed_to_be_sent(batch: Batch) -> None:
    part = batch.parts.get(number=1)
    part.status = PartStatus.DONE
    with pytest.raises(lifecycle.IllegalMoveError, match="done -> sending"):
        sending.claim([part])


def test_a_batch_whose_claims_the_database_does_not_take_stops_no_other(
    sandbox: RunningSandbox,
    batch: Batch,
    start: MakeBatch,
    caplog: pytest.LogCaptureFixture,
    settings: Any,
) -> None:
    settings.CALLS_PER_5_MINUTES = 100
    other = start(rows(5))
    locked = {part.pk for part in batch.parts.all()}

    def refuses(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith('UPDATE "batches_part"'):
            before = sql.partition('"batches_part"."id" = %s')[0]
            if params[before.count("%s")] in locked:
                raise OperationalError("database is locked")
        return execute(sql, params, *rest)

    work = tick.next_work(8, besides=())
    with connection.execute_wrapper(refuses):
        begun = tick.claimed(work)
    assert {part.batch_id for _, part in begun} == {other.pk}
    assert statuses(batch) == [READY] * 3
    assert f"Parts of batch {batch.pk} could not be claimed" in caplog.messages
    assert calls_left() == pytest.approx(50 - len(begun), abs=0.5)


def test_a_batch_that_is_gone_has_nothing_to_claim(
    batch: Batch, chosen: list[tuple[Any, Any]]
) -> None:
    batch.delete()
    assert tick.claimed(chosen) == []


def test_who_is_stopped_after_the_claims_lets_go_of_them(
    sandbox: RunningSandbox, batch: Batch, chosen: list[tuple[Any, Any]]
) -> None:
    for step, part in tick.claimed(chosen):
        tick.take_step(step, part, lambda: True)
    assert statuses(batch) == [READY] * 3
    assert Part.objects.filter(lease_until=None).count() == 3
    assert calls_left() == pytest.approx(50, abs=0.5)
    run()
    assert posts(sandbox) == 3
