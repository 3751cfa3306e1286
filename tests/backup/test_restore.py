"""`manage.py restore`: everything as it was, and nothing is paid for twice in silence."""

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from batchui.backup import making, postgres, restoring
from batchui.backup.aside import Swap
from batchui.backup.making import make
from batchui.backup.problems import BadArchive, NotPossible
from batchui.backup.restoring import put_back
from batchui.batches import decisions, deleting, exporting, files, intake, results
from batchui.batches.models import Attempt, Batch
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.up import prepare
from batchui.up.errors import CannotStart
from batchui.worker import generation, installation_mark, tick
from batchui.worker.models import Installation
from tests.backup.conftest import kept_schemas
from tests.backup.restoring import facts, forget_workers, repack, restore, stored
from tests.batches.conftest import MakeBatch, counted, in_files, posts, rows, work
from tests.batches.picturing import LOOK, add_archive, archive, naming

pytestmark = pytest.mark.usefixtures("nobody_works")


def download(batch: Batch) -> bytes:
    return b"".join(exporting.csv_plain(batch))


# -- as it was ----------------------------------------------------------------------------------


def test_everything_is_as_it_was(
    sandbox: RunningSandbox, batch: Batch, receive: MakeBatch, files_in: Path, to: Path
) -> None:
    intake.ask_further(work(batch), by=None)
    receive("id,text\r\n1,Grüße — “quoted”, \\ and ,,\r\n2,\r\n".encode())
    before, contents, result = facts(), stored(files_in), download(batch)
    make(to)
    deleting.delete(batch, by=None)
    receive(rows(5))
    Team.objects.update(name="Renamed")
    done = restore(to)
    assert facts() == before
    assert stored(files_in) == contents
    assert download(batch) == result
    assert (done.asked, done.files, done.missing) == (0, len(contents), 0)


@pytest.mark.parametrize("inside", [False, True])
def test_pictures_are_as_they_were(
    sandbox: RunningSandbox, receive: MakeBatch, files_in: Path, to: Path, inside: bool
) -> None:
    photos, table = archive("a.jpg", table_csv=naming("a.jpg")), naming("a.jpg")
    batch = receive(photos, "shop.zip") if inside else receive(table)
    if not inside:
        add_archive(batch, photos)
    decisions.start(batch, by=None, ask=Ask(**LOOK), prepare_now=True)
    batch.refresh_from_db()
    work(batch)
    contents = stored(files_in)
    make(to)
    deleting.delete(batch, by=None)
    files.remove_batch_files(batch.pk)
    done = restore(to)
    assert stored(files_in) == contents
    assert (done.files, done.missing) == (len(contents), 0)


