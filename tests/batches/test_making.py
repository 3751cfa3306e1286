"""Exports: downloads that have to be whole, made at once or by a worker, and kept for a day."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from batchui.batches import files, long_tasks, making, upload_limits
from batchui.batches.compressed import IF_DAMAGED, DamagedFile
from batchui.batches.export_models import Export, ExportStatus
from batchui.batches.exporting import Choice, Kind
from batchui.batches.long_tasks import StoppedError
from batchui.batches.models import Batch
from batchui.batches.whole_files import KINDS
from batchui.prompts.problems import BadInput
from batchui.teams.models import User
from tests.batches.conftest import MakeBatch, rows
from tests.batches.read_back import by_calamine

pytestmark = pytest.mark.django_db

ALL = Choice()
FEW = Choice(only="answered", columns=("id",), answer="mood")


@pytest.fixture
def batch(start: MakeBatch) -> Batch:
    return start(rows(4))


@pytest.fixture
def waiting(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> Export:
    """A workbook that a worker is to make, and tells of each row."""
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    return making.ask_for(batch, "xlsx", ALL, by=None)


def again(export: Export) -> Export:
    export.refresh_from_db()
    return export


def with_kind(monkeypatch: pytest.MonkeyPatch, write: Callable[..., list[str]]) -> None:
    """Let workbooks be made by another function."""
    monkeypatch.setitem(KINDS, "xlsx", Kind("Workbook", "text/plain", "xlsx", write=write))


def test_a_small_one_is_made_at_once(batch: Batch, ana: User, woken: list[Batch]) -> None:
    export = making.ask_for(batch, "xlsx", FEW, by=ana)
    assert export.is_ready
    assert (export.batch, export.batch_version) == (batch, batch.version)
    assert (export.kind, export.created_by, export.rows) == ("xlsx", ana, 0)
    assert Choice.from_dict(export.choice) == FEW
    assert (export.epoch, export.begun, export.lease_until) == (1, 1, None)
    assert (export.notes, export.problem) == ([], "")
    assert export.finished_at is not None
    assert abs(timezone.now() - export.finished_at) < timedelta(minutes=1)
    assert export.file == f"batches/{batch.pk}/exports/{export.pk}-1"
    with files.open_file(export.file) as stored:
        content = stored.read()
    assert export.size == len(content)
    assert by_calamine(content) == [["id", "mood", "status", "error"]]
    assert woken == []


@pytest.mark.parametrize(
    ("name", "of"), [("MADE_AT_ONCE_ROWS", "rows"), ("MADE_AT_ONCE_BYTES", "source_size")]
)
def test_a_larger_one_waits_for_a_worker(
    batch: Batch, woken: list[Batch], monkeypatch: pytest.MonkeyPatch, name: str, of: str
) -> None:
    monkeypatch.setattr(making, name, getattr(batch, of) - 1)
    export = making.ask_for(batch, "xlsx", ALL, by=None)
    assert (export.is_waiting, export.rows, export.rows_done, export.begun) == (True, 4, 0, 0)
    assert woken == [batch]
    monkeypatch.setattr(making, name, getattr(batch, of))
    assert making.ask_for(batch, "ods", ALL, by=None).is_ready
    assert woken == [batch]


def test_what_waits_or_was_just_made_is_not_made_again(waiting: Export, batch: Batch) -> None:
    def asked(kind: str = "xlsx", choice: Choice = ALL) -> Export:
        return making.ask_for(batch, kind, choice, by=None)

    assert asked() == waiting
    Batch.objects.update(version=batch.version + 1)
    batch.refresh_from_db()
    assert asked() == waiting, "it has what came in until it is made"
    making.make(waiting.pk)
    newer = asked()
    assert newer != waiting
    making.make(newer.pk)
    assert asked() == newer
    assert asked("ods") not in (waiting, newer)
    assert asked(choice=FEW) not in (waiting, newer)
    other = Batch.objects.get(pk=batch.pk)
    other.pk = uuid4()
    other.save(force_insert=True)
    assert making.ask_for(other, "xlsx", ALL, by=None) != newer
    for age, is_same in ((timedelta(minutes=9), True), (timedelta(minutes=10), False)):
        Export.objects.filter(pk=newer.pk).update(created_at=timezone.now() - age)
        assert (asked() == newer) is is_same


def test_one_that_failed_is_made_again(waiting: Export, batch: Batch) -> None:
    Export.objects.update(status=ExportStatus.FAILED)
    assert making.ask_for(batch, "xlsx", ALL, by=None) != waiting


def test_those_of_a_day_are_kept_the_latest_first(
    batch: Batch, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
    now = timezone.now()
    hours = {"xlsx": 5, "ods": 1, "parquet": 23.9, "json": 24, "csv": 2}
    for kind, ago in hours.items():
        export = making.ask_for(batch, kind, ALL, by=None)
        when = now - timedelta(hours=ago)
        status = ExportStatus.FAILED if kind == "csv" else ExportStatus.READY
        Export.objects.filter(pk=export.pk).update(created_at=when, status=status)
    assert [export.kind for export in making.kept(batch)] == ["ods", "xlsx", "parquet"]
    assert not making.kept(start(rows(1))).exists()


def test_the_oldest_that_no_worker_has_is_next(
    batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "MADE_AT_ONCE_ROWS", 0)
    now = timezone.now()
    found = {}
    for minutes, kind in enumerate(("xlsx", "ods", "parquet")):
        found[kind] = making.ask_for(batch, kind, ALL, by=None)
        created = now + timedelta(minutes=minutes)
        Export.objects.filter(pk=found[kind].pk).update(created_at=created)
    assert making.next_unclaimed() == found["xlsx"]
    mine = Export.objects.filter(pk=found["xlsx"].pk)
    mine.update(lease_until=now + timedelta(minutes=1))
    assert making.next_unclaimed() == found["ods"]
    mine.update(lease_until=now - timedelta(seconds=1))
    assert making.next_unclaimed() == found["xlsx"]
    mine.update(status=ExportStatus.READY)
    assert making.next_unclaimed() == found["ods"]
    assert making.has_unclaimed()
    Batch.objects.update(deleted_at=now)
    assert making.next_unclaimed() is None
    assert not making.has_unclaimed()


def test_a_worker_tells_how_far_it_is_and_that_it_lives(waiting: Export) -> None:
    beats: list[Export] = []

    def beat() -> None:
        beats.append(Export.objects.get())

    making.make(waiting.pk, beat=beat)
    [then] = beats
    assert (then.status, then.rows_done) == (ExportStatus.WAITING, 4)
    assert then.lease_until is not None
    left = then.lease_until - timezone.now()
    assert timedelta(minutes=1, seconds=50) < left <= timedelta(minutes=2)
    assert again(waiting).is_ready


def test_it_is_not_told_more_often_than_people_can_read(
    waiting: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 3_600)
    making.make(waiting.pk, beat=lambda: pytest.fail("told at once"))
    assert (again(waiting).is_ready, waiting.rows_done) == (True, 0)


def test_whoever_makes_it_has_a_lease_of_two_minutes(
    waiting: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = []

    def write(batch: Batch, choice: Choice, target: Path, progress: Any) -> list[str]:
        leases.append(Export.objects.get().lease_until)
        target.touch()
        return []

    with_kind(monkeypatch, write)
    making.make(waiting.pk)
    [lease] = leases
    assert lease is not None
    assert timedelta(seconds=110) < lease - timezone.now() <= timedelta(seconds=120)


def test_what_another_worker_has_is_left_to_it(waiting: Export) -> None:
    making.make(uuid4())
    soon = timezone.now() + timedelta(minutes=1)
    Export.objects.update(lease_until=soon, epoch=3)
    making.make(waiting.pk)
    assert (again(waiting).is_waiting, waiting.epoch, waiting.begun) == (True, 3, 0)
    Export.objects.update(lease_until=None, status=ExportStatus.FAILED)
    making.make(waiting.pk)
    assert (again(waiting).status, waiting.epoch) == (ExportStatus.FAILED, 3)


def test_a_worker_that_lost_its_lease_changes_nothing_more(waiting: Export) -> None:
    def beat() -> None:
        pytest.fail("it is another worker's now")

    def write(batch: Batch, choice: Choice, target: Path, progress: Any) -> list[str]:
        Export.objects.update(epoch=7, begun=2)
        progress(1)
        return []

    with pytest.MonkeyPatch.context() as patched:
        with_kind(patched, write)
        making.make(waiting.pk, beat=beat)
    assert (again(waiting).is_waiting, waiting.epoch, waiting.begun) == (True, 7, 2)
    assert waiting.rows_done == 0


def test_a_worker_that_is_stopped_gives_it_back(waiting: Export, woken: list[Batch]) -> None:
    def stop() -> None:
        raise StoppedError

    woken.clear()
    making.make(waiting.pk, beat=stop)
    assert (again(waiting).is_waiting, waiting.lease_until, waiting.begun) == (True, None, 0)
    assert woken == [waiting.batch]
    assert making.next_unclaimed() == waiting


def test_a_worker_that_died_leaves_it_to_another(waiting: Export) -> None:
    ago = timezone.now() - timedelta(minutes=3)
    Export.objects.update(epoch=4, begun=2, lease_until=ago)
    making.make(waiting.pk)
    assert (again(waiting).status, waiting.epoch, waiting.begun) == (ExportStatus.READY, 5, 3)


def test_one_that_never_ends_is_given_up(waiting: Export) -> None:
    Export.objects.update(begun=3)
    making.make(waiting.pk)
    assert again(waiting).status == ExportStatus.FAILED
    assert waiting.problem.startswith("batchui began to make this file 3 times")
    assert (waiting.file, waiting.lease_until) == ("", None)
    assert waiting.finished_at is not None


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (BadInput("Too wide."), "Too wide."),
        (DamagedFile("It is damaged."), f"It is damaged. {IF_DAMAGED}"),
        (
            RuntimeError("odd"),
            "batchui could not make this file, because of a mistake in batchui. Tell the person "
            "who runs batchui: the log says more.",
        ),
    ],
)
def test_why_there_is_no_file_is_said(
    waiting: Export, monkeypatch: pytest.MonkeyPatch, problem: Exception, sentence: str
) -> None:
    def fail(*_: object) -> list[str]:
        raise problem

    with_kind(monkeypatch, fail)
    making.make(waiting.pk)
    assert (again(waiting).status, waiting.problem) == (ExportStatus.FAILED, sentence)
    assert (waiting.lease_until, waiting.file, waiting.size) == (None, "", 0)
    assert waiting.finished_at is not None


def test_nothing_is_made_where_the_disk_is_nearly_full(
    waiting: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    making.make(waiting.pk)
    assert again(waiting).status == ExportStatus.FAILED
    assert waiting.problem == str(upload_limits.nearly_full("made"))
    assert not waiting.file


def test_what_a_person_should_know_about_the_file_is_kept(
    waiting: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(batch: Batch, choice: Choice, target: Path, progress: Any) -> list[str]:
        target.write_bytes(b"made")
        return ["One text is cut."]

    with_kind(monkeypatch, write)
    making.make(waiting.pk)
    assert (again(waiting).notes, waiting.size) == (["One text is cut."], 4)


def test_any_kind_can_be_written_to_a_file(batch: Batch, tmp_path: Path) -> None:
    target = tmp_path / "made"
    assert making.write(batch, "csv-plain", FEW, target) == []
    assert target.read_bytes() == b"id,mood,status,error\r\n"
    assert making.write(batch, "xlsx", ALL, target) == []
    assert by_calamine(target.read_bytes())[0] == ["id", "text", "answer", "status", "error"]
    with pytest.raises(BadInput, match=r"^This batch did not come from an Excel workbook\. Cho"):
        making.write(batch, "workbook", ALL, target)


def test_a_sheet_without_room_for_the_columns_is_bad_input(
    start: MakeBatch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("batchui.exports.sheets.MOST_COLUMNS", 4)
    with pytest.raises(BadInput, match=r"there are 5 columns\. A spreadsheet has room for 4"):
        making.write(start(rows(1)), "ods", ALL, tmp_path / "made")
