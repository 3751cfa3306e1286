"""The call limit that all workers of a connection share."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.db.models import DateTimeField, Value
from django.utils import timezone
from pytest_django import Settings

from batchui.batches import call_limit
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(team: Team, settings: Any) -> Connection:
    settings.CALLS_PER_5_MINUTES = 600
    return ensure_connection(team)


def later(connection: Connection, seconds: float) -> None:
    """Let time pass for the call limit."""
    connection.refresh_from_db()
    assert connection.calls_counted_at is not None
    Connection.objects.update(
        calls_counted_at=connection.calls_counted_at - timedelta(seconds=seconds)
    )


def test_no_five_minutes_see_more_calls_than_allowed(connection: Connection) -> None:
    taken: list[tuple[float, int]] = []
    for second in range(0, 900, 10):
        taken.append((second, call_limit.take(connection, 1000)))
        later(connection, 10)
    for begin in range(0, 600, 10):
        window = sum(n for at, n in taken if begin <= at < begin + 300)
        assert window <= 600
    assert sum(n for at, n in taken if 300 <= at < 900) > 550


def test_what_is_granted_is_never_more_than_wanted(connection: Connection) -> None:
    assert call_limit.take(connection, 7) == 7
    assert call_limit.take(connection, 0) == 0


@pytest.mark.parametrize(
    ("seconds", "rival", "left"),
    [(0, 150, 50), (1, 1, 200)],
    ids=["within a millisecond", "just as many as came back"],
)
def test_two_who_take_at_once_are_both_counted(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, seconds: int, rival: int, left: int
) -> None:
    """The slower one finds the time that it has read (SQLite's clock tells milliseconds), or as
    many calls as it has read: neither alone tells that somebody was quicker."""
    clock = timezone.now()
    monkeypatch.setattr(call_limit, "Now", lambda: Value(clock, output_field=DateTimeField()))
    monkeypatch.setattr(call_limit, "_left", call_limit._left._make)  # anew each time
    granted = [call_limit.take(connection, 100)]
    clock += timedelta(seconds=seconds)

    def a_rival_is_quicker(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and len(granted) == 1:
            granted.append(0)
            granted[1] = call_limit.take(connection, rival)
        return execute(sql, params, many, context)

    with database.execute_wrapper(a_rival_is_quicker):
        granted.append(call_limit.take(connection, 1000))
    assert granted == [100, rival, left]


def test_a_used_up_call_limit_grants_nothing_and_fills_again(
    connection: Connection,
) -> None:
    assert call_limit.take(connection, 1000) == 300
    assert call_limit.take(connection, 1) == 0
    later(connection, 5)
    assert call_limit.take(connection, 10) == 5


def test_a_clock_that_was_set_back_grants_nothing_extra(connection: Connection) -> None:
    call_limit.take(connection, 1000)
    Connection.objects.update(calls_counted_at=timezone.now() + timedelta(hours=1))
    assert call_limit.take(connection, 10) == 0
    later(connection, 5)
    assert call_limit.take(connection, 10) == 5


def test_a_quiet_hour_saves_nothing_up(connection: Connection) -> None:
    call_limit.take(connection, 1000)
    later(connection, 3600)
    assert call_limit.take(connection, 1000) == 300


def test_there_is_always_a_call_to_be_had(connection: Connection, settings: Any) -> None:
    settings.CALLS_PER_5_MINUTES = 1
    assert call_limit.take(connection, 5) == 1
    assert call_limit.take(connection, 5) == 0
    later(connection, 301)
    assert call_limit.take(connection, 5) == 1


def test_calls_that_were_not_made_are_there_again(connection: Connection) -> None:
    others = ensure_connection(Team.objects.create(name="Others"))
    call_limit.take(others, 100)
    call_limit.take(connection, 1000)
    call_limit.give_back(connection, 4)
    call_limit.give_back(connection, 0)
    call_limit.give_back(connection, -2)
    assert call_limit.take(connection, 10) == 4
    assert call_limit.take(others, 1000) == 200


@pytest.mark.parametrize(
    ("taken", "seconds_ago", "used_up"),
    [
        *((0, 0, False), (284, 0, False), (287, 0, True), (300, 0, True)),
        *((300, 13, True), (300, 16, False)),
    ],
)
def test_the_page_says_that_the_limit_is_reached_while_hardly_a_call_is_left(
    connection: Connection, taken: int, seconds_ago: float, used_up: bool
) -> None:
    assert not call_limit.is_used_up(connection)
    call_limit.take(connection, taken)
    if seconds_ago:
        later(connection, seconds_ago)
    connection.refresh_from_db()
    assert call_limit.is_used_up(connection) is used_up


def test_the_page_goes_on_saying_so_while_workers_take_and_give_back(
    connection: Connection,
) -> None:
    call_limit.take(connection, 300)
    said = []
    for unused in [0, 2] * 10:
        later(connection, 2)
        assert call_limit.take(connection, 8) >= 2
        call_limit.give_back(connection, unused)
        connection.refresh_from_db()
        said.append(call_limit.is_used_up(connection))
    assert all(said)


@pytest.mark.parametrize(("limit", "taken"), [(1, 1), (20, 8)])
def test_a_small_limit_is_reached_only_when_it_is(
    connection: Connection, settings: Settings, limit: int, taken: int
) -> None:
    settings.CALLS_PER_5_MINUTES = limit
    call_limit.take(connection, taken - 1)
    connection.refresh_from_db()
    assert not call_limit.is_used_up(connection)
    call_limit.take(connection, 1)
    connection.refresh_from_db()
    assert call_limit.is_used_up(connection)


def test_a_pause_is_that_of_one_connection(connection: Connection) -> None:
    others = ensure_connection(Team.objects.create(name="Others"))
    until = timezone.now() + timedelta(hours=1)
    call_limit.pause(connection, until=until, reason="No room.")
    others.refresh_from_db()
    assert others.paused_until is None
    call_limit.pause(others, until=until, reason="Bad token.")
    call_limit.resume(connection.pk)
    connection.refresh_from_db()
    others.refresh_from_db()
    assert (connection.paused_until, connection.pause_reason) == (None, "")
    assert (others.paused_until, others.pause_reason) == (until, "Bad token.")


def test_a_longer_pause_takes_the_place_of_a_shorter_one(connection: Connection) -> None:
    soon, late = (timezone.now() + timedelta(minutes=minutes) for minutes in (1, 5))
    call_limit.pause(connection, until=soon, reason="minute")
    call_limit.pause(connection, until=late, reason="daily")
    connection.refresh_from_db()
    assert (connection.paused_until, connection.pause_reason) == (late, "daily")
