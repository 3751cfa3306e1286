"""Where nobody knows whether a part was sent, a person decides: no row is silently sent twice."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from batchui.batches import decisions, due, sending
from batchui.batches.lifecycle import Closing
from batchui.batches.models import Batch, Part
from batchui.batches.outcomes import Unsure
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    let_the_pause_end,
    posts,
    rows,
    send_all,
    work,
    written,
)

pytestmark = pytest.mark.django_db


def test_a_lost_receipt_is_never_resent_silently(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    batch = work(batch, rounds=3)
    let_the_pause_end()
    batch = work(batch, rounds=3)
    assert batch.status == BatchStatus.ATTENTION
    assert posts(sandbox) == batch.part_count
    unsure = batch.parts.get(status=PartStatus.UNSURE)
    assert unsure.message
    assert unsure.attempts.get().status == AttemptStatus.UNSURE


def test_a_person_sends_an_unsure_part_again(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_after", "call": "submit"})
    work(batch, rounds=3)
    assert decisions.send_again(batch.parts.get(status=PartStatus.UNSURE), by=None)
    let_the_pause_end()
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    assert posts(sandbox) == batch.part_count + 1


def test_a_person_leaves_an_unsure_part_out(sandbox: RunningSandbox, batch: Batch) -> None:
    sandbox.script({"fault": "cut_before", "call": "submit"})
    work(batch, rounds=3)
    unsure = batch.parts.get(status=PartStatus.UNSURE)
    assert decisions.leave_out(unsure, by=None)
    let_the_pause_end()
    batch = work(batch)
    assert batch.status == BatchStatus.PROBLEMS
    assert batch.missing == unsure.rows


def test_an_unsure_part_is_sent_again_once_where_that_was_chosen(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script({"fault": "error", "status": 500, "call": "submit", "times": 0})
    batch = start(rows(10), resend_once=True)
    for _ in range(4):
        send_all()
        Part.objects.update(resume_at=None)
        let_the_pause_end()
    assert posts(sandbox) == 2
    assert batch.parts.get().status == PartStatus.UNSURE


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "error", "status": 500},
        {"fault": "error", "status": 408, "code": 3007},
        {"fault": "garbage"},
        {"fault": "truncated"},
        {"fault": "cut_after", "reset": True},
        {"fault": "no_request_id"},
    ],
)
def test_what_may_have_been_sent_is_unsure(
    sandbox: RunningSandbox, start: MakeBatch, fault: dict[str, object]
) -> None:
    sandbox.script(fault | {"call": "submit"})
    batch = start(rows(5))
    send_all()
    part = batch.parts.get()
    assert part.status == PartStatus.UNSURE
    assert part.waiting == 5
    assert part.attempts.get().code == fault.get("code")


def test_it_is_not_sent_again_where_nobody_chose_that(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(10))
    part = due.ready_parts(1)[0]
    sending.apply_outcome(part, written(part), Unsure("The line was cut."))
    assert (part.status, part.message) == (PartStatus.UNSURE, "The line was cut.")
    assert due.ready_parts(5) == []
    batch.refresh_from_db()
    assert batch.status == BatchStatus.ATTENTION
    told = batch.events.get(kind=PartStatus.UNSURE).text
    assert told == "Part 1 may or may not have been sent: The line was cut."


def test_that_it_is_unsure_and_sent_again_is_stored_together(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    """A worker that dies in between leaves it to its lease: nobody is asked what was chosen."""
    start(rows(10), resend_once=True)
    (part,) = due.ready_parts(1)
    attempt = written(part)

    def dies(execute: Callable[..., Any], sql: str, params: Any, *rest: Any) -> Any:
        if sql.startswith('UPDATE "batches_part"') and "ready" in params:
            raise KeyboardInterrupt
        return execute(sql, params, *rest)

    with connection.execute_wrapper(dies), pytest.raises(KeyboardInterrupt):
        sending.mark_unsure(part, Closing(attempt, AttemptStatus.UNSURE, "cut"))
    assert Part.objects.get().status == PartStatus.SENDING
    sending.rescue(timezone.now() + 2 * PART_LEASE)
    part = Part.objects.get()
    assert (part.status, part.resends) == (PartStatus.READY, 1)


def test_it_is_sent_again_after_a_pause_and_only_once(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    start(rows(10), resend_once=True)
    part = due.ready_parts(1)[0]
    sending.apply_outcome(part, written(part), Unsure("The line was cut."))
    assert (part.status, part.resends) == (PartStatus.READY, 1)
    assert part.resume_at is not None
    pause = part.resume_at - timezone.now()
    assert timedelta(seconds=2) < pause <= timedelta(seconds=5)
    assert due.ready_parts(5) == []
    sending.apply_outcome(part, written(part), Unsure("The line was cut."))
    assert part.status == PartStatus.UNSURE
