"""From a started draft to parts: what is cut, what is skipped, and what goes back to its owner."""

from pathlib import Path

import pytest

from batchui.batches import results
from batchui.batches.models import Batch, Part
from batchui.batches.phrases import invalid_rows_sentence
from batchui.batches.preparing import limits_for
from batchui.batches.states import BatchStatus, PartStatus
from batchui.cloudflare.catalogue import find
from batchui.prompts.cutting import Limits
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import MODEL, MakeBatch, on_record, posts, rows, work
from tests.batches.cutting import TWO_BLANK, TWO_SHORT, prepared, started

__all__ = ["started"]

pytestmark = pytest.mark.django_db

EMBEDDING, TRANSLATION = "@cf/baai/bge-base-en-v1.5", "@cf/meta/m2m100-1.2b"


@pytest.mark.parametrize(
    ("model", "max_tokens", "most"),
    [
        (MODEL, 0, 15_000),
        (MODEL, 256, 15_000),
        (MODEL, 1_066, 15_000),
        (MODEL, 1_067, 14_995),
        (MODEL, 16_000, 1_000),
        (MODEL, 100_000_000, 1),
        (EMBEDDING, 16_000, 500),
        (TRANSLATION, 16_000, 15_000),
    ],
)
def test_a_part_has_never_more_rows_than_its_reply_can_hold(
    model: str, max_tokens: int, most: int
) -> None:
    assert Limits().rows == 15_000
    assert limits_for(find(model), max_tokens=max_tokens).rows == most


def test_the_limit_is_that_of_the_longest_answer_asked_for(started: MakeBatch) -> None:
    batch = prepared(started(rows(100), max_tokens=800_000))
    assert [part.rows for part in batch.parts.all()] == [20] * 5


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
    assert stored == {"upload.zst", "rows", "problems"}
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
