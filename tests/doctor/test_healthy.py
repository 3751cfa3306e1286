"""Whatever people and the wire do, nothing is wrong where the product worked as it should."""

import gzip
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from batchui.batches import decisions, deleting, due, intake, long_tasks, sending
from batchui.batches.empty_answers import count_as_answered, count_as_empty
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.prompts.answer_columns import AnswerColumn
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import MODEL, MakeBatch, poll_all, rows, send_all, work, written
from tests.doctor.conftest import Find

pytestmark = pytest.mark.django_db

FAULTS: list[list[dict[str, Any]]] = [
    [{"fault": "cut_after", "call": "submit"}],
    [{"fault": "error", "code": 3040, "call": "submit"}],
    [{"fault": "error", "code": 3006, "call": "submit", "times": 2}],
    [{"fault": "error", "code": 8007, "call": "submit"}],
    [{"fault": "error", "code": 10000, "call": "submit"}],
    [{"fault": "error", "status": 502, "call": "submit"}],
    [{"fault": "no_request_id", "call": "submit"}],
    [{"fault": "garbage", "call": "submit"}],
    [{"fault": "forgotten", "call": "submit"}],
    [{"fault": "failed", "items": [0, 3]}, {"fault": "empty", "items": [1]}],
    [{"fault": "missing", "items": [2]}],
    [{"fault": "contradiction"}],
    [{"fault": "batch_failed", "call": "poll"}],
    [{"fault": "truncated", "call": "poll"}],
]


def later(**time: float) -> None:
    """Let time pass: pauses and leases end, and what was seen once was seen long ago."""
    passed = timedelta(**time)
    now = timezone.now()
    Part.objects.exclude(resume_at=None).update(resume_at=now)
    Part.objects.exclude(lease_until=None).update(lease_until=now)
    Part.objects.exclude(odd_at=None).update(odd_at=now - passed)
    Connection.objects.update(paused_until=None)


def test_nothing_is_wrong_before_anything_is_there(find: Find, db: None) -> None:
    assert find() == []


def test_nothing_is_wrong_with_a_draft_and_a_batch_that_finished(
    finished: Batch, receive: MakeBatch, find: Find
) -> None:
    receive(rows(3))
    assert find() == []


def test_nothing_is_wrong_with_a_file_without_names_or_one_that_was_converted(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    lines = b"".join(b'{"text": "line %d", "size": 1.10}\n' % number for number in range(30))
    assert work(start(lines, "texts.jsonl")).first_row == 1
    packed = work(start(gzip.compress(rows(30)), "texts.csv.gz"))
    assert packed.converted_file
    assert find() == []


def test_nothing_is_wrong_with_a_further_question_and_one_whose_file_is_not_made(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b'{"text": "one", "more": {"a": 1}}\n{"text": "two"}\n'
    for first in (work(start(rows(30))), work(start(lines, "texts.jsonl"))):
        draft = intake.ask_further(first, by=None)
        asked = Ask(model=MODEL, template="{{answer}}")
        assert decisions.start(draft, by=None, ask=asked, prepare_now=True)
        second = work(Batch.objects.get(pk=draft.pk))
        assert second.status == BatchStatus.FINISHED
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", -1)
    intake.ask_further(second, by=None)
    assert find() == []


def test_nothing_is_wrong_with_a_batch_of_an_older_version_whose_rows_count_from_1(
    finished: Batch, find: Find
) -> None:
    for field in ("header_row", "first_row"):
        del finished.source_format[field]
    finished.save()
    finished.parts.update(first_row=F("first_row") - 1)
    assert find() == []


@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: faults[0]["fault"])
def test_nothing_is_wrong_after_a_fault_that_the_product_knows(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, faults: list[dict[str, Any]]
) -> None:
    sandbox.script(*faults)
    start(rows(60))
    for _ in range(4):
        send_all()
        assert find() == []
        poll_all()
        assert find() == []
        later(hours=1)
        due.release_held()


@pytest.mark.parametrize("fault", ["failed", "empty"])
def test_nothing_is_wrong_where_a_row_keeps_the_answer_of_a_reply_that_was_not_whole(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, fault: str
) -> None:
    sandbox.script({"fault": "missing", "items": [2]}, {"fault": fault, "items": [0], "nth": 2})
    batch = start(rows(4))
    send_all()
    poll_all()
    assert batch.parts.get().answered == 3
    later(hours=1)
    poll_all()
    assert batch.parts.get().answered == 4
    assert find() == []


def test_nothing_is_wrong_with_answers_in_columns_that_do_not_fit_or_count_as_answered(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script(
        {"fault": "unfit", "form": "words", "items": [0]},
        {"fault": "unfit", "form": "other", "items": [1]},
        {"fault": "unfit", "form": "fenced", "items": [2]},
        {"fault": "empty", "form": "text", "items": [3]},
    )
    batch = work(start(rows(6), answer_columns=(AnswerColumn("tone", "one_of", ("a", "b")),)))
    assert (batch.answered, batch.unfit, batch.empty) == (3, 2, 1)
    assert find() == []
    assert count_as_answered(batch, by=None)
    assert find() == []
    assert count_as_empty(batch, by=None) == 1
    assert find() == []
    assert count_as_answered(batch, by=None)
    assert decisions.retry(batch, by=None)
    later(hours=1)
    assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


@pytest.mark.parametrize("decide", [decisions.send_again, decisions.leave_out])
def test_nothing_is_wrong_after_a_decision_and_a_retry(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, decide: Any
) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = start(rows(60))
    send_all()
    assert decide(batch.parts.get(status=PartStatus.UNSURE), by=None)
    later(hours=1)
    batch = work(batch)
    assert find() == []
    if decisions.retry(batch, by=None):
        assert find() == []
        assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


def test_nothing_is_wrong_where_a_part_is_sent_again_once_as_chosen(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = start(rows(60), resend_once=True)
    send_all()
    later(hours=1)
    assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


def test_nothing_is_wrong_where_a_batch_is_stopped_half_way(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    batch = start(rows(60))
    sending.send(due.ready_parts(1)[0])
    decisions.stop(batch, by=None)
    assert find() == []
    batch = work(batch)
    assert find() == []
    decisions.retry(batch, by=None)
    assert work(batch).status == BatchStatus.FINISHED
    assert find() == []


def test_nothing_is_wrong_while_a_part_is_being_sent_or_after_its_worker_died(
    part: Part, find: Find
) -> None:
    written(part)
    assert find() == []
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    assert find() == []


def test_nothing_is_wrong_with_a_deleted_batch(finished: Batch, find: Find) -> None:
    deleting.delete(finished, by=None)
    assert find() == []


def test_rows_that_wait_for_the_answer_of_another_row_are_well(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "error", "status": 503, "call": "poll", "times": 0})
    batch = work(start(b"id,text\n" + b"1,same\n" * 60, ask_once=True), rounds=1)
    assert batch.parts.filter(status=PartStatus.HELD).count() == 2
    assert find() == []
    sandbox.script()
    work(batch)
    assert find() == []
