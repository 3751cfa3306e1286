"""What tests of background work ask for: batches with a real sandbox behind them."""

from datetime import UTC, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from batchui.batches import pauses, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import tasks
from tests.batches.conftest import (
    MakeBatch,
    ana,
    batch,
    files_in,
    part,
    receive,
    rows,
    sandbox,
    shared_sandbox,
    start,
    team,
)

__all__ = [
    "ana",
    "batch",
    "files_in",
    "part",
    "receive",
    "sandbox",
    "shared_sandbox",
    "start",
    "team",
]


@pytest.fixture(autouse=True)
def nothing_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that earlier tests asked the cache is known any more."""
    monkeypatch.setattr(tasks, "_asked", {})


@pytest.fixture
def twenty(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Batch:
    """Twenty parts, ready; what is accepted is polled much later."""
    monkeypatch.setattr(pauses, "SANDBOX_POLL_SECONDS", 1000)
    monkeypatch.setattr(pauses, "SOONER", 1)
    settings.FIRST_POLL_SECONDS = 1000
    settings.LONGEST_PAUSE_SECONDS = 1000
    return start(rows(500))


@pytest.fixture
def at_once(settings: Any) -> None:
    """What was accepted is polled at once, also when others of its batch took a while."""
    settings.FIRST_POLL_SECONDS = settings.LONGEST_PAUSE_SECONDS = 0


def sent_by_half(part: Part) -> None:
    """Send ten of the 25 rows of a part."""
    Part.objects.filter(pk=part.pk).update(send_limit=10)
    part.refresh_from_db()
    assert sending.send(part)
    assert (part.status, part.waiting) == (PartStatus.QUEUED, 25)


def kept_in_cache(key: str) -> timedelta:
    """How much longer the cache remembers something."""
    with connection.cursor() as cursor:
        table = connection.ops.quote_name(settings.CACHES["default"]["LOCATION"])
        cursor.execute(
            f"SELECT expires FROM {table} WHERE cache_key = %s",  # noqa: S608
            [cache.make_key(key)],
        )
        [expires] = cursor.fetchone()
    if timezone.is_naive(expires):  # SQLite
        expires = expires.replace(tzinfo=UTC)
    return expires - timezone.now()
