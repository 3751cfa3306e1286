"""Reading the whole of an upload: what is found out, and what keeps the batch from starting."""

from typing import Any

import pytest
from django.core.files.base import ContentFile

from batchui.batches import checking, files, intake, lifecycle, uploads
from batchui.batches.long_tasks import READING_LEASE
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team
from tests.batches.conftest import MakeBatch, on_record, rows
from tests.batches.test_further import answered, sheet

pytestmark = pytest.mark.django_db


@pytest.fixture
def unread(receive: MakeBatch) -> MakeBatch:
    """A batch whose file is stored and was not read yet."""

    def make(content: bytes, name: str = "texts.csv") -> Batch:
        batch = receive(content, name)
        batch.events.all().delete()
        Batch.objects.filter(pk=batch.pk).update(
            status=BatchStatus.CHECKING, rows=0, bad_rows=0, blanks={}, sample=[]
        )
        return Batch.objects.get(pk=batch.pk)

    return make


def checked(batch: Batch) -> Batch:
    checking.check_file(batch.pk)
    return Batch.objects.get(pk=batch.pk)


def put(batch: Batch, content: bytes) -> None:
    """Let another file stand where the upload of the batch was stored."""
    name = batch.source_file.removesuffix(uploads.COMPRESSED)
    stored = uploads.store(name, ContentFile(content), called=batch.source_name)
    Batch.objects.update(**stored.as_fields())


def test_what_was_found_out_is_kept(unread: MakeBatch) -> None:
    batch = unread(b"id,text\n1,one\n2,\n3,three\n4\n")
    Batch.objects.update(
        problem="As it was.", problem_rows=[{"row": 9}], source_format=batch.source_format
    )
    batch = checked(batch)
    assert (batch.status, batch.rows, batch.bad_rows) == (BatchStatus.DRAFT, 4, 1)
    assert batch.problem == ""
    [found] = batch.problem_rows
    assert set(found) == {"row", "sentence"}
    assert found["row"] == 5
    assert found["sentence"].startswith("Row 5")
    assert batch.blanks["text"] == {"count": 1, "first_row": 3}
    assert batch.first_rows[0] == ["1", "one"]
    assert batch.lease_until is None
    assert batch.events.get().text == "The file was read: 4 rows."


def test_columns_are_those_of_the_whole_file(unread: MakeBatch) -> None:
    lines = [b'{"text": "one"}'] * 12_000 + [b'{"text": "one", "late": "yes"}']
    batch = unread(b"\n".join(lines), "texts.jsonl")
    Batch.objects.update(source_format=batch.source_format | {"columns": ["text"]})
    assert checked(batch).columns == ("text", "late")


def test_twenty_bad_rows_are_named_and_all_are_counted(unread: MakeBatch) -> None:
    batch = checked(unread(rows(30) + b"31\n" * 25))
    assert (batch.bad_rows, len(batch.problem_rows)) == (25, 20)


def test_a_file_with_too_many_rows_cannot_be_used(unread: MakeBatch, settings: Any) -> None:
    settings.MAX_ROWS = 5
    assert checked(unread(rows(5))).problem == ""
    batch = unread(rows(6))
    Batch.objects.update(problem_rows=[{"row": 9}])
    batch = checked(batch)
    assert (batch.status, batch.rows) == (BatchStatus.DRAFT, 0)
    assert batch.is_unusable
    assert "more than 5 rows" in batch.problem
    assert batch.problem_rows == []
    assert batch.events.get().text == f"The file cannot be used: {batch.problem}"


def test_a_column_name_with_a_nul_far_down_is_found(unread: MakeBatch) -> None:
    lines = [b'{"text": "one"}'] * 12_000 + [b'{"text": "one", "la\\u0000te": "yes"}']
    batch = checked(unread(b"\n".join(lines[:5]), "texts.jsonl"))
    put(batch, b"\n".join(lines))
    Batch.objects.update(status=BatchStatus.CHECKING)
    assert "NUL character" in checked(batch).problem


def test_a_file_that_is_gone_is_said(unread: MakeBatch) -> None:
    batch = unread(rows(5))
    files.remove_batch_files(batch.pk)
    assert "could not read or store the file" in checked(batch).problem


@pytest.mark.parametrize("status", sorted(set(BatchStatus) - {BatchStatus.CHECKING}))
def test_only_what_waits_to_be_checked_is_checked(team: Team, status: BatchStatus) -> None:
    batch = on_record(team, status=status)
    assert checked(batch).status == status
    assert not batch.events.exists()


def test_the_batch_that_was_asked_for_is_checked_and_no_other(unread: MakeBatch) -> None:
    older, batch, newer = (unread(rows(5)) for _ in range(3))
    assert checked(batch).rows == 5
    for other in (older, newer):
        other.refresh_from_db()
        assert other.status == BatchStatus.CHECKING


def test_what_another_worker_reads_is_left_to_it(unread: MakeBatch) -> None:
    batch = unread(rows(5))
    assert lifecycle.claim_batch(batch, READING_LEASE)
    batch = checked(batch)
    assert (batch.status, batch.rows) == (BatchStatus.CHECKING, 0)


def test_who_was_overtaken_says_nothing(
    unread: MakeBatch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("batchui.batches.long_tasks.PROGRESS_SECONDS", 0)
    batch = unread(rows(5))

    def another_takes_over() -> None:
        Batch.objects.update(epoch=99)

    content = b"id,text\n" + b"1,some text\n" * 400_000  # long enough to show how far it is
    put(batch, content)
    checking.check_file(batch.pk, beat=another_takes_over)
    batch.refresh_from_db()
    assert (batch.status, batch.rows, batch.epoch) == (BatchStatus.CHECKING, 0, 99)
    assert not batch.events.exists()
    assert caplog.text == ""


def test_a_sheet_with_answers_is_not_converted_again_after_its_reading_was_cut_off(
    start: MakeBatch,
) -> None:
    first = answered(start(sheet(), "may.xlsx"), [b"4.50", b"1.10"])
    draft = intake.ask_further(first, by=None)
    cut_off = {"status": BatchStatus.CHECKING, "source_format": {}, "lease_until": None}
    Batch.objects.filter(pk=draft.pk).update(**cut_off)
    checking.check_file(draft.pk)
    again = Batch.objects.get(pk=draft.pk)
    assert (again.rows, again.converted_file) == (2, draft.converted_file)
    assert again.converted == draft.converted
