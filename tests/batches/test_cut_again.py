"""A batch is cut once, of the rows that were checked, into no more parts than allowed."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.files.storage import default_storage
from django.db import OperationalError, connection

from batchui.batches import lifecycle, long_tasks, preparing
from batchui.batches.long_tasks import READING_LEASE
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus
from tests.batches.conftest import MakeBatch, rows
from tests.batches.cutting import prepared, started

__all__ = ["started"]

pytestmark = pytest.mark.django_db


def test_what_another_worker_cuts_is_left_to_it(started: MakeBatch) -> None:
    batch = started(rows(60))
    assert lifecycle.claim_batch(batch, READING_LEASE)
    assert prepared(batch).status == BatchStatus.PREPARING
    assert not Part.objects.exists()


@pytest.mark.parametrize("at", ["while it cuts", "at the end"])
def test_who_was_overtaken_makes_no_parts(
    started: MakeBatch,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    woken: list[Batch],
    at: str,
) -> None:
    # Progress is shown with each part, and with the last one.
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    batch = started(rows(60))
    beats = []

    def another_takes_over() -> None:
        beats.append(1)
        if at == "while it cuts" or len(beats) == 3:
            Batch.objects.update(epoch=99)

    preparing.prepare(batch.pk, beat=another_takes_over)
    batch.refresh_from_db()
    assert (batch.status, batch.epoch) == (BatchStatus.PREPARING, 99)
    assert len(beats) == (1 if at == "while it cuts" else 3)
    assert not Part.objects.exists()
    assert not batch.events.exists()
    assert caplog.text == ""
    assert woken == []


@pytest.mark.parametrize("left", [59, 61])
def test_nothing_is_sent_of_rows_that_are_not_those_that_were_checked(
    started: MakeBatch, left: int
) -> None:
    batch, other = started(rows(60)), started(rows(left))
    stored, others = (Path(default_storage.path(one.draft_rows_file)) for one in (batch, other))
    stored.write_bytes(others.read_bytes())
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem == (
        f"The stored file {batch.draft_rows_file} is damaged: it has {left} rows in place of 60. "
        "Upload the file again; what you wrote is kept."
    )


@pytest.mark.parametrize("left", [59, 61])
def test_nothing_is_sent_of_a_file_that_is_not_as_long_as_when_it_came(
    started: MakeBatch, left: int
) -> None:
    batch = started(rows(60))
    stored, size = Path(default_storage.path(batch.source_file)), batch.source_stored_size
    stored.write_bytes(zstandard.compress(rows(left)))
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem == (
        f"The stored file {batch.source_file} is damaged: it has {stored.stat().st_size:,} bytes "
        f"in place of {size:,}. Upload the file again; what you wrote is kept."
    )


@pytest.mark.parametrize("left", [59, 61])
@pytest.mark.parametrize("packed", [True, False])
def test_nothing_is_sent_of_a_draft_of_an_older_version_that_has_other_rows_now(
    started: MakeBatch, packed: bool, left: int
) -> None:
    batch = started(gzip.compress(rows(60)) if packed else rows(60))
    name = batch.converted_file or batch.source_file
    stored = Path(default_storage.path(name))
    stored.write_bytes(zstandard.compress(rows(left)))
    size = batch.source_stored_size if packed else stored.stat().st_size
    Batch.objects.update(draft_rows_file="", source_stored_size=size)
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem == (
        f"The stored file {name} is damaged: it has {left} rows in place of 60. Upload the file "
        "again; what you wrote is kept."
    )


def test_who_cuts_again_writes_beside_what_was_cut_before(started: MakeBatch) -> None:
    batch = prepared(started(rows(60)))
    first = {part.rows_file for part in batch.parts.all()}
    batch.parts.all().delete()
    Batch.objects.update(status=BatchStatus.PREPARING)
    second = {part.rows_file for part in prepared(batch).parts.all()}
    assert not first & second


def test_how_far_it_is_shows_on_the_page(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    batch = started(rows(60))
    shown: list[int] = []
    preparing.prepare(
        batch.pk, beat=lambda: shown.append(Batch.objects.get(pk=batch.pk).progress_rows)
    )
    assert shown == [25, 50, 60]


def test_who_looks_for_the_same_questions_shows_how_far_it_is_and_can_be_stopped(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch, files_in: Path
) -> None:
    monkeypatch.setattr(long_tasks, "PROGRESS_SECONDS", 0)
    batch = started(rows(1_001), ask_once=True)
    shown: list[int] = []

    def stop() -> None:
        shown.append(Batch.objects.get(pk=batch.pk).progress_rows)
        raise long_tasks.StoppedError

    preparing.prepare(batch.pk, beat=stop)
    batch.refresh_from_db()
    assert shown == [1_000]
    assert (batch.status, batch.lease_until) == (BatchStatus.PREPARING, None)
    assert not list(files_in.glob("batches/*/parts/*"))  # it was not cut yet
    assert prepared(batch).part_count == 20


def test_a_small_file_is_cut_at_once_and_a_large_one_by_a_worker(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch, woken: list[Batch]
) -> None:
    batch = started(rows(5))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", batch.source_size - 1)
    long_tasks.read_now_or_soon(batch, preparing.prepare)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.PREPARING
    assert woken == [batch]
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", batch.source_size)
    long_tasks.read_now_or_soon(batch, preparing.prepare)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.QUEUED


def test_a_small_file_whose_cutting_takes_long_is_left_to_a_worker(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch, woken: list[Batch]
) -> None:
    batch = started(rows(60))
    with monkeypatch.context() as hurried:
        hurried.setattr(long_tasks, "PROGRESS_SECONDS", 0)
        long_tasks.read_now_or_soon(batch, preparing.prepare)
    batch.refresh_from_db()
    assert (batch.status, batch.lease_until) == (BatchStatus.PREPARING, None)
    assert (batch.readings_begun, woken) == (0, [batch])
    assert prepared(batch).part_count == 3


def test_a_batch_has_as_many_parts_as_allowed_and_no_more(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "MOST_PARTS", 2)
    assert prepared(started(rows(50))).part_count == 2
    refused = prepared(started(rows(51)))
    assert (refused.status, refused.part_count) == (BatchStatus.DRAFT, 0)
    assert refused.problem.startswith("The questions of this file together are too large")


def test_questions_too_large_for_all_parts_are_refused_before_one_is_cut(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch, files_in: Path
) -> None:
    monkeypatch.setattr(preparing, "MOST_PARTS", 1)
    refused = prepared(started(rows(90), template="{{text}}" + "x" * 99_000))
    assert "would take more than 20,000 requests. Shorten the text" in refused.problem
    assert not list(files_in.glob("batches/*/parts/*"))


def test_questions_that_just_fit_into_all_parts_are_cut(
    started: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preparing, "MOST_PARTS", 20)
    assert prepared(started(rows(1_600), template="{{text}}" + "x" * 99_000)).part_count == 20


def test_a_batch_is_not_queued_without_its_parts(started: MakeBatch) -> None:
    batch = started(rows(30))

    def parts_are_not_stored(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith('INSERT INTO "batches_part"'):
            raise OperationalError("the database is away")
        return execute(sql, *rest)

    with connection.execute_wrapper(parts_are_not_stored), pytest.raises(OperationalError):
        preparing.prepare(batch.pk)
    assert Batch.objects.get().status == BatchStatus.PREPARING
    # The lease runs out, and another worker cuts the file.
    Batch.objects.update(lease_until=batch.created_at)
    assert long_tasks.next_unclaimed() == batch
    again = prepared(batch)
    assert (again.status, again.parts.count()) == (BatchStatus.QUEUED, 2)
