"""A connection that is not let in: when that begins, what ends it, and what goes on then."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import due, polling, refused, sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection
from tests.batches.conftest import poll_all, send_all, work

pytestmark = pytest.mark.django_db
REFUSED = {"fault": "error", "code": 10000}


def connection() -> Connection:
    return Connection.objects.get(kind=Connection.Kind.SANDBOX)


@pytest.fixture
def held(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Every part was refused, and waits for a person."""
    sandbox.script(REFUSED | {"call": "submit", "times": 3})
    send_all()
    assert set(batch.parts.values_list("status", flat=True)) == {PartStatus.HELD}
    return batch


def test_a_refused_send_is_noted_once_with_its_reason(held: Batch) -> None:
    since = connection().refused_since
    assert since is not None
    assert "account id or API token" in connection().refused_reason
    refused.note(connection(), "Later.")
    assert connection().refused_since == since
    assert list(refused.batches_waiting(connection())) == [held]


def test_with_a_new_token_everything_goes_on_at_once(held: Batch, woken: list[Batch]) -> None:
    assert due.ready_parts(10) == []
    assert refused.go_on(connection()) == 3
    assert (connection().refused_since, connection().refused_reason) == (None, "")
    assert woken == [held]
    assert len(due.ready_parts(10)) == 3  # not one at a time
    assert work(held).status == BatchStatus.FINISHED
    assert not held.events.filter(kind="try now").exists()


def test_a_token_that_nobody_could_test_is_tried_with_one_part(held: Batch) -> None:
    refused.go_on(connection(), proven=False)
    assert len(due.ready_parts(10)) == 1
    assert connection().refused_since is not None
    sending.send(due.ready_parts(10)[0])
    assert connection().refused_since is None


def test_other_parts_on_hold_stay_there(held: Batch) -> None:
    later = timezone.now() + timedelta(hours=1)
    held.parts.filter(number=1).update(resume_at=later)
    assert refused.go_on(connection()) == 2


def test_a_refused_poll_is_noted_and_asked_again_at_once(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    send_all()
    sandbox.script(REFUSED | {"call": "poll", "times": 3})
    poll_all()
    assert connection().refused_since is not None
    assert due.due_parts(10) == []
    refused.go_on(connection())
    assert len(due.due_parts(10)) == 3
    assert work(batch).status == BatchStatus.FINISHED


def test_only_failing_polls_of_this_connection_come_sooner(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    send_all()
    later = timezone.now() + timedelta(hours=1)
    Part.objects.update(next_poll_at=later, failures_in_a_row=1)
    batch.parts.filter(number=1).update(failures_in_a_row=0)
    refused.go_on(another(batch))
    assert due.due_parts(10) == []
    Batch.objects.update(deleted_at=timezone.now())
    refused.go_on(connection())
    assert set(batch.parts.values_list("next_poll_at", flat=True)) == {later}
    Batch.objects.update(deleted_at=None)
    refused.go_on(connection())
    assert {part.number for part in due.due_parts(10)} == {2, 3}


def test_a_poll_that_one_model_refuses_says_nothing_of_the_token(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    send_all()
    sandbox.script({"fault": "error", "code": 5018, "call": "poll", "times": 3})
    poll_all()
    assert connection().refused_since is None


def another(batch: Batch) -> Connection:
    """An account of the same team."""
    return Connection.objects.create(
        team=batch.team, kind="rest", account_id="a" * 32, token_encrypted="x", base_url="http://x"
    )


def poll_one() -> None:
    Part.objects.update(next_poll_at=timezone.now())
    polling.poll(due.due_parts(1)[0])


def test_an_answered_poll_ends_it_unless_sends_are_refused(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    send_all()
    other = another(batch)
    for one in (connection(), other):
        refused.note(one, "The token expired.")
    Connection.objects.update(failures_in_a_row=1)
    poll_one()
    assert connection().refused_since is not None
    Connection.objects.update(failures_in_a_row=0)
    poll_one()
    assert connection().refused_since is None
    other.refresh_from_db()
    assert other.refused_since is not None


def test_one_model_that_is_refused_says_nothing_of_the_token(
    sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "error", "code": 5018, "call": "submit", "times": 3})
    send_all()
    assert connection().refused_since is None


def test_other_connections_are_left_alone(held: Batch, woken: list[Batch]) -> None:
    other = another(held)
    assert refused.go_on(other) == 0
    assert woken == []
    assert list(refused.batches_waiting(other)) == []
    assert set(held.parts.values_list("status", flat=True)) == {PartStatus.HELD}
