"""From a started draft to parts: what is cut, what is skipped, and what goes back to its owner."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from django.core.files.storage import default_storage
from django.db import OperationalError, connection

from batchui.batches import lifecycle, long_tasks, preparing, results
from batchui.batches.long_tasks import READING_LEASE
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import invalid_rows_sentence
from batchui.batches.preparing import limits_for
from batchui.batches.states import BatchStatus, PartStatus
from batchui.cloudflare.catalogue import find
from batchui.prompts.cutting import Limits
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MODEL, MakeBatch, on_record, posts, rows, work

pytestmark = pytest.mark.django_db

EMBEDDING, TRANSLATION = "@cf/baai/bge-base-en-v1.5", "@cf/meta/m2m100-1.2b"
# Of rows 3 and 5 there is nothing to ask: their prompt comes out blank.
TWO_BLANK = b"id,text\n1,one\n2,\n3,three\n4,\n5,five\n"
# Rows 3 and 5 cannot be asked: a cell is missing.
TWO_SHORT = TWO_BLANK.replace(b",\n", b"\n")


@pytest.fixture
def started(receive: MakeBatch) -> MakeBatch:
    """A batch that was started and not cut yet."""

    def make(content: bytes, **ask: object) -> Batch:
        batch = receive(content)
        batch.events.all().delete()
        Batch.objects.filter(pk=batch.pk).update(
            **{
                "status": BatchStatus.PREPARING,
                "started_at": batch.created_at,
                "model": MODEL,
                "template": "{{text}}",
            }
            | ask
        )
        return Batch.objects.get(pk=batch.pk)

    return make


def prepared(batch: Batch) -> Batch:
    preparing.prepare(batch.pk)
    return Batch.objects.get(pk=batch.pk)


# -- how large a part is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "max_tokens", "most"),
    [
        (MODEL, 0, 5_000),
        (MODEL, 256, 5_000),
        (MODEL, 3_200, 5_000),
        (MODEL, 3_201, 4_998),
        (MODEL, 16_000, 1_000),
        (MODEL, 100_000_000, 1),
        (EMBEDDING, 16_000, 500),
        (TRANSLATION, 16_000, 5_000),
    ],
)
def test_a_part_has_never_more_rows_than_its_reply_can_hold(
    model: str, max_tokens: int, most: int
) -> None:
    assert Limits().rows == 5_000
    assert limits_for(find(model), max_tokens=max_tokens).rows == most


def test_the_limit_is_that_of_the_longest_answer_asked_for(started: MakeBatch) -> None:
    batch = prepared(started(rows(100), max_tokens=800_000))
    assert [part.rows for part in batch.parts.all()] == [20] * 5


# -- rows that cannot be asked ------------------------------------------------------------------


def test_rows_that_cannot_be_asked_are_named_and_nothing_is_sent(
    sandbox: RunningSandbox, started: MakeBatch
) -> None:
    batch = prepared(started(TWO_SHORT))
    assert (batch.status, batch.started_at) == (BatchStatus.DRAFT, None)
    assert batch.problem.startswith("2 rows cannot be asked.")
    assert [found["row"] for found in batch.problem_rows] == [3, 5]
    assert all(found["sentence"] for found in batch.problem_rows)
    assert batch.events.get().text == f"Not started: {batch.problem}"
    assert not Part.objects.exists()
    assert posts(sandbox) == 0


def test_what_to_do_about_a_row_is_said_of_one_and_of_many() -> None:
    one, many = invalid_rows_sentence(1), invalid_rows_sentence(2_000)
    assert one == "1 row cannot be asked. Correct it in the file, or skip it."
    assert many == "2,000 rows cannot be asked. Correct them in the file, or skip them."


def test_rows_are_named_by_their_number_in_the_file_and_twenty_at_most(
    started: MakeBatch,
) -> None:
    content = rows(40) + b"".join(b"%d\n" % number for number in range(41, 71))
    batch = prepared(started(content))
    assert batch.problem.startswith("30 rows cannot be asked.")
    assert [found["row"] for found in batch.problem_rows] == list(range(42, 62))


def test_once_a_row_cannot_be_asked_no_more_is_stored(started: MakeBatch, files_in: Path) -> None:
    batch = started(b"id,text\n1\n" + rows(200).partition(b"\r\n")[2])
    assert prepared(batch).status == BatchStatus.DRAFT
    stored = {path.name.partition("-")[0] for path in files_in.rglob("*") if path.is_file()}
    assert stored == {"upload", "rows", "problems"}
    assert not list(files_in.glob("batches/*/parts/*"))


def test_skipped_rows_are_counted_and_never_sent(
    sandbox: RunningSandbox, started: MakeBatch
) -> None:
    batch = prepared(started(TWO_SHORT, skip_invalid=True))
    assert (batch.status, batch.part_count, batch.invalid) == (BatchStatus.QUEUED, 1, 2)
    batch = work(batch)
    assert (batch.answered, batch.invalid, batch.skipped) == (3, 2, 0)
    assert batch.status == BatchStatus.PROBLEMS
    assert [call.items for call in sandbox.calls("submit")] == [3]
    told = {row.row: row.error for row in results.results(batch) if row.status == "invalid"}
    assert set(told) == {3, 5}
    assert told[3].startswith("Row 3, column “text”: the cell is missing.")
    accepted = batch.events.get(text__startswith="Part 1 was accepted").text
    assert accepted == "Part 1 was accepted (3 of rows 2 to 6)."
    assert all(told.values())


def test_rows_with_nothing_to_ask_about_are_skipped_and_the_batch_is_finished(
    sandbox: RunningSandbox, started: MakeBatch
) -> None:
    batch = prepared(started(TWO_BLANK))
    assert (batch.status, batch.part_count, batch.skipped) == (BatchStatus.QUEUED, 1, 2)
    batch = work(batch)
    assert (batch.answered, batch.invalid, batch.skipped) == (3, 0, 2)
    assert batch.status == BatchStatus.FINISHED
    assert [call.items for call in sandbox.calls("submit")] == [3]
    told = {row.row: row.error for row in results.results(batch) if row.status == "skipped"}
    assert told == {
        row: f"Row {row}, column “text”: the cell is blank, so there is nothing to ask."
        for row in (3, 5)
    }
    accepted = batch.events.get(text__startswith="Part 1 was accepted").text
    assert accepted == "Part 1 was accepted (3 of rows 2 to 6)."


@pytest.mark.parametrize("skip_invalid", [True, False])
def test_with_rows_that_have_nothing_to_ask_about_it_does_not_start_if_it_is_not_to(
    sandbox: RunningSandbox, started: MakeBatch, skip_invalid: bool
) -> None:
    batch = prepared(started(TWO_BLANK, stop_at_blank=True, skip_invalid=skip_invalid))
    assert (batch.status, batch.started_at) == (BatchStatus.DRAFT, None)
    assert batch.problem == "2 rows have nothing to ask about. Fill them in, or skip them."
    assert [found["row"] for found in batch.problem_rows] == [3, 5]
    assert not Part.objects.exists()
    assert posts(sandbox) == 0


def test_of_rows_of_both_kinds_only_those_in_the_way_are_named(started: MakeBatch) -> None:
    both = b"id,text\n1,one\n2\n3,\n4,four\n"
    assert [row["row"] for row in prepared(started(both)).problem_rows] == [3]
    stopped = prepared(started(both, stop_at_blank=True))
    assert [row["row"] for row in stopped.problem_rows] == [3, 4]
    assert stopped.problem.startswith("2 rows cannot be asked.")
    skipping = prepared(started(both, skip_invalid=True))
    assert (skipping.status, skipping.invalid, skipping.skipped) == (BatchStatus.QUEUED, 1, 1)


def test_a_file_of_which_no_row_can_be_asked_is_not_started(started: MakeBatch) -> None:
    batch = prepared(started(b"id,text\n1,\n2,\n", skip_invalid=True))
    assert (batch.status, batch.started_at) == (BatchStatus.DRAFT, None)
    assert batch.problem == "No row of the file can be asked."
    assert [found["row"] for found in batch.problem_rows] == [2, 3]


def test_of_a_file_whose_rows_are_all_uneven_the_reason_is_not_that_they_are_blank(
    started: MakeBatch,
) -> None:
    batch = prepared(started(b"id,text\n1\n2,a,b\n", skip_invalid=True))
    assert [found["row"] for found in batch.problem_rows] == [2, 3]
    assert "1 cell" in batch.problem_rows[0]["sentence"]
    assert "blank" not in batch.problem


# -- who may cut --------------------------------------------------------------------------------


def test_what_was_cut_waits_to_be_sent(started: MakeBatch, woken: list[Batch]) -> None:
    batch = prepared(started(rows(60)))
    assert (batch.status, batch.part_count, batch.lease_until) == (BatchStatus.QUEUED, 3, None)
    assert [(part.status, part.first_row, part.last_row) for part in batch.parts.all()] == [
        (PartStatus.READY, 2, 26),
        (PartStatus.READY, 27, 51),
        (PartStatus.READY, 52, 61),
    ]
    assert not any(part.answers_file for part in batch.parts.all())
    assert batch.events.get().text == "Cut into 3 parts."
    assert woken == [batch]


@pytest.mark.parametrize("status", sorted(set(BatchStatus) - {BatchStatus.PREPARING}))
def test_only_what_was_just_started_is_cut(team: Team, status: BatchStatus) -> None:
    batch = on_record(team, parts=0, status=status)
    assert prepared(batch).status == status
    assert not batch.events.exists()


def test_the_batch_that_was_asked_for_is_cut_and_no_other(started: MakeBatch) -> None:
    older, batch, newer = (started(rows(5)) for _ in range(3))
    assert prepared(batch).status == BatchStatus.QUEUED
    for other in (older, newer):
        other.refresh_from_db()
        assert other.status == BatchStatus.PREPARING


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
    Path(default_storage.path(batch.source_file)).write_bytes(rows(left))
    batch = prepared(batch)
    assert (batch.status, batch.parts.count()) == (BatchStatus.DRAFT, 0)
    assert batch.problem == (
        f"The stored file {batch.source_file} is damaged: it has {len(rows(left)):,} bytes in "
        f"place of {len(rows(60)):,}. Upload the file again; what you wrote is kept."
    )


@pytest.mark.parametrize("left", [59, 61])
@pytest.mark.parametrize("packed", [True, False])
def test_nothing_is_sent_of_a_draft_of_an_older_version_that_has_other_rows_now(
    started: MakeBatch, packed: bool, left: int
) -> None:
    batch = started(gzip.compress(rows(60)) if packed else rows(60))
    size = batch.source_size if packed else len(rows(left))
    Batch.objects.update(draft_rows_file="", source_size=size)
    name = batch.converted_file or batch.source_file
    stored = Path(default_storage.path(name))
    stored.write_bytes(zstandard.compress(rows(left)) if packed else rows(left))
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
