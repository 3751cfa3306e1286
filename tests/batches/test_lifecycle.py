"""What people decide: stop, retry, delete; and that two at once decide once."""

from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import decisions, deleting, due, files, lifecycle, results, sending
from batchui.batches.models import Batch
from batchui.batches.outcomes import CertainlyNotSent, OnHold, Unsure
from batchui.batches.states import BatchStatus, PartStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import sweep
from tests.batches.conftest import MODEL, TEMPLATE, MakeBatch, rows, send_all, work

pytestmark = pytest.mark.django_db


def test_a_draft_is_started_once(sandbox: RunningSandbox, receive: MakeBatch) -> None:
    batch = receive(rows(5))
    colleague = Batch.objects.get(pk=batch.pk)
    ask = Ask(model=MODEL, template=TEMPLATE)
    assert decisions.start(batch, by=None, ask=ask)
    assert colleague.status == BatchStatus.DRAFT  # as the colleague still sees it
    assert not decisions.start(colleague, by=None, ask=ask)
    assert batch.events.filter(text="Started.").count() == 1


def test_stop_sends_nothing_more_and_keeps_what_was_sent(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sending.send(due.ready_parts(1)[0])
    assert decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPING
    batch = work(batch)
    assert batch.status == BatchStatus.STOPPED
    sent = batch.parts.get(number=1).rows
    assert (batch.answered, batch.unsent) == (sent, batch.rows - sent)
    assert len(sandbox.calls("submit")) == 1


def test_a_part_that_comes_back_after_stop_is_not_sent_again(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    outcomes = (
        (CertainlyNotSent("no network"), PartStatus.STOPPED),
        (OnHold("busy", 3040, None, everywhere=False), PartStatus.STOPPED),
        (Unsure("cut off"), PartStatus.DONE),
    )
    sent = []
    for part, _ in zip(due.ready_parts(3), outcomes, strict=True):
        lifecycle.move_part(part, PartStatus.SENDING)
        prepared = sending.write_attempt(part)
        assert prepared is not None
        sent.append((part, prepared[0]))
    decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPING
    for (part, attempt), (outcome, expected) in zip(sent, outcomes, strict=True):
        sending.apply_outcome(part, attempt, outcome)
        part.refresh_from_db()
        assert part.status == expected
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPED
    assert batch.unsent + batch.missing == 60
    assert due.ready_parts(10) == []


def test_stop_finds_nothing_to_stop_when_it_has_ended(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    assert not decisions.stop(work(batch), by=None)


def test_a_stopped_batch_goes_on_with_retry(sandbox: RunningSandbox, batch: Batch) -> None:
    decisions.stop(batch, by=None)
    batch.refresh_from_db()
    assert (batch.status, batch.unsent) == (BatchStatus.STOPPED, 60)
    assert decisions.retry(batch, by=None)
    assert work(batch).status == BatchStatus.FINISHED


def test_retry_sends_just_the_rows_not_answered(sandbox: RunningSandbox, batch: Batch) -> None:
    faults: list[dict[str, Any]] = [
        {"fault": "failed", "items": [0, 1]},
        {"fault": "empty", "items": [4]},
        {"fault": "missing", "items": [6]},
    ]
    # The first poll of part 1, and the second one, after those of parts 2 and 3.
    sandbox.script(*({**fault, "nth": nth} for fault in faults for nth in (1, 4)))
    batch = work(batch)
    before = {row.row: row.answer for row in results.results(batch) if row.status == "answered"}
    assert batch.unanswered == 4
    sent = len(sandbox.calls("submit"))
    assert decisions.retry(batch, by=None)
    assert not decisions.retry(batch, by=None)
    batch = work(batch)
    assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 60)
    again = sandbox.calls("submit")[sent:]
    assert sum(call.items for call in again) == 4
    after = {row.row: row.answer for row in results.results(batch)}
    assert before.items() <= after.items()


def test_a_retry_of_a_refused_part_sends_all_of_it(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "error", "code": 5007, "call": "submit"})
    batch = work(batch)
    assert batch.failed == batch.parts.get(number=1).rows
    decisions.retry(batch, by=None)
    assert work(batch).status == BatchStatus.FINISHED


def test_skipped_rows_are_not_retried(sandbox: RunningSandbox, start: MakeBatch) -> None:
    content = b"id,text\n1,one\n2\n3,three\n"
    batch = work(start(content, skip_invalid=True))
    assert (batch.answered, batch.invalid) == (2, 1)
    assert batch.status == BatchStatus.PROBLEMS
    assert not batch.can_retry
    assert not decisions.retry(batch, by=None)


def test_rows_with_nothing_to_ask_about_are_no_problem_and_are_not_retried(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = work(start(b"id,text\n1,one\n2,\n\n3,three\n"))
    assert (batch.answered, batch.skipped, batch.invalid) == (2, 2, 0)
    assert (batch.status, batch.unanswered) == (BatchStatus.FINISHED, 0)
    assert not batch.can_retry
    assert not decisions.retry(batch, by=None)


def test_a_batch_of_which_no_row_that_was_asked_has_an_answer_has_failed(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    assert work(start(b"id,text\n1,one\n2,\n")).status == BatchStatus.FAILED


def test_deleting_takes_it_out_of_the_history_and_removes_its_files(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    batch = work(batch)
    assert deleting.delete(batch, by=None)
    assert not Batch.objects.of_team(batch.team).exists()
    sweep.sweep()
    files.open_file(batch.source_file).close()  # somebody may just be downloading it
    late = timezone.now() - 2 * sweep.FILES_OUTLIVE
    Batch.objects.update(deleted_at=late, kept_until=late)
    sweep.sweep()
    with pytest.raises(FileNotFoundError):
        files.open_file(batch.source_file)
    batch.refresh_from_db()
    assert batch.files_removed
    assert not batch.parts.exists()


def test_what_is_on_its_way_cannot_be_deleted(sandbox: RunningSandbox, batch: Batch) -> None:
    send_all()
    batch.refresh_from_db()
    assert not deleting.delete(batch, by=None)
    assert batch.parts.filter(status=PartStatus.QUEUED).exists()


def test_every_move_is_on_the_timeline(sandbox: RunningSandbox, batch: Batch) -> None:
    batch = work(batch)
    told = " ".join(batch.events.order_by("id").values_list("text", flat=True))
    for expected in ("was uploaded", "was read", "Started.", "Cut into 3 parts", "Finished."):
        assert expected in told
