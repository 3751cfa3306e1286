"""The client and the sandbox, which knows nothing of it, speak the same wire."""

import io
import json
from collections.abc import Iterator

import pytest
from msgspec import Raw

from batchui.cloudflare.answers import read_answer
from batchui.cloudflare.catalogue import DEFAULT_MODEL, Model, models
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    NotSent,
    Refused,
    TooLarge,
)
from batchui.cloudflare.replies import Reply, decode
from batchui.sandbox.options import Timings
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.cloudflare.conftest import ACCOUNT, QUICK, TOKEN


@pytest.fixture(scope="module")
def running() -> Iterator[RunningSandbox]:
    with running_sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running: RunningSandbox) -> Iterator[RunningSandbox]:
    running.script()
    yield running
    running.script()


@pytest.fixture
def client(sandbox: RunningSandbox) -> Iterator[RestClient]:
    with RestClient(account_id=ACCOUNT, token=TOKEN, base_url=sandbox.base_url) as client:
        yield client


@pytest.fixture
def hasty(sandbox: RunningSandbox) -> Iterator[RestClient]:
    """A client that waits for half a second only."""
    with RestClient(
        account_id=ACCOUNT, token=TOKEN, base_url=sandbox.base_url, timeout=QUICK
    ) as client:
        yield client


def item_for(model: Model, text: str) -> dict[str, object]:
    match model.item_format:
        case "messages":
            return {"messages": [{"role": "user", "content": text}], "max_tokens": 200}
        case "prompt":
            return {"prompt": text, "max_tokens": 200}
        case "input":
            return {"input": text, "max_output_tokens": 200}
        case "translation":
            return {"text": text, "source_lang": "en", "target_lang": "fr"}
        case _:
            return {"text": text}


def submitted(client: RestClient, model: str, *items: dict[str, object]) -> str:
    return client.submit(model, json.dumps({"requests": items}).encode()).request_id


def answered(client: RestClient, model: str, request_id: str) -> Reply:
    spool = io.BytesIO()
    assert client.poll(model, request_id, spool) is None
    return decode(spool.read(), request_id=request_id)


@pytest.mark.parametrize("model", models(), ids=lambda model: model.label)
def test_every_model_of_the_catalogue_answers_a_batch_of_what_it_takes(
    client: RestClient, model: Model
) -> None:
    items = [
        item_for(model, f"Review {n}: a good day") | {"external_reference": f"row {n}"}
        for n in range(30)
    ]
    reply = answered(client, model.name, submitted(client, model.name, *items))
    by_index = {item.index: item for item in reply.items}
    assert sorted(by_index) == list(range(30))  # type: ignore[type-var]
    for index, item in by_index.items():
        assert (item.status, item.error) == ("answered", None)
        assert item.reference in (f"row {index}", None)
        answer = json.loads(item.answer or b"")
        if model.task == "embedding":
            assert answer
            assert all(isinstance(number, float) for number in answer)
        else:
            assert isinstance(answer, str)
            assert answer
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0


@pytest.mark.parametrize("model", models(), ids=lambda model: model.label)
def test_every_model_of_the_catalogue_answers_at_once_too(client: RestClient, model: Model) -> None:
    result = client.run(model.name, json.dumps(item_for(model, "A good day")).encode())
    assert read_answer(Raw(result)).answer


def test_a_request_is_queued_then_running_then_finished() -> None:
    now = [1000.0]
    timings = Timings(queued=10, running=10, per_1000_items=0)
    with (
        running_sandbox(timings=timings, clock=lambda: now[0]) as sandbox,
        RestClient(account_id=ACCOUNT, token=TOKEN, base_url=sandbox.base_url) as client,
    ):
        request_id = submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
        seen = []
        for _ in range(3):
            seen.append(client.poll(DEFAULT_MODEL, request_id, io.BytesIO()))
            now[0] += 11
    assert seen == ["queued", "running", None]


