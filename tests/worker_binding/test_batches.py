"""Batches, single questions and models through the Worker."""

import io
import json
import tempfile

import httpx
import pytest
from msgspec import Raw

from batchui.cloudflare.answers import read_answer
from batchui.cloudflare.catalogue import Model, models
from batchui.cloudflare.errors import BadReply, Gone, Refused
from batchui.cloudflare.replies import decode
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.testing import RunningSandbox
from tests.cloudflare.test_against_the_sandbox import item_for
from tests.worker_binding.conftest import LLAMA, answered, submitted

pytestmark = pytest.mark.processes


def test_a_batch_is_queued_runs_and_has_the_right_answer_for_every_row(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    items = [{"prompt": f"Word{n} means?", "external_reference": f"row {n}"} for n in range(300)]
    request_id = submitted(client, *items)
    sandbox.script({"fault": "queued"}, {"fault": "running"})
    with tempfile.TemporaryFile() as spool:
        seen = [client.poll(LLAMA, request_id, spool) for _ in range(3)]
        reply = decode(spool.read(), request_id=request_id)
    assert seen == ["queued", "running", None]
    by_index = {item.index: item for item in reply.items}
    assert sorted(by_index) == list(range(300))  # type: ignore[type-var]
    for n, item in by_index.items():
        assert (item.status, item.reference) == ("answered", f"row {n}")
        assert f"Word{n} " in json.loads(item.answer or b"")
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0
    [call] = sandbox.calls("submit")
    assert (call.model, call.items) == (LLAMA, 300)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.label)
def test_every_model_of_the_catalogue_answers_in_a_batch_and_at_once(
    client: WorkerClient, model: Model
) -> None:
    items = [item_for(model, f"Review {n}: a good day") for n in range(3)]
    reply = answered(client, submitted(client, *items, model=model.name), model=model.name)
    assert sorted(item.index for item in reply.items) == [0, 1, 2]  # type: ignore[type-var]
    assert {item.status for item in reply.items} == {"answered"}
    result = client.run(model.name, json.dumps(items[0]).encode())
    assert read_answer(Raw(result)).answer


def test_letters_of_every_script_arrive_as_they_are(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    text = "Grüße „日本語“ 👩‍👩‍👧 \u2028 \x00 end"
    result = client.run(LLAMA, json.dumps({"prompt": text}, ensure_ascii=False).encode())
    assert "Grüße „日本語“ 👩‍👩‍👧" in json.loads(result)["response"]


def test_models_are_found_by_a_part_of_their_name(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    listed = {model["name"]: model for model in client.models()}
    assert {model.name for model in models()} <= listed.keys()
    facts = {p["property_id"]: p["value"] for p in listed[LLAMA]["properties"]}
    assert facts["async_queue"] == "true"
    client.test_connection()
    assert client.schema(LLAMA) == {}


def test_a_search_passes_on_what_the_binding_knows(http: httpx.Client) -> None:
    asked = {"search": "bge", "per_page": "1", "page": "2", "color": "red"}
    [model] = http.get("/ai/models/search", params=asked).json()["result"]
    assert model["name"] == "@cf/baai/bge-base-en-v1.5"


def test_a_large_finished_reply_is_passed_on_while_it_comes(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    model = "@cf/baai/bge-large-en-v1.5"
    request_id = submitted(client, *({"text": f"Text {n}"} for n in range(500)), model=model)
    with tempfile.TemporaryFile() as spool:
        assert client.poll(model, request_id, spool) is None
        body = spool.read()
        assert len(body) > 5_000_000
        statuses = [item.status for item in decode(body, request_id=request_id).items]
        assert statuses == ["answered"] * 500
        sandbox.script({"fault": "truncated"})
        with pytest.raises(BadReply, match="peer closed connection"):
            client.poll(model, request_id, spool)
        # Half of it is here, so the Worker did not wait for the rest.
        came = spool.seek(0, io.SEEK_END)
        assert 2_000_000 < came < 4_000_000


def test_what_has_no_queue_or_is_unknown_is_refused_in_its_own_words(client: WorkerClient) -> None:
    with pytest.raises(Refused, match="does not support request queuing") as queueless:
        submitted(client, {"prompt": "Yes?"}, model="@cf/meta/llama-3.2-1b-instruct")
    with pytest.raises(Refused, match="No such model @cf/none") as unknown:
        submitted(client, {"prompt": "Yes?"}, model="@cf/none")
    assert (queueless.value.code, unknown.value.code) == (8007, 5007)
    with pytest.raises(Gone):
        answered(client, "6f1d9d7c-0000-4000-8000-3c1b2a4d5e6f")


def test_what_the_model_cannot_take_is_refused_when_polled(client: WorkerClient) -> None:
    bare = client.submit(LLAMA, b'{"prompt": "no requests around it"}').request_id
    with pytest.raises(Refused) as caught:
        answered(client, bare)
    assert caught.value.code == 3030
