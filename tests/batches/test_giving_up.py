"""Answers that can never be read have a way out: they are looked for once more, then sent for."""

import pytest
from django.utils import timezone

from batchui.batches import decisions
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team
from tests.batches.conftest import (
    MakeBatch,
    attempt_on_record,
    counted,
    on_record,
    poll_all,
    posts,
    rows,
    send_all,
    work,
)

pytestmark = pytest.mark.django_db


def leave_out(batch: Batch) -> None:
    """Leave the part out, whose replies could not be read for hours."""
    Part.objects.update(status=PartStatus.UNSURE, question=Question.UNREADABLE)
    assert decisions.leave_out(batch.parts.get(), by=None)
    batch.refresh_from_db()


def test_rows_whose_answers_can_never_be_read_are_looked_for_once_and_then_sent_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(5))
    send_all()
    leave_out(batch)
    assert "The next one sends the row again" in batch.parts.get().waiting_error
    # The first retry looks again, which costs nothing.
    assert batch.rows_in_doubt == 0
    assert decisions.retry(batch, by=None)
    sandbox.script({"fault": "garbage", "call": "poll", "times": 0})
    send_all()
    poll_all()
    assert (posts(sandbox), len(sandbox.calls("poll"))) == (1, 1)
    leave_out(batch)
    # The second one sends the rows again, and says what that may cost.
    assert batch.rows_in_doubt == 5
    sandbox.script()
    assert decisions.retry(batch, by=None)
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    assert posts(sandbox) == 2
    assert counted(batch) == {"answered": 5}


@pytest.mark.parametrize("status", AttemptStatus)
@pytest.mark.parametrize(("before", "was_looked_for"), [(0, False), (1, True), (2, True)])
def test_only_a_request_that_was_looked_for_after_a_retry_is_given_up(
    team: Team, status: AttemptStatus, before: int, was_looked_for: bool
) -> None:
    batch, other = on_record(team), on_record(team)
    for part in (*batch.parts.all(), *other.parts.all()):
        attempt_on_record(part, status=status)
    Part.objects.update(attempts_before=before, status=PartStatus.UNSURE)
    began = timezone.now()
    assert decisions.leave_out(batch.parts.get(), by=None)
    attempt = Attempt.objects.get(part__batch=batch)
    if status == AttemptStatus.ACCEPTED and was_looked_for:
        assert attempt.status == AttemptStatus.LOST
        assert attempt.message == batch.parts.get().waiting_error
        assert attempt.finished_at is not None
        assert attempt.finished_at >= began
    else:
        assert attempt.status == status
    assert Attempt.objects.get(part__batch=other).status == status
