"""Requests that somebody else has sent: looked up until their answers are a batch."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from batchui.batches import clients, decisions, look_ups, replies, results
from batchui.batches.exporting import csv_plain
from batchui.batches.look_up_models import LookUp
from batchui.batches.look_ups import WrongField, read_pasted
from batchui.batches.models import Attempt, Batch
from batchui.batches.sheet import asking_again
from batchui.doctor import examine
from batchui.doctor.records import Scope
from batchui.sandbox.options import AT_ONCE, Timings
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Team, User
from batchui.worker import tick
from tests.batches.conftest import MODEL, another_account
from tests.cloudflare.server import ScriptedServer, error, reply
from tests.teams.people import outsider

pytestmark = pytest.mark.django_db

ID = "6f1a2b3c-0000-4000-8000-123456789abc"


def begun(team: Team, by: User | None = None, request_id: str = ID, model: str = MODEL) -> LookUp:
    found = look_ups.begin(
        team=team,
        by=by,
        connection=ensure_connection(team),
        request_id=request_id,
        model=model,
    )
    assert isinstance(found, LookUp)
    return found


def looked(look_up: LookUp) -> LookUp:
    """The look-up after one more look, whenever it would be due."""
    LookUp.objects.filter(pk=look_up.pk).update(next_look_at=timezone.now())
    look_up.refresh_from_db()
    assert look_ups.look(look_up)
    look_up.refresh_from_db()
    return look_up


def sent(sandbox: RunningSandbox, team: Team, *items: dict[str, Any]) -> str:
    """The id of a request that a script has sent."""
    client = clients.shared_client(ensure_connection(team))
    return client.submit(MODEL, json.dumps({"requests": items}).encode()).request_id


def kept(look_up: LookUp) -> Batch:
    assert look_up.status == "kept", look_up.message
    assert look_up.batch is not None
    return look_up.batch


def answers(batch: Batch) -> list[tuple[list[str], str, Any]]:
    """Of each row: its cells, its status, its answer."""
    return [
        (list(one.cells or []), one.status, json.loads(one.answer) if one.answer else None)
        for one in results.results(batch)
    ]


ASKED = (
    {"prompt": "Summarise: a lovely room.", "external_reference": "r1"},
    {"prompt": "Summarise: a cold breakfast.", "external_reference": "r2"},
)


def test_its_answers_become_a_batch_of_its_own(
    sandbox: RunningSandbox, team: Team, ana: User
) -> None:
    batch = kept(looked(begun(team, ana, sent(sandbox, team, *ASKED))))
    assert (batch.status, batch.rows, batch.answered, batch.part_count) == ("finished", 2, 2, 1)
    assert batch.is_looked_up
    assert (batch.created_by, batch.started_by, batch.model) == (ana, ana, MODEL)
    assert [(cells, status) for cells, status, _ in answers(batch)] == [
        (["0", "r1"], "answered"),
        (["1", "r2"], "answered"),
    ]
    assert batch.prompt_tokens > 0
    head, first, _ = b"".join(csv_plain(batch)).decode().splitlines()
    assert head.startswith("item,external_reference,answer,status")
    assert first.startswith("0,r1,[sandbox]")
    assert examine.examine(Scope(), pause=0).findings == []


@pytest.mark.django_db(transaction=True)
def test_a_worker_looks_until_it_is_there_and_sends_nothing(
    sandbox: RunningSandbox, team: Team
) -> None:
    sandbox.set_timings(Timings(queued=0.3, running=2.5, per_1000_items=0))
    look_up = begun(team, request_id=sent(sandbox, team, *ASKED))
    sandbox.set_timings(AT_ONCE)
    calls = len(sandbox.calls("submit"))
    seen: list[str] = []
    until = timezone.now() + timedelta(seconds=20)
    while look_up.status != "kept" and timezone.now() < until:
        tick.run_tick()
        look_up.refresh_from_db()
        if look_up.status not in seen:
            seen.append(look_up.status)
    assert seen == ["queued", "running", "kept"]
    assert look_up.looks == len(sandbox.calls("poll"))
    assert len(sandbox.calls("submit")) == calls
    kept(look_up)


def test_nothing_of_it_can_be_sent_again(api: ScriptedServer, team: Team) -> None:
    items = [{"id": 0, "success": False, "error": "broken"}, {"id": 2, "result": {"response": "b"}}]
    api.script(reply(200, {"result": {"responses": items}, "success": True}))
    batch = kept(looked(begun(team)))
    assert [status for _, status, _ in answers(batch)] == ["failed", "missing", "answered"]
    assert not batch.can_retry
    assert not decisions.retry(batch, by=None)
    first = batch.first_row
    assert not asking_again.ask_again(batch, chosen=[first, first + 2], by=None).rows
    assert not asking_again.meaning_of(batch, chosen=[first, first + 2]).rows
    batch.refresh_from_db()
    assert batch.has_ended
    tick.run_tick()
    assert len(api.received) == 1


REPLIES: dict[str, tuple[list[dict[str, Any]], list[tuple[list[str], str, Any]]]] = {
    "by index, in another order": (
        [{"index": 1, "result": {"response": "b"}}, {"index": 0, "result": {"response": "a"}}],
        [(["0"], "answered", "a"), (["1"], "answered", "b")],
    ),
    "with text ids": (
        [{"id": "x", "result": {"response": "a"}}, {"id": "y", "result": {"response": "b"}}],
        [(["0"], "answered", "a"), (["1"], "answered", "b")],
    ),
    "by references alone": (
        [
            {"external_reference": "second", "result": {"response": "b"}},
            {"external_reference": "first", "result": {"response": ""}},
        ],
        [(["0", "second"], "answered", "b"), (["1", "first"], "empty", None)],
    ),
}


@pytest.mark.parametrize(("items", "expected"), REPLIES.values(), ids=list(REPLIES))
def test_items_are_rows_however_they_are_numbered(
    api: ScriptedServer,
    team: Team,
    items: list[dict[str, Any]],
    expected: list[tuple[list[str], str, Any]],
) -> None:
    array = "results" if "index" in items[0] else "responses"
    api.script(reply(200, {"result": {array: [{"success": True} | one for one in items]}}))
    found = answers(kept(looked(begun(team))))
    assert [(cells, status, answer or None) for cells, status, answer in found] == expected
    assert examine.examine(Scope(), pause=0).findings == []


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([], "no answer in it"),
        ([{"id": -1, "success": True, "result": {"response": "a"}}], "do not count its answers"),
        ([{"id": 900, "success": True, "result": {"response": "a"}}], "do not count its answers"),
        (
            [{"id": 0, "success": True, "result": {"response": one}} for one in "ab"],
            "two different answers",
        ),
    ],
)
def test_a_reply_that_makes_no_rows_ends_it_and_leaves_nothing(
    api: ScriptedServer, team: Team, files_in: Any, items: list[dict[str, Any]], why: str
) -> None:
    api.script(reply(200, {"result": {"responses": items}, "success": True}))
    look_up = looked(begun(team))
    assert look_up.status == "ended"
    assert why in look_up.message
    assert not Batch.objects.exists()
    assert [one for one in files_in.rglob("*") if one.is_file()] == []
    assert look_ups.look_again(look_up)
    assert not look_ups.look_again(look_up)


def test_a_request_that_is_not_there_ends_it(sandbox: RunningSandbox, team: Team) -> None:
    look_up = looked(begun(team))
    assert look_up.status == "ended"
    assert look_up.message == look_ups.NOT_THERE
    assert look_ups.forget(look_up)
    assert not LookUp.objects.exists()


def test_a_fault_on_the_way_is_told_and_looked_up_again_later(
    api: ScriptedServer, team: Team
) -> None:
    api.script(error(10000, 401))
    look_up = looked(begun(team))
    assert (look_up.status, look_up.failures_in_a_row, look_up.looks) == ("waiting", 1, 1)
    assert "token" in look_up.message
    assert look_up.next_look_at > timezone.now() + timedelta(seconds=5)
    assert look_ups.due(5) == []
    api.script(reply(200, {"result": {"status": "running", "request_id": ID}}))
    look_up = looked(look_up)
    assert (look_up.status, look_up.message, look_up.failures_in_a_row) == ("running", "", 0)


def test_two_workers_look_once_and_one_that_died_is_followed_by_another(
    sandbox: RunningSandbox, team: Team
) -> None:
    look_up = begun(team)
    [same] = look_ups.due(5)
    assert look_ups._claim(look_up)
    assert not look_ups.look(same)
    assert look_ups.due(5) == []
    LookUp.objects.update(lease_until=None)  # as when the first one has looked
    assert not look_ups.look(same)
    LookUp.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    [again] = look_ups.due(5)
    assert look_ups.look(again)
    look_ups._end(look_up, "the first one, late")
    look_up.refresh_from_db()
    assert look_up.message != "the first one, late"


@pytest.mark.parametrize("meanwhile", ["forgotten", "another worker has it"])
def test_one_that_is_not_ones_own_any_more_leaves_nothing(
    sandbox: RunningSandbox,
    team: Team,
    files_in: Any,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: str,
) -> None:
    look_up = begun(team, request_id=sent(sandbox, team, *ASKED))
    absorb = replies.absorb

    def late(*arguments: Any, **options: Any) -> Any:
        if meanwhile == "forgotten":
            LookUp.objects.all().delete()
        LookUp.objects.update(epoch=F("epoch") + 1)
        return absorb(*arguments, **options)

    monkeypatch.setattr(replies, "absorb", late)
    assert look_ups.look(look_up)
    assert not Batch.objects.exists()
    assert [one for one in files_in.rglob("*") if one.is_file()] == []


def test_whoever_asks_for_the_same_gets_the_same(sandbox: RunningSandbox, team: Team) -> None:
    request_id = sent(sandbox, team, *ASKED)
    look_up = begun(team, request_id=request_id)
    assert begun(team, request_id=request_id) == look_up
    batch = kept(looked(look_up))
    connection = ensure_connection(team)
    asked = {"by": None, "request_id": request_id, "model": MODEL}
    assert look_ups.begin(team=team, connection=connection, **asked) == batch
    theirs = outsider().membership.team
    other = look_ups.begin(team=theirs, connection=ensure_connection(theirs), **asked)
    assert isinstance(other, LookUp)


@pytest.mark.parametrize(
    ("request_id", "model", "field"),
    [
        ("", MODEL, "request_id"),
        ("x" * 201, MODEL, "request_id"),
        ("a\nb", MODEL, "request_id"),
        (ID, "", "model"),
        (ID, "not a model", "model"),
        (ID, "../../accounts", "model"),
    ],
)
def test_what_cannot_be_is_told_at_its_field(
    team: Team, request_id: str, model: str, field: str
) -> None:
    with pytest.raises(WrongField) as wrong:
        begun(team, request_id=request_id, model=model)
    assert wrong.value.field == field
    assert not LookUp.objects.exists()


@pytest.mark.parametrize(
    ("pasted", "read"),
    [
        (f"  {ID}\n", (ID, "")),
        (f'"{ID}",', (ID, "")),
        (json.dumps({"result": {"request_id": ID, "model": MODEL}}), (ID, MODEL)),
        (json.dumps({"status": "queued", "request_id": ID}), (ID, "")),
        (json.dumps({"result": None}), ("", "")),
        ("{broken", ("{broken", "")),
    ],
)
def test_a_reply_can_be_pasted_as_it_came(pasted: str, read: tuple[str, str]) -> None:
    assert read_pasted(pasted) == read


def test_old_ones_are_forgotten_and_their_batches_stay(sandbox: RunningSandbox, team: Team) -> None:
    batch = kept(looked(begun(team, request_id=sent(sandbox, team, *ASKED))))
    begun(team)
    LookUp.objects.update(created_at=timezone.now() - timedelta(days=31))
    assert look_ups.forget_old() == 1
    assert LookUp.objects.get().batch == batch
    assert Attempt.objects.filter(part__batch=batch).exists()


def test_the_account_in_the_settings_can_be_asked(
    api: ScriptedServer, team: Team, settings: Any
) -> None:
    another_account(settings)
    api.script(reply(200, {"result": {"responses": [{"id": 0, "result": {"response": "a"}}]}}))
    kept(looked(begun(team)))
    assert api.received[0].json == {"request_id": ID}
    assert f"/ai/run/{MODEL}?queueRequest=true" in api.received[0].path
