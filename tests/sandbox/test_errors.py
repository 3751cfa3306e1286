"""Error envelopes, with the codes and HTTP statuses of the reference."""

from collections.abc import Iterator

import httpx
import pytest

from batchui.sandbox.testing import running_sandbox
from tests.sandbox.conftest import LLAMA, UNQUEUED, Caller


def code(reply: httpx.Response) -> tuple[int, int]:
    body = reply.json()
    assert body["success"] is False
    assert body["messages"] == []
    assert set(body["errors"][0]) == {"code", "message"}
    assert body["errors"][0]["message"]
    return reply.status_code, body["errors"][0]["code"]


@pytest.mark.parametrize("header", ["", "Bearer", "Basic abc", "token"])
def test_without_a_token_nothing_is_answered(caller: Caller, header: str) -> None:
    caller.http.headers["Authorization"] = header
    assert code(caller.post(LLAMA, {"requests": [{"prompt": "Hello"}]})) == (401, 10000)
    assert code(caller.http.get(f"{caller.account_url}/models/search")) == (401, 10000)


def test_an_unknown_model_is_named(caller: Caller) -> None:
    reply = caller.post("@cf/meta/llama-9000", {"requests": [{"prompt": "Hello"}]})
    assert code(reply) == (400, 5007)
    assert "@cf/meta/llama-9000" in reply.text
    assert code(caller.post("@cf/meta/llama-9000", {"prompt": "Hi"}, queue=False)) == (400, 5007)


def test_a_model_without_batch_says_so(caller: Caller) -> None:
    reply = caller.post(UNQUEUED, {"requests": [{"prompt": "Hello"}]})
    assert code(reply) == (400, 8007)
    assert "This model does not support request queuing" in reply.text


def test_an_unknown_request_is_not_found_in_the_queue(caller: Caller) -> None:
    reply = caller.poll(LLAMA, "00000000-0000-4000-8000-000000000000")
    assert code(reply) == (404, 5504)
    assert "Request not found in queue" in reply.text


@pytest.mark.parametrize(
    ("body", "expected"), [(b"", 3003), (b"{", 5006), (b"[]", 5006), (b'{"request_id": 5}', 5006)]
)
def test_a_body_that_cannot_be_read_is_refused(caller: Caller, body: bytes, expected: int) -> None:
    url = f"{caller.account_url}/run/{LLAMA}?queueRequest=true"
    assert code(caller.http.post(url, content=body)) == (400, expected)


def test_a_run_without_its_prompt_is_bad_input(caller: Caller) -> None:
    assert code(caller.post(LLAMA, {"text": "Hello"}, queue=False)) == (400, 5006)
    assert code(caller.post(LLAMA, {"requests": []}, queue=False)) == (400, 5006)


@pytest.fixture
def narrow() -> Iterator[Caller]:
    """A sandbox that takes bodies of at most 1,000 bytes."""
    with running_sandbox(max_bytes=1_000) as sandbox:
        caller = Caller(sandbox.base_url)
        with caller.http:
            yield caller


def test_a_body_above_the_limit_is_too_large(narrow: Caller) -> None:
    assert code(narrow.post(LLAMA, {"requests": [{"prompt": "x" * 1_000}]})) == (413, 3006)
    assert code(narrow.post(LLAMA, {"requests": [{"prompt": "x" * 3_000_000}]})) == (413, 3006)
    assert narrow.submit(LLAMA, {"prompt": "x" * 900})


def test_a_chunked_body_above_the_limit_is_too_large(narrow: Caller) -> None:
    reply = narrow.http.post(
        f"{narrow.account_url}/run/{LLAMA}?queueRequest=true",
        content=iter([b'{"requests": [{"prompt": "', b"x" * 999, b'"}]}']),
    )
    assert code(reply) == (413, 3006)


def test_the_usual_limit_is_the_documented_ten_megabytes(caller: Caller) -> None:
    assert code(caller.post(LLAMA, {"requests": [{"prompt": "x" * 10_000_000}]})) == (413, 3006)


@pytest.mark.parametrize("path", ["/", "/client/v4", "/client/v4/accounts//ai/run/x", "/nowhere"])
def test_an_unknown_address_cannot_be_routed(caller: Caller, path: str) -> None:
    root = caller.account_url.partition("/client")[0]
    assert code(caller.http.get(root + path)) == (404, 7003)


def test_a_wrong_method_is_refused(caller: Caller) -> None:
    assert code(caller.http.get(f"{caller.account_url}/run/{LLAMA}")) == (405, 7001)
    assert code(caller.http.post(f"{caller.account_url}/models/search")) == (405, 7001)
