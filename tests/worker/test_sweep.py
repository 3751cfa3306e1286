"""What the sweep removes, and what outlives it."""

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches import files, uploads
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from batchui.worker import heartbeat, installation_mark, sweep
from batchui.worker.models import Heartbeat, Installation
from tests.batches.conftest import MakeBatch, on_record, rows, work
from tests.worker.conftest import kept_in_cache

pytestmark = pytest.mark.django_db


def ago(**how_long: float) -> datetime:
    return timezone.now() - timedelta(**how_long)


def remain() -> list[Batch]:
    """The batches in the history after a sweep."""
    sweep.sweep()
    return list(Batch.objects.filter(deleted_at=None))


def is_stored(batch: Batch) -> bool:
    try:
        files.open_file(batch.source_file).close()
    except FileNotFoundError:
        return False
    return True


def test_files_that_cannot_be_removed_do_not_keep_the_others(
    team: Team,
    receive: MakeBatch,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    other, stuck = receive(rows(5)), receive(rows(5))  # the newest comes first
    Batch.objects.update(deleted_at=ago(hours=2))
    remove = files.remove_batch_files

    def refused(batch_id: object) -> None:
        if batch_id == stuck.pk:
            raise OSError(16, "Device or resource busy")
        remove(batch_id)

    with monkeypatch.context() as during:
        during.setattr(files, "remove_batch_files", refused)
        sweep.sweep()
    stuck.refresh_from_db()
    other.refresh_from_db()
    assert (stuck.files_removed, other.files_removed) == (False, True)
    [line] = [one.getMessage() for one in caplog.records if one.name == sweep.__name__]
    busy = "[Errno 16] Device or resource busy"
    assert line == f"The files of batch {stuck.pk} cannot be removed: {busy}"
    sweep.sweep()
    assert not is_stored(stuck)


# -- drafts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(set(BatchStatus) - {BatchStatus.DRAFT}))
def test_what_was_started_is_never_swept_away(team: Team, status: BatchStatus) -> None:
    batch = on_record(team, status=status, created_at=ago(days=400))
    assert remain() == [batch]


@pytest.mark.parametrize(("days", "stays"), [(1, True), (29, True), (31, False)])
def test_a_draft_is_kept_for_thirty_days(team: Team, days: int, stays: bool) -> None:
    batch = on_record(team, status=BatchStatus.DRAFT, created_at=ago(days=days))
    assert remain() == [batch] * stays


def test_an_old_draft_goes_with_its_files(sandbox: RunningSandbox, receive: MakeBatch) -> None:
    batch = receive(rows(5))
    Batch.objects.update(created_at=ago(days=31))
    assert remain() == []
    assert is_stored(batch)  # for whoever has its page open
    Batch.objects.update(deleted_at=ago(hours=2))
    sweep.sweep()
    assert not is_stored(batch)


# -- deleted batches ----------------------------------------------------------------------------


def test_when_something_was_deleted_is_noted_once(team: Team) -> None:
    deleted_at = ago(minutes=30)
    on_record(team, status=BatchStatus.DRAFT, created_at=ago(days=31), deleted_at=deleted_at)
    sweep.sweep()
    assert Batch.objects.get().deleted_at == deleted_at


@pytest.mark.parametrize(("minutes", "stays"), [(5, True), (59, True), (61, False)])
def test_the_files_of_a_deleted_batch_outlive_it_by_an_hour(
    sandbox: RunningSandbox, start: MakeBatch, minutes: int, stays: bool
) -> None:
    batch = work(start(rows(5)))
    part = batch.parts.get()
    Batch.objects.update(
        deleted_at=ago(minutes=minutes), sample=["a row"], problem_rows=[{"row": 1}]
    )
    sweep.sweep()
    batch.refresh_from_db()
    assert is_stored(batch) is batch.parts.filter(pk=part.pk).exists() is stays
    assert batch.files_removed is not stays
    assert bool(batch.sample or batch.problem_rows) is stays


def test_what_a_deleted_batch_asked_goes_with_its_files_and_its_name_stays(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    canary = "canary of 7 birds"
    batch = work(
        start(f"id,{canary}\n1,{canary}\n".encode(), template=f"{canary} {{{{{canary}}}}}")
    )
    Batch.objects.update(
        name="May",
        instruction=canary,
        options={"x": canary},
        reference_column=canary,
        deleted_at=ago(hours=2),
    )
    sweep.sweep()
    left = Batch.objects.filter(pk=batch.pk).values().get()
    assert canary not in str(left)
    assert (left["name"], left["status"]) == ("May", "finished")
    assert not batch.events.exists()


def test_sessions_that_have_run_out_are_removed_once_a_day(db: None) -> None:
    Session.objects.create(session_key="old", session_data="", expire_date=ago(days=1))
    Session.objects.create(session_key="new", session_data="", expire_date=ago(days=-1))
    sweep.sweep()
    assert [one.session_key for one in Session.objects.all()] == ["new"]


def test_files_are_removed_once_and_fifty_batches_at_a_time(team: Team) -> None:
    for _ in range(sweep.AT_ONCE + 1):
        on_record(team, parts=0, deleted_at=ago(hours=2))
    sweep.sweep()
    assert Batch.objects.filter(files_removed=True).count() == 50
    first = Batch.objects.filter(files_removed=True).first()
    assert first is not None
    kept = files.source_path(first.pk)
    files.save(kept, ContentFile(b"stored again"))
    sweep.sweep()
    assert Batch.objects.filter(files_removed=True).count() == 51
    files.open_file(kept).close()


# -- files of no batch --------------------------------------------------------------------------

ORPHAN = "00000000-0000-4000-8000-000000000000"


def leave(folder: str, ending: str = "") -> str:
    """A file in a folder, as a crash in the middle of an upload leaves it. Returns its name."""
    name = f"{files.source_path(folder)}{ending}"
    files.save(name, ContentFile(b"left by a crash"))
    return name


def test_an_upload_that_is_just_coming_in_is_no_orphan(team: Team) -> None:
    name = leave(ORPHAN)
    sweep.remove_orphans()
    on_record(team, id=ORPHAN)  # now it has its batch
    sweep.remove_orphans()
    sweep.remove_orphans()
    files.open_file(name).close()


def test_folders_that_are_no_ids_of_batches_are_left_alone(team: Team) -> None:
    names = [leave(folder) for folder in ("lost+found", ORPHAN.replace("-", ""), "notes")]
    for _ in range(3):
        sweep.remove_orphans()
    for name in names:
        files.open_file(name).close()


def look_daily(times: int = 3) -> None:
    """Sweep as often, a day apart."""
    for _ in range(times):
        cache.delete("looked-for-orphans")
        sweep.sweep()


def test_what_a_crash_left_of_an_upload_goes(team: Team) -> None:
    name = leave(ORPHAN)
    look_daily()
    with pytest.raises(FileNotFoundError):
        files.open_file(name)


def test_a_batch_of_another_database_is_never_taken_for_an_upload(
    team: Team, files_in: Path
) -> None:
    name = leave(ORPHAN)
    files.save(f"batches/{ORPHAN}/parts/1/rows-1.jsonl.zst", ContentFile(b"rows"))
    look_daily()
    files.open_file(name).close()


def test_where_the_files_belong_to_another_database_none_of_them_is_removed(
    team: Team, files_in: Path
) -> None:
    name = leave(ORPHAN)
    (files_in / installation_mark.MARK).write_text("another-database 7\n")
    look_daily()
    files.open_file(name).close()
    (files_in / installation_mark.MARK).write_text(f"{Installation.here().database_id} 1\n")
    look_daily()
    with pytest.raises(FileNotFoundError):
        files.open_file(name)


@pytest.mark.parametrize(("hours", "stays"), [(1, False), (-1, True)])
@pytest.mark.parametrize("ending", ["", uploads.COMPRESSED])
def test_an_upload_that_a_copy_of_the_database_does_not_know_stays(
    team: Team, hours: float, stays: bool, ending: str
) -> None:
    name = leave(ORPHAN, ending)
    Installation.here()
    Installation.objects.update(restored_at=ago(hours=hours))
    look_daily()
    if stays:
        files.open_file(name).close()
    else:
        with pytest.raises(FileNotFoundError):
            files.open_file(name)


def test_an_upload_that_is_as_old_as_a_copy_of_the_database_stays(team: Team) -> None:
    name = leave(ORPHAN)
    Installation.here()
    Installation.objects.update(restored_at=default_storage.get_modified_time(name))
    look_daily()
    files.open_file(name).close()


def test_an_upload_with_pictures_that_are_older_than_a_copy_of_the_database_stays(
    team: Team, files_in: Path
) -> None:
    name = leave(ORPHAN)
    pictures = files.picture_archive_path(ORPHAN)
    files.save(pictures, ContentFile(b"pictures"))
    two_hours_ago = ago(hours=2).timestamp()
    os.utime(files_in / pictures, (two_hours_ago, two_hours_ago))
    Installation.here()
    Installation.objects.update(restored_at=ago(hours=1))
    look_daily()
    files.open_file(name).close()


@pytest.mark.parametrize("folder", ["", "source"])
def test_a_folder_of_a_copy_without_an_upload_stays(
    team: Team, files_in: Path, folder: str
) -> None:
    Installation.here()
    Installation.objects.update(restored_at=ago(hours=1))
    (files_in / "batches" / ORPHAN / folder).mkdir(parents=True)
    look_daily()
    assert (files_in / "batches" / ORPHAN).exists()


def test_a_folder_that_cannot_be_read_does_not_end_the_tidying_of_the_day(
    team: Team, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stuck, other = leave(ORPHAN), leave(ORPHAN[:-1] + "1")
    look_daily(1)
    listed = files.DurableFileSystemStorage.listdir

    def refused(storage: Any, path: str) -> Any:
        if path == f"batches/{ORPHAN}":
            raise PermissionError(13, "Permission denied")
        return listed(storage, path)

    Session.objects.create(session_key="old", session_data="", expire_date=ago(days=1))
    with monkeypatch.context() as during:
        during.setattr(files.DurableFileSystemStorage, "listdir", refused)
        look_daily(1)
    files.open_file(stuck).close()  # who knows what is in its folder
    assert not Session.objects.exists()
    with pytest.raises(FileNotFoundError):
        files.open_file(other)
    [line] = [one.getMessage() for one in caplog.records if one.name == sweep.__name__]
    denied = "[Errno 13] Permission denied"
    assert line == f"The files of batch {ORPHAN} cannot be tidied: {denied}"
    look_daily(1)  # it was seen before, and can be read again
    with pytest.raises(FileNotFoundError):
        files.open_file(stuck)


def test_while_a_backup_is_made_no_file_is_removed(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    batch = receive(rows(5))
    orphan = leave(ORPHAN)
    Batch.objects.update(deleted_at=ago(hours=2))
    one, other = sweep.new_backup_name(), sweep.new_backup_name()
    sweep.keep_files(one)
    sweep.keep_files(other)
    sweep.allow_removal(one)  # it has ended, and the other goes on
    look_daily()
    assert is_stored(batch)
    files.open_file(orphan).close()
    sweep.allow_removal(other)
    look_daily()
    assert not is_stored(batch)
    with pytest.raises(FileNotFoundError):
        files.open_file(orphan)


@pytest.mark.parametrize(("minutes", "stays"), [(59, True), (61, False)])
def test_a_backup_that_died_keeps_files_for_an_hour(
    sandbox: RunningSandbox, receive: MakeBatch, minutes: int, stays: bool
) -> None:
    batch = receive(rows(5))
    Batch.objects.update(deleted_at=ago(hours=2))
    name = sweep.new_backup_name()
    sweep.keep_files(name)
    Heartbeat.objects.filter(name=name).update(at=ago(minutes=minutes))
    sweep.sweep()
    assert is_stored(batch) is stays
    sweep.keep_files(name)  # it lives after all
    assert Heartbeat.objects.get(name=name).at > ago(minutes=1)


def test_a_worker_that_lives_keeps_no_sweep_from_its_work(
    sandbox: RunningSandbox, receive: MakeBatch
) -> None:
    batch = receive(rows(5))
    Batch.objects.update(deleted_at=ago(hours=2))
    heartbeat.beat()
    sweep.sweep()
    assert not is_stored(batch)


def test_files_of_no_batch_are_looked_for_once_a_day(team: Team) -> None:
    name = leave(ORPHAN)
    for _ in range(3):
        sweep.sweep()
    files.open_file(name).close()
    cache.delete("looked-for-orphans")  # as a day later
    sweep.sweep()
    with pytest.raises(FileNotFoundError):
        files.open_file(name)


def test_what_the_last_look_saw_is_remembered_until_the_next_and_not_for_ever(team: Team) -> None:
    leave(ORPHAN)
    sweep.sweep()
    until_next_look = kept_in_cache("looked-for-orphans")
    assert timedelta(hours=23) < until_next_look <= timedelta(hours=24)
    assert 2 * until_next_look < kept_in_cache(sweep.SEEN_BEFORE) <= timedelta(days=3)


def test_where_nothing_is_stored_yet_there_is_nothing_to_sweep(team: Team, files_in: Any) -> None:
    assert not files_in.exists()
    sweep.remove_orphans()
