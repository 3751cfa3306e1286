"""What a task does: read the files that wait, work, and tidy."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ, Task

from batchui.batches import decisions, long_tasks
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import tasks
from batchui.worker.models import Heartbeat
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, on_record, rows


@pytest.mark.django_db(transaction=True)
def test_a_tick_reads_cuts_and_sends_what_waits(
    sandbox: RunningSandbox, receive: MakeBatch, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.FIRST_POLL_SECONDS = settings.LONGEST_PAUSE_SECONDS = 0
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    batch = receive(rows(30))
    assert decisions.start(batch, by=None, ask=Ask(model=MODEL, template=TEMPLATE))
    new = on_record(batch.team, parts=0, status=BatchStatus.CHECKING, rows=0)
    Batch.objects.filter(pk=new.pk).update(
        source_file=batch.source_file, source_format=batch.source_format
    )
    tasks.tick()
    batch.refresh_from_db()
    new.refresh_from_db()
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 30)
    assert (new.status, new.rows) == (BatchStatus.DRAFT, 30)


@pytest.mark.django_db
@pytest.mark.parametrize("status", [BatchStatus.CHECKING, BatchStatus.PREPARING])
def test_a_worker_beats_while_it_reads_a_long_file(
    sandbox: RunningSandbox,
    receive: MakeBatch,
    monkeypatch: pytest.MonkeyPatch,
    status: BatchStatus,
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    batch = receive(rows(30))
    Batch.objects.update(status=status, model=MODEL, template=TEMPLATE)
    batch.refresh_from_db()
    tasks.read_file(batch)
    assert Heartbeat.objects.filter(name=settings.WORKER_NAME).exists()
    batch.refresh_from_db()
    assert batch.status != status


def failed(ago: timedelta) -> Task:
    now = timezone.now() - ago
    return Task.objects.create(
        id=str(ago), name=str(ago), func=tasks.TICK, started=now, stopped=now, success=False
    )


@pytest.mark.django_db
def test_failures_of_tasks_are_kept_for_a_week() -> None:
    failed(timedelta(days=8))
    recent = failed(timedelta(days=6))
    tasks.tidy()
    assert list(Task.objects.all()) == [recent]


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "stays"), [(-20, True), (59, True), (61, False)])
def test_what_waits_an_hour_in_a_queue_waits_for_nobody(minutes: float, stays: bool) -> None:
    OrmQ.objects.create(
        key="worker:one", payload="", lock=timezone.now() - timedelta(minutes=minutes)
    )
    tasks.tidy()
    assert OrmQ.objects.exists() is stays


@pytest.mark.django_db
def test_a_tick_that_waits_for_a_neighbour_does_not_keep_mine_away() -> None:
    for _ in range(2):
        tasks.enqueue_tick("worker:one")
        tasks.enqueue_tick("worker:other")
    assert sorted(OrmQ.objects.values_list("key", flat=True)) == ["worker:one", "worker:other"]


@pytest.mark.django_db
def test_tidying_sweeps(team: Team) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    on_record(team, status=BatchStatus.DRAFT, created_at=long_ago)
    tasks.tidy()
    assert not Batch.objects.filter(deleted_at=None).exists()
