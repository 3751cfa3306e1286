"""What a task does: read the files that wait, work, and tidy."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.models.signals import post_save
from django.utils import timezone
from django_q.exceptions import TimeoutException
from django_q.models import OrmQ, Task

from batchui.batches import decisions, long_tasks, making
from batchui.batches.export_models import ExportStatus
from batchui.batches.exporting import Choice
from batchui.batches.known_models import KnownModel
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team
from batchui.worker import heartbeat, reading, tasks, waking
from batchui.worker.models import Heartbeat
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, on_record, posts, rows


@contextmanager
def at_each_heartbeat(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` whenever a heartbeat is saved."""

    def on_save(sender: type[Heartbeat], **_: Any) -> None:
        act()

    post_save.connect(on_save, sender=Heartbeat)
    try:
        yield
    finally:
        post_save.disconnect(on_save, sender=Heartbeat)


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
        source_file=batch.source_file,
        source_stored_size=batch.source_stored_size,
        source_format=batch.source_format,
    )
    for _ in range(3):  # each file takes a task of its own
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
    reading.read_file(batch)
    assert Heartbeat.objects.filter(name=settings.WORKER_NAME).exists()
    batch.refresh_from_db()
    assert batch.status != status


# -- one file at a time ------------------------------------------------------------------------


@pytest.fixture
def waits(team: Team) -> Batch:
    """A large file that waits to be read; there is none, and so it is soon read."""
    return on_record(
        team, parts=0, status=BatchStatus.CHECKING, source_size=long_tasks.SMALL_BYTES + 1
    )


@pytest.mark.django_db(transaction=True)
def test_a_task_that_reads_a_file_sends_nothing_and_wakes_its_worker_again(
    sandbox: RunningSandbox, batch: Batch, waits: Batch
) -> None:
    tasks.tick()
    waits.refresh_from_db()
    assert waits.status == BatchStatus.DRAFT
    assert posts(sandbox) == 0
    assert OrmQ.objects.filter(key=settings.WORKER_NAME).count() == 1
    tasks.tick()
    assert posts(sandbox) == batch.part_count


@pytest.mark.django_db(transaction=True)
def test_while_one_process_reads_the_other_goes_on_sending(
    sandbox: RunningSandbox, batch: Batch, waits: Batch
) -> None:
    heartbeat.beat()
    heartbeat.beat("worker:other:2")  # which reads nothing
    ours = Heartbeat.objects.filter(name=settings.WORKER_NAME)
    ours.update(reads_until=timezone.now() + timedelta(minutes=1))
    assert not reading.is_possible()  # so a tick does not give way
    tasks.tick()
    waits.refresh_from_db()
    assert waits.status == BatchStatus.CHECKING
    assert posts(sandbox) == batch.part_count


@pytest.mark.django_db
def test_a_worker_that_is_to_stop_begins_no_reading(
    waits: Batch, settings: Any, tmp_path: Path
) -> None:
    settings.STOPPING_FILE = str(tmp_path / "stopping")
    Path(settings.STOPPING_FILE).touch()
    tasks.tick()
    waits.refresh_from_db()
    assert (waits.status, waits.readings_begun) == (BatchStatus.CHECKING, 0)
    Path(settings.STOPPING_FILE).unlink()
    assert reading.read_next()


@pytest.mark.django_db
def test_a_file_that_another_worker_took_a_moment_before_was_not_read(
    waits: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "next_unclaimed", lambda: None)
    assert not reading.read_next()
    assert reading.is_possible()  # the place of this worker is free again