def test_structured_answers_come_as_texts_and_as_parsed_objects(client: RestClient) -> None:
    schema = {"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]}
    wanted = {"type": "json_schema", "json_schema": schema}
    items = [{"prompt": f"Mood of {n}?", "response_format": wanted} for n in range(40)]
    reply = answered(client, DEFAULT_MODEL, submitted(client, DEFAULT_MODEL, *items))
    answers = [json.loads(item.answer or b"") for item in reply.items]
    assert {type(answer) for answer in answers} == {str, dict}
    assert all("mood" in (json.loads(a) if isinstance(a, str) else a) for a in answers)


def test_contexts_are_scored_or_turned_into_vectors(client: RestClient) -> None:
    contexts = [{"text": "a cat sleeps"}, {"text": "taxes rise"}]
    request_id = submitted(
        client,
        "@cf/baai/bge-m3",
        {"query": "a sleeping cat", "contexts": contexts},
        {"contexts": contexts},
    )
    by_index = {i.index: i for i in answered(client, "@cf/baai/bge-m3", request_id).items}
    scores, vectors = (json.loads(by_index[n].answer or b"") for n in (0, 1))
    assert {score["id"] for score in scores} == {0, 1}
    assert [len(vector) for vector in vectors] == [1024, 1024]


FAULTS_OF_CALLS: list[tuple[dict[str, object], type[CloudflareError], type[CloudflareError]]] = [
    ({"fault": "error", "code": 3040}, Busy, Busy),
    ({"fault": "error", "code": 3021}, Busy, Busy),
    ({"fault": "error", "code": 3036}, Busy, Busy),
    ({"fault": "error", "status": 429, "retry_after": "3"}, Busy, Busy),
    ({"fault": "error", "code": 10000}, Busy, Busy),
    ({"fault": "error", "code": 5007}, Refused, Refused),
    ({"fault": "error", "code": 3006}, TooLarge, TooLarge),
    ({"fault": "error", "code": 3007}, MaybeSent, BadReply),
    ({"fault": "error", "code": 5001}, MaybeSent, BadReply),
    ({"fault": "error", "status": 502}, MaybeSent, BadReply),
    ({"fault": "cut_before"}, MaybeSent, NotSent),
    ({"fault": "cut_before", "reset": True}, MaybeSent, NotSent),
    ({"fault": "cut_after"}, MaybeSent, NotSent),
    ({"fault": "garbage"}, MaybeSent, BadReply),
    ({"fault": "truncated"}, MaybeSent, BadReply),
    ({"fault": "delay", "seconds": 0.7}, MaybeSent, NotSent),
]


@pytest.mark.parametrize(("step", "when_sending", "when_polling"), FAULTS_OF_CALLS)
def test_a_fault_is_told_by_whether_it_is_safe_to_try_again(
    client: RestClient,
    hasty: RestClient,
    sandbox: RunningSandbox,
    step: dict[str, object],
    when_sending: type[CloudflareError],
    when_polling: type[CloudflareError],
) -> None:
    request_id = submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
    caller = hasty if step["fault"] == "delay" else client
    sandbox.script(step)
    with pytest.raises(CloudflareError) as sending:
        submitted(caller, DEFAULT_MODEL, {"prompt": "Yes?"})
    sandbox.script(step)
    with pytest.raises(CloudflareError) as polling:
        caller.poll(DEFAULT_MODEL, request_id, io.BytesIO())
    assert (type(sending.value), type(polling.value)) == (when_sending, when_polling)
    assert [item.status for item in answered(client, DEFAULT_MODEL, request_id).items] == [
        "answered"
    ]


def test_acknowledgements_of_every_kind(client: RestClient, sandbox: RunningSandbox) -> None:
    sandbox.script({"fault": "no_model"}, {"fault": "other_status", "call": "submit"})
    for _ in range(2):
        request_id = submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
        assert len(answered(client, DEFAULT_MODEL, request_id).items) == 1
    sandbox.script({"fault": "no_request_id"}, {"fault": "forgotten"})
    with pytest.raises(MaybeSent):
        submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
    forgotten = submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
    with pytest.raises(Gone):
        client.poll(DEFAULT_MODEL, forgotten, io.BytesIO())


def test_a_batch_that_fails_as_a_whole_is_refused(
    client: RestClient, sandbox: RunningSandbox
) -> None:
    request_id = submitted(client, DEFAULT_MODEL, {"prompt": "Yes?"})
    for form in ("failed", "error"):
        sandbox.script({"fault": "batch_failed", "form": form})
        with pytest.raises(Refused):
            client.poll(DEFAULT_MODEL, request_id, io.BytesIO())


def test_what_the_model_cannot_take_is_refused_when_polled(client: RestClient) -> None:
    bare = client.submit(DEFAULT_MODEL, b'{"prompt": "no requests around it"}').request_id
    with pytest.raises(Refused) as caught:
        client.poll(DEFAULT_MODEL, bare, io.BytesIO())
    assert caught.value.code == 3030


def test_models_without_a_queue_and_unknown_ones_are_refused(client: RestClient) -> None:
    with pytest.raises(Refused) as queueless:
        submitted(client, "@cf/meta/llama-3.2-1b-instruct", {"prompt": "Yes?"})
    with pytest.raises(Refused) as unknown:
        submitted(client, "@cf/meta/no-such-model", {"prompt": "Yes?"})
    assert queueless.value.code == 8007
    assert unknown.value.code in (5007, 3042)
    with pytest.raises(Gone):
        client.poll(DEFAULT_MODEL, "6f1d9d7c-0000-4000-8000-3c1b2a4d5e6f", io.BytesIO())


@pytest.mark.parametrize("form", ["null", "blank", "list", "object", "empties", "text", "result"])
def test_empty_items_of_every_form_are_empty(
    client: RestClient, sandbox: RunningSandbox, form: str
) -> None:
    request_id = submitted(client, DEFAULT_MODEL, {"prompt": "One?"}, {"prompt": "Two?"})
    sandbox.script({"fault": "empty", "form": form, "call": "poll", "items": [1]})
    items = answered(client, DEFAULT_MODEL, request_id).items
    assert {item.index: item.status for item in items} == {0: "answered", 1: "empty"}


@pytest.mark.parametrize("form", ["text", "object"])
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "@cf/moonshotai/kimi-k2.6"])
def test_failed_items_of_every_form_say_why(
    client: RestClient, sandbox: RunningSandbox, form: str, model: str
) -> None:
    request_id = submitted(client, model, {"prompt": "One?"}, {"prompt": "Two?"})
    sandbox.script({"fault": "failed", "form": form, "items": [0]})
    by_index = {item.index: item for item in answered(client, model, request_id).items}
    assert by_index[0].status == "failed"
    assert "Cloudflare says: “" in str(by_index[0].error)
    assert by_index[1].status == "answered"


