"""The whole way with a real model server: our client, the sandbox, and the server of llama.cpp."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from batchui.cloudflare.errors import Busy, NotSent, Refused
from batchui.cloudflare.local_client import LocalClient, ModelServer
from batchui.cloudflare.replies import Reply, decode, read_result
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.project.helpers import until
from tests.sandbox.conftest import TOKEN
from tests.sandbox.upstream.conftest import QUICK
from tests.sandbox.upstream.llama_server import llama_server
from tests.sandbox.upstream.tiny_model import CONTEXT, END_OF_TEXT, WIDTH, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it is installed on Linux alone")
KEY = "sk-of-llama-0123456789"
TINY = "tiny"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.gguf"
    write(path)
    return path


@pytest.fixture(scope="module")
def address(model: Path) -> Iterator[str]:
    """A server that wants a key."""
    with llama_server(model, key=KEY) as (_, address):
        yield address


@pytest.fixture(scope="module")
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox(patience=QUICK) as running:
        yield running


@contextmanager
def client_of(
    sandbox: RunningSandbox, url: str, *, account: str = "local-1", **more: Any
) -> Iterator[LocalClient]:
    server = ModelServer(url=url, **{"model": TINY, "key": KEY, **more})
    with LocalClient(
        server, account_id=account, token=TOKEN.replace(" ", "-"), base_url=sandbox.base_url
    ) as client:
        yield client


def item(text: str, **more: Any) -> dict[str, Any]:
    """A question whose answer has as many tokens as it may have."""
    return {"prompt": text, "logit_bias": {str(END_OF_TEXT): -100}, "max_tokens": 5, **more}


def submitted(client: LocalClient, *items: dict[str, Any], model: str = TINY) -> str:
    return client.submit(model, json.dumps({"requests": items}).encode()).request_id


def answered(client: LocalClient, request_id: str, *, model: str = TINY) -> Reply:
    spool = io.BytesIO()
    until(lambda: client.poll(model, request_id, spool) is None, seconds=30)
    return decode(spool.read(), request_id=request_id)


def test_every_row_has_an_answer_of_the_model_with_its_usage(
    sandbox: RunningSandbox, address: str
) -> None:
    with client_of(sandbox, address) as client:
        client.test_connection()
        lengths = {n: 3 + n % 7 for n in range(60)}
        items = [
            item(f"Row {n}", max_tokens=length, external_reference=f"r{n}")
            for n, length in lengths.items()
        ]
        reply = answered(client, submitted(client, *items))
        for n, one in enumerate(reply.items):
            assert (one.index, one.reference, one.status) == (n, f"r{n}", "answered")
            assert one.usage
            assert json.loads(one.usage)["completion_tokens"] == lengths[n]
        assert reply.usage
        assert reply.usage.completion_tokens == sum(lengths.values())


def test_the_window_of_the_model_is_listed(sandbox: RunningSandbox, address: str) -> None:
    with client_of(sandbox, address) as client:
        [listed] = client.models()
    assert listed["name"] == TINY
    assert listed["properties"] == [
        {"property_id": "async_queue", "value": "true"},
        {"property_id": "context_window", "value": str(CONTEXT)},
    ]


def test_an_answer_keeps_to_a_schema(sandbox: RunningSandbox, address: str) -> None:
    schema = {
        "type": "object",
        "properties": {"tone": {"type": "string", "enum": ["good", "bad"]}},
        "required": ["tone"],
    }
    form = {"type": "json_schema", "json_schema": schema}  # as batchui asks Cloudflare's models
    with client_of(sandbox, address) as client:
        raw = client.run(
            TINY, json.dumps({"prompt": "?", "response_format": form, "max_tokens": 200}).encode()
        )
    answer = read_result(raw).answer
    assert answer
    assert json.loads(json.loads(answer))["tone"] in {"good", "bad"}


def test_a_row_that_is_too_long_fails_alone_in_the_words_of_the_server(
    sandbox: RunningSandbox, address: str
) -> None:
    with client_of(sandbox, address) as client:
        reply = answered(client, submitted(client, item("short"), item("long " * 500)))
    short, long = reply.items
    assert short.status == "answered"
    assert "exceeds the available context size" in str(long.error)


def test_a_wrong_key_and_a_wrong_model_are_said(sandbox: RunningSandbox, address: str) -> None:
    with client_of(sandbox, address, key="wrong-0123456789", account="local-2") as client:
        with pytest.raises(Busy) as caught:
            client.test_connection()
        assert "does not let batchui in" in caught.value.user_message
        assert "Invalid API Key" in caught.value.user_message
    with client_of(sandbox, address, model="huge") as client:
        with pytest.raises(Busy) as caught:
            client.test_connection()
        assert "has no model “huge”. It has: tiny." in caught.value.user_message


def test_vectors_come_from_a_server_for_embeddings(sandbox: RunningSandbox, model: Path) -> None:
    with (
        llama_server(model, embeddings=True) as (_, address),
        client_of(sandbox, address, key="", account="local-3") as client,
    ):
        reply = answered(client, submitted(client, {"text": "one"}, {"text": "another"}))
    vectors = [json.loads(one.answer or b"") for one in reply.items]
    assert [len(vector) for vector in vectors] == [WIDTH, WIDTH]
    assert vectors[0] != vectors[1]


def test_a_server_without_vectors_says_so(sandbox: RunningSandbox, address: str) -> None:
    with (
        client_of(sandbox, address) as client,
        pytest.raises(Refused, match="does not support embeddings"),
    ):
        client.run(TINY, b'{"text": "one"}')


def test_a_server_that_is_killed_half_way_costs_nothing(
    sandbox: RunningSandbox, model: Path
) -> None:
    items = [item(f"Row {n}", max_tokens=100) for n in range(60)]
    with llama_server(model, key=KEY) as (process, address):
        port = int(address.rpartition(":")[2])
        with client_of(sandbox, address, account="local-4") as client:
            request_id = submitted(client, *items)
            until(lambda: client.poll(TINY, request_id, io.BytesIO()) == "running")
            kill(process)
            with pytest.raises(NotSent, match="Connection refused"):
                client.run(TINY, b'{"prompt": "now"}')
            assert client.poll(TINY, request_id, io.BytesIO()) == "running"
            with llama_server(model, port=port, key=KEY):
                reply = answered(client, request_id)
    assert [one.status for one in reply.items] == ["answered"] * 60


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
