"""An account named local-… has the upstream that somebody registered, and no other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cloudflare.server import reply
from tests.project.helpers import until
from tests.sandbox.upstream.conftest import (
    MODEL,
    Work,
    code,
    content,
    prompts,
    upstream_of,
    working,
)
from tests.sandbox.upstream.model_server import MODELS, ModelServer, completion, model_server, told

KEY = "sk-canary-0123456789-abcdef"
LOCAL = "local-1"


@pytest.fixture
def local() -> Iterator[Work]:
    with working(account=LOCAL) as caller:
        yield caller


def registered(caller: Work, server: ModelServer, **more: Any) -> httpx.Response:
    told = {"url": server.url, "model": "small", "concurrency": 2, **more}
    return caller.http.put(caller.account_url.replace("/ai", "/ai/upstream"), json=told)


def found_of(caller: Work, server: ModelServer, **more: Any) -> dict[str, Any]:
    told = {"url": server.url, "model": "small", **more}
    url = caller.account_url.replace("/ai", "/ai/upstream/test")
    return dict(caller.http.post(url, json=told).json()["result"])


def test_nothing_is_accepted_before_it_is_registered(local: Work) -> None:
    for answer in (
        local.post(MODEL, {"requests": prompts(1)}),
        local.post(MODEL, {"prompt": "Hello"}, queue=False),
        local.poll(MODEL, "x"),
        local.http.get(f"{local.account_url}/models/search"),
    ):
        assert code(answer) == (409, 990001)


def test_then_it_answers_and_the_others_are_still_made_up(local: Work, server: ModelServer) -> None:
    reply = registered(local, server)
    host = server.url.removeprefix("http://")
    assert reply.json()["result"] == {"server": host, "model": "small"}
    assert content(local.entry({"prompt": "Hello"})) == "About Hello"
    other = Work(local.root_url + "/client/v4", account="other")
    with other.http:
        assert "[sandbox]" in other.text("Hello")
    assert server.asked == ["Hello"]


def test_accounts_do_not_share_an_upstream(local: Work, server: ModelServer) -> None:
    registered(local, server)
    other = Work(local.root_url + "/client/v4", account="local-2")
    with other.http, model_server() as second:
        assert code(other.post(MODEL, {"requests": prompts(1)})) == (409, 990001)
        registered(other, second)
        request_id = other.submit(MODEL, {"prompt": "second"})
        other.reply(MODEL, request_id)
        assert code(local.poll(MODEL, request_id)) == (404, 5504)
        assert (server.asked, second.asked) == ([], ["second"])


def test_a_sandbox_with_an_upstream_of_its_own_lends_it_to_no_such_account(
    server: ModelServer,
) -> None:
    with working(upstream_of(server), account=LOCAL) as caller:
        assert code(caller.post(MODEL, {"requests": prompts(1)})) == (409, 990001)


def test_only_such_accounts_can_be_registered(caller: Work, server: ModelServer) -> None:
    reply = registered(caller, server)
    assert code(reply) == (400, 990005)
    assert "local-" in reply.text


def test_what_is_wrong_with_the_settings_is_said(local: Work, server: ModelServer) -> None:
    reply = registered(local, server, concurrency=0)
    assert code(reply) == (400, 990005)
    assert "The number of requests at once is 0" in reply.text
    assert code(local.post(MODEL, {"requests": prompts(1)})) == (409, 990001)


def test_without_the_token_nothing_is_registered(local: Work, server: ModelServer) -> None:
    local.http.headers["Authorization"] = ""
    assert code(registered(local, server)) == (401, 10000)


def test_after_a_restart_its_requests_go_on_when_it_is_registered_again(
    tmp_path: Path, server: ModelServer
) -> None:
    data = tmp_path / "s.sqlite3"
    server.free = 2
    with working(data=data, account=LOCAL) as caller:
        registered(caller, server)
        request_id = caller.submit(MODEL, *prompts(6))
        until(lambda: len(server.asked) == 4)
    server.free = None
    asked = len(server.asked)
    with working(data=data, account=LOCAL) as caller:
        assert code(caller.poll(MODEL, request_id)) == (409, 990001)
        assert len(server.asked) == asked
        registered(caller, server)
        assert [content(e) for e in caller.reply(MODEL, request_id)] == [
            f"About row {n}" for n in range(6)
        ]


def test_another_key_is_used_at_once(local: Work, server: ModelServer) -> None:
    server.key = KEY
    registered(local, server, key="wrong-0123456789")
    request_id = local.submit(MODEL, *prompts(3))
    until(lambda: local.poll(MODEL, request_id).status_code == 403)
    registered(local, server, key=KEY)
    assert local.poll(MODEL, request_id).status_code == 200
    assert all(entry["success"] for entry in local.reply(MODEL, request_id, seconds=5))


def test_registering_the_same_again_changes_nothing(local: Work, server: ModelServer) -> None:
    server.free = 3
    registered(local, server)
    request_id = local.submit(MODEL, *prompts(10))
    for _ in range(5):
        assert registered(local, server).status_code == 200
    server.gate.set()
    assert len(local.reply(MODEL, request_id)) == 10
    assert sorted(server.asked) == sorted(f"row {n}" for n in range(10))


def test_a_test_names_the_models_and_keeps_nothing(local: Work, server: ModelServer) -> None:
    found = found_of(local, server)
    assert found["problem"] == ""
    assert found["models"] == ["small", "org/large:latest", "nomic-embed-text"]
    assert server.asked == []
    assert code(local.poll(MODEL, "x")) == (409, 990001)
    assert found_of(local, server, model="org/large")["problem"] == ""


def test_a_test_says_what_is_wrong(local: Work, server: ModelServer) -> None:
    assert found_of(local, server, model="tiny")["problem"] == "no model"
    server.key = KEY
    assert found_of(local, server)["problem"] == "refuses"
    wrong = found_of(local, server, key="wrong-0123456789")
    assert wrong["problem"] == "refuses"
    assert wrong["reason"].endswith("Incorrect API key provided: Bearer [key].")
    assert found_of(local, server, key=KEY)["problem"] == ""
    assert found_of(local, server, key=KEY, url="http://127.0.0.1:9")["problem"] == "away"


def test_a_key_is_tested_also_where_anybody_may_list_the_models(
    local: Work, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.key = KEY
    listing = reply(200, {"data": MODELS})
    monkeypatch.setattr(server.RequestHandlerClass, "do_GET", listing)
    assert found_of(local, server, key="wrong-0123456789")["problem"] == "refuses"
    assert found_of(local, server, key=KEY)["problem"] == ""
    assert server.bodies == []


def test_a_server_that_fails_is_not_taken_for_something_else(
    local: Work, server: ModelServer
) -> None:
    server.listing = told(500, "CUDA error")
    found = found_of(local, server)
    assert found["problem"] == "away"
    assert found["reason"].endswith("answered HTTP 500: CUDA error")


def test_what_is_no_model_server_is_said(local: Work, server: ModelServer) -> None:
    for act in (reply(404, b"<h1>Not Found</h1>"), reply(200, b"<h1>Welcome</h1>")):
        server.listing = act
        found = found_of(local, server)
        assert found["problem"] == "no api"
        assert f"no API like OpenAI's at {server.url}/v1" in found["reason"]


def test_the_key_is_neither_on_the_disk_nor_in_any_reply(
    tmp_path: Path, server: ModelServer, capfd: pytest.CaptureFixture[str]
) -> None:
    server.key = "another"
    said = []
    with working(data=tmp_path / "s.sqlite3", account=LOCAL) as caller:
        said.append(registered(caller, server, key=KEY).text)
        request_id = caller.submit(MODEL, *prompts(3))
        until(lambda: caller.poll(MODEL, request_id).status_code == 403)
        said.append(caller.poll(MODEL, request_id).text)
        said.append(caller.post(MODEL, {"prompt": "now"}, queue=False).text)
        server.key = ""
        # One that repeats the key, in an error and in an answer.
        server.first("row 0", told(400, f"What is {KEY}?"))
        server.first("row 1", reply(200, completion(f"It is {KEY}")))
        until(lambda: caller.poll(MODEL, request_id).status_code == 200)
        caller.reply(MODEL, request_id)
        said.append(caller.poll(MODEL, request_id).text)
        assert "It is [key]" in said[-1]
        assert "What is [key]?" in said[-1]
        said.append(caller.http.get(f"{caller.root_url}/control/calls").text)
        stored = [path.read_bytes() for path in tmp_path.iterdir()]
    stored += [path.read_bytes() for path in tmp_path.iterdir()]
    assert server.headers[-1]["Authorization"] == f"Bearer {KEY}"
    assert not any(KEY in text for text in said)
    assert not any(KEY.encode() in content for content in stored)
    assert KEY not in "".join(capfd.readouterr())
