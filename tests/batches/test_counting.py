"""Every row is counted once, whatever its part goes through."""

import json
from typing import Any

import pytest

from batchui.batches import decisions, due, lifecycle, many_parts, results
from batchui.batches.compressed import read_compressed
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.sheet import pages
from batchui.batches.sheet.selection import parse
from batchui.batches.states import AnswerStatus, AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    counted,
    in_files,
    let_odd_replies_age,
    on_record,
    poll_all,
    rows,
    send_all,
    work,
)

pytestmark = pytest.mark.django_db

TOO_LARGE = {"fault": "error", "code": 3006, "call": "submit"}


def half_back(sandbox: RunningSandbox, start: MakeBatch, fault: str) -> Batch:
    """Ten rows in one part, too large at once: five are back, two of them spoilt; five wait."""
    looks = 2 if fault == "missing" else 1  # before it is believed
    sandbox.script(TOO_LARGE, {"fault": fault, "items": [0, 1], "times": looks})
    batch = start(rows(10))
    send_all()
    send_all()
    for _ in range(looks):
        poll_all()
        let_odd_replies_age()
    assert counted(batch) == in_files(batch) == {"answered": 3, fault: 2}
    part = batch.parts.get()
    assert (part.status, part.waiting) == (PartStatus.READY, 5)
    return batch


def test_rows_of_a_part_left_out_are_counted_with_those_that_were_missing(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "missing")
    sandbox.script({"fault": "cut_after", "call": "submit"})
    send_all()
    assert decisions.leave_out(batch.parts.get(), by=None)
    assert counted(batch) == in_files(batch) == {"answered": 3, "missing": 7}
    assert batch.status == BatchStatus.PROBLEMS


def test_rows_refused_are_counted_with_those_that_failed(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "failed")
    sandbox.script({"fault": "error", "code": 5007, "call": "submit"})
    send_all()
    assert counted(batch) == in_files(batch) == {"answered": 3, "failed": 7}
    assert batch.status == BatchStatus.PROBLEMS


def test_stop_counts_rows_nobody_is_sure_of_with_those_that_were_missing(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "missing")
    sandbox.script({"fault": "cut_after", "call": "submit"})
    send_all()
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    assert decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"answered": 3, "missing": 7}
    assert batch.status == BatchStatus.PROBLEMS


def test_stop_counts_the_rows_that_wait_and_no_others(team: Team) -> None:
    batch = on_record(team)
    batch.parts.update(**dict.fromkeys([status.value for status in AnswerStatus], 1))
    assert decisions.stop(batch, by=None)
    part = batch.parts.get()
    waited = part.rows - len(AnswerStatus)
    assert (part.unsent, part.settled, part.waiting) == (1 + waited, 10, 0)


def test_a_part_sent_in_two_requests_is_done_with_the_second(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "missing")
    sandbox.script()
    send_all()
    poll_all()
    assert counted(batch) == in_files(batch) == {"answered": 8, "missing": 2}
    assert batch.status == BatchStatus.PROBLEMS
    sent = batch.parts.get().attempts.filter(status=AttemptStatus.ANSWERED)
    assert [attempt.positions for attempt in sent] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_the_tokens_of_every_request_of_a_part_are_added(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "missing")
    work(batch)
    used = [usage(attempt) for attempt in Attempt.objects.filter(status=AttemptStatus.ANSWERED)]
    assert len(used) == 2
    batch.refresh_from_db()
    part = batch.parts.get()
    assert part.prompt_tokens == batch.prompt_tokens == sum(one["prompt_tokens"] for one in used)
    assert part.completion_tokens == sum(one["completion_tokens"] for one in used)
    assert batch.completion_tokens == part.completion_tokens


def usage(attempt: Attempt) -> dict[str, Any]:
    """What a request used, by the reply as it came."""
    found = json.loads(b"".join(read_compressed(attempt.reply_file)))["result"]["usage"]
    assert found["prompt_tokens"]
    assert found["completion_tokens"]
    return dict(found)


def test_one_row_of_a_retry_that_is_too_large_fails_and_not_its_neighbour(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "failed", "items": [3]})
    batch = work(start(rows(10)))
    assert counted(batch) == {"answered": 9, "failed": 1}
    sandbox.script(TOO_LARGE)
    assert decisions.retry(batch, by=None)
    batch = work(batch)
    assert counted(batch) == in_files(batch) == {"answered": 9, "failed": 1}
    (failed,) = pages.page(batch, parse("attention"), offset=0, limit=10)
    assert failed.row == 5
    assert "too large" in (failed.error or "")


def test_the_only_row_of_a_part_may_be_too_large(sandbox: RunningSandbox, start: MakeBatch) -> None:
    sandbox.script(TOO_LARGE)
    batch = work(start(rows(1)))
    assert counted(batch) == in_files(batch) == {"failed": 1}
    attempt = batch.parts.get().attempts.get()
    assert (attempt.status, attempt.code) == (AttemptStatus.REFUSED, 3006)
    assert batch.events.get(part_number=1).text == f"Row 2 was refused alone: {attempt.message}"


def test_of_two_rows_that_are_too_large_together_each_gets_its_own_try(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(TOO_LARGE)
    batch = work(start(rows(2)))
    assert counted(batch) == {"answered": 2}
    assert [call.items for call in sandbox.calls("submit")] == [2, 1, 1]


@pytest.mark.parametrize("last", AnswerStatus)
@pytest.mark.parametrize("done", [True, False])
def test_a_part_is_done_when_the_last_row_is_known_whatever_it_came_to(
    team: Team, last: AnswerStatus, done: bool
) -> None:
    part = on_record(team).parts.get()
    attempt = attempt_on_record(part)
    lifecycle.store_receipt(attempt, "known")
    Part.objects.update(status=PartStatus.QUEUED, resume_at="2000-01-01T00:00:00Z")
    part.refresh_from_db()
    noughts = dict.fromkeys([status.value for status in AnswerStatus], 0)
    changes: Any = noughts | {"answered": 8} | {last.value: 10 if last == "answered" else 2}
    if not done:
        changes[last.value] -= 1
    closing = lifecycle.Closing(attempt, AttemptStatus.ANSWERED)
    assert lifecycle.settle_answers(part, changes, closing=closing)
    assert part.status == (PartStatus.DONE if done else PartStatus.READY)
    assert part.resume_at is None
    assert [ready.pk for ready in due.ready_parts(5)] == ([] if done else [part.pk])


def test_a_stopped_part_with_answers_says_so_of_the_rest(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = half_back(sandbox, start, "missing")
    assert decisions.stop(batch, by=None)
    assert counted(batch) == in_files(batch) == {"answered": 3, "missing": 2, "unsent": 5}
    told = [row.error for row in results.results(batch)]
    assert told[5:] == [many_parts.STOPPED_BEFORE] * 5
    assert batch.parts.get().message == many_parts.STOPPED_BEFORE
