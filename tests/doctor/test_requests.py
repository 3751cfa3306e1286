"""Planted faults of requests and receipts: each is found, and named with its part."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from batchui.batches import clients, decisions, deleting, questions
from batchui.batches.models import Attempt, Batch, Event, Part
from batchui.batches.questions import Choice
from batchui.batches.sheet import asking_again
from batchui.batches.states import AnswerStatus, AttemptStatus, PartStatus, Question
from batchui.doctor import ledger
from batchui.doctor.ledger import Ledger
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection
from batchui.worker import generation
from tests.batches.conftest import MakeBatch, rows, send_all, work, written
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db


@pytest.fixture
def unsure(sandbox: RunningSandbox, start: MakeBatch) -> Part:
    """A part whose receipt was lost on the way, of a batch whose other parts are done."""
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = start(rows(60))
    send_all()
    Part.objects.update(resume_at=None)
    batch.connection.paused_until = None
    batch.connection.save()
    work(batch)
    return batch.parts.get(status=PartStatus.UNSURE)


# -- 3 --------------------------------------------------------------------------------------------


def test_an_attempt_that_says_nothing_is_found(part: Part, find: Find) -> None:
    written(part)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.READY)
    assert (3, "attempt 1 says nothing", 1) in places(find())


@pytest.mark.parametrize(
    "denial", [AttemptStatus.NOT_SENT, AttemptStatus.BUSY, AttemptStatus.REFUSED]
)
def test_an_attempt_that_denies_what_the_api_accepted_is_found(
    unsure: Part, find: Find, denial: AttemptStatus
) -> None:
    unsure.attempts.update(status=denial)
    assert (3, "attempt 1 denies", unsure.number) in places(find())


def test_a_denial_with_a_receipt_is_found_without_a_list_of_requests(
    finished: Batch, find: Find
) -> None:
    finished.parts.get(number=2).attempts.update(status=AttemptStatus.NOT_SENT)
    found = places(find(ledger=Ledger()))
    assert (3, "attempt 1 denies", 2) in found


def test_a_request_of_which_nothing_is_on_record_is_found(
    unsure: Part, find: Find, sandbox: RunningSandbox
) -> None:
    unsure.attempts.all().delete()
    (found,) = [one for one in find() if one.invariant == 3]
    assert found.kind == "not on record"
    ids = {call.request_id for call in sandbox.calls("submit")}
    assert found.where.removeprefix("request ") in ids


def test_a_request_of_somebody_else_is_no_fault_where_others_use_the_same_api(
    unsure: Part, find: Find, sandbox: RunningSandbox
) -> None:
    unsure.attempts.all().delete()
    known = ledger.of_calls(sandbox.base_url)
    assert not [one for one in find(ledger=known) if one.invariant == 3]


def test_a_request_from_before_this_database_is_no_fault(
    unsure: Part, find: Find, sandbox: RunningSandbox
) -> None:
    unsure.attempts.all().delete()
    connection = unsure.batch.connection
    connection.created_at = timezone.now()
    connection.save()
    assert not [one for one in find() if one.invariant == 3]


def test_one_attempt_that_is_unsure_does_not_explain_two_requests(unsure: Part, find: Find) -> None:
    """The same rows were accepted twice, and one of the two attempts says that it was not sent."""
    decisions.send_again(unsure, by=None)
    unsure.batch.connection.paused_until = None
    unsure.batch.connection.save()
    send_all()
    assert not [one for one in find() if one.invariant == 3]
    unsure.attempts.filter(number=2).update(
        status=AttemptStatus.BUSY, request_id="", accepted_at=None
    )
    assert (3, "attempt 2 denies", unsure.number) in places(find())


def test_rows_that_say_not_sent_and_may_have_been_sent_are_found(unsure: Part, find: Find) -> None:
    Part.objects.filter(pk=unsure.pk).update(
        status=PartStatus.STOPPED, waiting_became=AnswerStatus.UNSENT, unsent=unsure.rows
    )
    assert (3, "rows say not sent", unsure.number) in places(find())


@pytest.fixture
def asked_again(sandbox: RunningSandbox, batch: Batch) -> Part:
    """A part that was stopped before it was sent, of which rows 2 and 3 were asked again.

    It is unsure what became of their request; they were left out.
    """
    assert decisions.stop(batch, by=None)
    assert asking_again.ask_again(batch, chosen=[2, 3], by=None).rows == 2
    sandbox.script({"fault": "cut_after", "call": "submit"})
    send_all()
    sandbox.script()
    part = batch.parts.get(status=PartStatus.UNSURE)
    assert decisions.leave_out(part, by=None)
    return part


def test_rows_that_were_never_sent_beside_rows_in_doubt_are_no_fault(
    asked_again: Part, find: Find
) -> None:
    assert (asked_again.missing, asked_again.unsent) == (2, asked_again.rows - 2)
    assert [one for one in find() if one.invariant == 3] == []


def test_a_row_in_doubt_that_says_not_sent_is_found_among_those_never_sent(
    asked_again: Part, find: Find
) -> None:
    asked_again.attempts.update(positions=[1, 2])
    found = [one for one in find() if one.kind == "rows say not sent"]
    assert [(one.invariant, one.part, one.row) for one in found] == [(3, 1, 4)]
    assert found[0].what.startswith("1 of its rows")


def test_the_file_of_a_sandbox_tells_the_bodies_apart(
    tmp_path: Path, start: MakeBatch, settings: object
) -> None:
    with running_sandbox(data=tmp_path / "sandbox.sqlite3") as running:
        settings.SANDBOX_URL = running.base_url  # type: ignore[attr-defined]
        settings.FIRST_POLL_SECONDS = 0  # type: ignore[attr-defined]
        work(start(rows(60)))
        known = ledger.of_store(tmp_path / "sandbox.sqlite3")
    clients.close_all()
    attempts = list(Attempt.objects.all())
    assert len(attempts) == len(known.accepted) == 3
    for attempt in attempts:
        accepted = known.accepted[attempt.request_id]
        assert accepted.sha256 == ledger.sha256_of(attempt)
        assert (accepted.items, accepted.size) == (attempt.items, attempt.payload_size)


# -- 4 --------------------------------------------------------------------------------------------


def test_a_part_sent_twice_without_a_word_is_found(unsure: Part, find: Find) -> None:
    decisions.send_again(unsure, by=None)
    Event.objects.filter(text__contains="sent again").delete()
    work(unsure.batch)
    (found,) = [one for one in find() if one.invariant == 4]
    assert (found.part, found.row) == (unsure.number, unsure.first_row)


def test_one_line_about_several_parts_counts_for_each_that_it_names(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit", "times": 9})
    batch = start(rows(100))
    while batch.parts.filter(status=PartStatus.READY).exists():
        Connection.objects.update(paused_until=None)
        send_all()
    sandbox.script()
    assert batch.parts.filter(status=PartStatus.UNSURE).count() == 4
    questions.decide(batch.parts.all(), Question.UNCLEAR, Choice.SEND_AGAIN, by=None)
    Connection.objects.update(paused_until=None, failures_in_a_row=0)
    send_all()
    assert Attempt.objects.count() == 8
    assert find() == []
    line = Event.objects.get(kind=PartStatus.READY, part_number=None)
    assert line.text.startswith("Parts 1 to 4 are sent again")
    line.part_numbers = [1, 2, 4]
    line.save()
    assert [(one.invariant, one.part) for one in find()] == [(4, 3)]


def test_what_may_have_been_retried_before_a_restore_is_no_fault(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    batch = work(start(rows(10)))
    sandbox.script()
    assert (batch.answered, batch.failed) == (9, 1)
    generation.note_restored("It was restored.")
    assert find() == []
    assert decisions.retry(batch, by=None)
    assert work(batch).answered == 10
    assert find() == []


def test_what_was_stopped_before_a_restore_is_no_fault(batch: Batch, find: Find) -> None:
    assert decisions.stop(batch, by=None)
    generation.note_restored("It was restored.")
    assert Attempt.objects.filter(status=AttemptStatus.UNSURE).count() == 3
    assert find() == []


def test_two_requests_with_different_rows_of_a_part_are_no_fault(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "error", "code": 3006, "call": "submit"})
    batch = work(start(rows(25)))
    assert Attempt.objects.count() == 3
    assert batch.answered == 25
    assert find() == []


@pytest.mark.parametrize("code", [3030, 5004])
def test_what_was_refused_when_it_was_polled_is_billed_if_the_model_was_asked(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, code: int
) -> None:
    """3030: found invalid, and sent again in halves. 5004: its answers cannot be had."""
    sandbox.script({"fault": "error", "code": code, "call": "poll", "times": 3})
    batch = work(start(rows(25)))
    assert find() == []
    if code == 5004:
        assert decisions.retry(batch, by=None)
        work(batch)
        assert find() == []
        Event.objects.filter(kind="retry").delete()
        assert (4, "billed twice", 1) in places(find())


# -- 5 --------------------------------------------------------------------------------------------


def test_a_receipt_that_is_gone_is_found(finished: Batch, find: Find) -> None:
    finished.parts.get(number=2).attempts.update(request_id="")
    assert (5, "receipt of attempt 1 lost", 2) in places(find())


def test_a_receipt_that_changed_is_found(finished: Batch, find: Find) -> None:
    attempt = finished.parts.get(number=2).attempts.get()
    found = places(find(receipts={attempt.pk: "another one"}))
    assert found == [(5, "receipt of attempt 1 changed", 2)]


def test_one_receipt_of_two_attempts_is_found(finished: Batch, find: Find) -> None:
    first, second, _ = finished.parts.all()
    second.attempts.update(request_id=first.attempts.get().request_id)
    assert (5, "receipt of attempt 1 shared", 2) in places(find())


def test_a_deleted_batch_is_not_asked_for_its_receipts(
    finished: Batch, find: Find, team: object
) -> None:
    ensure_connection(team)  # type: ignore[arg-type]
    deleting.delete(finished, by=None)
    Batch.objects.update(files_removed=True, deleted_at=timezone.now() + timedelta(seconds=1))
    finished.parts.all().delete()
    assert find() == []
