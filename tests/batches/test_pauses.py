"""How long is waited before the next send or poll."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.utils.timezone import now

from batchui.batches import call_limit, pauses
from batchui.batches.models import Attempt, Part
from batchui.batches.states import AttemptStatus
from batchui.teams.models import Team
from tests.batches.conftest import another_account, attempt_on_record, on_record


def seconds(pause: timedelta) -> float:
    return pause.total_seconds()


def test_the_pause_before_sending_again_doubles_to_two_minutes() -> None:
    for failures, expected in enumerate((2, 4, 8, 16, 32, 64, 120, 120)):
        assert 0.75 * expected <= seconds(pauses.backoff(failures)) <= 1.25 * expected
    assert seconds(pauses.backoff(100_000)) <= 150


def test_the_pause_after_a_poll_that_failed_doubles_to_two_minutes() -> None:
    for failures, expected in enumerate((10, 20, 40, 80, 120, 120)):
        assert 0.75 * expected <= seconds(pauses.after_failure(failures, None)) <= 1.25 * expected
    assert seconds(pauses.after_failure(100_000, None)) <= 150


def test_parts_that_failed_together_do_not_come_back_together() -> None:
    assert len({pauses.backoff(3) for _ in range(20)}) > 10
    assert len({pauses.after_failure(3, None) for _ in range(20)}) > 10


def test_a_poll_comes_never_sooner_than_cloudflare_asked() -> None:
    assert seconds(pauses.after_failure(0, 400)) == 400
    assert seconds(pauses.after_failure(0, 3600)) == 3600
    assert seconds(pauses.after_failure(0, 86_400)) == 3600  # but for more than an hour
    assert seconds(pauses.after_failure(0, 1)) >= 7.5


def test_polls_begin_soon_and_grow_to_the_longest(settings: Any) -> None:
    settings.LONGEST_PAUSE_SECONDS = 60
    waits = [seconds(pauses.next_poll(polls, first=2)) for polls in range(12)]
    assert waits[:4] == [2, 3, 4.5, 6.75]
    assert waits == sorted(waits)
    assert waits[-1] == seconds(pauses.next_poll(100_000, first=2)) == 60


def test_polls_leave_half_a_second_between_them_however_soon_they_begin(settings: Any) -> None:
    settings.LONGEST_PAUSE_SECONDS = 60
    assert seconds(pauses.next_poll(1, first=0)) == 0.75


@pytest.fixture
def part(team: Team, settings: Any) -> Part:
    settings.FIRST_POLL_SECONDS, settings.LONGEST_PAUSE_SECONDS = 2, 60
    another_account(settings)
    return polled_before(on_record(team, part_count=9).parts.get())


def polled_before(part: Part) -> Part:
    """The part, whose answers were not there yet at its first poll."""
    Part.objects.filter(pk=part.pk).update(polls=1)
    return part


def took(
    part: Part, *times: float, status: AttemptStatus = AttemptStatus.ANSWERED, known: bool = True
) -> None:
    """Attempts of the part that took so many seconds, the latest last."""
    for number, took in enumerate(times, part.attempts.count() + 1):
        finished = now() + timedelta(minutes=number)
        attempt_on_record(
            part,
            items=1,
            status=status,
            accepted_at=finished - timedelta(seconds=took) if known else None,
            finished_at=finished,
        )


@pytest.mark.django_db
def test_the_first_poll_is_soon(part: Part) -> None:
    assert seconds(pauses.first_poll(part)) == 2


@pytest.mark.django_db
def test_the_sandbox_is_asked_sooner_so_that_a_sheet_is_seen_to_fill(
    team: Team, settings: Any
) -> None:
    settings.FIRST_POLL_SECONDS, settings.LONGEST_PAUSE_SECONDS = 2, 60
    part = on_record(team, part_count=9).parts.get()
    assert part.connection.is_sandbox
    assert seconds(pauses.first_poll(part)) == 0.6
    assert pauses.usual_seconds(part.connection) == 0.6
    assert [seconds(pauses.next_poll(n, first=0.6)) for n in (1, 2)] == [0.9, 1.35]
    settings.FIRST_POLL_SECONDS = 0.1
    assert seconds(pauses.first_poll(part)) == 0.1


@pytest.mark.django_db
@pytest.mark.parametrize(("parts", "first"), [(1, 0.4), (8, 0.4), (9, 2)])
def test_a_batch_of_few_parts_is_polled_sooner(part: Part, parts: int, first: float) -> None:
    part.batch.part_count = parts
    assert seconds(pauses.first_poll(part)) == pauses.first_seconds(part) == first


@pytest.mark.django_db
def test_few_parts_in_the_sandbox_are_polled_as_soon_as_others_are_or_sooner(
    team: Team, settings: Any
) -> None:
    part = on_record(team).parts.get()
    settings.FIRST_POLL_SECONDS = 2
    assert pauses.first_seconds(part) == 0.4
    settings.FIRST_POLL_SECONDS = 100
    assert pauses.first_seconds(part) == 0.6


@pytest.mark.django_db
@pytest.mark.parametrize(("calls", "first"), [(75, 0.4), (76, 2)])
def test_few_parts_are_polled_sooner_only_while_there_are_plenty_of_calls(
    part: Part, settings: Any, calls: int, first: float
) -> None:
    settings.CALLS_PER_5_MINUTES = 600
    part.batch.part_count = 4
    call_limit.take(part.connection, calls)
    part.connection.refresh_from_db()
    part.connection.calls_counted_at = now() + timedelta(minutes=1)  # none comes back meanwhile
    assert pauses.first_seconds(part) == first


@pytest.mark.django_db
def test_once_parts_came_back_the_first_poll_is_when_the_next_is_likely_to(
    part: Part, settings: Any
) -> None:
    took(part, 100, 40, 10)
    assert seconds(pauses.first_poll(part)) == 32
    settings.LONGEST_PAUSE_SECONDS = 20
    assert seconds(pauses.first_poll(part)) == 20


@pytest.mark.django_db
def test_how_long_it_takes_to_store_answers_says_nothing_of_the_next(part: Part) -> None:
    took(part, 100)
    found = Attempt.objects.get(accepted_at__isnull=False)
    assert found.accepted_at is not None
    for asked_after, first in ((40, 20), (100, 50), (500, 50)):
        polled_at = found.accepted_at + timedelta(seconds=asked_after)
        Part.objects.filter(pk=found.part_id).update(last_polled_at=polled_at, polls=0)
        assert seconds(pauses.first_poll(part)) == first


@pytest.mark.django_db
def test_the_first_poll_is_never_sooner_than_soon(part: Part) -> None:
    took(part, 0.1)
    assert seconds(pauses.first_poll(part)) == 2


@pytest.mark.django_db
def test_the_five_that_came_back_last_tell_when(part: Part) -> None:
    took(part, 60, 60, 60, 60, 60, 60, 50, 40, 30, 20, 10)
    assert seconds(pauses.first_poll(part)) == 24  # a little less than half of them took


@pytest.mark.django_db
def test_half_a_time_counts_where_the_answer_was_there_at_the_first_poll(part: Part) -> None:
    Part.objects.filter(pk=part.pk).update(polls=0)
    took(part, 50)
    assert seconds(pauses.first_poll(part)) == 25


@pytest.mark.django_db
def test_how_late_the_first_poll_was_says_nothing_of_the_next(part: Part) -> None:
    took(part, 100)
    found = Attempt.objects.get(accepted_at__isnull=False)
    assert found.accepted_at is not None
    for due_after, polls, first in ((40, 0, 20), (500, 0, 50), (40, 1, 60)):
        due = found.accepted_at + timedelta(seconds=due_after)
        Part.objects.filter(pk=found.part_id).update(next_poll_at=due, polls=polls)
        assert seconds(pauses.first_poll(part)) == first  # a minute at most


@pytest.mark.django_db
def test_only_answers_of_the_same_batch_tell_when(part: Part, team: Team) -> None:
    took(polled_before(on_record(team).parts.get()), 50)
    took(part, 50, status=AttemptStatus.REFUSED)
    took(part, 50, known=False)
    assert seconds(pauses.first_poll(part)) == 2


@pytest.fixture
def in_tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This machine's own time is nine hours ahead of UTC."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


def test_midnight_is_in_utc(in_tokyo: None) -> None:
    late = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    assert pauses.next_midnight(late) == datetime(2026, 3, 2, tzinfo=UTC)
    far_east = datetime(2026, 3, 2, 1, 0, tzinfo=timezone(timedelta(hours=5)))
    assert pauses.next_midnight(far_east) == datetime(2026, 3, 2, tzinfo=UTC)
