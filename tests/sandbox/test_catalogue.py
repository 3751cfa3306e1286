"""`ai/models/search` and `ai/models/schema`."""

from typing import Any

import pytest

from tests.sandbox.conftest import BGE_M3, BGE_SMALL, GPT_OSS, KIMI, LLAMA, M2M100, UNQUEUED, Caller


def listed(caller: Caller, **params: Any) -> dict[str, Any]:
    reply = caller.http.get(f"{caller.account_url}/models/search", params=params)
    assert reply.status_code == 200
    return dict(reply.json())


def properties(model: dict[str, Any]) -> dict[str, Any]:
    return {entry["property_id"]: entry["value"] for entry in model["properties"]}


def test_the_connection_test_finds_nothing_and_succeeds(caller: Caller) -> None:
    reply = listed(caller, search="there-is-no-such-model")
    assert reply["success"] is True
    assert reply["result"] == []


def test_pages_cover_every_model_once(caller: Caller) -> None:
    names: list[str] = []
    for page in range(1, 20):
        reply = listed(caller, per_page=7, page=page)
        assert reply["result_info"]["page"] == page
        names += [model["name"] for model in reply["result"]]
        if not reply["result"]:
            break
    assert len(names) == len(set(names)) == reply["result_info"]["total_count"]
    assert {LLAMA, KIMI, UNQUEUED} <= set(names)


def test_models_are_listed_as_the_real_catalogue_lists_them(caller: Caller) -> None:
    model = listed(caller, search="llama-3.3-70b")["result"][0]
    assert model["name"] == LLAMA
    assert model["task"]["name"] == "Text Generation"
    assert len(model["id"]) == 36
    assert properties(model)["async_queue"] == "true"
    assert properties(model)["context_window"] == "24000"
    assert properties(model)["price"] == [
        {"unit": "per M input tokens", "price": 0.293, "currency": "USD"},
        {"unit": "per M output tokens", "price": 2.253, "currency": "USD"},
    ]


def test_models_that_do_not_queue_have_no_flag(caller: Caller) -> None:
    flags = {model["name"]: properties(model) for model in listed(caller, per_page=500)["result"]}
    assert "async_queue" not in flags[UNQUEUED]
    assert "async_queue" not in flags[BGE_M3]


def test_a_search_narrows_by_task(caller: Caller) -> None:
    names = {model["name"] for model in listed(caller, task="Text Embeddings")["result"]}
    assert BGE_SMALL in names
    assert LLAMA not in names


@pytest.mark.parametrize(
    ("model", "field"),
    [(LLAMA, "prompt"), (GPT_OSS, "input"), (BGE_SMALL, "text"), (M2M100, "text")],
)
def test_a_schema_tells_what_a_model_takes(caller: Caller, model: str, field: str) -> None:
    reply = caller.http.get(f"{caller.account_url}/models/schema", params={"model": model}).json()
    forms = reply["result"]["input"]["oneOf"]
    assert field in forms[0]["required"]
    assert forms[-1]["required"] == ["requests"]


def test_a_model_without_queue_has_no_requests_in_its_schema(caller: Caller) -> None:
    reply = caller.http.get(f"{caller.account_url}/models/schema", params={"model": UNQUEUED})
    assert "requests" not in reply.text


@pytest.mark.parametrize(("model", "code"), [("@cf/no/such", 5007), ("@cf/openai/whisper", 6002)])
def test_a_schema_that_is_not_there_is_an_error(caller: Caller, model: str, code: int) -> None:
    reply = caller.http.get(f"{caller.account_url}/models/schema", params={"model": model})
    assert reply.json()["errors"][0]["code"] == code
