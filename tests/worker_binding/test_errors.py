"""Errors of Workers AI come through the Worker as they are."""

from typing import Any

import httpx
import pytest

from batchui.cloudflare.errors import (
    BadReply,
    Busy,
    CloudflareError,
    Gone,
    MaybeSent,
    Refused,
    TooLarge,
)
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.errors import CODES
from batchui.sandbox.testing import RunningSandbox
from tests.sandbox.conftest import NO_CERTIFICATES
from tests.worker_binding.conftest import LLAMA, RUN, SECRET, answered, submitted
from tests.worker_binding.workerd import Workerd

pytestmark = pytest.mark.processes

MEANINGS: dict[int, tuple[type[CloudflareError], type[CloudflareError]]] = {
    **dict.fromkeys((3003, 3039, 5004, 5005, 5006, 5019, 5025), (Refused, Refused)),
    **dict.fromkeys((5007, 3042, 8007, 3030), (Refused, Refused)),
    **dict.fromkeys((3021, 3036, 3040, 3050), (Busy, Busy)),
    **dict.fromkeys((3023, 3041, 5016, 5018, 5035, 1000, 9109, 10000), (Busy, Busy)),
    3006: (TooLarge, TooLarge),
    **dict.fromkeys((3007, 3008, 5001, 8008), (MaybeSent, BadReply)),
    5504: (Gone, Gone),
}


@pytest.mark.parametrize("code", MEANINGS)
def test_a_code_arrives_with_its_status_and_its_words(
    client: WorkerClient, sandbox: RunningSandbox, code: int
) -> None:
    request_id = submitted(client, {"prompt": "Yes?"})
    status, words = CODES[code]
    for ask, meaning in zip(
        (lambda: submitted(client, {"prompt": "Yes?"}), lambda: answered(client, request_id)),
        MEANINGS[code],
        strict=True,
    ):
        sandbox.script({"fault": "error", "code": code})
        with pytest.raises(CloudflareError) as caught:
            ask()
        assert type(caught.value) is meaning
        assert (caught.value.code, caught.value.http_status) == (code, status)
        assert caught.value.detail.startswith(words.removeprefix("AiError: ")[:100])


def test_how_long_to_wait_comes_through(client: WorkerClient, sandbox: RunningSandbox) -> None:
    for step in ({"code": 3040}, {"status": 429}):
        sandbox.script({"fault": "error", "retry_after": "90", **step})
        with pytest.raises(Busy) as caught:
            submitted(client, {"prompt": "Yes?"})
        assert caught.value.wait == 90


@pytest.mark.parametrize(
    ("status", "when_sending", "when_polling"),
    [(404, Busy, BadReply), (403, Busy, Busy), (502, MaybeSent, BadReply)],
)
def test_a_page_behind_the_binding_has_no_code(
    client: WorkerClient,
    sandbox: RunningSandbox,
    status: int,
    when_sending: type[CloudflareError],
    when_polling: type[CloudflareError],
) -> None:
    request_id = submitted(client, {"prompt": "Yes?"})
    sandbox.script({"fault": "error", "status": status, "times": 2})
    with pytest.raises(CloudflareError) as sending:
        submitted(client, {"prompt": "Yes?"})
    with pytest.raises(CloudflareError) as polling:
        answered(client, request_id)
    assert (type(sending.value), type(polling.value)) == (when_sending, when_polling)
    assert (sending.value.code, polling.value.http_status) == (None, status)


def test_a_search_that_fails_is_no_list(client: WorkerClient, sandbox: RunningSandbox) -> None:
    """The binding keeps only the words of its errors."""
    sandbox.script({"fault": "error", "code": 5001, "call": "search"})
    with pytest.raises(BadReply, match="Internal error"):
        client.test_connection()


ODD: dict[str, tuple[type[CloudflareError], dict[str, Any]]] = {
    "nothing": (MaybeSent, {"message": "Workers AI gave no answer."}),
    "silence": (MaybeSent, {"message": "Workers AI gave no answer."}),
    "words": (Refused, {"message": '{"message":"No code, but words"}'}),
}


