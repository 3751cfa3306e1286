"""A tick's threads have a connection to the database each, and leave none behind."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from batchui.batches import call_limit, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import tick
from batchui.worker.database import kept_connections
from tests.batches.conftest import MakeBatch, rows

pytestmark = pytest.mark.django_db(transaction=True)

Opened = dict[int, list[BaseDatabaseWrapper]]


@contextmanager
def opened() -> Iterator[Opened]:
    """The connections that are opened meanwhile, by thread."""
    found: Opened = defaultdict(list)

    def note(*, connection: BaseDatabaseWrapper, **_: Any) -> None:
        found[threading.get_ident()].append(connection)

    connection_created.connect(note)
    try:
        yield found
    finally:
        connection_created.disconnect(note)


def of_threads(found: Opened) -> list[Any]:
    """What those of other threads are connected to now."""
    others = found.keys() - {threading.get_ident()}
    return [one.connection for thread in others for one in found[thread]]


@pytest.mark.usefixtures("at_once")
def test_a_thread_opens_one_connection_for_all_its_steps(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(300))
    connection.close()
    with opened() as found:
        tick.run_tick()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED
    assert batch.part_count * 2 > tick.THREADS
    assert 1 < len(found) <= 1 + tick.THREADS
    assert {len(ones) for ones in found.values()} == {1}
    theirs = of_threads(found)
    assert theirs == [None] * len(theirs)


def test_a_tick_that_fails_waits_for_its_steps_and_leaves_none_either(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = threading.Event()

    def fails(*_: Any, **__: Any) -> Any:
        failed.set()
        raise OperationalError("the database is away")

    def looks(part: Part) -> bool:
        monkeypatch.setattr(tick, "next_work", fails)
        if part.number > 1:  # these are under way when the tick fails, and go on
            assert failed.wait(20)
            time.sleep(0.2)
        return Part.objects.filter(pk=part.pk).exists()

    monkeypatch.setattr(tick, "FREE_THREADS", 1)
    monkeypatch.setattr(sending, "send_claimed", looks)
    with opened() as found, pytest.raises(OperationalError, match="away"):
        tick.run_tick()
    theirs = of_threads(found)  # of three threads, or of two where one was quick
    assert theirs == [None] * len(theirs) != []


def test_a_step_whose_call_cannot_be_given_back_leaves_none_either(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise OperationalError("the database is away")

    def looks(part: Part) -> bool:
        return not Part.objects.filter(pk=part.pk).exists()

    monkeypatch.setattr(call_limit, "give_back", fails)
    monkeypatch.setattr(sending, "send_claimed", looks)
    with opened() as found:
        tick.run_tick()
    theirs = of_threads(found)
    assert theirs == [None] * len(theirs) != []


def test_a_connection_that_an_error_broke_is_opened_anew(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = connection.connection
    with kept_connections() as keep:
        keep()
        assert connection.connection is before is not None
        connection.errors_occurred = True
        monkeypatch.setattr(connection, "is_usable", lambda: False)
        keep()
        assert connection.connection is None
        assert Batch.objects.exists()
    assert connection.connection is None
