"""`manage.py backup`: everything in one file, also while batchui runs."""

import gzip
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from batchui.backup import making
from batchui.backup.archive import FILES, MANIFEST, SQLITE, TABLES, check, opened
from batchui.backup.contents import POINTERS
from batchui.backup.making import make
from batchui.batches import decisions, deleting, files, intake, long_tasks, pointers
from batchui.batches.models import Attempt, Batch, Export, Part
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import overtaken, sweep, tick
from batchui.worker.models import Heartbeat
from tests.backup.conftest import nothing_is_left
from tests.backup.test_archive import unpacked
from tests.batches.conftest import MakeBatch, on_record, rows, work

DATABASE = {"sqlite": SQLITE, "postgresql": f"{TABLES}batches_batch.csv"}


def names(path: Path) -> set[str]:
    """The files in a backup, by the names that the database has for them."""
    return {name.removeprefix(FILES) for name in check(path)["members"] if name.startswith(FILES)}


def pointed() -> set[str]:
    """The files to which the database points now."""
    return {
        *Batch.objects.exclude(source_file="").values_list("source_file", flat=True),
        *Batch.objects.exclude(converted_file="").values_list("converted_file", flat=True),
        *Batch.objects.exclude(draft_rows_file="").values_list("draft_rows_file", flat=True),
        *Batch.objects.exclude(problems_file="").values_list("problems_file", flat=True),
        *Export.objects.exclude(file="").values_list("file", flat=True),
        *Part.objects.values_list("rows_file", flat=True),
        *Part.objects.exclude(answers_file="").values_list("answers_file", flat=True),
        *Attempt.objects.exclude(reply_file="").values_list("reply_file", flat=True),
    }


# -- what is in it ------------------------------------------------------------------------------


def test_everything_the_database_points_to_is_in_it_and_nothing_else(
    sandbox: RunningSandbox,
    batch: Batch,
    start: MakeBatch,
    receive: MakeBatch,
    to: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = intake.ask_further(work(batch), by=None)
    assert first.converted_file
    Batch.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(minutes=1))
    start(rows(30))
    receive(rows(5))
    assert receive(gzip.compress(rows(5)), "texts.csv.gz").converted_file
    assert receive(b"id,text\n1,one\n2\n").problems_file
    export = Export.objects.create(batch=batch, kind="xlsx")
    export.file = files.export_path(export)
    export.save()
    files.save(export.file, ContentFile(b"a workbook"))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    assert not intake.ask_further(batch, by=None).source_file  # not made yet
    files.save("batches/left/source/upload", ContentFile(b"left by a crash"))
    made = make(to)
    assert names(to) == pointed()
    assert (made.files, made.missing) == (len(pointed()), [])
    assert made.size == to.stat().st_size
    assert next(iter(check(to)["members"])).startswith("database")


def test_every_column_that_points_to_a_file_is_asked_for() -> None:
    asked = {re.findall(r"^SELECT (\w+) FROM (\w+)", pointer)[0] for pointer in POINTERS}
    columns = {
        (column, model._meta.db_table)
        for model, columns in pointers.COLUMNS.items()
        for column in columns
    }
    assert asked == columns


def test_nobody_else_can_read_it(team: Team, to: Path) -> None:
    before = os.umask(0o022)
    try:
        make(to)
    finally:
        os.umask(before)
    assert to.stat().st_mode & 0o777 == 0o600


def test_files_of_deleted_batches_are_not_in_it(
    sandbox: RunningSandbox, batch: Batch, receive: MakeBatch, to: Path
) -> None:
    work(batch)
    stays = receive(rows(5))
    Batch.objects.filter(pk=batch.pk).update(deleted_at=timezone.now())
    assert make(to).missing == []
    assert names(to) == {stays.source_file, stays.draft_rows_file}


def test_files_of_batches_that_can_be_brought_back_are_in_it(
    sandbox: RunningSandbox, batch: Batch, receive: MakeBatch, to: Path
) -> None:
    work(batch)
    before = set(files.stored_below(f"batches/{batch.pk}"))
    gone = receive(rows(5))
    for one in (Batch.objects.get(pk=batch.pk), gone):
        assert deleting.delete(one, by=None)
    assert deleting.let_go(gone, by=None)
    assert make(to).missing == []
    assert before <= names(to)
    assert gone.source_file not in names(to)


@pytest.mark.parametrize("with_keys", [True, False])
def test_keys_are_in_it_only_if_they_are_asked_for(
    team: Team, to: Path, settings: Any, with_keys: bool
) -> None:
    made = make(to, with_keys=with_keys)
    kept = {name for name in check(to)["members"] if name.startswith("keys/")}
    assert kept == ({"keys/secret-key", "keys/encryption-key"} if with_keys else set())
    assert made.keys == len(kept)
    content = to.read_bytes()
    assert (settings.SECRET_KEY.encode() in content) is with_keys
    assert (settings.ENCRYPTION_KEYS[0].encode() in content) is with_keys


def test_keys_of_the_environment_are_not_in_it(team: Team, to: Path, settings: Any) -> None:
    settings.SECRET_KEY_FILE = settings.ENCRYPTION_KEY_FILE = None
    assert make(to, with_keys=True).keys == 0


def test_nobody_can_sign_in_with_what_is_in_it(team: Team, to: Path) -> None:
    session = SessionStore()
    session.create()
    cache.set("canary-of-7-birds", "canary of 8 birds")
    make(to)
    content = to.read_bytes()
    assert session.session_key
    assert session.session_key.encode() not in content
    assert b"canary" not in content
    assert session.exists(session.session_key)  # whoever is signed in stays so