@pytest.mark.parametrize("model", ODD)
def test_what_the_binding_seldom_answers_is_told(workerd: Workerd, model: str) -> None:
    meaning, told = ODD[model]
    address = workerd.address("odd binding")
    with WorkerClient(address=address, secret=SECRET) as client, pytest.raises(meaning):
        submitted(client, {"prompt": "Yes?"}, model=model)
    assert odd(workerd, model).json()["errors"] == [told]


def test_a_redirect_behind_the_binding_is_no_answer_of_the_worker(workerd: Workerd) -> None:
    assert odd(workerd, "moved").status_code == 502


def test_a_picture_is_passed_on_as_it_is(workerd: Workerd) -> None:
    reply = odd(workerd, "picture")
    assert (reply.headers["content-type"], reply.text) == ("image/png", "a picture")


@pytest.mark.parametrize(
    ("query", "body", "options"),
    [
        ("?queueRequest=true", {"request_id": "123", "requests": []}, {}),
        ("?queueRequest=true", {"requests": [{"prompt": "Hi"}]}, {"queueRequest": True}),
        ("", {"prompt": "Hi", "max_tokens": 9}, {}),
        ("?queueRequest=true", {"request_id": "123"}, {}),
        ("", {"request_id": "123"}, {}),
    ],
)
def test_the_binding_is_called_as_its_documents_say(
    workerd: Workerd, query: str, body: dict[str, Any], options: dict[str, Any]
) -> None:
    told = odd(workerd, f"echo{query}", body).json()["result"]
    looked_up = {"request_id": "123"} if "request_id" in body else body
    assert told == {"inputs": looked_up, "options": {"returnRawResponse": True, **options}}


def test_long_words_are_cut_short(
    http: httpx.Client, workerd: Workerd, sandbox: RunningSandbox
) -> None:
    sandbox.script({"fault": "error", "code": 5006, "message": "x" * 5_000})
    [told] = http.post(RUN, json={"prompt": "Hi"}).json()["errors"]
    assert len(told["message"]) == 1_000
    [page] = odd(workerd, "page").json()["messages"]
    assert len(page) == 1_000


def odd(workerd: Workerd, call: str, body: dict[str, Any] | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {SECRET}"}
    address = f"{workerd.address('odd binding')}/ai/run/{call}"
    with httpx.Client(headers=headers, timeout=20, verify=NO_CERTIFICATES) as http:
        return http.post(address, json=body or {"prompt": "Hi"})


def test_garbage_stays_garbage(http: httpx.Client, sandbox: RunningSandbox) -> None:
    sandbox.script({"fault": "garbage", "body": "}{"})
    assert http.post(RUN, json={"prompt": "Hi"}).text.startswith('{"result":}{,"success":true')
    sandbox.script({"fault": "other_status", "status": 202})
    assert http.post(RUN, json={"prompt": "Hi"}).status_code == 202


def test_empty_and_failed_items_of_a_batch_are_told_apart(
    client: WorkerClient, sandbox: RunningSandbox
) -> None:
    request_id = submitted(client, {"prompt": "One?"}, {"prompt": "Two?"}, {"prompt": "Three?"})
    sandbox.script({"fault": "empty", "items": [0]}, {"fault": "failed", "items": [1]})
    statuses = {item.index: item.status for item in answered(client, request_id).items}
    assert statuses == {0: "empty", 1: "failed", 2: "answered"}
    sandbox.script({"fault": "batch_failed"})
    with pytest.raises(Refused):
        answered(client, request_id)


def test_only_what_asks_for_the_queue_is_queued(
    http: httpx.Client, sandbox: RunningSandbox
) -> None:
    body = {"requests": [{"prompt": "Hi"}]}
    for query in ("", "?queueRequest=false", "?queueRequest="):
        assert http.post(RUN + query, json=body).json()["errors"][0]["code"] == 5006
    assert [call.kind for call in sandbox.calls()] == ["run"] * 3
    assert LLAMA in http.post(f"{RUN}?queueRequest=true", json=body).text
