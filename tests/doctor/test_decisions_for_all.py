"""One decision about many parts is one line of the timeline, and explains what became of each."""

import pytest

from batchui.batches import decisions, questions
from batchui.batches.models import Batch, Event, Part
from batchui.batches.questions import Choice
from batchui.batches.states import BatchStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import restored
from tests.batches.conftest import poll_all, work
from tests.doctor.conftest import Find, places
from tests.web.deciding import storm

pytestmark = pytest.mark.django_db


@pytest.fixture
def unclear(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Sixty rows in three parts, none of which is known to have been sent."""
    storm(batch, sandbox)
    return batch


def decide(choice: Choice, question: Question = Question.UNCLEAR) -> None:
    assert questions.decide(Part.objects.all(), question, choice, by=None).parts == 3


def test_parts_that_are_all_sent_again_are_no_fault(unclear: Batch, find: Find) -> None:
    decide(Choice.SEND_AGAIN)
    assert find() == []
    assert work(unclear).status == BatchStatus.FINISHED
    assert find() == []


def test_parts_that_are_all_left_out_are_no_fault_nor_is_their_retry(
    unclear: Batch, find: Find
) -> None:
    decide(Choice.LEAVE_OUT)
    unclear.refresh_from_db()
    assert unclear.has_ended
    assert find() == []
    assert decisions.retry(unclear, by=None)
    assert work(unclear).status == BatchStatus.FINISHED
    assert find() == []


def test_replies_that_are_all_asked_for_again_are_no_fault(
    sandbox: RunningSandbox, batch: Batch, find: Find
) -> None:
    sandbox.script({"fault": "contradiction", "times": 0})
    work(batch, rounds=1)
    for _ in range(3):
        Part.objects.exclude(odd_at=None).update(odd_at="2000-01-01T00:00:00Z")
        poll_all()
    decide(Choice.ASK_AGAIN, Question.MISMATCH)
    sandbox.script()
    assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


def test_parts_of_a_restored_database_that_are_all_sent_are_no_fault(
    sandbox: RunningSandbox, batch: Batch, find: Find
) -> None:
    assert restored.let_people_decide("It was put back.") == 3
    decide(Choice.SEND_AGAIN, Question.RESTORED)
    assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


def test_without_its_line_a_decision_about_many_parts_is_found(unclear: Batch, find: Find) -> None:
    decide(Choice.SEND_AGAIN)
    work(unclear)
    Event.objects.filter(text__startswith="Parts").update(part_numbers=[1, 3])
    assert places([one for one in find() if one.invariant == 4]) == [(4, "billed twice", 2)]
