"""A batch is really worked off by the upstream, and its reply is one that the client reads."""

import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.errors import Busy, Refused
from batchui.cloudflare.replies import decode
from batchui.sandbox.options import Options
from batchui.sandbox.store import Store
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.sandbox.upstream.pauses import Patience
from batchui.sandbox.upstream.work_store import WorkStore
from tests.project.helpers import until
from tests.sandbox.conftest import LLAMA
from tests.sandbox.upstream.conftest import (
    MODEL,
    QUICK,
    Work,
    code,
    content,
    prompts,
    still,
    upstream_of,
    working,
)
from tests.sandbox.upstream.model_server import ModelServer, told


def test_each_item_has_its_own_answer_with_its_usage(caller: Work) -> None:
    items = [{**item, "external_reference": f"ref {n}"} for n, item in enumerate(prompts(30))]
    reply = caller.poll(MODEL, caller.submit(MODEL, *items))
    request_id = reply.json()["result"].get("request_id") or ""
    entries = caller.reply(MODEL, request_id) if request_id else reply.json()["result"]["results"]
    assert [content(entry) for entry in entries] == [f"About row {n}" for n in range(30)]
    for n, entry in enumerate(entries):
        assert (entry["index"], entry["success"]) == (n, True)
        assert entry["external_reference"] == f"ref {n}"
        assert entry["result"]["usage"] == {
            "prompt_tokens": 5,
            "completion_tokens": 2,
            "total_tokens": 7,
        }


def test_the_client_reads_the_reply(caller: Work) -> None:
    request_id = caller.submit(MODEL, *prompts(3), {"contexts": []})
    caller.reply(MODEL, request_id)
    reply = decode(caller.poll(MODEL, request_id).content, request_id=request_id)
    assert [item.index for item in reply.items] == [0, 1, 2, 3]
    assert reply.items[1].answer == b'"About row 1"'
    assert [item.status for item in reply.items] == ["answered"] * 3 + ["failed"]
    assert reply.usage
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (15, 6)


def test_it_is_queued_then_running_then_finished(server: ModelServer) -> None:
    server.free = 0
    with working(upstream_of(server, concurrency=1)) as caller:
        first = caller.submit(MODEL, *prompts(3, name="first"))
        until(lambda: caller.status(MODEL, first) == "running")
        second = caller.submit("small", {"prompt": "second"})
        assert caller.status("small", second) == "queued"
        server.gate.set()
        assert [content(e) for e in caller.reply("small", second)] == ["About second"]
        assert len(caller.reply(MODEL, first)) == 3


def test_no_more_are_asked_at_once_than_the_upstream_takes(
    caller: Work, server: ModelServer
) -> None:
    server.free = 0
    requests = [caller.submit(MODEL, *prompts(8)) for _ in range(3)]
    until(lambda: len(server.asked) == 2)
    still(lambda: len(server.asked) == 2)
    server.gate.set()
    for request_id in requests:
        caller.reply(MODEL, request_id)
    assert server.at_once == 2


def test_a_small_request_is_not_behind_a_large_one(caller: Work, server: ModelServer) -> None:
    server.free = 10
    large = caller.submit(MODEL, *prompts(200, name="large"))
    until(lambda: len(server.asked) == 12)
    small = caller.submit(MODEL, *prompts(5, name="small"))
    server.gate.set()
    assert len(caller.reply(MODEL, small)) == 5
    assert len(caller.reply(MODEL, large)) == 200
    places = [n for n, text in enumerate(server.asked) if text.startswith("small")]
    assert max(places) < 25


def test_a_model_of_cloudflares_is_the_default_one_and_another_is_itself(
    caller: Work, server: ModelServer
) -> None:
    caller.entry({"prompt": "one"}, model=MODEL)
    caller.entry({"prompt": "two"}, model="org/large:latest")
    assert [body["model"] for body in server.bodies] == ["small", "org/large:latest"]