@pytest.mark.django_db
def test_a_worker_that_is_to_stop_ends_its_reading_and_gives_the_file_back(
    receive: MakeBatch, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    settings.STOPPING_FILE = str(tmp_path / "stopping")
    batch = receive(rows(30))
    Batch.objects.update(status=BatchStatus.CHECKING, source_size=long_tasks.SMALL_BYTES + 1)

    def ask_to_stop() -> None:
        Path(settings.STOPPING_FILE).touch()

    with at_each_heartbeat(ask_to_stop):
        assert reading.read_next()
    batch.refresh_from_db()
    assert (batch.status, batch.readings_begun) == (BatchStatus.CHECKING, 0)
    Path(settings.STOPPING_FILE).unlink()
    assert reading.read_next()
    batch.refresh_from_db()
    assert (batch.status, batch.rows) == (BatchStatus.DRAFT, 30)


@pytest.mark.django_db
def test_a_worker_that_is_to_stop_gives_back_the_file_that_it_makes(
    receive: MakeBatch, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
    settings.STOPPING_FILE = str(tmp_path / "stopping")
    export = making.ask_for(receive(rows(30)), "xlsx", Choice(), by=None)
    with at_each_heartbeat(Path(settings.STOPPING_FILE).touch):
        assert reading.read_next()
    export.refresh_from_db()
    assert (export.status, export.begun) == (ExportStatus.WAITING, 0)
    Path(settings.STOPPING_FILE).unlink()
    assert reading.read_next()
    export.refresh_from_db()
    assert export.status == ExportStatus.READY


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["another worker reads", "the process that read is gone"])
def test_a_worker_reads_whatever_others_do_and_once_its_own_reader_is_gone(
    waits: Batch, state: str
) -> None:
    heartbeat.beat()
    heartbeat.beat("worker:other:2")
    another = state == "another worker reads"
    busy = Heartbeat.objects.filter(name="worker:other:2" if another else settings.WORKER_NAME)
    busy.update(reads_until=timezone.now() + timedelta(minutes=1 if another else -1))
    assert reading.is_possible()
    assert reading.read_next()
    assert not reading.is_possible()
    assert not reading.read_next()  # none waits
    others = Heartbeat.objects.get(name="worker:other:2")
    assert (others.reads_until is not None) is another


@pytest.mark.django_db
def test_a_long_reading_keeps_the_place_of_its_worker_and_leaves_it_at_the_end(
    receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    receive(rows(30))
    Batch.objects.update(status=BatchStatus.CHECKING, source_size=long_tasks.SMALL_BYTES + 1)
    ours = Heartbeat.objects.filter(name=settings.WORKER_NAME)
    kept: list[bool] = []

    def note() -> None:
        kept.append(ours.filter(reads_until__gt=timezone.now()).exists())

    with at_each_heartbeat(note):
        assert reading.read_next()
    assert kept == [False, True]
    assert ours.get().reads_until is None


@pytest.mark.django_db
def test_the_place_of_a_worker_is_kept_anew_with_each_sign_of_life(
    sandbox: RunningSandbox, receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    batch = receive(rows(60))  # in three parts
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10)
    fields = {"started_at": timezone.now()}
    Batch.objects.update(status=BatchStatus.PREPARING, model=MODEL, template=TEMPLATE, **fields)
    heartbeat.beat("worker:other:2")
    ours = Heartbeat.objects.filter(name=settings.WORKER_NAME)
    kept: list[bool] = []

    def note() -> None:
        kept.append(ours.filter(reads_until__gt=timezone.now()).exists())
        ours.update(reads_until=timezone.now())  # as if the reading had lasted so long

    with at_each_heartbeat(note):
        assert reading.read_next()
    batch.refresh_from_db()
    assert batch.part_count == 3
    assert kept == [False, True, True, True]
    assert Heartbeat.objects.get(name="worker:other:2").reads_until is None


@pytest.mark.django_db
def test_the_place_is_left_when_a_task_is_over_its_time(
    waits: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(batch: Batch) -> None:
        raise TimeoutException

    monkeypatch.setattr(reading, "read_file", too_long)
    with pytest.raises(TimeoutException):
        reading.read_next()
    assert reading.is_possible()


def failed(ago: timedelta) -> Task:
    now = timezone.now() - ago
    return Task.objects.create(
        id=str(ago), name=str(ago), func=waking.TICK, started=now, stopped=now, success=False
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
        waking.enqueue_tick("worker:one")
        waking.enqueue_tick("worker:other")
    assert sorted(OrmQ.objects.values_list("key", flat=True)) == ["worker:one", "worker:other"]


@pytest.mark.django_db
def test_tidying_sweeps(team: Team) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    on_record(team, status=BatchStatus.DRAFT, created_at=long_ago)
    tasks.tidy()
    assert not Batch.objects.filter(deleted_at=None).exists()


@pytest.mark.django_db
def test_a_quick_tick_reads_the_models_of_a_connection_once_a_day(
    sandbox: RunningSandbox, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure_connection(team)
    monkeypatch.setattr(tasks, "QUICK_SECONDS", -1)
    tasks.tick()
    assert sandbox.calls("search") == []
    monkeypatch.undo()
    tasks.tick()
    assert KnownModel.objects.exists()
    read = len(sandbox.calls("search"))
    tasks.tick()
    assert len(sandbox.calls("search")) == read
