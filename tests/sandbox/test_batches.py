"""Submitting and polling, as the reference says."""

import uuid
from pathlib import Path

import pytest

from batchui.sandbox.testing import running_sandbox
from tests.sandbox.conftest import BGE_M3, BGE_SMALL, GPT_OSS, KIMI, LLAMA, QWEN, Caller


def test_an_acknowledgement_has_the_documented_body(caller: Caller) -> None:
    reply = caller.post(LLAMA, {"requests": [{"prompt": "Hello"}]})
    request_id = reply.json()["result"]["request_id"]
    assert str(uuid.UUID(request_id)) == request_id
    assert reply.json() == {
        "result": {"status": "queued", "request_id": request_id, "model": LLAMA},
        "success": True,
        "errors": [],
        "messages": [],
    }


def test_llama_answers_in_responses_with_id_and_reference(caller: Caller) -> None:
    items = [{"prompt": "One", "external_reference": "a"}, {"prompt": "Two"}]
    reply = caller.finished(LLAMA, *items)
    entries = sorted(reply["responses"], key=lambda entry: entry["id"])
    assert [set(entry) for entry in entries] == [
        {"id", "result", "success", "external_reference"}
    ] * 2
    assert [entry["external_reference"] for entry in entries] == ["a", None]
    assert all(entry["success"] is True for entry in entries)


def test_kimi_answers_in_results_with_index_and_no_reference(caller: Caller) -> None:
    items = [{"prompt": "One", "external_reference": "a"}, {"prompt": "Two"}]
    reply = caller.finished(KIMI, *items)
    assert [set(entry) for entry in reply["results"]] == [{"index", "result", "success"}] * 2
    assert {entry["index"] for entry in reply["results"]} == {0, 1}


def test_a_reference_inside_contexts_comes_back_null(caller: Caller) -> None:
    contexts = [{"text": "An orange cloud", "external_reference": "story1"}]
    reply = caller.finished(BGE_M3, {"query": "cloud", "contexts": contexts})
    assert reply["responses"][0]["external_reference"] is None


@pytest.mark.parametrize("count", [2, 3, 50])
def test_the_order_is_never_kept_but_always_the_same(caller: Caller, count: int) -> None:
    request_id = caller.submit(LLAMA, *({"prompt": f"Row {n}"} for n in range(count)))
    looks = [caller.poll(LLAMA, request_id).json()["result"]["responses"] for _ in range(2)]
    ids = [entry["id"] for entry in looks[0]]
    assert ids != sorted(ids)
    assert sorted(ids) == list(range(count))
    assert looks[0] == looks[1]


def test_each_answer_belongs_to_its_own_position(caller: Caller) -> None:
    results = caller.results(LLAMA, *({"prompt": f"Row number {n}"} for n in range(30)))
    for number, result in enumerate(results):
        assert f'"Row number {number}"' in result["response"]


