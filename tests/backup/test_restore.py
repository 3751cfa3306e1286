"""`manage.py restore`: everything as it was, and nothing is paid for twice in silence."""

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from batchui.backup import alone, making, postgres, restoring
from batchui.backup.archive import Writer
from batchui.backup.aside import Swap
from batchui.backup.making import make
from batchui.backup.problems import BadArchive, NotPossible
from batchui.backup.restoring import PutBack, put_back
from batchui.batches import decisions, exporting, files, results
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.keys import new_fernet_key
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import crypto
from batchui.teams.models import Connection, Team, User
from batchui.up import prepare
from batchui.up import start as start_up
from batchui.up.errors import CannotStart
from batchui.worker import generation, heartbeat, tick
from batchui.worker.models import Heartbeat, Installation
from tests.backup.conftest import kept_schemas
from tests.batches.conftest import MakeBatch, counted, in_files, posts, rows, work

NOT_READY = {
    "sqlite": "There is no batchui in the data folder",
    "postgresql": "The database cannot be (used|read)",
}
PARTS = (Batch, Part, Attempt, User, Team, Connection)


@pytest.fixture(autouse=True)
def nobody_works(transactional_db: None) -> Iterator[None]:
    """No worker showed a sign of life in the last minute."""
    Heartbeat.objects.all().delete()
    yield
    connection.close()


def forget_workers() -> None:
    """A minute passes, in which no worker runs."""
    Heartbeat.objects.all().delete()


def facts() -> dict[str, list[dict[str, Any]]]:
    """Everything that the database says of batches and people."""
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in PARTS}


