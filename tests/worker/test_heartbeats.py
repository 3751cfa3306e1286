"""Every worker shows that it lives under a name of its own, and has a queue of its own."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.models import OrmQ

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import heartbeat, tasks, this_host, waking
from batchui.worker.models import Heartbeat
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, on_record, rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("files_in")]

ONE, OTHER = "worker:one:1", "worker:other:2"


def fell_silent(name: str, *, ago: timedelta = timedelta(minutes=5)) -> None:
    Heartbeat.objects.filter(name=name).update(at=timezone.now() - ago)


def waiting(worker: str) -> int:
    return OrmQ.objects.filter(key=worker).count()


def test_each_start_of_a_worker_has_a_name_of_its_own() -> None:
    names = {heartbeat.new_worker_name() for _ in range(50)}
    assert len(names) == 50
    assert all(name.startswith("worker:") and len(name) <= 100 for name in names)


def test_a_data_folder_keeps_its_name_when_it_is_mounted_elsewhere(
    settings: Any, tmp_path: Path
) -> None:
    settings.DATA = tmp_path / "here"
    settings.DATA.mkdir()
    name = heartbeat.storage_id()
    assert (settings.DATA / "storage-id").read_text().strip() == name
    settings.DATA = settings.DATA.rename(tmp_path / "elsewhere")
    assert heartbeat.storage_id() == name


def test_a_worker_that_is_well_does_not_hide_one_that_hangs() -> None:
    heartbeat.beat(ONE)
    fell_silent(ONE)
    long_ago = heartbeat.last_beat(ONE)
    heartbeat.beat(OTHER)
    assert heartbeat.last_beat(ONE) == long_ago
    assert heartbeat.latest_beat() == heartbeat.last_beat(OTHER)
    assert heartbeat.live_workers() == [OTHER]
    assert not heartbeat.worker_is_silent()


def test_pages_say_that_nobody_works_only_when_all_are_silent() -> None:
    assert heartbeat.worker_is_silent()
    heartbeat.beat(ONE)
    assert not heartbeat.worker_is_silent()
    fell_silent(ONE)
    assert heartbeat.worker_is_silent()
    heartbeat.beat(heartbeat.web_name())  # who serves pages does no background work
    assert heartbeat.worker_is_silent()


@pytest.mark.parametrize(("seconds", "alive"), [(43, True), (46, False)])
def test_a_worker_counts_as_alive_for_45_seconds(seconds: float, alive: bool) -> None:
    heartbeat.beat(ONE)
    fell_silent(ONE, ago=timedelta(seconds=seconds))
    assert heartbeat.worker_is_silent() is not alive
    assert heartbeat.live_workers() == ([ONE] if alive else [])


def rows_written_by(act: Callable[[], None]) -> int:
    """How many rows the statements of `act` change."""
    written: list[int] = []

    def count(execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        result = execute(sql, params, many, context)
        written.append(context["cursor"].rowcount)
        return result

    with connection.execute_wrapper(count):
        act()
    return sum(written)


@pytest.mark.parametrize("problem", ["", "It fails.", "x" * 301])
def test_why_ticks_fail_is_written_once_in_up_to_300_letters(problem: str) -> None:
    heartbeat.beat()
    written = [rows_written_by(lambda: heartbeat.note(problem)) for _ in range(2)]
    assert written == [1 if problem else 0, 0]
    assert heartbeat.problem_of_workers() == problem[:300]


def test_what_waits_wakes_every_worker_that_lives_and_each_once() -> None:
    heartbeat.beat(ONE)
    heartbeat.beat(OTHER)
    heartbeat.beat("worker:gone:3")
    fell_silent("worker:gone:3")
    for _ in range(3):
        waking.wake_workers()
    assert (waiting(ONE), waiting(OTHER), waiting("worker:gone:3")) == (1, 1, 0)


def test_what_wakes_a_worker_is_a_tick() -> None:
    waking.enqueue_tick(ONE)
    assert import_string(OrmQ.objects.get().task["func"]) is tasks.tick


def test_a_tick_that_is_being_done_does_not_keep_the_next_from_waiting() -> None:
    waking.enqueue_tick(ONE)
    OrmQ.objects.update(lock=timezone.now() + timedelta(minutes=20))  # as when a process takes it
    waking.enqueue_tick(ONE)
    assert waiting(ONE) == 2


def test_what_is_left_of_workers_that_are_gone_is_removed() -> None:
    heartbeat.beat(ONE)
    heartbeat.beat(OTHER)
    fell_silent(ONE, ago=timedelta(days=2))
    fell_silent(OTHER, ago=timedelta(hours=23))
    waking.enqueue_tick(ONE)
    OrmQ.objects.update(lock=timezone.now() - timedelta(hours=2))
    waking.enqueue_tick(OTHER)
    tasks.tidy()
    assert list(Heartbeat.objects.values_list("name", flat=True)) == [OTHER]
    assert (waiting(ONE), waiting(OTHER)) == (0, 1)


def test_a_press_of_a_button_wakes_a_worker(sandbox: RunningSandbox, receive: MakeBatch) -> None:
    batch = receive(rows(3))
    heartbeat.beat(ONE)
    decisions.start(batch, by=None, ask=Ask(model=MODEL, template=TEMPLATE))
    assert waiting(ONE) == 1


def tidies(team: Team) -> bool:
    """Whether a tick removes an old draft."""
    long_ago = timezone.now() - timedelta(days=31)
    draft = on_record(team, parts=0, status=BatchStatus.DRAFT, created_at=long_ago)
    tasks.tick()
    return not Batch.objects.filter(pk=draft.pk, deleted_at=None).exists()


def test_it_is_tidied_once_a_minute(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [tidies(team) for _ in range(3)] == [True, False, False]
    cache.delete("swept")  # as a minute later
    monkeypatch.setattr(tasks, "_asked", {"swept": time.monotonic() - 60})
    assert tidies(team)


def test_a_process_asks_every_quarter_of_a_minute_whether_another_one_tidied(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.add("swept", value=True)  # by another process
    assert not tidies(team)
    cache.delete("swept")
    monkeypatch.setattr(tasks, "_asked", {"swept": time.monotonic() - 14})
    assert not tidies(team)
    monkeypatch.setattr(tasks, "_asked", {"swept": time.monotonic() - 16})
    assert tidies(team)


def test_when_it_was_tidied_is_forgotten_in_time(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_SWEEPS", 0)
    assert [tidies(team) for _ in range(2)] == [True, True]


@pytest.mark.parametrize(
    ("database", "bucket", "tells"),
    [("PostgreSQL", "", True), ("PostgreSQL", "bucket", False), ("SQLite", "", False)],
)
def test_a_host_tells_where_its_files_are_only_where_hosts_can_differ(
    settings: Any, database: str, bucket: str, tells: bool
) -> None:
    settings.DATABASE_KIND, settings.S3_BUCKET = database, bucket
    this_host.look_after()
    assert Heartbeat.objects.filter(name=heartbeat.web_name()).exists() is tells
