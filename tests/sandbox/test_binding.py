"""The address for the AI binding of a Worker. (tests/worker_binding/ has the real binding.)"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from batchui.sandbox.http_messages import Request
from batchui.sandbox.options import Options
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.sandbox.wire import Sandbox
from tests.sandbox.conftest import LLAMA, NO_CERTIFICATES, UNQUEUED, Caller
from tests.sandbox.test_processes import address, started

HOST = {"Host": "workers-binding.ai"}


class Binding:
    """What `env.AI` sends."""

    def __init__(self, root_url: str) -> None:
        self.http = httpx.Client(
            base_url=root_url, headers=HOST, timeout=10, verify=NO_CERTIFICATES
        )

    def run(self, inputs: Any, *, model: str = LLAMA, **options: Any) -> httpx.Response:
        body = {"inputs": inputs, "options": options}
        headers = {"cf-consn-model-id": model}
        return self.http.post("/run?version=3", json=body, headers=headers)

    def submit(self, *items: dict[str, Any]) -> str:
        reply = self.run({"requests": list(items)}, queueRequest=True)
        assert reply.status_code == 200, reply.text
        return str(reply.json()["request_id"])


@pytest.fixture(scope="module")
def running() -> Iterator[RunningSandbox]:
    with running_sandbox(binding=True) as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(running: RunningSandbox) -> RunningSandbox:
    running.script()
    return running


@pytest.fixture
def binding(sandbox: RunningSandbox) -> Iterator[Binding]:
    binding = Binding(sandbox.root_url)
    with binding.http:
        yield binding


def test_results_have_no_envelope_and_exactly_this_content_type(binding: Binding) -> None:
    queued = binding.run({"requests": [{"prompt": "Hello"}]}, queueRequest=True)
    assert queued.json().keys() == {"status", "request_id", "model"}
    finished = binding.run({"request_id": queued.json()["request_id"]})
    assert [entry["id"] for entry in finished.json()["responses"]] == [0]
    at_once = binding.run({"prompt": "Hello"}, returnRawResponse=True)
    assert at_once.json().keys() == {"response", "tool_calls", "usage"}
    for reply in (queued, finished, at_once):
        assert reply.headers["content-type"] == "application/json"


def test_only_what_asks_for_the_queue_is_queued(binding: Binding, sandbox: RunningSandbox) -> None:
    before = len(sandbox.calls("submit"))
    assert binding.run({"requests": [{"prompt": "Hello"}]}).json()["internalCode"] == 5006
    assert len(sandbox.calls("submit")) == before


@pytest.mark.parametrize(
    ("model", "code", "status", "description"),
    [
        (UNQUEUED, 8007, 400, "This model does not support request queuing"),
        ("@cf/none", 5007, 400, "No such model @cf/none or task"),
    ],
)
def test_an_error_of_workers_ai_has_an_internal_code(
    binding: Binding, model: str, code: int, status: int, description: str
) -> None:
    reply = binding.run({"requests": [{"prompt": "Hello"}]}, model=model, queueRequest=True)
    assert reply.status_code == status
    told = reply.json()
    assert (told["internalCode"], told["description"]) == (code, description)
    assert told["name"] == "AiError"


def test_an_error_of_the_gateway_has_a_list_of_errors(
    binding: Binding, sandbox: RunningSandbox
) -> None:
    sandbox.script({"fault": "error", "code": 10000})
    reply = binding.run({"prompt": "Hello"})
    assert reply.status_code == 401
    assert reply.json()["errors"] == [{"code": 10000, "message": "Authentication error"}]


def test_an_unknown_request_is_not_found(binding: Binding) -> None:
    reply = binding.run({"request_id": "6f1d9d7c-0000-4000-8000-3c1b2a4d5e6f"})
    assert (reply.status_code, reply.json()["internalCode"]) == (404, 5504)


@pytest.mark.parametrize("body", [b"", b"[]", b'{"options": {}}', b'{"inputs": {}, "options": 1}'])
def test_a_body_that_no_binding_sends_is_bad_input(binding: Binding, body: bytes) -> None:
    reply = binding.http.post("/run?version=3", content=body)
    assert (reply.status_code, reply.json()["internalCode"]) == (400, 5006)


def test_a_body_over_the_limit_is_too_large() -> None:
    with running_sandbox(binding=True, max_bytes=1_000) as sandbox:
        binding = Binding(sandbox.root_url)
        with binding.http:
            reply = binding.run({"prompt": "x" * 1_000})
    assert (reply.status_code, reply.json()["internalCode"]) == (413, 3006)


def test_models_are_searched_as_in_the_rest_api(binding: Binding, sandbox: RunningSandbox) -> None:
    reply = binding.http.get("/ai-api/models/search", params={"search": "llama-3.3"})
    assert [model["name"] for model in reply.json()["result"]] == [LLAMA]
    sandbox.script({"fault": "error", "code": 5001, "call": "search"})
    reply = binding.http.get("/ai-api/models/search")
    assert reply.json()["errors"][0]["code"] == 5001


def test_faults_of_calls_and_items_work_here_too(binding: Binding, sandbox: RunningSandbox) -> None:
    request_id = binding.submit({"prompt": "One?"}, {"prompt": "Two?"})
    poll = {"request_id": request_id}
    sandbox.script({"fault": "missing", "items": [0]})
    assert [entry["id"] for entry in binding.run(poll).json()["responses"]] == [1]
    sandbox.script({"fault": "batch_failed", "form": "error"})
    assert binding.run(poll).json()["status"] == "error"
    sandbox.script({"fault": "no_request_id", "call": "submit"})
    assert "request_id" not in binding.run({"requests": []}, queueRequest=True).json()
    sandbox.script({"fault": "garbage"})
    assert binding.run(poll).text.startswith("<html>")
    for fault in ("cut_before", "cut_after", "truncated"):
        sandbox.script({"fault": fault})
        with pytest.raises(httpx.RemoteProtocolError):
            binding.run(poll)
    fault_names = [call.fault for call in sandbox.calls("poll")][-3:]
    assert fault_names == ["cut_before", "cut_after", "truncated"]


def test_without_the_option_the_address_is_not_there() -> None:
    with running_sandbox() as sandbox:
        for path in ("/run", "/ai-api/models/search"):
            headers = {"Authorization": "Bearer any"}
            method = "GET" if "search" in path else "POST"
            url = f"{sandbox.root_url}{path}"
            reply = httpx.request(method, url, headers=headers, verify=NO_CERTIFICATES)
            assert (reply.status_code, reply.json()["errors"][0]["code"]) == (404, 7003)
        reply = httpx.post(f"{sandbox.root_url}/run", headers=HOST, verify=NO_CERTIFICATES)
        assert reply.status_code == 421


@pytest.mark.parametrize("path", ["/run", "/ai-api/models/search"])
def test_it_is_for_programs_on_this_machine(path: str) -> None:
    sandbox = Sandbox(Options(binding=True, token="x"))
    try:
        method = "GET" if "search" in path else "POST"
        body = b'{"inputs": {"prompt": "Hello"}}'
        headers = {"cf-consn-model-id": LLAMA}
        asked = {"method": method, "path": path, "headers": headers, "body": body}
        assert sandbox.respond(Request(**asked)).status == 200
        assert sandbox.respond(Request(**asked, host="10.0.0.7")).status == 403
    finally:
        sandbox.close()


def test_the_rest_of_the_api_needs_its_token_all_the_same() -> None:
    with running_sandbox(binding=True, token="the only one") as sandbox:
        caller = Caller(sandbox.base_url, token="another")
        with caller.http:
            assert caller.post(LLAMA, {"requests": []}).status_code == 401


def test_the_option_of_the_command_opens_it(tmp_path: Path) -> None:
    with started("--binding", "--data", str(tmp_path / "s.sqlite3")) as process:
        binding = Binding(address(process).removesuffix("/client/v4"))
        with binding.http:
            assert binding.submit({"prompt": "Hello"})
