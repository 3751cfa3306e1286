"""Batch events: pulled from a queue, acknowledged, and followed by polls at once."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import call_limit, events, look_ups
from batchui.batches.look_up_models import LookUp, ReportedRequest
from batchui.batches.models import Attempt, Batch, Part
from batchui.cloudflare.event_queue import BatchEvent, read
from batchui.sandbox.options import AT_ONCE, Timings
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team
from batchui.worker import tick
from tests.batches.conftest import MODEL, MakeBatch, poll_all, rows, send_all
from tests.batches.test_look_ups import begun
from tests.cloudflare.server import ScriptedServer, error, reply

pytestmark = pytest.mark.django_db

QUEUE = "0123456789abcdef0123456789abcdef"


def message(kind: str, request_id: str = "r", **changes: Any) -> dict[str, Any]:
    """A message of a queue."""
    event = {
        "type": f"cf.workersAi.model.batch.{kind}",
        "source": {"type": "workersAi.model", "modelName": MODEL},
        "payload": {"requestId": request_id},
    } | changes
    body = base64.b64encode(json.dumps(event).encode()).decode()
    return {"body": body, "lease_id": "l"}


@pytest.fixture
def told(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """A batch of one part, accepted, through a connection with a queue.

    No event of another test waits in it: a pull brings a hundred at most.
    """
    with sandbox.sandbox.context.store.transaction() as database:
        database.execute("DELETE FROM requests")
    sandbox.set_timings(Timings(queued=0, running=1e6, per_1000_items=0))
    batch = start(rows(25))
    Connection.objects.update(queue_id=QUEUE)
    send_all()
    sandbox.set_timings(AT_ONCE)
    return batch


def due_at(batch: Batch) -> Any:
    return batch.parts.get().next_poll_at


def ends(sandbox: RunningSandbox) -> None:
    """Every request has ended."""
    with sandbox.sandbox.context.store.transaction() as database:
        database.execute("UPDATE requests SET runs_at = 0, done_at = 0")


def looked() -> Connection:
    """Look into the queue, whenever it would be due."""
    Connection.objects.update(events_looked_at=None)
    [pull] = events.due()
    assert events.look(pull)
    return Connection.objects.exclude(queue_id="").get()


def test_polls_come_seldom_and_at_once_after_an_event(
    sandbox: RunningSandbox, told: Batch, settings: Any
) -> None:
    settings.LONGEST_PAUSE_SECONDS = 300
    poll_all()
    assert due_at(told) > timezone.now() + timedelta(seconds=290)
    looked()  # it was queued: that says nothing new
    assert due_at(told) > timezone.now() + timedelta(seconds=290)
    ends(sandbox)
    looked()
    assert due_at(told) <= timezone.now()
    poll_all()
    told.refresh_from_db()
    assert told.status == "finished"
    assert events.due() == []  # nothing is under way


def test_what_was_acknowledged_does_not_come_again_and_what_was_not_does(
    sandbox: RunningSandbox, told: Batch, settings: Any
) -> None:
    ends(sandbox)
    settings.CALLS_PER_5_MINUTES = 2
    connection = Connection.objects.get()
    call_limit.take(connection, 1)
    looked()
    assert [one.kind for one in sandbox.calls() if one.kind in ("pull", "ack")] == ["pull"]
    settings.CALLS_PER_5_MINUTES = 600
    Connection.objects.update(calls_left=None)
    looked()  # others have it for a minute
    assert len(sandbox.calls("ack")) == 0
    sandbox.sandbox.queues._leased.clear()
    looked()
    looked()
    assert len(sandbox.calls("ack")) == 1


def test_a_queue_that_cannot_be_read_lets_polls_come_as_before(
    sandbox: RunningSandbox, told: Batch, settings: Any
) -> None:
    settings.LONGEST_PAUSE_SECONDS = 300
    poll_all()
    sandbox.script({"fault": "error", "code": 10000, "status": 403, "call": "pull"})
    connection = looked()
    assert connection.events_problem
    assert not events.are_used(connection)
    assert due_at(told) < timezone.now() + timedelta(seconds=10)
    Connection.objects.update(events_looked_at=timezone.now() - timedelta(seconds=30))
    assert events.due() == []
    Connection.objects.update(events_looked_at=timezone.now() - timedelta(seconds=61))
    [pull] = events.due()
    assert events.look(pull)
    assert Connection.objects.get().events_problem == ""


def test_events_of_others_change_nothing(api: ScriptedServer, start: MakeBatch) -> None:
    api.script(reply(200, {"result": {"request_id": "ours", "status": "queued"}}))
    batch = start(rows(25))
    send_all()
    later = timezone.now() + timedelta(minutes=5)
    Part.objects.update(next_poll_at=later)
    Connection.objects.update(queue_id=QUEUE)
    found = [message("succeeded", "theirs"), {"body": "no event", "lease_id": "x"}, "odd"]
    api.script(reply(200, {"result": {"messages": found}}), reply(200, {"result": {}}))
    looked()
    assert due_at(batch) == later
    assert api.received[-1].json == {"acks": [{"lease_id": "l"}, {"lease_id": "x"}]}
    assert api.received[-1].path.endswith(f"/accounts/account/queues/{QUEUE}/messages/ack")


def test_requests_that_are_not_known_are_offered_and_never_taken(
    api: ScriptedServer, start: MakeBatch
) -> None:
    api.script(reply(200, {"result": {"request_id": "ours", "status": "queued"}}))
    batch = start(rows(60))
    send_all()
    Connection.objects.update(queue_id=QUEUE)
    Part.objects.update(next_poll_at=timezone.now() + timedelta(minutes=5))
    other = message("queued", "of another model", source={"modelName": "@cf/other/model"})
    endless = message("queued", "x" * 201)
    found = [message("queued", "ours"), message("queued", "lost"), message("succeeded", "lost")]
    api.script(
        reply(200, {"result": {"messages": [*found, other, endless]}}), reply(200, {"result": {}})
    )
    looked()
    looked()  # at least once
    batch.refresh_from_db()
    assert [one.request_id for one in events.unknown_to(batch)] == ["lost"]
    statuses = set(batch.parts.values_list("status", flat=True))
    assert statuses == {"queued"}
    late = [f"late {number}" for number in range(events.MOST_UNKNOWN + 5)]
    api.script(
        reply(200, {"result": {"messages": [message("queued", one) for one in late]}}),
        reply(200, {"result": {}}),
    )
    looked()
    first = Attempt.objects.earliest("pk")
    Attempt.objects.bulk_create(  # whose receipts came after their events
        Attempt(part=first.part, number=at, items=1, payload_size=1, request_id=one)
        for at, one in enumerate(late, 10)
    )
    assert [one.request_id for one in events.unknown_to(batch)] == ["lost"]
    Attempt.objects.filter(part__number=2).update(request_id="lost")  # its receipt came late
    assert events.unknown_to(batch) == []
    Attempt.objects.update(request_id="")
    ReportedRequest.objects.update(seen_at=timezone.now() - timedelta(days=8))
    assert events.unknown_to(batch) == []  # before its start
    events.forget_old()
    assert not ReportedRequest.objects.exists()


@pytest.mark.parametrize("of", ["another connection", "an attempt that has ended"])
def test_an_event_lets_no_poll_be_due_but_that_of_its_request(
    api: ScriptedServer, start: MakeBatch, team: Team, of: str
) -> None:
    api.script(reply(200, {"result": {"request_id": "ours", "status": "queued"}}))
    batch = start(rows(25))
    send_all()
    later = timezone.now() + timedelta(minutes=5)
    Part.objects.update(next_poll_at=later)
    Connection.objects.update(queue_id=QUEUE)
    if of == "another connection":
        other = Connection.objects.create(team=team, kind="rest", name="x", account_id="x")
        Batch.objects.update(connection=other)
        begun(team, request_id="keeps the queue open")
    else:
        part = batch.parts.get()
        Attempt.objects.update(request_id="newer", number=2)
        Attempt.objects.create(
            part=part, number=1, items=25, payload_size=1, status="refused", request_id="ours"
        )
    found = {"messages": [message("succeeded", "ours")]}
    api.script(reply(200, {"result": found}), reply(200, {"result": {}}))
    looked()
    assert due_at(batch) == later


@pytest.mark.parametrize("kind", ["succeeded", "failed"])
def test_a_look_up_is_told_too(api: ScriptedServer, team: Team, kind: str) -> None:
    look_up = begun(team)
    LookUp.objects.update(next_look_at=timezone.now() + timedelta(minutes=5))
    Connection.objects.update(queue_id=QUEUE)
    found = {"messages": [message(kind, look_up.request_id)]}
    api.script(reply(200, {"result": found}), error(7003, 404))
    looked()
    assert look_ups.due(5) == [look_up]


def test_without_a_queue_nothing_is_asked(sandbox: RunningSandbox, start: MakeBatch) -> None:
    start(rows(25))
    send_all()
    assert events.due() == []


def test_two_workers_pull_once(sandbox: RunningSandbox, told: Batch) -> None:
    [one], [other] = events.due(), events.due()
    assert events.look(one)
    assert not events.look(other)
    assert len(sandbox.calls("pull")) == 1


@pytest.mark.django_db(transaction=True)
def test_a_worker_pulls_by_itself(sandbox: RunningSandbox, told: Batch, settings: Any) -> None:
    settings.LONGEST_PAUSE_SECONDS = 300
    tick.run_tick()
    ends(sandbox)
    Connection.objects.update(events_looked_at=None)
    tick.run_tick()
    tick.run_tick()  # the poll may be due a moment after the event that lets it be
    told.refresh_from_db()
    assert told.status == "finished"


READ = [
    (message("succeeded"), BatchEvent("succeeded", "r", MODEL)),
    ({**message("failed"), "body": json.dumps({"type": "x"})}, None),
    (
        {"lease_id": "l", "body": {"type": "cf.workersAi.model.batch.queued"}},
        None,
    ),
    (message("queued", source={}), BatchEvent("queued", "r", "")),
    (message("started"), None),
    (message("queued", payload=None), None),
    (message("queued", payload=[1]), None),
    ({"lease_id": "l", "body": "%%%"}, None),
    ({"lease_id": "l"}, None),
]


@pytest.mark.parametrize(("found", "event"), READ)
def test_whatever_comes_is_read_or_passed_over(found: Any, event: BatchEvent | None) -> None:
    pulled = read(json.dumps({"messages": [found]}).encode())
    assert pulled.leases == ["l"]
    assert pulled.events == ([event] if event else [])


@pytest.mark.parametrize(
    "result", [b"{}", b"[]", b"null", b'{"messages": {}}', b'{"messages": [1]}']
)
def test_a_pull_without_messages_brings_nothing(result: bytes) -> None:
    assert read(result) == ([], [])
