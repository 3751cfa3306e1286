"""A worker that is killed at whatever statement of a poll loses nothing and pays nothing twice."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from batchui.batches import decisions, due, polling
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import (
    MakeBatch,
    counted,
    in_files,
    let_odd_replies_age,
    poll_all,
    posts,
    rows,
    send_all,
    work,
)

pytestmark = pytest.mark.django_db

# More than any poll has.
MOST_STATEMENTS = 60


class Killed(BaseException):
    """The end of a worker. No code catches it."""


def killed_at(statement: int, step: Callable[[], object]) -> bool:
    """Take a step, but end it before its statement of this number. False: it has fewer."""
    left = statement

    def count(execute: Callable[..., Any], *args: Any) -> Any:
        nonlocal left
        left -= 1
        if left == -1:  # what comes after this undoes the transaction, as the database does
            raise Killed
        return execute(*args)

    with suppress(Killed), connection.execute_wrapper(count):
        step()
        return False
    return True


def poll_once() -> None:
    Part.objects.update(next_poll_at=timezone.now())
    [part] = due.due_parts(1)
    polling.poll(part)


def accepted(start: MakeBatch) -> Batch:
    batch = start(rows(5))
    send_all()
    return batch


def everywhere(begin: Callable[[], Batch], finish: Callable[[Batch], None]) -> int:
    """Kill the worker of a batch at each statement of a poll. Returns how many batches there were.

    begin: makes a batch whose next poll is this one. finish: brings it to its end afterwards.
    """
    for statement in range(MOST_STATEMENTS):
        batch = begin()
        killed = killed_at(statement, poll_once)
        assert counted(batch) == in_files(batch), statement
        Part.objects.exclude(lease_until=None).update(
            lease_until=timezone.now() - timedelta(minutes=1)
        )
        finish(batch)
        batch.refresh_from_db()
        assert (batch.status, batch.answered) == (BatchStatus.FINISHED, 5), statement
        if not killed:
            return statement + 1
    raise AssertionError("a poll has more statements than thought")


@pytest.mark.parametrize("fault", ["missing", "contradiction", "garbage", "running", ""])
def test_a_poll_that_is_killed_anywhere_is_made_again(
    sandbox: RunningSandbox, start: MakeBatch, fault: str
) -> None:
    def begin() -> Batch:
        sandbox.script(*([{"fault": fault, "call": "poll"}] if fault else []))
        return accepted(start)

    def finish(batch: Batch) -> None:
        work(batch)

    made = everywhere(begin, finish)
    assert made > 5
    assert posts(sandbox) == made


def test_a_worker_that_is_killed_while_it_gives_up_lets_a_person_be_asked(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    def begin() -> Batch:
        sandbox.script({"fault": "contradiction", "times": 0})
        batch = accepted(start)
        for _ in range(2):
            poll_once()
            let_odd_replies_age()
        return batch

    def finish(batch: Batch) -> None:
        for _ in range(4):
            if batch.parts.get().status != PartStatus.UNSURE:
                poll_all()
                let_odd_replies_age()
        part, attempt = batch.parts.get(), Attempt.objects.get(part__batch=batch)
        assert (part.status, part.question) == (PartStatus.UNSURE, Question.MISMATCH)
        assert attempt.status == AttemptStatus.QUARANTINED
        assert attempt.reply_file
        sandbox.script()
        assert decisions.ask_again(part, by=None)
        work(batch)

    made = everywhere(begin, finish)
    assert made > 5
    assert posts(sandbox) == made
