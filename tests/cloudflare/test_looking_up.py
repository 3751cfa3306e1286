"""One prompt at once, the connection test, the listing of models and their schemas."""

import json
from typing import Any

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import BadReply, Busy, MaybeSent, NotSent
from tests.cloudflare.conftest import ACCOUNT, MODEL, RUN_PATH
from tests.cloudflare.server import Handler, ScriptedServer, cut, error, reply

AI_PATH = f"/client/v4/accounts/{ACCOUNT}/ai"


def envelope(result: object) -> dict[str, object]:
    return {"result": result, "success": True, "errors": [], "messages": []}


def test_a_run_asks_one_item_and_brings_its_raw_result(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, envelope({"response": "Oui", "usage": {"total_tokens": 3}})))
    result = client.run(MODEL, b'{"prompt":"Yes?"}')
    assert json.loads(result) == {"response": "Oui", "usage": {"total_tokens": 3}}
    [request] = server.received
    assert (request.path, request.body) == (RUN_PATH, b'{"prompt":"Yes?"}')


def test_a_run_may_bring_nothing(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, envelope(None)))
    assert client.run(MODEL, b"{}") == b"null"


@pytest.mark.parametrize("answer", [b"", b"<html>", b"[]", {}, {"success": True}])
def test_a_run_whose_answer_cannot_be_read_may_have_been_paid(
    server: ScriptedServer, client: RestClient, answer: Any
) -> None:
    server.script(reply(200, answer))
    with pytest.raises(MaybeSent):
        client.run(MODEL, b"{}")


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (500, envelope({"response": "Oui"})),
        (200, envelope({"response": "Oui"}) | {"success": False}),
        (200, {"errors": [{"message": "Non"}], "result": None}),
    ],
)
def test_a_run_with_a_result_that_was_no_success_may_have_been_paid(
    server: ScriptedServer, client: RestClient, status: int, answer: Any
) -> None:
    server.script(reply(status, answer))
    with pytest.raises(MaybeSent):
        client.run(MODEL, b"{}")


def test_a_warning_beside_a_result_does_no_harm(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, envelope({"response": "Oui"}) | {"errors": [{"message": "Slow"}]}))
    assert json.loads(client.run(MODEL, b"{}")) == {"response": "Oui"}


def test_a_run_that_fails_says_why(server: ScriptedServer, client: RestClient) -> None:
    server.script(error(3036, 429), error(3040, 200))
    with pytest.raises(Busy) as day:
        client.run(MODEL, b"{}")
    with pytest.raises(Busy) as full:
        client.run(MODEL, b"{}")
    assert day.value.until_midnight
    assert full.value.code == 3040


def test_the_connection_test_looks_for_a_model_that_does_not_exist(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, envelope([])))
    client.test_connection()
    [request] = server.received
    assert request.method == "GET"
    assert "content-type" not in request.headers
    assert request.path == f"{AI_PATH}/models/search?search=batchui-connection-test&per_page=1"


def test_the_connection_test_tells_what_is_wrong(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(10000, 403, "Authentication error"), cut(), reply(200, b"<html>Hi</html>"))
    with pytest.raises(Busy, match="Authentication error") as locked:
        client.test_connection()
    with pytest.raises(NotSent):
        client.test_connection()
    with pytest.raises(BadReply):
        client.test_connection()
    assert locked.value.needs_person
    assert "token" in locked.value.user_message


@pytest.mark.parametrize("answer", [envelope({}), envelope(None), envelope("x"), envelope(7)])
def test_a_listing_that_is_no_list_is_a_bad_reply(
    server: ScriptedServer, client: RestClient, answer: Any
) -> None:
    server.script(reply(200, answer))
    with pytest.raises(BadReply):
        client.test_connection()
    with pytest.raises(BadReply):
        list(client.models())


def named(*names: str) -> dict[str, object]:
    return envelope([{"name": name, "properties": []} for name in names])


def test_models_are_listed_page_by_page_until_nothing_new_comes(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(reply(200, named("a", "b")), reply(200, named("b", "c")), reply(200, named("c")))
    assert [model["name"] for model in client.models()] == ["a", "b", "c"]
    assert [request.path.partition("?")[2] for request in server.received] == [
        f"per_page=100&page={page}&hide_experimental=false" for page in (1, 2, 3)
    ]


def test_a_long_page_of_models_is_read_whole(server: ScriptedServer, client: RestClient) -> None:
    names = [f"model {at} {'x' * 1_000}" for at in range(100)]
    server.script(reply(200, named(*names)))
    assert [model["name"] for model in client.models()] == names


def test_a_listing_that_ignores_pages_ends(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, named("a", "b", "a")))
    assert [model["name"] for model in client.models()] == ["a", "b"]
    assert len(server.received) == 2


def test_a_listing_without_an_end_is_ended(server: ScriptedServer, client: RestClient) -> None:
    def another(handler: Handler) -> None:
        reply(200, named(f"model {len(server.received)}"))(handler)

    server.script(another)
    assert len(list(client.models())) == 100
    assert len(server.received) == 100


def test_entries_without_a_name_are_left_out(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, envelope([{"name": "a"}, {"name": None}, {}, None, "b"])))
    assert [model["name"] for model in client.models()] == ["a"]


def test_a_schema_is_asked_for_by_name(server: ScriptedServer, client: RestClient) -> None:
    server.script(reply(200, envelope({"input": {"type": "object"}, "output": {}})))
    assert client.schema(MODEL) == {"input": {"type": "object"}, "output": {}}
    assert server.received[0].path.startswith(f"{AI_PATH}/models/schema?model=%40cf%2Fmeta%2F")


def test_a_model_without_a_schema_has_an_empty_one(
    server: ScriptedServer, client: RestClient
) -> None:
    server.script(error(6002, 404, "No schema"), reply(200, envelope([])), error(10000, 401))
    assert client.schema(MODEL) == {}
    assert client.schema(MODEL) == {}
    with pytest.raises(Busy):
        client.schema(MODEL)
