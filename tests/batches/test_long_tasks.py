"""Files that wait to be read: who reads them, and how a long reading keeps its place."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from batchui.batches import checking, decisions, lifecycle, long_tasks, preparing
from batchui.batches.long_tasks import (
    LeaseLostError,
    StoppedError,
    has_unclaimed,
    next_unclaimed,
    progress_of,
)
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.cloudflare.catalogue import UnknownModel
from batchui.prompts.ask import Ask
from batchui.prompts.problems import BadInput
from batchui.teams.models import Team, User
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, on_record, rows

pytestmark = pytest.mark.django_db

LARGE = long_tasks.SMALL_BYTES + 1
READ = (BatchStatus.CHECKING, BatchStatus.PREPARING)


def ago(seconds: float) -> datetime:
    return timezone.now() - timedelta(seconds=seconds)


def waits(team: Team, status: BatchStatus, **fields: Any) -> bool:
    """Whether a worker would read a batch with these fields."""
    since = {"created_at": timezone.now(), "started_at": timezone.now()}
    batch = on_record(team, parts=0, status=status, **since | fields)
    found = next_unclaimed() == batch
    assert has_unclaimed() is found
    return found


# -- which are read -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", READ)
def test_a_large_file_is_read_by_a_worker_at_once(team: Team, status: BatchStatus) -> None:
    assert waits(team, status, source_size=LARGE)


@pytest.mark.parametrize("status", READ)
def test_a_small_file_is_left_for_a_second_to_who_brought_it(
    team: Team, status: BatchStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine with much other work may take a second from here to the query.
    monkeypatch.setattr(long_tasks, "READ_WITHIN", timedelta(minutes=1))
    assert not waits(team, status, source_size=LARGE - 1)


def test_one_small_file_at_a_time_is_read_in_a_process(
    team: Team, woken: list[Batch], receive: MakeBatch
) -> None:
    batch = receive(rows(3))
    Batch.objects.update(status=BatchStatus.CHECKING)

    def meanwhile(pk: object, **_: object) -> None:
        assert pk == batch.pk
        long_tasks.read_now_or_soon(batch, checking.check_file)
        batch.refresh_from_db()
        assert (batch.status, woken) == (BatchStatus.CHECKING, [batch])

    long_tasks.read_now_or_soon(batch, meanwhile)
    long_tasks.read_now_or_soon(batch, checking.check_file)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT


def test_a_reading_that_fails_does_not_leave_the_next_file_to_a_worker(
    receive: MakeBatch, woken: list[Batch]
) -> None:
    batch = receive(rows(3))
    Batch.objects.update(status=BatchStatus.CHECKING)

    def fails(_pk: object, **_: object) -> None:
        raise OperationalError("database is locked")

    with pytest.raises(OperationalError):
        long_tasks.read_now_or_soon(batch, fails)
    long_tasks.read_now_or_soon(batch, checking.check_file)
    batch.refresh_from_db()
    assert (batch.status, woken) == (BatchStatus.DRAFT, [])


@pytest.mark.parametrize(("status", "since"), [(READ[0], "created_at"), (READ[1], "started_at")])
def test_a_small_file_that_nobody_read_is_read_by_a_worker(
    team: Team, status: BatchStatus, since: str
) -> None:
    assert waits(team, status, **{since: ago(2)})


@pytest.mark.parametrize("status", READ)
@pytest.mark.parametrize(("lease_ended", "left"), [(-60, False), (1, True)])
def test_a_file_that_somebody_reads_is_left_alone_until_the_lease_is_over(
    team: Team, status: BatchStatus, lease_ended: float, left: bool
) -> None:
    long_ago = {"created_at": ago(3600), "started_at": ago(3600)}
    fields = {"lease_until": ago(lease_ended), "source_size": LARGE} | long_ago
    assert waits(team, status, **fields) is left


@pytest.mark.parametrize("status", sorted(set(BatchStatus) - set(READ)))
def test_what_was_read_is_not_read_again(team: Team, status: BatchStatus) -> None:
    assert not waits(team, status, source_size=LARGE)
    assert not waits(team, status, source_size=LARGE, lease_until=ago(1))


@pytest.mark.parametrize("lease", [None, 1])
def test_a_deleted_file_is_not_read(team: Team, lease: float | None) -> None:
    lease_until = None if lease is None else ago(lease)
    fields = {"source_size": LARGE, "lease_until": lease_until, "deleted_at": timezone.now()}
    assert not waits(team, BatchStatus.CHECKING, **fields)


def test_the_oldest_file_is_read_first(team: Team) -> None:
    for minutes in (2, 3, 1):
        on_record(
            team,
            parts=0,
            status=BatchStatus.CHECKING,
            source_size=LARGE,
            created_at=ago(60 * minutes),
            name=f"{minutes} minutes old",
        )
    oldest = next_unclaimed()
    assert oldest is not None
    assert oldest.name == "3 minutes old"


# -- a reading that never ends ------------------------------------------------------------------


def cut_off(batch: Batch) -> None:
    """Begin to read, and be killed: nothing is left but the claim, whose lease runs out."""
    assert lifecycle.claim_batch(batch, timedelta(seconds=-1))


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_reading_that_was_cut_off_is_begun_again(receive: MakeBatch, times: int) -> None:
    batch = receive(rows(30))
    Batch.objects.update(status=BatchStatus.CHECKING, rows=0)
    batch.refresh_from_db()
    for _ in range(times):
        cut_off(batch)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.rows, batch.problem) == (BatchStatus.DRAFT, 30, "")
    assert batch.readings_begun == 0


def test_a_file_whose_check_was_cut_off_three_times_is_given_up_with_a_sentence(
    receive: MakeBatch,
) -> None:
    batch = receive(rows(30))
    Batch.objects.update(status=BatchStatus.CHECKING, rows=0)
    batch.refresh_from_db()
    for _ in range(3):
        cut_off(batch)
    checking.check_file(batch.pk)
    batch.refresh_from_db()
    assert batch.is_unusable
    assert "3 times, and each time it was cut off before the end" in batch.problem
    assert batch.events.first() is not None
    assert not has_unclaimed()


def test_a_batch_whose_cutting_was_cut_off_three_times_is_a_draft_that_can_be_started_again(
    receive: MakeBatch, ana: User
) -> None:
    batch = receive(rows(30))
    Batch.objects.update(
        status=BatchStatus.PREPARING, started_at=timezone.now(), started_by=ana, model=MODEL
    )
    batch.refresh_from_db()
    for _ in range(3):
        cut_off(batch)
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.part_count) == (BatchStatus.DRAFT, 0)
    assert (batch.started_at, batch.started_by) == (None, None)
    assert "cut it into smaller files" in batch.problem
    asked = Ask(model=MODEL, template=TEMPLATE)
    assert decisions.start(batch, by=None, ask=asked, prepare_now=True)
    batch.refresh_from_db()
    assert (batch.status, batch.problem) == (BatchStatus.QUEUED, "")


@pytest.mark.parametrize("status", READ)
def test_a_reading_that_is_asked_to_stop_gives_the_file_back_and_does_not_count(
    receive: MakeBatch, status: BatchStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped() -> None:
        raise StoppedError

    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10)
    batch = receive(rows(30))
    checking.check_file(batch.pk)
    Batch.objects.update(status=status, model=MODEL, template=TEMPLATE, readings_begun=2)
    read = checking.check_file if status == BatchStatus.CHECKING else preparing.prepare
    read(batch.pk, beat=stopped)
    batch.refresh_from_db()
    assert (batch.status, batch.lease_until, batch.readings_begun) == (status, None, 2)
    assert next_unclaimed() == batch
    read(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.problem) != (status, "")
    assert batch.readings_begun == 0


# -- a long reading -----------------------------------------------------------------------------


@pytest.fixture
def reading(team: Team) -> Batch:
    """A batch that is read; its lease ends in a moment."""
    batch = on_record(team, parts=0, status=BatchStatus.CHECKING)
    assert lifecycle.claim_batch(batch, timedelta(seconds=1))
    return batch


def test_a_long_reading_shows_how_far_it_is_and_keeps_its_lease(
    reading: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    beats: list[int] = []
    progress_of(reading, beat=lambda: beats.append(1))(500)
    batch = Batch.objects.get()
    assert batch.progress_rows == 500
    assert batch.lease_until is not None
    assert timedelta(seconds=100) < batch.lease_until - timezone.now() <= timedelta(minutes=2)
    assert beats == [1]


def test_a_reading_without_a_worker_beats_for_nobody(
    reading: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    progress_of(reading)(500)
    assert Batch.objects.get().progress_rows == 500


def test_a_short_reading_writes_nothing(reading: Batch) -> None:
    progress_of(reading, beat=lambda: pytest.fail("it beats"))(500)
    assert Batch.objects.get().progress_rows == 0


def test_a_long_reading_beats_each_time_that_seven_tenths_of_a_second_are_over(
    reading: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(long_tasks, "time", clock)
    beats: list[float] = []
    report = progress_of(reading, beat=lambda: beats.append(clock.now))
    for clock.now in (0.65, 0.75, 1.4, 1.5):
        report(500)
    assert beats == [0.75, 1.5]


@pytest.mark.parametrize("change", [{"epoch": 99}, {"deleted_at": "2000-01-01T00:00:00Z"}])
def test_a_reading_that_is_no_longer_ours_ends(
    reading: Batch, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    Batch.objects.update(**change)
    with pytest.raises(LeaseLostError):
        progress_of(reading)(500)


@pytest.mark.parametrize("problem", [OperationalError("away"), InterfaceError("closed")])
def test_a_database_that_is_away_is_no_fault_of_the_file(problem: Exception) -> None:
    with pytest.raises(type(problem)):
        long_tasks.sentence_for(problem)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (BadInput("Row 3 is blank."), "Row 3 is blank."),
        (UnknownModel("There is no such model."), "There is no such model."),
        (OSError(28, "No space left on device"), "the file: No space left on device."),
        (OSError("no bucket of that name"), "the file: no bucket of that name."),
    ],
)
def test_what_ended_a_reading_is_said(
    problem: Exception, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert sentence in long_tasks.sentence_for(problem)
    assert caplog.text == ""


def test_the_unforeseen_is_logged_and_said(caplog: pytest.LogCaptureFixture) -> None:
    problem, end = (
        ZeroDivisionError("who knows"),
        "this file, because of a mistake in batchui. Tell",
    )
    assert f"could not read {end}" in long_tasks.sentence_for(problem)
    assert f"could not make {end}" in long_tasks.sentence_for(problem, what="make this file")
    assert "Unexpected error: batchui could not read this file" in caplog.text
