"""Stop says of each row what is known: rows that may be charged are never called unsent."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, lifecycle, many_parts, sending
from batchui.batches.models import Batch, Part
from batchui.batches.outcomes import Unsure
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    counted,
    in_files,
    on_record,
    posts,
    rows,
    send_all,
    work,
    written,
)

pytestmark = pytest.mark.django_db


def test_rows_that_may_be_charged_are_not_called_unsent_when_they_are_to_be_sent_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = start(rows(10))
    send_all()
    assert decisions.send_again(batch.parts.get(), by=None)
    assert decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"missing": 10}
    assert batch.parts.get().waiting_error == many_parts.STOPPED_UNSURE
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FAILED


def test_nor_when_that_was_chosen_at_the_start(sandbox: RunningSandbox, start: MakeBatch) -> None:
    batch = start(rows(10), resend_once=True)
    (part,) = due.ready_parts(5)
    sending.apply_outcome(part, written(part), Unsure("The line was cut."))
    assert part.status == PartStatus.READY
    assert decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"missing": 10}


def test_what_was_chosen_at_the_start_sends_nothing_after_stop(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10), resend_once=True)
    (part,) = due.ready_parts(5)
    attempt = written(part)
    assert decisions.stop(batch, by=None)
    sending.apply_outcome(part, attempt, Unsure("The line was cut."))
    assert (part.status, part.resends) == (PartStatus.DONE, 0)
    assert counted(batch) == in_files(batch) == {"missing": 10}
    assert not batch.events.filter(text__contains="sent again").exists()


NOT_SENT = {AttemptStatus.NOT_SENT, AttemptStatus.BUSY, AttemptStatus.REFUSED}


def part_with(team: Team, status: PartStatus, attempt: AttemptStatus, **fields: object) -> Part:
    batch = on_record(team)
    batch.parts.update(status=status, **fields)
    part = batch.parts.get()
    attempt_on_record(part, status=attempt)
    return part


@pytest.mark.parametrize("status", PartStatus)
@pytest.mark.parametrize("attempt", AttemptStatus)
@pytest.mark.parametrize("question", [Question.UNCLEAR, Question.DAMAGED])
def test_what_is_said_before_stop_is_what_becomes_of_the_rows(
    team: Team, status: PartStatus, attempt: AttemptStatus, question: Question
) -> None:
    part = part_with(team, status, attempt, question=question, answered=3)
    said = many_parts.rows_at_stop(part.batch.parts.all())
    many_parts.stop(part.batch.parts.all())
    part.refresh_from_db()
    is_ended = status in (PartStatus.DONE, PartStatus.STOPPED)
    sent = 0 if is_ended else part.waiting
    assert said == (part.unsent, sent, part.missing)
    assert sum(said) == (0 if is_ended else 7)


@pytest.mark.parametrize("status", [PartStatus.READY, PartStatus.HELD])
@pytest.mark.parametrize("attempt", AttemptStatus)
def test_stop_says_of_a_part_that_waits_what_its_requests_say(
    team: Team, status: PartStatus, attempt: AttemptStatus
) -> None:
    part = part_with(team, status, attempt)
    assert decisions.stop(part.batch, by=None)
    part.refresh_from_db()
    if attempt == AttemptStatus.ACCEPTED:
        assert (part.status, part.waiting, part.waiting_became) == (PartStatus.QUEUED, 10, "")
    elif attempt in NOT_SENT | {AttemptStatus.ANSWERED}:
        assert (part.status, part.unsent) == (PartStatus.STOPPED, 10)
        assert part.waiting_error == many_parts.STOPPED_BEFORE
    else:
        assert (part.status, part.missing) == (PartStatus.DONE, 10)
        assert part.waiting_error == many_parts.STOPPED_UNSURE


@pytest.mark.parametrize(
    ("status", "said"),
    [(PartStatus.UNSURE, " Undecided: 10 rows are left out."), (PartStatus.READY, "")],
)
def test_the_timeline_says_how_many_undecided_rows_stop_left_out(
    team: Team, status: PartStatus, said: str
) -> None:
    batch = on_record(team)
    batch.parts.update(status=status)
    assert decisions.stop(batch, by=None)
    told = batch.events.get(kind="stopping").text
    assert told == f"Stop was pressed. Nothing more is sent.{said}"


@pytest.mark.parametrize("question", Question)
@pytest.mark.parametrize("attempt", AttemptStatus)
def test_stop_leaves_an_unsure_part_out_unless_it_was_certainly_not_sent(
    team: Team, question: Question, attempt: AttemptStatus
) -> None:
    part = part_with(team, PartStatus.UNSURE, attempt, question=question)
    assert decisions.stop(part.batch, by=None)
    part.refresh_from_db()
    if question == Question.DAMAGED and attempt in NOT_SENT | {AttemptStatus.ANSWERED}:
        assert (part.status, part.unsent) == (PartStatus.STOPPED, 10)
    else:
        assert (part.status, part.missing) == (PartStatus.DONE, 10)


def test_an_attempt_of_another_part_says_nothing(team: Team) -> None:
    part_with(team, PartStatus.READY, AttemptStatus.UNSURE)
    part = part_with(team, PartStatus.READY, AttemptStatus.NOT_SENT)
    assert decisions.stop(part.batch, by=None)
    part.refresh_from_db()
    assert (part.status, part.unsent) == (PartStatus.STOPPED, 10)


def test_every_move_that_stop_makes_is_counted(team: Team) -> None:
    batch = on_record(team, parts=6)
    for number, (status, attempt) in enumerate(
        (
            (PartStatus.READY, AttemptStatus.ACCEPTED),
            (PartStatus.READY, AttemptStatus.UNSURE),
            (PartStatus.HELD, AttemptStatus.NOT_SENT),
            (PartStatus.UNSURE, AttemptStatus.UNSURE),
            (PartStatus.UNSURE, AttemptStatus.NOT_SENT),
            (PartStatus.SENDING, AttemptStatus.WRITTEN),
        ),
        1,
    ):
        part = batch.parts.get(number=number)
        question = Question.DAMAGED if number == 5 else ""
        Part.objects.filter(pk=part.pk).update(status=status, question=question)
        attempt_on_record(part, status=attempt)
    assert many_parts.stop(batch.parts.all()) == 5
    assert list(batch.parts.order_by("number").values_list("status", "epoch")) == [
        (PartStatus.QUEUED, 1),
        (PartStatus.DONE, 1),
        (PartStatus.STOPPED, 1),
        (PartStatus.DONE, 1),
        (PartStatus.STOPPED, 1),
        (PartStatus.SENDING, 0),
    ]


def test_a_part_whose_receipt_came_late_is_fetched_after_stop_and_not_sent_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    (part,) = due.ready_parts(5)
    assert lifecycle.move_part(part, PartStatus.SENDING)
    prepared = sending.write_attempt(part)
    assert prepared is not None
    attempt, body = prepared
    client = sending.shared_client(batch.connection)
    outcome = sending.post(client, model=batch.ask.model, body=body)
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    assert decisions.send_again(batch.parts.get(), by=None)
    sending.apply_outcome(part, attempt, outcome)  # the receipt comes late
    waiting = batch.parts.get()
    Part.objects.update(polls=5, failures_in_a_row=2, message="It was said.")
    assert decisions.stop(batch, by=None)
    part = batch.parts.get()
    assert (part.status, part.epoch) == (PartStatus.QUEUED, waiting.epoch + 1)
    assert (part.polls, part.failures_in_a_row, part.message) == (0, 0, "")
    assert [found.pk for found in due.due_parts(5)] == [part.pk]
    batch.refresh_from_db()
    assert batch.status == BatchStatus.STOPPING
    batch = work(batch)
    assert counted(batch) == in_files(batch) == {"answered": 10}
    assert posts(sandbox) == 1


def test_a_retry_finds_what_stop_left_out(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script({"fault": "cut_before", "call": "submit"})
    batch = start(rows(10))
    send_all()
    decisions.send_again(batch.parts.get(), by=None)
    decisions.stop(batch, by=None)
    assert decisions.retry(Batch.objects.get(), by=None)
    Connection.objects.update(paused_until=timezone.now() - timedelta(seconds=1))
    assert work(batch).status == BatchStatus.FINISHED
