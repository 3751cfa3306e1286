"""Workers that die or oversleep, storage that fails: nothing is lost, and nothing is paid twice."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as live_settings
from django.utils import timezone

from batchui.batches import (
    call_limit,
    decisions,
    draft_rows,
    due,
    lifecycle,
    long_tasks,
    polling,
    preparing,
    references,
    sending,
)
from batchui.batches.compressed import read_lines
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.outcomes import Accepted, StillUnderWay, Unsure
from batchui.batches.states import AnswerStatus, AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.cloudflare.client import LONGEST_CALL_SECONDS, PATIENT
from batchui.prompts.ask import Ask
from batchui.prompts.reading.rows import SAMPLE_ROW
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from batchui.worker import tick
from tests.batches.conftest import (
    MODEL,
    TEMPLATE,
    MakeBatch,
    counted,
    in_files,
    poll_all,
    posts,
    rows,
    send_all,
    work,
    written,
)

pytestmark = pytest.mark.django_db


def test_no_lease_ends_before_the_task_that_holds_it() -> None:
    assert PART_LEASE.total_seconds() > live_settings.Q_CLUSTER["timeout"]
    assert live_settings.Q_CLUSTER["timeout"] / 2 > tick.TICK_SECONDS


def test_the_last_call_of_a_tick_ends_before_its_task_must() -> None:
    assert PATIENT.pool is not None
    longest = tick.TICK_SECONDS + PATIENT.pool + LONGEST_CALL_SECONDS
    assert longest < live_settings.Q_CLUSTER["timeout"]


def test_the_lease_begins_anew_with_the_post(sandbox: RunningSandbox, part: Part) -> None:
    lifecycle.move_part(part, PartStatus.SENDING, lease_until=timezone.now() + timedelta(seconds=5))
    sending.write_attempt(part)
    part.refresh_from_db()
    assert part.lease_until is not None
    assert part.lease_until > timezone.now() + PART_LEASE / 2


@pytest.mark.parametrize("given_up", ["sent again", "left out"])
def test_a_receipt_on_record_is_used_before_anything_is_sent_again(
    sandbox: RunningSandbox, start: MakeBatch, given_up: str
) -> None:
    batch = start(rows(10))
    part = due.ready_parts(1)[0]
    attempt = written(part)
    worker = Part.objects.select_related("batch__connection").get(pk=part.pk)
    outcome = sending.post(
        sending.shared_client(part.batch.connection),
        model=batch.ask.model,
        body=sending.payload(
            read_lines(part.rows_file, lines=10),
            None,
            first_row=part.first_row,
            writer=references.item_writer(batch),
        ),
    )
    assert isinstance(outcome, Accepted)
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    part.refresh_from_db()
    if given_up == "sent again":
        decisions.send_again(part, by=None)
    else:
        decisions.leave_out(part, by=None)
    sending.apply_outcome(worker, attempt, outcome)
    batch.refresh_from_db()
    if batch.has_ended:
        decisions.retry(batch, by=None)
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    assert posts(sandbox) == 1


def test_a_look_that_lost_its_lease_changes_nothing(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    send_all()
    slow = Part.objects.select_related("batch__connection").get(batch=batch)
    lifecycle.claim_part(slow, timedelta())
    attempt = slow.attempts.get()
    outcome = polling.fetch(slow, attempt, client=sending.shared_client(slow.batch.connection))
    lifecycle.claim_part(Part.objects.get(pk=slow.pk), PART_LEASE)  # the new owner
    polling.apply_outcome(slow, attempt, outcome)
    attempt.refresh_from_db()
    assert attempt.status == AttemptStatus.ACCEPTED
    Part.objects.update(lease_until=None)
    assert work(batch).status == BatchStatus.FINISHED


def test_stop_while_a_request_is_made_ready_sends_nothing(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    part = due.ready_parts(1)[0]
    lifecycle.move_part(part, PartStatus.SENDING)
    decisions.stop(batch, by=None)
    assert sending.write_attempt(part) is None
    batch.refresh_from_db()
    assert (batch.status, batch.unsent) == (BatchStatus.STOPPED, 10)
    assert not part.attempts.exists()


def test_stop_leaves_an_unsure_part_out_even_where_it_would_be_sent_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10), resend_once=True)
    part = due.ready_parts(1)[0]
    attempt = written(part)
    decisions.stop(batch, by=None)
    sending.apply_outcome(part, attempt, Unsure("cut off"))
    assert counted(batch) == in_files(batch) == {"missing": 10}
    assert batch.status == BatchStatus.FAILED


def test_a_retry_that_is_stopped_before_it_is_sent_counts_what_the_files_say(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "failed", "items": [0, 1], "times": 2},
        {"fault": "missing", "items": [5], "times": 2},
    )
    batch = work(start(rows(25)))
    assert counted(batch) == {"answered": 22, "failed": 2, "missing": 1}
    decisions.retry(batch, by=None)
    assert in_files(batch) == {"answered": 22}
    decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"answered": 22, "unsent": 3}
    decisions.retry(batch, by=None)
    assert work(batch).status == BatchStatus.FINISHED


def test_a_shorter_pause_does_not_end_a_longer_one(batch: Batch) -> None:
    midnight = timezone.now() + timedelta(hours=5)
    call_limit.pause(batch.connection, until=midnight, reason="daily")
    call_limit.pause(batch.connection, until=timezone.now(), reason="minute")
    found = Connection.objects.get(pk=batch.connection_id)
    assert (found.paused_until, found.pause_reason) == (midnight, "daily")


def test_a_token_that_cannot_be_read_waits_for_a_person(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    Connection.objects.update(token_encrypted="not readable")
    Part.objects.update(resume_at=timezone.now())
    (part,) = due.ready_parts(1)
    assert sending.send(part) is False
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    assert not Attempt.objects.exists()
    part = batch.parts.get()
    assert (part.status, part.resume_at) == (PartStatus.HELD, None)
    assert part.message
    assert batch.events.filter(text=part.message, part_number=1).exists()


def test_a_full_disk_while_storing_answers_is_said_and_got_over(
    sandbox: RunningSandbox, start: MakeBatch, files_in: Path
) -> None:
    batch = start(rows(5))
    send_all()
    folder = files_in / "batches" / str(batch.pk) / "parts" / "1"
    aside = folder.rename(folder.with_name("aside"))
    folder.write_bytes(b"in the way")  # what is stored here now fails
    poll_all()
    part = batch.parts.get()
    assert part.status == PartStatus.QUEUED
    assert "could not store them: File exists" in part.message
    folder.unlink()
    aside.rename(folder)
    assert work(batch).status == BatchStatus.FINISHED


def test_a_full_disk_while_cutting_makes_it_a_draft_again(
    sandbox: RunningSandbox,
    receive: MakeBatch,
    files_in: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = receive(rows(5))
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    decisions.start(batch, by=None, ask=Ask(model=MODEL, template=TEMPLATE))
    (files_in / "batches" / str(batch.pk) / "parts").write_bytes(b"in the way")
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT
    assert "could not read or store the file" in batch.problem


def test_a_preparation_that_was_overtaken_writes_beside_what_is_in_use(
    sandbox: RunningSandbox, receive: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = receive(b"id,text\n1,\n" + rows(150).partition(b"\r\n")[2])
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    decisions.start(batch, by=None, ask=Ask(model=MODEL, template=TEMPLATE))
    slow = Batch.objects.get(pk=batch.pk)
    lifecycle.claim_batch(slow, timedelta())
    preparing.prepare(batch.pk)
    stored = {name for part in batch.parts.all() for name in (part.rows_file, part.answers_file)}
    writer = references.item_writer(slow)
    piece = next(preparing.cut(draft_rows.read_many(slow), writer, total=slow.rows))
    late = preparing._write_part(slow, piece)
    assert late.skipped == 1
    assert stored.isdisjoint({late.rows_file, late.answers_file})
    assert work(batch).answered == 150


def test_a_retry_goes_to_the_connection_of_now(
    sandbox: RunningSandbox, start: MakeBatch, settings: Any
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    batch = work(start(rows(5)))
    settings.CLOUDFLARE_ACCOUNT_ID, settings.CLOUDFLARE_API_TOKEN = "account", "secret-token"
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    decisions.retry(batch, by=None)
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    assert batch.connection.account_id == "account"


def test_a_row_of_megabytes_is_not_stored_with_the_batch(receive: MakeBatch) -> None:
    huge = "x" * 900_000
    batch = receive(f"id,text\n1,{huge}\n2,short\n".encode())
    assert sum(map(len, batch.sample)) < 2 * SAMPLE_ROW
    assert batch.first_rows[1] == ["2", "short"]
    assert batch.first_rows[0][1].startswith("xxx")


def test_a_look_at_a_stopped_part_still_brings_its_answers(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    send_all()
    decisions.stop(batch, by=None)
    part = batch.parts.get()
    polling.apply_outcome(part, part.attempts.get(), StillUnderWay("running"))
    batch = work(batch)
    assert batch.answered == 10
    assert counted(batch) == {AnswerStatus.ANSWERED.value: 10}
