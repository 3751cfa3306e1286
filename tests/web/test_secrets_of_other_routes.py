"""What a Worker or a model server says back of its secret is nowhere afterwards, either.

`test_the_token_is_nowhere.py` does the same with the token of an account, in all ways.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.states import PartStatus
from batchui.cloudflare.http_call import MARK
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import connecting, testing
from batchui.teams.connections import local_account
from batchui.teams.models import Connection, Team, User
from tests.batches.conftest import MakeBatch, api, poll_all, rows, send_all
from tests.cloudflare.server import ScriptedServer
from tests.project.helpers import until
from tests.sandbox.upstream.model_server import ModelServer, model_server, told
from tests.web.test_the_token_is_nowhere import (
    CANARY,
    HEADER,
    WRITTEN,
    in_the_database,
    polls_fail,
    shown,
    stored,
    submissions_fail,
    tells,
)
from tests.web.visiting import said

__all__ = ["api"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        server.key = CANARY
        yield server


def found(files_in: Path, log: str, *pages: tuple[Client, Batch]) -> set[str]:
    """The places where the secret can be read."""
    everything = [*stored(files_in), *in_the_database(), ("log", log.encode())]
    for web, batch in pages:
        everything += shown(web, batch)
    return {place for place, data in everything if tells(data)}


def connected(team: Team, ana: User, **fields: object) -> Connection:
    filled = connecting.unsaved(team, token=CANARY, **fields)  # type: ignore[arg-type]
    stored_one = connecting.connect(filled, by=ana)
    connecting.make_default(stored_one, by=ana)
    return stored_one


def test_after_failures_the_secret_of_a_worker_is_nowhere(
    api: ScriptedServer,
    start: MakeBatch,
    web: Client,
    team: Team,
    ana: User,
    files_in: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    api.mark = MARK
    address = f"http://{api.address}"
    connected(team, ana, kind=Connection.Kind.WORKER, account_id=api.address, base_url=address)
    batches = []
    for way in ("plain", "escaped", "in base64"):
        for fail in (submissions_fail, polls_fail):
            batch = start(rows(25 * 16))
            assert batch.connection.kind == "worker"
            fail(api, batch, WRITTEN[way])
            batches.append(batch)
    assert {call.path.partition("?")[0].split("/")[1] for call in api.received} == {"ai"}
    assert {call.headers["authorization"] for call in api.received} == {f"Bearer {CANARY}"}
    assert found(files_in, caplog.text, *((web, batch) for batch in batches[:2])) == set()
    assert {"accepted", "answered", "busy", "refused", "unsure", "quarantined"} <= {
        *Attempt.objects.values_list("status", flat=True)
    }
    assert Part.objects.filter(status=PartStatus.UNSURE).exists()


def test_after_failures_the_key_of_a_model_server_is_nowhere(
    sandbox: RunningSandbox,
    server: ModelServer,
    start: MakeBatch,
    web: Client,
    team: Team,
    ana: User,
    files_in: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    stored_one = connected(
        team,
        ana,
        kind=Connection.Kind.LOCAL,
        account_id=local_account(team, server.url),
        base_url=server.url,
        settings={"model": "small", "concurrency": 2, "timeout_seconds": 60},
    )
    server.every = told(400, f"I do not take {HEADER} and {WRITTEN['in base64']}")
    refused = start(rows(3), model="small")
    send_all()
    until(lambda: poll_all() or refused.parts.get().status == PartStatus.DONE)
    server.key = CANARY[::-1]  # it repeats the other one that it gets, in each refusal
    locked_out = start(rows(3), model="small")
    send_all()
    until(lambda: poll_all() or Connection.objects.get(pk=stored_one.pk).refused_since is not None)
    verdict = testing.test(stored_one)
    assert verdict.wrong == "token"
    assert not tells(verdict.sentence.encode())
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {CANARY}"}
    attention = said(web.get(refused.get_absolute_url() + "attention/"))
    assert "Your model server says: “127.0.0.1:" in attention
    assert "Cloudflare" not in attention
    assert found(files_in, caplog.text, (web, refused), (web, locked_out)) == set()