def test_missing_double_and_unknown_items_are_left_to_the_caller(
    client: RestClient, sandbox: RunningSandbox
) -> None:
    request_id = submitted(client, DEFAULT_MODEL, *({"prompt": f"{n}?"} for n in range(4)))
    sandbox.script(
        {"fault": "missing", "items": [0]},
        {"fault": "duplicate", "items": [1]},
        {"fault": "unknown_id", "items": [2]},
    )
    indexes = [item.index for item in answered(client, DEFAULT_MODEL, request_id).items]
    assert 0 not in indexes
    assert indexes.count(1) == 2
    assert 2 not in indexes
    assert 3 in indexes


def test_the_connection_test_passes(client: RestClient) -> None:
    client.test_connection()


def test_the_catalogue_agrees_with_the_listing(client: RestClient) -> None:
    listed = {entry["name"]: entry for entry in client.models()}
    for model in models():
        entry = {p["property_id"]: p["value"] for p in listed[model.name]["properties"]}
        assert entry["async_queue"] == "true"
        assert bool(entry.get("require_workers_paid")) == model.needs_paid_plan
        assert client.schema(model.name)["input"]


def test_a_model_without_a_schema_has_an_empty_one(client: RestClient) -> None:
    assert client.schema("@cf/openai/whisper") == {}