def test_nothing_that_may_have_been_sent_since_is_sent_again_until_a_person_decides(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    make(to)
    tick.run_tick()
    batch.refresh_from_db()
    assert (batch.status, posts(sandbox)) == (BatchStatus.FINISHED, 3)
    assert restore(to).asked == 3
    batch.refresh_from_db()
    assert (batch.status, counted(batch)) == (BatchStatus.ATTENTION, {})
    for _ in range(3):
        tick.run_tick()
    assert posts(sandbox) == 3
    first, second, third = batch.parts.order_by("number")
    assert {part.question for part in (first, second, third)} == {Question.RESTORED}
    assert first.message == making.came_from(str(making.check(to)["made_at"]))
    decisions.leave_out(first, by=None)
    decisions.send_again(second, by=None)
    decisions.leave_out(third, by=None)
    tick.run_tick()
    assert posts(sandbox) == 4
    assert counted(batch) == in_files(batch) == {"answered": 25, "missing": 35}


def test_the_rows_that_may_have_been_retried_since_are_those_of_the_backup(
    sandbox: RunningSandbox, start: MakeBatch, to: Path
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    batch = work(start(rows(10)))
    sandbox.script()
    make(to)
    files.remove_batch_files(batch.pk)  # nothing of it is there any more
    restore(to)
    perhaps = Attempt.objects.get(status=AttemptStatus.UNSURE)
    [failed] = [one.row for one in results.results(batch) if one.status == "failed"]
    assert (perhaps.items, perhaps.positions) == (1, [failed - batch.first_row])
    assert in_files(batch) == {"answered": 9, "failed": 1}


def test_work_goes_on_after_a_restore(
    sandbox: RunningSandbox, batch: Batch, start: MakeBatch, to: Path
) -> None:
    work(batch)
    make(to)
    restore(to)
    new = start(rows(30))
    tick.run_tick()
    assert counted(new) == in_files(new) == {"answered": 30}


def test_what_was_accepted_before_the_backup_is_fetched_and_nobody_is_asked(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    for part in batch.parts.all():
        tick.sending.send(part)
    make(to)
    assert restore(to).asked == 0
    tick.run_tick()
    assert counted(batch) == {"answered": 60}
    assert posts(sandbox) == 3


def test_a_backup_that_was_made_while_a_part_was_being_sent_is_safe(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    part = batch.parts.get(number=1)

    class SavesWhileItSends:
        """A Batch API in the middle of a POST."""

        def submit(self, model: str, body: bytes) -> Any:
            make(to)
            raise KeyboardInterrupt

    lease = timezone.now() + timedelta(minutes=5)
    assert tick.sending.lifecycle.move_part(part, PartStatus.SENDING, lease_until=lease)
    prepared = tick.sending.write_attempt(part)
    assert prepared is not None
    with pytest.raises(KeyboardInterrupt):
        tick.sending.post(SavesWhileItSends(), model="", body=b"")  # type: ignore[arg-type]
    assert restore(to).asked == 3
    part.refresh_from_db()
    assert (part.status, part.lease_until) == (PartStatus.UNSURE, None)


def test_a_backup_of_an_earlier_version_is_brought_up_to_date(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    call_command("migrate", "worker", "0002", verbosity=0)
    try:
        make(to)
    finally:
        call_command("migrate", verbosity=0)
    manifest = making.check(to)
    assert ("worker", "0004_installation") not in manifest["migrations"]
    tick.run_tick()
    assert restore(to).asked == 3
    assert Installation.objects.get().restored_at is not None
    call_command("migrate", check_unapplied=True, verbosity=0)  # exits if one is missing
    tick.run_tick()
    assert posts(sandbox) == 3


def test_a_backup_of_a_later_version_is_refused(
    team: Team, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repack(to, monkeypatch, migrations=[["worker", "0001_heartbeat"], ["worker", "0999_later"]])
    with pytest.raises(BadArchive, match=r"made by a newer batchui \(it has worker 0999_later\)"):
        restore(to)


# -- what was there -----------------------------------------------------------------------------


def test_what_was_there_is_kept_and_said(
    sandbox: RunningSandbox, batch: Batch, receive: MakeBatch, files_in: Path, to: Path, data: Path
) -> None:
    make(to)
    newer = receive(rows(5))
    contents = stored(files_in)
    done = restore(to)
    assert not Batch.objects.filter(pk=newer.pk).exists()
    [kept] = data.glob("before-restore-*")
    assert stored(kept / "files") == contents
    assert kept.stat().st_mode & 0o077 == 0
    if connection.vendor == "sqlite":
        assert done.kept == str(kept)
        path = kept / Path(connection.settings_dict["NAME"]).name
        with closing(sqlite3.connect(path)) as old:
            found = old.execute("SELECT count(*) FROM batches_batch").fetchone()
    else:
        [schema] = kept_schemas()
        assert done.kept == f"{kept} and the schema {schema} of the database"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {schema}.batches_batch")  # noqa: S608
            found = cursor.fetchone()
    assert found == (2,)
    assert not (data / ".restore").exists()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a file is put back by hand")
def test_what_was_kept_can_be_put_back_by_hand_and_is_known_for_a_copy(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path, data: Path
) -> None:
    make(to)
    for _ in range(9):  # so many sends later
        generation.keep_up()
    restore(to)
    for part in batch.parts.all():
        decisions.send_again(part, by=None)
    tick.run_tick()
    assert posts(sandbox) == 3
    [kept] = data.glob("before-restore-*")
    target = Path(connection.settings_dict["NAME"])
    connection.close()
    (kept / target.name).rename(target)
    tick.run_tick()
    assert posts(sandbox) == 3
    assert batch.parts.filter(question=Question.RESTORED).count() == 3


def test_the_files_know_at_once_to_which_database_they_belong(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path
) -> None:
    """A restore that is killed between two renames leaves files without their database."""
    make(to)
    restore(to)
    installation = Installation.objects.get()
    assert installation_mark.read_mark() == (installation.database_id, installation.generation)
    Installation.objects.all().delete()  # the empty database that a start would make
    with pytest.raises(CannotStart, match="has the files of another database"):
        prepare.prepare_database()


def test_what_a_killed_restore_left_goes_with_the_next(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path, data: Path
) -> None:
    make(to)
    left = data / ".restore" / "files" / "batches" / "left"
    left.mkdir(parents=True)
    restore(to)
    assert not (data / ".restore").exists()
    assert not (files_in / "batches" / "left").exists()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a file is copied")
def test_an_old_database_file_that_is_copied_back_sends_nothing_unasked(
    sandbox: RunningSandbox, batch: Batch, data: Path
) -> None:
    target = Path(connection.settings_dict["NAME"])
    generation.keep_up()
    connection.close()
    shutil.copyfile(target, data / "old.sqlite3")
    tick.run_tick()
    assert posts(sandbox) == 3
    connection.close()
    shutil.copyfile(data / "old.sqlite3", target)
    for _ in range(3):
        tick.run_tick()
    assert posts(sandbox) == 3
    assert batch.parts.filter(question=Question.RESTORED).count() == 3


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite has no such locks")
def test_a_restore_does_not_wait_for_ever_for_somebody_who_uses_the_tables(
    sandbox: RunningSandbox, batch: Batch, to: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(to)
    before = facts()
    monkeypatch.setattr(postgres, "LOCK_TIMEOUT", "100ms")
    forget_workers()
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT count(*) FROM batches_part")
        with pytest.raises(CommandError, match=r"Nothing was restored\. .*lock timeout"):
            call_command("restore", to, replace=True)
        cursor.execute("ROLLBACK")
    assert facts() == before
    assert in_files(work(batch)) == {"answered": 60}


def test_where_there_are_batches_nothing_is_restored_unasked(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path
) -> None:
    make(to)
    before, contents = facts(), stored(files_in)
    with pytest.raises(CommandError, match="There are batches here"):
        call_command("restore", to)
    assert (facts(), stored(files_in)) == (before, contents)


def test_an_empty_place_takes_a_backup_as_it_is(
    sandbox: RunningSandbox, batch: Batch, files_in: Path, to: Path
) -> None:
    work(batch)
    make(to)
    Batch.objects.all().delete()
    restore(to, replace=False)
    assert counted(batch) == in_files(batch) == {"answered": 60}


@pytest.mark.parametrize("moment", ["_become_a_copy", "keep", "put"])
def test_a_restore_that_fails_half_way_changes_nothing(
    sandbox: RunningSandbox,
    batch: Batch,
    files_in: Path,
    data: Path,
    to: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
) -> None:
    make(to, with_keys=True)
    settings.SECRET_KEY_FILE.write_text("another key")
    work(batch)
    before, contents = facts(), stored(files_in)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as during:
        if moment == "_become_a_copy":
            during.setattr(restoring, moment, full)
        else:
            real = getattr(Swap, moment)

            def fails(self: Swap, *paths: Path) -> None:
                real(self, *paths)
                if paths[-1].name == "secret-key":  # after the files
                    full()

            during.setattr(Swap, moment, fails)
        forget_workers()
        with pytest.raises(CommandError, match=r"Nothing was restored\. .*No space left"):
            call_command("restore", to, replace=True)
    assert (facts(), stored(files_in)) == (before, contents)
    assert settings.SECRET_KEY_FILE.read_text() == "another key"
    assert not list(data.glob("before-restore-*"))
    assert not (data / ".restore").exists()
    assert kept_schemas() == []
    assert in_files(batch) == {"answered": 60}


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a log beside a file")
def test_the_log_of_the_old_database_is_not_applied_to_the_new_one(
    sandbox: RunningSandbox, batch: Batch, to: Path, data: Path
) -> None:
    make(to)
    target = Path(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(target)) as other:  # which keeps the log from being removed
        other.execute("SELECT count(*) FROM batches_batch").fetchone()
        Batch.objects.update(name="x" * 100)
        restore(to)
        connection.close()
        [log] = data.glob(f"before-restore-*/{target.name}-wal")
        assert log.stat().st_size > 0
        assert not target.with_name(f"{target.name}-wal").exists()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check")
        assert cursor.fetchone() == ("ok",)
    assert Batch.objects.get().name == "texts"


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="a file is damaged")
def test_a_database_that_cannot_be_read_any_more_can_be_replaced(
    sandbox: RunningSandbox, batch: Batch, to: Path
) -> None:
    make(to)
    connection.close()
    Path(connection.settings_dict["NAME"]).write_bytes(b"not a database " * 1000)
    with pytest.raises(NotPossible, match="There are batches here"):
        put_back(to)
    put_back(to, replace=True)
    assert Batch.objects.get() == batch