def test_one_item_is_answered_at_once(caller: Work, server: ModelServer) -> None:
    reply = caller.post(MODEL, {"prompt": "Hello", "max_tokens": 9}, queue=False)
    assert reply.status_code == 200
    assert content(reply.json()) == "About Hello"
    assert server.bodies[0]["max_tokens"] == 9


def test_one_item_comes_before_the_rows_of_a_batch_but_not_beside_more(
    caller: Work, sandbox: RunningSandbox, server: ModelServer
) -> None:
    server.free = 0
    request_id = caller.submit(MODEL, *prompts(40))
    until(lambda: len(server.asked) == 2)
    crew = sandbox.sandbox.context.crews.of("account")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(caller.post, MODEL, {"prompt": "Hello"}, queue=False)
        until(lambda: crew and crew._runs_waiting)
        server.gate.set()
        assert content(run.result().json()) == "About Hello"
    caller.reply(MODEL, request_id)
    assert server.asked.index("Hello") in {2, 3}
    assert server.at_once == 2


def test_a_run_that_finds_no_place_is_not_asked(server: ModelServer) -> None:
    server.free = 0
    with working(upstream_of(server, concurrency=1), patience=Patience(run=0.1)) as caller:
        caller.submit(MODEL, {"prompt": "row"})
        until(lambda: server.asked)
        reply = caller.post(MODEL, {"prompt": "Hello"}, queue=False)
        assert code(reply) == (429, 990003)
        assert server.asked == ["row"]


def test_embeddings_have_the_shape_that_cloudflare_gives_them(
    caller: Work, server: ModelServer
) -> None:
    one, several = caller.entries({"text": "abc"}, {"text": ["a", "bcd"]}, model="nomic-embed-text")
    assert one["result"]["data"] == [[3, 0.5, -0.25]]
    assert one["result"]["shape"] == [1, 3]
    assert several["result"]["data"] == [[1, 0.5, -0.25], [3, 0.5, -0.25]]
    assert several["result"]["usage"]["prompt_tokens"] == 6
    assert {body["path"] for body in server.bodies} == {"/v1/embeddings"}


def test_a_translation_is_asked_for_in_words(caller: Work, server: ModelServer) -> None:
    entry = caller.entry({"text": "Good day", "source_lang": "en", "target_lang": "fr"})
    assert entry["result"]["translated_text"] == "About Good day"
    instruction = server.bodies[0]["messages"][0]["content"]
    assert "from “en” into the language “fr”" in instruction


def test_the_models_are_those_of_the_upstream(caller: Work) -> None:
    listed = caller.http.get(f"{caller.account_url}/models/search").json()["result"]
    found = {
        model["name"]: {p["property_id"]: p["value"] for p in model["properties"]}
        for model in listed
    }
    assert found == {
        "small": {"async_queue": "true", "context_window": "4096"},
        "org/large:latest": {"async_queue": "true", "context_window": "32768"},
        "nomic-embed-text": {"async_queue": "true"},
    }
    tasks = {model["name"]: model["task"]["name"] for model in listed}
    assert tasks["nomic-embed-text"] == "Text Embeddings"
    assert tasks["small"] == "Text Generation"
    assert code(caller.http.get(f"{caller.account_url}/models/schema?model=small")) == (404, 6002)


def test_a_body_without_items_fails_when_it_is_polled(caller: Work) -> None:
    for body in ({"prompt": "bare"}, {"requests": []}):
        request_id = caller.post(MODEL, body).json()["result"]["request_id"]
        assert code(caller.poll(MODEL, request_id)) == (400, 3030)


def test_an_item_that_no_chat_can_ask_fails_alone(caller: Work, server: ModelServer) -> None:
    good, bad, ugly = caller.entries({"prompt": "good"}, {"query": "x", "contexts": []}, {"x": 1})
    assert good["success"]
    assert bad["error"].startswith("This item cannot be asked: a local model cannot score")
    assert not ugly["success"]
    assert server.asked == ["good"]


