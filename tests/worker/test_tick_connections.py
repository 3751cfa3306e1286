"""A tick's threads have a connection to the database each, and leave none behind."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from batchui.batches import sending
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
    theirs = [one for thread, [one] in found.items() if thread != threading.get_ident()]
    assert [one.connection for one in theirs] == [None] * len(theirs)


def test_a_tick_that_fails_leaves_none_either(
    sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise OperationalError("the database is away")

    def looks(part: Part) -> bool:
        monkeypatch.setattr(tick, "next_work", fails)
        return not Part.objects.filter(pk=part.pk).exists()

    monkeypatch.setattr(sending, "send_claimed", looks)
    with opened() as found, pytest.raises(OperationalError, match="away"):
        tick.run_tick()
    theirs = [one for ones in found.values() for one in ones]
    assert theirs
    assert {one.connection for one in theirs} - {connection.connection} == {None}


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
