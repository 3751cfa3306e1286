"""One tick: what it begins and in which order, and when it begins nothing more.

The clock, the pool and the pauses are the test's; parts, files, database and sandbox are real. A
tick closes database connections, so these tests cannot run in one transaction.
"""

import threading
import time
from concurrent.futures import Future
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from batchui.batches import due, long_tasks, polling, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import tick
from batchui.worker.models import Heartbeat
from tests.batches.conftest import MakeBatch, posts, rows, send_all
from tests.worker.ticking import Clock, Futures, Pool, calls_left, run

pytestmark = pytest.mark.django_db(transaction=True)

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


def test_a_tick_goes_on_as_soon_as_a_step_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick, "BEAT_SECONDS", 30)
    done, under_way = Future[None](), Future[None]()
    done.set_result(None)
    began = time.monotonic()
    assert tick.first_done([under_way, done]) == {done}
    assert time.monotonic() - began < 15


def test_steps_that_are_done_soon_after_one_come_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tick, "SECONDS_FOR_OTHERS", 10)
    futures = [Future[None]() for _ in range(3)]
    futures[0].set_result(None)
    soon = [threading.Timer(0.05, future.set_result, [None]) for future in futures[1:]]
    for timer in soon:
        timer.start()
    began = time.monotonic()
    assert tick.first_done(futures) == set(futures)
    assert time.monotonic() - began < 8


def test_a_tick_waits_for_a_step_only_until_it_is_time_to_beat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tick, "BEAT_SECONDS", 0.01)
    under_way = Future[None]()
    end = threading.Timer(10, under_way.set_result, [None])
    end.start()
    assert tick.first_done([under_way]) == set()
    end.cancel()


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
    first = batch.parts.get(number=1)
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


def test_the_time_before_the_first_step_counts(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, rescue = Clock(), sending.rescue

    def slow_rescue(now: datetime) -> int:
        clock.seconds += 101
        return rescue(now)

    monkeypatch.setattr(sending, "rescue", slow_rescue)
    run(clock=clock)
    assert posts(sandbox) == 0


@pytest.mark.parametrize(
    ("reads_already", "begun"),
    [(False, 8), (True, 20)],
    ids=["no process of its worker reads", "one reads already"],
)
def test_a_tick_gives_way_to_a_file_that_its_worker_may_read(
    sandbox: RunningSandbox, twenty: Batch, reads_already: bool, begun: int
) -> None:
    clock = Clock()

    def a_file_comes() -> None:
        clock.seconds += 3
        if reads_already:
            Heartbeat.objects.update(reads_until=timezone.now() + timedelta(minutes=1))
        Batch.objects.create(
            team=twenty.team,
            connection=twenty.connection,
            name="new",
            source_size=long_tasks.SMALL_BYTES + 1,
        )

    run(clock=clock, each_pause=a_file_comes)
    assert long_tasks.has_unclaimed()
    assert posts(sandbox) == begun


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
