"""A tick that has nothing to do now waits for what is due soon, and for nothing else."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches.look_up_models import LookUp
from batchui.batches.models import Batch, Part
from batchui.batches.states import SENT_PARTS, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from batchui.worker import tick
from batchui.worker.lingering import (
    GLANCE_SECONDS,
    NOTICE_SECONDS,
    SOON_SECONDS,
    Lingering,
    next_moment,
)
from batchui.worker.watchdog import Patience
from tests.batches.conftest import MakeBatch, on_record, posts, rows

SECOND = timedelta(seconds=1)


def never() -> bool:
    return False


def until_next() -> float | None:
    """The seconds until something is due, to the tenth."""
    now = timezone.now()
    moment = next_moment(now)
    return None if moment is None else round((moment - now).total_seconds(), 1)


def due_in(seconds: float, **fields: Any) -> None:
    at = timezone.now() + seconds * SECOND
    Part.objects.update(**{name: at if value is ... else value for name, value in fields.items()})


# -- what is due soon ---------------------------------------------------------------------------


def test_more_than_the_time_to_the_next_tick_is_soon() -> None:
    assert Patience().between_probes + 1 < SOON_SECONDS


@pytest.mark.django_db
def test_nothing_is_due_where_nothing_is_under_way(team: Team) -> None:
    assert until_next() is None
    on_record(team)
    assert until_next() is None


@pytest.mark.django_db
@pytest.mark.parametrize("status", sorted(SENT_PARTS))
@pytest.mark.parametrize(("seconds", "found"), [(3, 3), (6.9, 6.9), (7.5, None), (-2, -2)])
def test_a_poll_is_due_soon(
    team: Team, status: PartStatus, seconds: float, found: float | None
) -> None:
    on_record(team, parts=2).parts.filter(number=2).update(status=status)
    due_in(seconds, next_poll_at=...)
    assert until_next() == found


@pytest.mark.django_db
def test_the_earliest_of_all_counts(team: Team) -> None:
    on_record(team, parts=3)
    due_in(5, status=PartStatus.RUNNING, next_poll_at=...)
    Part.objects.filter(number=2).update(next_poll_at=timezone.now() + 2 * SECOND)
    assert until_next() == 2


@pytest.mark.django_db
def test_what_somebody_polls_or_has_deleted_is_not_waited_for(team: Team) -> None:
    on_record(team)
    due_in(1, status=PartStatus.RUNNING, next_poll_at=...)
    Part.objects.update(lease_until=timezone.now() + PART_LEASE)
    assert until_next() is None
    Part.objects.update(lease_until=None)
    Batch.objects.update(deleted_at=timezone.now())
    assert until_next() is None


@pytest.mark.django_db
@pytest.mark.parametrize("status", [PartStatus.READY, PartStatus.HELD])
@pytest.mark.parametrize(("seconds", "found"), [(3, 3), (8, None), (-1, None)])
def test_a_part_that_waits_for_its_time_may_be_sent_soon(
    team: Team, status: PartStatus, seconds: float, found: float | None
) -> None:
    on_record(team)
    due_in(seconds, status=status, resume_at=...)
    assert until_next() == found


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "found"), [(3, 3), (8, None), (-1, None)])
def test_a_connection_may_be_sent_through_again_soon(
    team: Team, seconds: float, found: float | None
) -> None:
    on_record(team)
    Connection.objects.update(paused_until=timezone.now() + seconds * SECOND)
    assert until_next() == found


@pytest.mark.django_db
@pytest.mark.parametrize(("seconds", "found"), [(3, 3), (8, None), (-1, -1)])
def test_a_look_up_is_due_soon(team: Team, seconds: float, found: float | None) -> None:
    LookUp.objects.create(
        team=team,
        connection=on_record(team).connection,
        request_id="a",
        model="@cf/a/b",
        next_look_at=timezone.now() + seconds * SECOND,
    )
    assert until_next() == found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("looked", "problem", "status", "found"),
    [
        (1, "", PartStatus.QUEUED, 2),
        (1, "", PartStatus.DONE, None),  # nothing is under way
        (1, "It was away.", PartStatus.QUEUED, None),  # a minute after a problem
        (58, "It was away.", PartStatus.QUEUED, 2),
    ],
)
def test_a_queue_of_events_is_looked_into_soon(
    team: Team, looked: int, problem: str, status: PartStatus, found: float | None
) -> None:
    on_record(team)
    due_in(3600, status=status, next_poll_at=...)
    Connection.objects.update(
        queue_id="q", events_looked_at=timezone.now() - looked * SECOND, events_problem=problem
    )
    assert until_next() == found


# -- waiting ------------------------------------------------------------------------------------


class Sleeps:
    """Sleeps nobody waits for. after_each: called after every one."""

    def __init__(self, after_each: Callable[[], object] = lambda: None) -> None:
        self.after_each = after_each
        self.slept: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.after_each()


@pytest.mark.django_db
def test_a_tick_does_not_wait_where_nothing_is_due_soon(team: Team) -> None:
    sleep = Sleeps()
    assert not Lingering(never, sleep=sleep).wait()
    assert sleep.slept == []


@pytest.mark.django_db
def test_a_tick_waits_until_the_moment_and_looks_up_now_and_then(team: Team) -> None:
    on_record(team)
    due_in(0.25, status=PartStatus.RUNNING, next_poll_at=...)
    sleep = Sleeps()
    assert Lingering(never, sleep=sleep).wait()
    assert max(sleep.slept) <= NOTICE_SECONDS
    assert sum(sleep.slept) == pytest.approx(0.25, abs=0.1)


@pytest.mark.django_db
@pytest.mark.parametrize("seconds", [5, -5], ids=["due later", "due, and not allowed"])
def test_a_tick_looks_again_after_a_glance_at_the_latest(team: Team, seconds: float) -> None:
    on_record(team)
    due_in(seconds, status=PartStatus.RUNNING, next_poll_at=...)
    sleep = Sleeps()
    assert Lingering(never, sleep=sleep).wait()
    assert sum(sleep.slept) == pytest.approx(GLANCE_SECONDS)


@pytest.mark.django_db
def test_of_two_ticks_the_one_that_began_to_wait_last_goes_on(team: Team) -> None:
    on_record(team)
    due_in(5, status=PartStatus.RUNNING, next_poll_at=...)
    later = Lingering(never, sleep=Sleeps())
    sleep = Sleeps(after_each=later.wait)
    earlier = Lingering(never, sleep=sleep)
    assert not earlier.wait()
    assert sleep.slept == [NOTICE_SECONDS]
    assert later.wait()
    assert not earlier.wait()  # also when it comes back from work of its own


@pytest.mark.django_db
def test_a_tick_that_waits_stops_soon(team: Team) -> None:
    on_record(team)
    due_in(5, status=PartStatus.RUNNING, next_poll_at=...)
    sleep = Sleeps()
    assert not Lingering(lambda: bool(sleep.slept), sleep=sleep).wait()
    assert sleep.slept == [NOTICE_SECONDS]


# -- in a tick ----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_one_tick_takes_a_small_batch_to_its_end(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> None:
    settings.FIRST_POLL_SECONDS = 2
    batch = start(rows(100))
    began = time.monotonic()
    tick.run_tick(linger=Lingering(never).wait)
    batch.refresh_from_db()
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 100)
    assert 0.3 < time.monotonic() - began < 5
    assert posts(sandbox) == batch.part_count


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("lasted", "stops", "lingered"), [(99, False, 3), (101, False, 1), (0, True, 1)]
)
def test_a_tick_waits_only_while_it_may_begin_something(
    team: Team, lasted: float, *, stops: bool, lingered: int
) -> None:
    waits: list[None] = []

    def linger() -> bool:
        waits.append(None)
        return len(waits) < 3

    tick.run_tick(
        clock=lambda: lasted if waits else 0.0,
        linger=linger,
        is_stopping=lambda: stops and bool(waits),
    )
    assert len(waits) == lingered
