"""Programs written for Cloudflare's demo for batches find its routes and replies at the Worker."""

from typing import Any

import httpx
import pytest

from batchui.sandbox.testing import RunningSandbox
from tests.worker_binding.conftest import LLAMA

pytestmark = pytest.mark.processes

M2M100 = "@cf/meta/m2m100-1.2b"
USERS = [
    {"username": "ada", "profileStatus": "Writes engines at Analytical Ltd"},
    {"username": "bob", "profileStatus": "Sells bread at Corner & Sons"},
]


def finished(http: httpx.Client, reply: httpx.Response, model: str) -> dict[int, Any]:
    """The items of a batch by their ids, fetched as the demo's page does."""
    assert reply.status_code == 200, reply.text
    told = reply.json()
    assert told.keys() == {"response", "model"}
    assert told["model"] == told["response"]["model"] == model
    assert told["response"]["status"] == "queued"
    asked = {"id": told["response"]["request_id"], "model": told["model"]}
    result = http.get("/check-request", params=asked)
    assert result.json().keys() == {"responses", "usage"}
    return {entry["id"]: entry for entry in result.json()["responses"]}


def test_one_prompt_is_answered_at_once(http: httpx.Client) -> None:
    assert http.get("/example/single").json()["response"]["response"]


def test_sentences_are_translated_in_a_batch(http: httpx.Client) -> None:
    reply = http.post("/example/batch", json={"queries": ["Good day", "Good night"]})
    by_id = finished(http, reply, M2M100)
    assert "Good day" in by_id[0]["result"]["translated_text"]
    assert "Good night" in by_id[1]["result"]["translated_text"]


def test_profiles_keep_the_names_of_their_users(http: httpx.Client) -> None:
    reply = http.post("/example/batch/with-reference", json={"users": USERS})
    by_id = finished(http, reply, M2M100)
    assert [by_id[n]["external_reference"] for n in range(2)] == ["ada", "bob"]
    assert "Sells bread" in by_id[1]["result"]["translated_text"]


def test_companies_are_taken_out_of_profiles(http: httpx.Client) -> None:
    by_id = finished(http, http.post("/example/batch/extract", json={"users": USERS}), LLAMA)
    assert [by_id[n]["external_reference"] for n in range(2)] == ["ada", "bob"]


def test_a_request_under_way_is_looked_up_by_id_and_model(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    told = http.post("/example/batch", json={"queries": ["Good day"]}).json()["response"]
    sandbox.script({"fault": "running"})
    asked = {"id": told["request_id"], "model": told["model"]}
    assert http.get("/check-request", params=asked).json() == told | {"status": "running"}


def test_rows_that_came_back_empty_are_asked_again(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    results = http.get("/sus").json()["results"]
    asked = sandbox.calls("run")
    assert len(asked) == 3
    assert all(result["response"]["companies"] for result in results)
    sandbox.script({"fault": "empty", "form": "empties", "times": 0})
    assert http.get("/sus").json() == {"results": []}


def test_examples_are_made_up(http: httpx.Client) -> None:
    sentences = http.get("/generate/sentences").json()["response"]["sentences"]
    assert all(isinstance(sentence, str) for sentence in sentences)
    for user in http.get("/generate/users").json()["response"]["users"]:
        assert user.keys() == {"username", "profileStatus"}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/example/batch", {}),
        ("/example/batch", {"queries": "one"}),
        ("/example/batch/with-reference", {"queries": ["one"]}),
        ("/example/batch/extract", {"users": None}),
    ],
)
def test_a_body_without_its_list_is_bad_input(
    http: httpx.Client, sandbox: RunningSandbox, path: str, body: Any
) -> None:
    reply = http.post(path, json=body)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, 5006)
    assert sandbox.calls() == []


@pytest.mark.parametrize(
    ("code", "status"), [(5007, 400), (8007, 400), (3036, 429), (5016, 403), (5001, 500)]
)
def test_an_error_that_the_binding_throws_keeps_its_code(
    http: httpx.Client, sandbox: RunningSandbox, code: int, status: int
) -> None:
    """Also after another one: the binding's `lastRequestInternalStatusCode` is not asked."""
    sandbox.script({"fault": "error", "code": 3040}, {"fault": "error", "code": code})
    for expected in ((429, 3040), (status, code)):
        reply = http.post("/example/batch", json={"queries": ["Good day"]})
        told = reply.json()
        assert (reply.status_code, told["errors"][0]["code"]) == expected
        assert (told["success"], told["result"]) == (False, None)
    sandbox.script({"fault": "error", "status": 503})
    reply = http.get("/example/single")
    assert (reply.status_code, "code" in reply.json()["errors"][0]) == (502, False)


def test_a_request_is_looked_up_only_with_the_name_of_a_model(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    for model in ({}, {"model": ""}, {"model": "a b"}):
        reply = http.get("/check-request", params={"id": "1", **model})
        assert (reply.status_code, reply.json()["errors"][0]["code"]) == (400, 5007)
    assert sandbox.calls() == []
    unknown = {"id": "6f1d9d7c-0000-4000-8000-3c1b2a4d5e6f", "model": LLAMA}
    reply = http.get("/check-request", params=unknown)
    assert (reply.status_code, reply.json()["errors"][0]["code"]) == (404, 5504)
