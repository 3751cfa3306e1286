import ssl
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from batchui.sandbox.testing import RunningSandbox, running_sandbox

LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
KIMI = "@cf/moonshotai/kimi-k2.6"
QWEN = "@cf/qwen/qwen3-30b-a3b-fp8"
GPT_OSS = "@cf/openai/gpt-oss-20b"
BGE_SMALL = "@cf/baai/bge-small-en-v1.5"
BGE_M3 = "@cf/baai/bge-m3"
M2M100 = "@cf/meta/m2m100-1.2b"
TOKEN = "any token will do"
# A client reads all certificates it is to trust, which takes longer than the test; none needs any.
NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
UNQUEUED = "@cf/meta/llama-3.2-3b-instruct"


class Caller:
    """The calls of the reference over real HTTP, with nothing of the product's client."""

    def __init__(self, base_url: str, *, account: str = "account", token: str = TOKEN) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(timeout=10, headers=headers, verify=NO_CERTIFICATES)
        self.root_url = base_url.removesuffix("/client/v4")
        self.account_url = f"{base_url}/accounts/{account}/ai"

    def post(self, model: str, body: Any, *, queue: bool = True) -> httpx.Response:
        params = {"queueRequest": "true"} if queue else {}
        return self.http.post(f"{self.account_url}/run/{model}", params=params, json=body)

    def submit(self, model: str, *items: dict[str, Any]) -> str:
        reply = self.post(model, {"requests": list(items)})
        assert reply.status_code == 200, reply.text
        return str(reply.json()["result"]["request_id"])

    def poll(self, model: str, request_id: str) -> httpx.Response:
        return self.post(model, {"request_id": request_id})

    def finished(self, model: str, *items: dict[str, Any]) -> dict[str, Any]:
        """The inner result of a batch that is finished at once."""
        reply = self.poll(model, self.submit(model, *items))
        assert reply.status_code == 200, reply.text
        return dict(reply.json()["result"])

    def results(self, model: str, *items: dict[str, Any]) -> list[Any]:
        """What each item came to, in the order sent."""
        reply = self.finished(model, *items)
        entries = reply.get("responses") or reply["results"]
        return [
            entry["result"]
            for entry in sorted(entries, key=lambda entry: entry.get("id", entry.get("index")))
        ]

    def text(self, prompt: str, **more: Any) -> str:
        """What llama answers to one prompt."""
        return str(self.results(LLAMA, {"prompt": prompt, **more})[0]["response"])


@pytest.fixture
def sandbox() -> Iterator[RunningSandbox]:
    with running_sandbox() as running:
        yield running


@pytest.fixture
def caller(sandbox: RunningSandbox) -> Iterator[Caller]:
    caller = Caller(sandbox.base_url)
    with caller.http:
        yield caller


@pytest.fixture
def control(sandbox: RunningSandbox) -> Iterator[httpx.Client]:
    address = f"{sandbox.root_url}/control"
    with httpx.Client(base_url=address, verify=NO_CERTIFICATES) as client:
        yield client
