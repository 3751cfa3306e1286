"""One tick: what it begins and in which order, and when it begins nothing more.

The clock, the pool and the pauses are the test's; parts, files, database and sandbox are real. Each
step closes its database connection, so these tests cannot run in one transaction.
"""

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from batchui.batches import call_limit, due, files, long_tasks, polling, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from batchui.worker import tick
from batchui.worker.models import Heartbeat
from tests.batches.conftest import MakeBatch, another_account, posts, rows, send_all

pytestmark = pytest.mark.django_db(transaction=True)

Futures = Collection[Future[None]]


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Pool(Executor):
    """Eight threads as one: a step is taken at once, and known as done when the test says so."""

    def __init__(self) -> None:
        self.under_way: list[Future[Any]] = []
        self.begun: list[tuple[Any, Part]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.begun.append(args[:2])
        fn(*args, **kwargs)
        self.under_way.append(Future())
        assert len(self.under_way) <= tick.THREADS
        return self.under_way[-1]

    def finish(self, most: int) -> Futures:
        """Let up to so many steps be done. Returns them."""
        done, self.under_way = self.under_way[:most], self.under_way[most:]
        for future in done:
            future.set_result(None)
        return done


def run(
    *,
    each_pause: Callable[[], None] = lambda: None,
    at_once: int = 100,
    clock: Clock | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Pool:
    """A tick in which each pause ends with up to `at_once` steps done. Returns its pool."""
    pool = Pool()

    def pause(under_way: Futures) -> Futures:
        assert list(under_way) == pool.under_way
        each_pause()
        return pool.finish(at_once)

    tick.run_tick(clock=clock or Clock(), pool=pool, pause=pause, is_stopping=is_stopping)
    assert pool.under_way == []
    return pool


@pytest.fixture
def twenty(sandbox: RunningSandbox, start: MakeBatch, settings: Any) -> Batch:
    """Twenty parts, ready; what is accepted is polled much later."""
    settings.FIRST_POLL_SECONDS = 1000
    settings.LONGEST_PAUSE_SECONDS = 1000
    return start(rows(500))


@pytest.fixture
def at_once(settings: Any) -> None:
    """What was accepted is polled at once, also when others of its batch took a while."""
    settings.FIRST_POLL_SECONDS = settings.LONGEST_PAUSE_SECONDS = 0


def calls_left() -> float | None:
    return Connection.objects.get().calls_left


# -- to the end ---------------------------------------------------------------------------------


@pytest.mark.usefixtures("at_once")
def test_a_tick_takes_a_batch_from_ready_to_finished(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(100))
    tick.run_tick()
    batch.refresh_from_db()
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 100)
    assert posts(sandbox) == batch.part_count == len(sandbox.calls("poll"))


def test_a_tick_without_work_ends_at_once(team: Team) -> None:
    assert run(each_pause=lambda: pytest.fail("it waits for nothing")).begun == []
    assert Heartbeat.objects.count() == 1


@pytest.mark.usefixtures("at_once")
def test_a_tick_begins_with_what_was_stranded_and_what_was_on_hold(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    an_hour_ago = timezone.now() - timedelta(hours=1)
    batch.parts.filter(number=1).update(status=PartStatus.SENDING, lease_until=an_hour_ago)
    batch.parts.filter(number=2).update(status=PartStatus.HELD, resume_at=an_hour_ago)
    tick.run_tick()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED


# -- how much, and what first -------------------------------------------------------------------


def test_eight_parts_are_under_way_at_most_and_each_is_sent_once(
    sandbox: RunningSandbox, twenty: Batch
) -> None:
    pool = run(at_once=1)  # which refuses more than eight
    assert len(pool.begun) == len({part.pk for _, part in pool.begun}) == 20
    assert posts(sandbox) == 20


def test_new_work_is_looked_for_when_four_threads_are_free(
    sandbox: RunningSandbox, twenty: Batch
) -> None:
    sent: list[int] = []
    run(at_once=1, each_pause=lambda: sent.append(posts(sandbox)))
    assert sent[:9] == [8, 8, 8, 8, 12, 12, 12, 12, 16]


@pytest.mark.parametrize("step", [sending.send, polling.poll])
def test_a_part_that_waits_for_a_thread_is_not_taken_again(
    sandbox: RunningSandbox, batch: Batch, step: tick.Step
) -> None:
    if step is polling.poll:
        send_all()
        Part.objects.update(next_poll_at=timezone.now())
    first = batch.parts.get(number=1).pk
    work = tick.next_work(8, besides={first})
    assert [(taken, part.number) for taken, part in work] == [(step, 2), (step, 3)]


def test_polls_go_before_sends(sandbox: RunningSandbox, twenty: Batch) -> None:
    for part in due.ready_parts(3):
        sending.send(part)
    Part.objects.filter(status=PartStatus.QUEUED).update(next_poll_at=timezone.now())
    assert [step for step, _ in tick.next_work(2, besides=())] == [polling.poll] * 2
    steps = [step for step, _ in tick.next_work(8, besides=())]
    assert steps == [polling.poll] * 3 + [sending.send] * 5


# -- when it begins nothing more ----------------------------------------------------------------


@pytest.mark.parametrize(("lasted", "begun"), [(99.0, 20), (101.0, 8)])
def test_nothing_new_is_begun_after_a_hundred_seconds(
    sandbox: RunningSandbox, twenty: Batch, lasted: float, begun: int
) -> None:
    clock = Clock()

    def pass_time() -> None:
        clock.seconds = lasted

    run(clock=clock, each_pause=pass_time)
    assert posts(sandbox) == begun


def test_a_tick_gives_way_to_a_file_that_waits_to_be_read(
    sandbox: RunningSandbox, twenty: Batch
) -> None:
    clock = Clock()

    def a_file_comes() -> None:
        clock.seconds += 3
        Batch.objects.create(
            team=twenty.team,
            connection=twenty.connection,
            name="new",
            source_size=long_tasks.SMALL_BYTES + 1,
        )

    run(clock=clock, each_pause=a_file_comes)
    assert long_tasks.has_unclaimed()
    assert posts(sandbox) == 8


def test_a_tick_that_is_to_stop_begins_nothing_more(sandbox: RunningSandbox, twenty: Batch) -> None:
    pauses: list[None] = []
    run(each_pause=lambda: pauses.append(None), is_stopping=lambda: bool(pauses))
    assert posts(sandbox) == 8


def test_a_tick_that_is_to_stop_from_the_start_sends_nothing(
    sandbox: RunningSandbox, twenty: Batch
) -> None:
    assert run(is_stopping=lambda: True).begun == []
    assert calls_left() is None  # and takes no calls


# -- signs of life ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("each", "beats_at"), [(1.0, [3, 6, 9]), (2.0, [4, 8]), (2.5, [2.5, 5, 7.5, 10])]
)
def test_a_tick_beats_when_two_seconds_have_passed(
    sandbox: RunningSandbox, start: MakeBatch, each: float, beats_at: list[float]
) -> None:
    start(rows(10))
    clock, pool = Clock(), Pool()
    seen: list[float] = []

    def pause(under_way: Futures) -> Futures:
        if Heartbeat.objects.all().delete()[0]:
            seen.append(clock.seconds)
        clock.seconds += each
        return pool.finish(1) if clock.seconds > 11 else []

    tick.run_tick(clock=clock, pool=pool, pause=pause, is_stopping=lambda: clock.seconds > 0)
    assert seen == [0, *beats_at]


# -- calls --------------------------------------------------------------------------------------


def test_as_much_is_begun_as_the_call_limit_leaves(
    sandbox: RunningSandbox, twenty: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 10
    pool = run()
    assert len(pool.begun) == posts(sandbox) == 5


def test_a_connection_without_calls_does_not_hold_up_another(
    sandbox: RunningSandbox, twenty: Batch, start: MakeBatch, settings: Any
) -> None:
    another_account(settings)
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    other = start(rows(5))
    call_limit.take(twenty.connection, 1_000_000)
    pool = run()
    assert [part.batch_id for _, part in pool.begun] == [other.pk]


def test_calls_that_were_not_made_are_given_back(
    sandbox: RunningSandbox, batch: Batch, settings: Any
) -> None:
    settings.CALLS_PER_5_MINUTES = 100
    stop = iter([False])  # asked by the tick; by then each step is to stop
    pool = run(is_stopping=lambda: next(stop, True))
    assert len(pool.begun) == 3
    assert posts(sandbox) == 0
    assert calls_left() == pytest.approx(50, abs=0.5)


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
    files.default_storage.delete(broken.rows_file)
    tick.run_tick()
    statuses = list(batch.parts.order_by("number").values_list("status", flat=True))
    assert statuses == [PartStatus.DONE, PartStatus.SENDING, PartStatus.DONE]
    broken.refresh_from_db()
    assert broken.lease_until is not None
    assert broken.lease_until > timezone.now()
    assert f"Part 2 of batch {batch.pk}: unexpected error" in caplog.text


def test_a_step_leaves_no_database_connection_behind(sandbox: RunningSandbox, batch: Batch) -> None:
    def step(part: Part) -> bool:
        return Part.objects.filter(pk=part.pk).exists()

    tick.take_step(step, batch.parts.get(number=1))
    assert connection.connection is None


def test_a_pool_that_was_given_is_not_shut_down(team: Team) -> None:
    with ThreadPoolExecutor(1) as pool:
        tick.run_tick(pool=pool)
        assert pool.submit(lambda: 5).result() == 5
