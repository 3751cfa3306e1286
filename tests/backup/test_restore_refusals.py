"""What `manage.py restore` refuses: a backup that is not whole, a place that is in use."""

import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from batchui.backup import alone, restoring
from batchui.backup.making import make
from batchui.backup.problems import BadArchive, NotPossible
from batchui.backup.restoring import put_back
from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import heartbeat
from batchui.worker.models import Heartbeat
from tests.backup.restoring import facts, repack, restore, stored

pytestmark = pytest.mark.usefixtures("nobody_works")


@pytest.mark.parametrize("damage", ["cut", "changed"])
def test_a_damaged_backup_changes_nothing(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path, damage: str
) -> None:
    make(to)
    content = bytearray(to.read_bytes())
    if damage == "cut":
        del content[len(content) // 2 :]
    else:
        content[512] ^= 1
    to.write_bytes(content)
    before = facts()
    with pytest.raises(CommandError, match=r"Nothing was restored\. .*(is not whole|is damaged)"):
        call_command("restore", to, replace=True)
    assert facts() == before
    assert stored(files_in)


def test_a_backup_of_the_other_database_is_refused(
    team: Team, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "postgresql" if connection.vendor == "sqlite" else "sqlite"
    repack(to, monkeypatch, database=other)
    with pytest.raises(BadArchive, match="Set it to a database of that kind"):
        restore(to)


def test_where_batchui_runs_nothing_is_restored(team: Team, to: Path, data: Path) -> None:
    make(to)
    with (
        alone.alone(),
        pytest.raises(NotPossible, match=f"batchui runs with the data folder {data}"),
    ):
        restore(to)


def test_where_a_worker_runs_nothing_is_restored(team: Team) -> None:
    heartbeat.beat("worker:other:1")
    said: list[str] = []

    def beat_again(seconds: float) -> None:
        Heartbeat.objects.update(at=timezone.now() + timedelta(seconds=1))

    with pytest.raises(NotPossible, match="A worker runs"):
        alone.wait_for_silence(say=said.append, pause=beat_again)
    [line] = said
    assert line.startswith("A worker was alive a moment ago. Waiting 4")


def test_a_restore_looks_for_workers_first(team: Team, to: Path) -> None:
    make(to)
    heartbeat.beat("worker:other:1")
    ended = threading.Event()

    def work_on() -> None:
        while not ended.wait(0.1):
            heartbeat.beat("worker:other:1")
        connection.close()

    worker = threading.Thread(target=work_on)
    worker.start()
    try:
        with pytest.raises(NotPossible, match="A worker runs"):
            put_back(to, replace=True)
    finally:
        ended.set()
        worker.join()


def test_a_worker_that_was_stopped_is_waited_for(team: Team) -> None:
    heartbeat.beat("worker:other:1")
    Heartbeat.objects.update(at=timezone.now() - heartbeat.SILENCE + timedelta(seconds=1.2))
    waited: list[float] = []
    alone.wait_for_silence(say=lambda _: None, pause=lambda _: waited.append(alone.time.sleep(0.1)))  # type: ignore[func-returns-value]
    assert 2 < len(waited) < 20


@pytest.mark.parametrize("age", [timedelta(minutes=2), -timedelta(days=1)])
def test_a_worker_that_was_stopped_long_ago_is_not_waited_for(team: Team, age: timedelta) -> None:
    heartbeat.beat("worker:other:1")
    Heartbeat.objects.update(at=timezone.now() - age)
    alone.wait_for_silence(say=pytest.fail, pause=pytest.fail)


def test_a_disk_with_too_little_room_is_not_filled(
    team: Team, to: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(to)
    usage = restoring.shutil.disk_usage(data)
    monkeypatch.setattr(restoring.shutil, "disk_usage", lambda _: usage._replace(free=5))
    with pytest.raises(NotPossible, match="too little room"):
        restore(to)
