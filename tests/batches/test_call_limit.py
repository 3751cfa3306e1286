"""The call budget that all workers of a connection share."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import call_limit
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team

pytestmark = pytest.mark.django_db


@pytest.fixture
def connection(team: Team, settings: Any) -> Connection:
    settings.CALLS_PER_5_MINUTES = 600
    return ensure_connection(team)


def later(connection: Connection, seconds: float) -> None:
    """Let time pass for the budget."""
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


def test_an_empty_budget_grants_nothing_and_fills_again(connection: Connection) -> None:
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
