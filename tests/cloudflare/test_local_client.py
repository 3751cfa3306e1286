"""A team's own model server through the sandbox: the client, and what it says where that fails."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from batchui.cloudflare.client import LONGEST_CALL_SECONDS
from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    NotSent,
    Oversized,
    Refused,
)
from batchui.cloudflare.local_client import PATIENT, LocalClient, ModelServer
from batchui.cloudflare.replies import decode
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.sandbox.upstream.pauses import Patience
from tests.cloudflare.server import ScriptedServer, error, reply
from tests.project.helpers import until
from tests.sandbox.upstream.conftest import QUICK
from tests.sandbox.upstream.model_server import ModelServer as Running
from tests.sandbox.upstream.model_server import model_server, told

ACCOUNT, TOKEN = "local-7", "token-of-the-sandbox-0123456789"
KEY = "sk-canary-0123456789-abcdef"


@pytest.fixture
def models() -> Iterator[Running]:
    with model_server() as server:
        yield server


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox(patience=QUICK, token=TOKEN) as running:
        yield running


@pytest.fixture
def client(sandbox: RunningSandbox, models: Running) -> Iterator[LocalClient]:
    with client_of(sandbox.base_url, models) as client:
        yield client


@contextmanager
def client_of(base_url: str, models: Running, **more: Any) -> Iterator[LocalClient]:
    options = {name: more.pop(name) for name in ("token", "timeout", "seconds") if name in more}
    server = ModelServer(**{"url": models.url, "model": "small", **more})
    with LocalClient(
        server, **{"account_id": ACCOUNT, "token": TOKEN, "base_url": base_url, **options}
    ) as client:
        yield client


def body(*prompts: str) -> bytes:
    return json.dumps({"requests": [{"prompt": prompt} for prompt in prompts]}).encode()


def answers(client: LocalClient, model: str, request_id: str) -> list[Any]:
    spool = io.BytesIO()
    until(lambda: client.poll(model, request_id, spool) is None)
    return [json.loads(item.answer or b"null") for item in decode(spool.read()).items]


def said(caught: pytest.ExceptionInfo[CloudflareError]) -> str:
    """The sentence for people, which never speaks of Cloudflare."""
    assert "Cloudflare" not in caught.value.user_message
    return caught.value.user_message


# -- calls ----------------------------------------------------------------------------------------


def test_it_registers_once_and_then_calls(client: LocalClient, sandbox: RunningSandbox) -> None:
    receipt = client.submit("small", body("one", "two"))
    assert receipt.status == "queued"
    assert answers(client, "small", receipt.request_id) == ["About one", "About two"]
    assert json.loads(client.run("small", b'{"prompt": "x"}'))["choices"]
    assert next(client.models())["name"] == "small"
    assert client.schema("small") == {}
    assert len(sandbox.calls("register")) == 1


def test_what_people_entered_is_what_the_sandbox_uses(
    sandbox: RunningSandbox, models: Running
) -> None:
    models.key = KEY
    models.free = 0
    with client_of(sandbox.base_url, models, key=KEY, concurrency=3) as client:
        request_id = client.submit("@cf/any", body(*"abcdefgh")).request_id
        until(lambda: len(models.asked) == 3)
        models.gate.set()
        answers(client, "@cf/any", request_id)
    assert models.at_once == 3
    assert {one["model"] for one in models.bodies} == {"small"}
    crew = sandbox.sandbox.context.crews.of(ACCOUNT)
    assert crew
    assert crew.line.upstream.seconds == 600


def test_a_sandbox_that_was_started_anew_is_told_again_and_nothing_is_lost(
    tmp_path: Path, models: Running
) -> None:
    data = tmp_path / "s.sqlite3"
    with running_sandbox(data=data, patience=QUICK) as first:
        port = int(first.root_url.rpartition(":")[2])
        with client_of(first.base_url, models) as client:
            models.free = 0
            before = client.submit("small", body("before")).request_id
            until(lambda: models.asked)
    models.free = None
    with running_sandbox(data=data, port=port, patience=QUICK) as again:
        # The same client, which believes that it is registered.
        with client:
            assert answers(client, "small", before) == ["About before"]
            receipt = client.submit("small", body("after"))
            assert answers(client, "small", receipt.request_id) == ["About after"]
        assert len(again.calls("register")) == 1
        assert len(again.calls("submit")) == 1
    assert models.asked == ["before", "before", "after"]


def test_a_submission_is_made_again_only_where_it_was_refused_for_that(
    server: ScriptedServer, models: Running
) -> None:
    registered, unknown = reply(200, {"result": {}, "success": True}), error(990001, 409)
    receipt = reply(200, {"result": {"request_id": "r"}, "success": True})
    with client_of(server.base_url, models) as client:
        server.script(registered, unknown, registered, receipt)
        assert client.submit("small", body("x")).request_id == "r"
        server.script(error(5001, 500))
        with pytest.raises(MaybeSent) as caught:
            client.submit("small", body("x"))
        assert "The sandbox did not confirm that it accepted these rows" in said(caught)
        server.script(unknown, registered, unknown, registered)
        with pytest.raises(NotSent) as caught_again:
            client.submit("small", body("x"))
        assert "nothing was sent to your local model (" in said(caught_again)
    methods = [(one.method, one.path.rpartition("/")[2]) for one in server.received]
    assert methods[:4] == [
        ("PUT", "upstream"),
        ("POST", "small?queueRequest=true"),
        ("PUT", "upstream"),
        ("POST", "small?queueRequest=true"),
    ]
    assert len(methods) == 4 + 1 + 4


@pytest.mark.parametrize(
    "name", ["llama3.2:3b", "Qwen/Qwen2.5-7B", "/models/a b.gguf", "../x", "hf.co/a:Q4_K_M", "ö?#%"]
)
def test_a_model_may_have_any_name_that_servers_give_one(
    client: LocalClient, models: Running, name: str
) -> None:
    request_id = client.submit(name, body("x")).request_id
    assert answers(client, name, request_id) == ["About x"]
    assert models.bodies[0]["model"] == name


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a" * 201])
def test_what_is_no_name_is_refused_before_anything_is_sent(
    client: LocalClient, models: Running, name: str
) -> None:
    shown = "a" * 79 + "…" if len(name) > 80 else " ".join(name.split())
    for call in (
        lambda: client.submit(name, body("x")),
        lambda: client.poll(name, "x", io.BytesIO()),
        lambda: client.run(name, b'{"prompt": "x"}'),
    ):
        with pytest.raises(Refused) as caught:
            call()
        assert said(caught) == (
            f"“{shown}” is not the name of a model. Choose a model from the list, then send the "
            "rows again."
        )
    assert client.submit("a" * 200, body("x")).request_id


def test_a_server_that_is_away_takes_batches_and_answers_no_single_item(
    client: LocalClient, models: Running
) -> None:
    models.every = told(503, "Loading model")
    request_id = client.submit("small", body("x")).request_id
    with pytest.raises(NotSent) as caught:
        client.run("small", b'{"prompt": "x"}')
    assert said(caught) == (
        f"Your local model ({models.url[7:]}) does not answer now ({models.url[7:]} answered HTTP "
        "503: Loading model). Nothing was asked."
    )
    models.every = told(429, retry_after="3")
    with pytest.raises(Busy) as busy:
        client.run("small", b'{"prompt": "x"}')
    assert busy.value.wait == 3
    assert not busy.value.needs_person
    assert client.poll("small", request_id, io.BytesIO()) in {"queued", "running"}


def test_a_refused_key_is_for_a_person(client: LocalClient, models: Running) -> None:
    models.key = KEY
    request_id = client.submit("small", body("x")).request_id

    def refused() -> CloudflareError | None:
        try:
            client.poll("small", request_id, io.BytesIO())
        except CloudflareError as exc:
            return exc
        return None

    problem = until(refused)
    assert isinstance(problem, Busy)
    assert problem.needs_person
    assert problem.user_message.startswith(f"Your local model ({models.url[7:]}) does not let")


def test_a_row_that_is_refused_says_why_in_the_words_of_the_server(
    client: LocalClient, models: Running
) -> None:
    models.every = told(400, "Too long.")
    with pytest.raises(Refused) as caught:
        client.run("small", b'{"prompt": "x"}')
    host = models.url[7:]
    assert said(caught) == (
        f"Your local model ({host}) gave no answer ({host} answered HTTP 400: Too long)."
    )


def test_a_single_answer_is_waited_for_longer_than_the_sandbox_does() -> None:
    assert PATIENT.read
    assert Patience().run < PATIENT.read < LONGEST_CALL_SECONDS


@pytest.mark.parametrize("limit", [{"timeout": httpx.Timeout(0.3)}, {"seconds": 0.3}])
def test_an_answer_that_does_not_come_in_time_is_unclear(
    sandbox: RunningSandbox, models: Running, limit: dict[str, Any]
) -> None:
    models.free = 0
    with client_of(sandbox.base_url, models, **limit) as client:
        client.submit("small", body("x"))
        with pytest.raises(MaybeSent) as caught:
            client.run("small", b'{"prompt": "x"}')
    assert "did not confirm" in said(caught)
    models.gate.set()


def test_a_reply_that_is_too_large_is_said(client: LocalClient, sandbox: RunningSandbox) -> None:
    request_id = client.submit("small", body("x")).request_id
    answers(client, "small", request_id)
    with pytest.raises(Oversized) as caught:
        client.poll("small", request_id, io.BytesIO(), max_bytes=10)
    assert "is larger than batchui can read" in said(caught)


def test_a_request_that_the_sandbox_forgot_is_gone(client: LocalClient) -> None:
    with pytest.raises(Gone) as caught:
        client.poll("small", "nobody's", io.BytesIO())
    assert "The sandbox no longer has this result" in said(caught)


# -- the test of a connection ---------------------------------------------------------------------


def test_a_connection_that_works_passes_and_registers_nothing(
    client: LocalClient, sandbox: RunningSandbox, models: Running
) -> None:
    client.test_connection()
    assert sandbox.calls("register") == []
    assert models.asked == []


def test_a_sandbox_that_is_not_there_is_said(models: Running) -> None:
    with (
        client_of("http://127.0.0.1:9/client/v4", models) as client,
        pytest.raises(NotSent) as caught,
    ):
        client.test_connection()
    assert said(caught).startswith("The sandbox could not be reached at 127.0.0.1:9:")


def test_another_token_than_the_sandboxs_is_said(sandbox: RunningSandbox, models: Running) -> None:
    with (
        client_of(sandbox.base_url, models, token="another-token-0123456789") as client,
        pytest.raises(Busy) as caught,
    ):
        client.test_connection()
    assert caught.value.needs_person
    assert "BATCHUI_SANDBOX_TOKEN" in said(caught)


def test_something_else_at_the_address_of_the_sandbox_is_said(
    server: ScriptedServer, models: Running
) -> None:
    with client_of(server.base_url, models) as client:
        for act in (reply(200, b"<h1>Welcome</h1>"), reply(200, {"result": {"problem": "odd"}})):
            server.script(act)
            with pytest.raises(BadReply) as caught:
                client.test_connection()
            assert "The answer of the sandbox could not be used" in said(caught)
        server.script(error(8008, 500, "Oh"))
        with pytest.raises(NotSent) as not_sent:
            client.submit("small", body("x"))
        assert (
            said(not_sent) == "The answer of the sandbox could not be used (Oh). Nothing is lost."
        )
        assert (not_sent.value.detail, not_sent.value.code) == ("Oh", 8008)


def test_settings_that_cannot_be_used_are_said_before_anything_is_sent(
    sandbox: RunningSandbox, models: Running
) -> None:
    with client_of(sandbox.base_url, models, concurrency=0) as client:
        for call in (client.test_connection, lambda: client.submit("small", body("x"))):
            with pytest.raises(Busy) as caught:
                call()
            assert caught.value.needs_person
            assert "(The number of requests at once is 0, which is not from 1 to 64)" in said(
                caught
            )
    assert sandbox.calls("submit") == []


def test_an_address_where_nothing_is_is_said(sandbox: RunningSandbox, models: Running) -> None:
    with (
        client_of(sandbox.base_url, models, url="http://localhost:9") as client,
        pytest.raises(NotSent) as caught,
    ):
        client.test_connection()
    assert said(caught) == (
        "Your local model (localhost:9) cannot be reached (localhost:9 cannot be reached: "
        "Connection refused). Start it, or correct its address."
    )


def test_a_wrong_key_and_a_missing_one_are_told_apart(
    sandbox: RunningSandbox, models: Running
) -> None:
    models.key = KEY
    for given, wanted in (("wrong-0123456789", "Correct the key."), ("", "It wants a key:")):
        with client_of(sandbox.base_url, models, key=given) as client:
            with pytest.raises(Busy) as caught:
                client.test_connection()
            assert wanted in said(caught)
            assert caught.value.needs_person


def test_a_model_that_is_not_there_is_said_with_those_that_are(
    sandbox: RunningSandbox, models: Running
) -> None:
    with (
        client_of(sandbox.base_url, models, model="{huge}") as client,
        pytest.raises(Busy) as caught,
    ):
        client.test_connection()
    assert said(caught) == (
        f"Your local model ({models.url[7:]}) has no model “{{huge}}”. It has: small, "
        "org/large:latest, nomic-embed-text."
    )


def test_a_server_may_have_thousands_of_models(client: LocalClient, models: Running) -> None:
    many = [{"id": f"a-model-with-a-long-name-{n:05}"} for n in range(5000)] + [{"id": "small"}]
    models.listing = reply(200, {"data": many})
    client.test_connection()
    assert len(list(client.models())) == 5001


def test_no_secret_is_in_what_is_shown(sandbox: RunningSandbox, models: Running) -> None:
    models.key = "another-key"
    with client_of(sandbox.base_url, models, key=KEY) as client:
        with pytest.raises(Busy) as caught:
            client.test_connection()
        shown = f"{client!r} {caught.value} {caught.value!r} {caught.value.user_message}"
    assert KEY not in shown
    assert TOKEN not in shown
    assert "another-key" not in shown