def test_it_can_be_read_without_batchui(team: Team, to: Path, tmp_path: Path) -> None:
    on_record(team, name="May reviews")
    make(to)
    unpacked(to, tmp_path / "unpacked")
    assert b"May reviews" in (tmp_path / "unpacked" / DATABASE[connection.vendor]).read_bytes()


def test_a_copy_that_is_unpacked_by_hand_knows_what_it_is(team: Team, to: Path) -> None:
    make(to)
    with opened(to) as members:
        database = b"".join(content.read() for name, _, content in members if name != MANIFEST)
    is_marked = b"It is the backup of" in database
    assert is_marked is (connection.vendor == "sqlite")  # CSV is nothing to put in place by hand


# -- while batchui runs -------------------------------------------------------------------------


@contextmanager
def at_work() -> Iterator[threading.Event]:
    """Ticks in a thread of their own, one after another. Gives an event that is set at each."""
    ended, ticked = threading.Event(), threading.Event()

    def work_on() -> None:
        while not ended.is_set():
            tick.run_tick()
            ticked.set()
        connection.close()

    thread = threading.Thread(target=work_on)
    thread.start()
    try:
        yield ticked
    finally:
        ended.set()
        thread.join()


def test_every_file_of_the_database_is_in_it_while_workers_write(
    sandbox: RunningSandbox, start: MakeBatch, to: Path
) -> None:
    for _ in range(4):
        start(rows(200))
    with at_work() as ticked:
        for _ in range(5):
            ticked.clear()
            assert make(to).missing == []
            assert ticked.wait(60)
    assert Part.objects.exclude(answers_file="").count() == Part.objects.count()


def test_it_is_of_the_moment_at_which_the_database_was_copied(
    sandbox: RunningSandbox, batch: Batch, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    work(batch)
    then = pointed()

    def go_on(_: Path) -> None:
        """Between the copy of the database and the files."""
        decisions.retry(batch, by=None)
        work(batch)
        Batch.objects.update(finished_at=timezone.now() - 2 * overtaken.OLD)
        monkeypatch.setattr(overtaken, "OLD", -overtaken.OLD)  # as if the files were old
        sweep.sweep()

    monkeypatch.setattr(making, "_refuse_full_disk", go_on)
    assert make(to).missing == []
    assert names(to) == then != pointed()
    sweep.sweep()
    assert make(to.with_name("next")).missing == []
    assert not all(map(files.default_storage.exists, then))


def test_no_file_is_removed_while_a_backup_is_made(
    sandbox: RunningSandbox, receive: MakeBatch, to: Path
) -> None:
    batch = receive(rows(5))

    def deleted(line: str) -> None:
        """At the moment when the database has been copied."""
        if line.startswith("Checking"):
            return
        Batch.objects.update(deleted_at=timezone.now() - 2 * sweep.FILES_OUTLIVE)
        sweep.sweep()

    make(to, say=deleted)
    assert Batch.objects.filter(deleted_at=None).count() == 0
    files.open_file(batch.source_file).close()
    sweep.sweep()
    with pytest.raises(FileNotFoundError):
        files.open_file(batch.source_file)


def test_a_backup_that_ends_does_not_end_the_protection_of_another(
    sandbox: RunningSandbox, receive: MakeBatch, to: Path
) -> None:
    batch = receive(rows(5))

    def another(line: str) -> None:
        """Another backup is made and ends, while the first one copies the database."""
        if line.startswith("Copying"):
            make(to.with_name("another"))
        Batch.objects.update(deleted_at=timezone.now() - 2 * sweep.FILES_OUTLIVE)
        sweep.sweep()
        Batch.objects.update(deleted_at=None)

    assert make(to, say=lambda line: None if line.startswith("Checking") else another(line))
    files.open_file(batch.source_file).close()


def test_where_sweeps_cannot_be_told_no_backup_is_made(team: Team, to: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE worker_heartbeat RENAME TO elsewhere")
    try:
        with pytest.raises(CommandError, match=r"No backup was made\. .*worker_heartbeat"):
            call_command("backup", to)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO worker_heartbeat")
    assert nothing_is_left(to)


def test_a_database_of_an_earlier_version_can_be_backed_up(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    """As somebody does before an update: no worker of this version sweeps yet."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE worker_heartbeat RENAME TO elsewhere")
        cursor.execute("DELETE FROM django_migrations WHERE app = 'worker' AND name >= '0003'")
    try:
        assert make(to).missing == []
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO worker_heartbeat")
        MigrationRecorder(connection).record_applied("worker", "0003_problem")
        MigrationRecorder(connection).record_applied("worker", "0004_installation")


def test_a_backup_that_failed_keeps_no_sweep_from_its_work(
    sandbox: RunningSandbox, team: Team, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_refuse_full_disk", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(to)
    assert not Heartbeat.objects.filter(name__startswith=sweep.BACKUP).exists()
    assert nothing_is_left(to)


def test_files_that_are_lost_are_named(
    sandbox: RunningSandbox, batch: Batch, to: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = batch.parts.get(number=2)
    files.default_storage.delete(part.rows_file)
    Batch.objects.filter(pk=batch.pk).update(source_file="../outside")
    made = make(to)
    assert made.missing == ["../outside", part.rows_file]
    assert check(to)["missing"] == made.missing
    call_command("backup", to)
    said = capsys.readouterr()
    assert f"not there any more: 2 files (../outside, {part.rows_file})." in said.err
    assert said.out.startswith(f"{to}: 3 files, ")