def test_what_was_made_up_stays_so_and_what_was_worked_off_stays_so(
    tmp_path: Path, server: ModelServer
) -> None:
    data, upstream = tmp_path / "s.sqlite3", upstream_of(server)
    with working(data=data) as caller:
        made_up = caller.submit(LLAMA, {"prompt": "Hello"})
        before = caller.poll(LLAMA, made_up).json()
    with working(upstream, data=data) as caller:
        assert caller.poll(LLAMA, made_up).json() == before
        real = caller.submit(LLAMA, {"prompt": "Hello"})
        assert content(caller.reply(LLAMA, real)[0]) == "About Hello"
    with working(data=data) as caller:
        assert content(caller.reply(LLAMA, real)[0]) == "About Hello"


def test_without_its_upstream_a_request_waits_and_says_for_what(
    tmp_path: Path, server: ModelServer
) -> None:
    data, upstream = tmp_path / "s.sqlite3", upstream_of(server)
    server.free = 0
    with working(upstream, data=data) as caller:
        request_id = caller.submit(LLAMA, {"prompt": "Hello"})
        until(lambda: server.asked)
    with working(data=data) as caller:
        reply = caller.poll(LLAMA, request_id)
        assert code(reply) == (409, 990001)
        assert "SANDBOX_UPSTREAM_URL" in reply.text
    server.free = None
    with working(upstream, data=data) as caller:
        assert content(caller.reply(LLAMA, request_id)[0]) == "About Hello"


def test_a_request_that_is_dropped_is_not_worked_off(
    caller: Work, sandbox: RunningSandbox, server: ModelServer
) -> None:
    sandbox.script({"fault": "forgotten", "call": "submit"})
    server.free = 0
    request_id = caller.submit(MODEL, *prompts(20))
    assert code(caller.poll(MODEL, request_id)) == (404, 5504)
    sandbox.script()
    server.gate.set()
    caller.entry({"prompt": "next"})
    assert len(server.asked) <= 3


def test_a_reply_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    """3,000 answers of 3 kB are a reply of 9 MB."""
    store = Store(Options(data=tmp_path / "s.sqlite3"), clock=lambda: 1e9)
    work = WorkStore(store, clock=lambda: 1e9)
    body = b'{"requests": []}'
    request_id = work.add(account="a", model="m", body=body, items=[b'{"prompt":"x"}'] * 3000)
    for position in range(3000):
        work.answer(request_id, position, result=b'"%b"' % (b"x" * 3000), read=1, written=2)
    work.finish(request_id)
    tracemalloc.start()
    size = sum(len(chunk) for chunk in work.reply(request_id))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 9_000_000
    assert peak < 1_000_000
    stored = store.find(request_id, account="a", model="m")
    assert stored
    assert stored.state(1e9) == "finished"
    store.close()


def test_it_ends_soon_while_it_asks(server: ModelServer) -> None:
    server.free = 0
    with working(upstream_of(server)) as caller:
        caller.submit(MODEL, *prompts(5))
        until(lambda: len(server.asked) == 2)
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert sorted(server.asked) == ["row 0", "row 1"]


def test_a_client_that_knows_nothing_of_upstreams_waits_for_one(server: ModelServer) -> None:
    """The usual client of the sandbox must not believe that a row may have been asked."""
    server.every = told(503, "Loading model")
    with (
        running_sandbox(upstream=upstream_of(server), patience=QUICK) as running,
        RestClient(account_id="a", token="token-0123456789", base_url=running.base_url) as client,
    ):
        with pytest.raises(Busy) as away:
            client.run(MODEL, b'{"prompt": "Hello"}')
        assert not away.value.needs_person
        server.every = told(401)
        with pytest.raises(Busy) as refused:
            client.run(MODEL, b'{"prompt": "Hello"}')
        assert refused.value.needs_person
        server.every = told(400)
        with pytest.raises(Refused):
            client.run(MODEL, b'{"prompt": "Hello"}')