@pytest.mark.parametrize("model", [LLAMA, KIMI, QWEN])
def test_usage_sums_up(caller: Caller, model: str) -> None:
    usage = caller.finished(model, {"prompt": "One"}, {"prompt": "Twenty-two"})["usage"]
    assert usage["prompt_tokens"] == 1 + 3
    assert usage["completion_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_a_poll_needs_the_model_and_the_account_of_the_submission(caller: Caller) -> None:
    request_id = caller.submit(LLAMA, {"prompt": "Hello"})
    assert caller.poll(KIMI, request_id).json()["errors"][0]["code"] == 5504
    caller.account_url = caller.account_url.replace("/account/", "/another/")
    assert caller.poll(LLAMA, request_id).json()["errors"][0]["code"] == 5504


def test_a_poll_works_without_queue_request_too(caller: Caller) -> None:
    request_id = caller.submit(LLAMA, {"prompt": "Hello"})
    reply = caller.post(LLAMA, {"request_id": request_id}, queue=False)
    assert len(reply.json()["result"]["responses"]) == 1


def test_a_model_name_may_be_sent_percent_encoded(caller: Caller) -> None:
    encoded = LLAMA.replace("@", "%40").replace("/", "%2F")
    assert caller.post(encoded, {"requests": [{"prompt": "Hello"}]}).status_code == 200


def test_bodies_without_requests_are_accepted_and_then_fail(caller: Caller) -> None:
    bodies: list[dict[str, object]] = [
        {"prompt": "Hello"},
        {"requests": []},
        {"requests": {"prompt": "Hello"}},
    ]
    for body in bodies:
        reply = caller.post(LLAMA, body)
        assert reply.json()["result"]["status"] == "queued"
        polled = caller.poll(LLAMA, reply.json()["result"]["request_id"])
        assert polled.status_code == 400
        assert polled.json()["success"] is False
        assert polled.json()["errors"][0]["code"] == 3030


@pytest.mark.parametrize(
    ("model", "item"),
    [
        (LLAMA, {"text": "Hello"}),
        (LLAMA, {"prompt": ""}),
        (LLAMA, {"messages": [{"role": "user"}]}),
        (GPT_OSS, {"prompt": "Hello"}),
        (GPT_OSS, {"messages": [{"role": "user", "content": "Hello"}]}),
        (BGE_M3, {"query": "cloud"}),
        (BGE_M3, {"text": ["a"] * 101}),
        (BGE_SMALL, {"contexts": [{"text": "Hello"}]}),
        ("@cf/meta/m2m100-1.2b", {"text": ["Hello"], "target_lang": "fr"}),
        ("@cf/meta/m2m100-1.2b", {"text": "Hello"}),
        (LLAMA, "Hello"),
    ],
)
def test_one_item_that_does_not_suit_the_model_fails_the_batch(
    caller: Caller, model: str, item: object
) -> None:
    reply = caller.post(model, {"requests": [item]})
    polled = caller.poll(model, reply.json()["result"]["request_id"])
    assert polled.json()["errors"][0]["code"] == 3030
    assert "'/requests/0'" in polled.json()["errors"][0]["message"]


def test_an_item_beyond_the_context_window_fails_alone(caller: Caller) -> None:
    reply = caller.finished(LLAMA, {"prompt": "word " * 30_000}, {"prompt": "short"})
    long, short = sorted(reply["responses"], key=lambda entry: entry["id"])
    assert long["success"] is False
    assert "context window limit (24000)" in long["error"]
    assert short["success"] is True


def test_requests_outlive_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "kept" / "sandbox.sqlite3"
    with running_sandbox(data=data) as sandbox:
        before = Caller(sandbox.base_url)
        with before.http:
            request_id = before.submit(LLAMA, {"prompt": "Hello"}, {"prompt": "You"})
            first = before.poll(LLAMA, request_id).json()
    with running_sandbox(data=data) as sandbox:
        after = Caller(sandbox.base_url)
        with after.http:
            assert after.poll(LLAMA, request_id).json() == first


def test_a_large_reply_comes_in_chunks_and_whole(caller: Caller) -> None:
    request_id = caller.submit(LLAMA, *({"prompt": f"Row {n} " * 20} for n in range(3_000)))
    reply = caller.poll(LLAMA, request_id)
    assert reply.headers["transfer-encoding"] == "chunked"
    assert len(reply.json()["result"]["responses"]) == 3_000


def test_a_body_sent_in_chunks_is_taken(caller: Caller) -> None:
    reply = caller.http.post(
        f"{caller.account_url}/run/{LLAMA}?queueRequest=true",
        content=iter([b'{"requests": [{"prom', b'pt": "Hello"}]}']),
    )
    assert reply.json()["result"]["status"] == "queued"
    result = caller.poll(LLAMA, reply.json()["result"]["request_id"]).json()["result"]
    assert len(result["responses"]) == 1