def stored(folder: Path) -> dict[str, bytes]:
    """Every file of batches, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in (folder / "batches").rglob("*")
        if path.is_file()
    }


def download(batch: Batch) -> bytes:
    return b"".join(exporting.csv_plain(batch))


def restore(path: Path, *, replace: bool = True) -> PutBack:
    forget_workers()
    return put_back(path, replace=replace)


# -- as it was ----------------------------------------------------------------------------------


def test_everything_is_as_it_was(
    sandbox: RunningSandbox, batch: Batch, receive: MakeBatch, files_in: Path, to: Path
) -> None:
    work(batch)
    receive("id,text\r\n1,Grüße — “quoted”, \\ and ,,\r\n2,\r\n".encode())
    before, contents, result = facts(), stored(files_in), download(batch)
    make(to)
    decisions.delete(batch, by=None)
    receive(rows(5))
    Team.objects.update(name="Renamed")
    done = restore(to)
    assert facts() == before
    assert stored(files_in) == contents
    assert download(batch) == result
    assert (done.asked, done.files, done.missing) == (0, len(contents), 0)


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
    assert (perhaps.items, perhaps.positions) == (1, [failed - 1])
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


def repack(to: Path, monkeypatch: pytest.MonkeyPatch, **facts: Any) -> None:
    """Make a backup whose manifest says something else."""
    with monkeypatch.context() as during:
        close = Writer.close
        during.setattr(Writer, "close", lambda self, **known: close(self, **{**known, **facts}))
        make(to)


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
    assert generation.read_mark() == (installation.database_id, installation.generation)
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


# -- what is refused ----------------------------------------------------------------------------


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


# -- keys ---------------------------------------------------------------------------------------


@pytest.fixture
def account(team: Team) -> Connection:
    return Connection.objects.create(
        team=team,
        kind=Connection.Kind.REST,
        account_id="0123",
        base_url="https://api.example.com",
        token_encrypted=crypto.encrypt("token"),
    )


def said(capsys: pytest.CaptureFixture[str], to: Path) -> str:
    forget_workers()
    call_command("restore", to, replace=True)
    return capsys.readouterr().out


def test_the_keys_of_a_backup_are_put_back_and_the_others_kept(
    account: Connection, to: Path, data: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    key = settings.ENCRYPTION_KEY_FILE.read_text()
    make(to, with_keys=True)
    other = new_fernet_key()
    settings.ENCRYPTION_KEY_FILE.write_text(other)
    assert "cannot be read" not in said(capsys, to)
    assert settings.ENCRYPTION_KEY_FILE.read_text() == key
    assert settings.ENCRYPTION_KEY_FILE.stat().st_mode & 0o777 == 0o600
    [kept] = data.glob("before-restore-*")
    assert (kept / "encryption-key").read_text() == other


@pytest.mark.parametrize("here", ["another", "none", "the same"])
def test_a_token_that_the_keys_here_cannot_read_is_said(
    account: Connection, to: Path, settings: Any, capsys: pytest.CaptureFixture[str], here: str
) -> None:
    make(to)
    if here == "another":
        settings.ENCRYPTION_KEY_FILE.write_text(new_fernet_key())
    elif here == "none":
        settings.ENCRYPTION_KEY_FILE.unlink()
    told = said(capsys, to)
    warned = "1 API token cannot be read: the key is another one than that of the backup" in told
    assert warned is (here != "the same")


def test_keys_of_the_environment_outweigh_those_of_a_backup(
    account: Connection, to: Path, data: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    make(to, with_keys=True)
    settings.SECRET_KEY_FILE = settings.ENCRYPTION_KEY_FILE = None
    told = said(capsys, to)
    assert "The keys of the backup are not used: the environment has others." in told
    assert "cannot be read" not in told
    settings.ENCRYPTION_KEYS = [new_fernet_key()]
    assert "1 API token cannot be read" in said(capsys, to)


# -- what is said -------------------------------------------------------------------------------


def test_what_to_know_and_what_to_do_is_said(
    sandbox: RunningSandbox, batch: Batch, to: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(to)
    told = said(capsys, to).splitlines()
    assert told[0].startswith("Restored: 4 files and the database. It is the backup of ")
    assert told[1].startswith("3 parts may have been sent since. They wait for a decision")
    assert told[2].startswith("People, passwords and invitations are as they were then")
    assert told[3].startswith("What was here before is kept: ")
    assert told[4:] == ["Now start batchui: python3 manage.py up"]


def test_a_machine_that_was_put_back_as_a_whole_is_told(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("restored")
    assert capsys.readouterr().out.startswith("3 parts may have been sent since.")
    tick.run_tick()
    assert posts(sandbox) == 0
    message = "This machine was put back to an earlier state."
    assert set(batch.parts.values_list("message", flat=True)) == {message}


def test_who_says_it_again_is_told_of_the_parts_that_wait_for_a_decision_already(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> str:
        call_command("restored")
        return capsys.readouterr().out.strip()

    told()
    wait = "for a decision on the page “Batches” already."
    assert told() == f"No other part waits to be sent. 3 parts wait {wait}"
    batch.parts.filter(number__gt=1).update(status=PartStatus.STOPPED)
    assert told() == f"No other part waits to be sent. 1 part waits {wait}"
    Batch.objects.update(deleted_at=timezone.now())
    assert told() == "No part waits to be sent, so nothing has to be decided."


def test_beside_the_files_of_another_database_nothing_is_noted(
    sandbox: RunningSandbox, batch: Batch, files_in: Path
) -> None:
    generation.keep_up()
    mark = (files_in / generation.MARK).read_bytes()
    (files_in / generation.MARK).write_text("another-database 7\n")
    with pytest.raises(CommandError, match=r"Nothing was noted\. .*files of another database"):
        call_command("restored")
    (files_in / generation.MARK).write_bytes(mark)
    tick.run_tick()  # with the right files again
    assert posts(sandbox) == 3
    assert not batch.parts.filter(question=Question.RESTORED).exists()


@pytest.mark.parametrize("command", ["restored", "backup", "doctor", "setup_link", "sign_in_link"])
def test_where_there_is_no_batchui_it_is_said_and_nothing_is_made(
    tmp_path: Path, to: Path, command: str
) -> None:
    before = connection.settings_dict["NAME"]
    connection.close()
    nothing = tmp_path / "nothing.sqlite3" if connection.vendor == "sqlite" else "nothing"
    connection.settings_dict["NAME"] = str(nothing)
    try:
        with pytest.raises(CommandError, match=NOT_READY[connection.vendor]):
            call_command(command, *([to] if command == "backup" else []))
        assert not Path(nothing).exists()
        assert not to.exists()
    finally:
        connection.close()
        connection.settings_dict["NAME"] = before


def test_up_tells_a_machine_that_was_put_back_before_anything_starts(
    sandbox: RunningSandbox, batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = start_up.parse(["--restored"])
    assert not start_up.parse([]).restored
    prepare.prepare_database(restored=asked.restored)
    assert capsys.readouterr().out.startswith("3 parts may have been sent since.")
    tick.run_tick()
    assert posts(sandbox) == 0
    prepare.prepare_database()
    assert capsys.readouterr().out == ""
