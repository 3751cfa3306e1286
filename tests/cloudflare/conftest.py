import io
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from batchui.cloudflare.client import RestClient
from batchui.cloudflare.replies import Reply, decode
from tests.cloudflare.server import ScriptedServer, reply, scripted_server

TOKEN = "s3cret-Token_0123456789abcdef0123456789"
ACCOUNT = "0123456789abcdef0123456789abcdef"
MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
REQUEST_ID = "6f1d9d7c-6c0a-4a0e-9f5e-3c1b2a4d5e6f"
RUN_PATH = f"/client/v4/accounts/{ACCOUNT}/ai/run/{MODEL}"
# For what never answers.
QUICK = httpx.Timeout(connect=1, read=0.5, write=1, pool=0.2)


@pytest.fixture(scope="session")
def running_server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


@pytest.fixture
def server(running_server: ScriptedServer) -> ScriptedServer:
    running_server.script()
    running_server.received.clear()
    running_server.connections = 0
    return running_server


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[RestClient]:
    """One that waits for as long as a busy machine needs."""
    with RestClient(account_id=ACCOUNT, token=TOKEN, base_url=server.base_url) as client:
        yield client


@pytest.fixture
def polled(server: ScriptedServer, client: RestClient) -> Any:
    """The decoded reply to a poll that the server answers with these items."""

    def poll(*items: object, **more: Any) -> Reply:
        server.script(reply(200, finished(*items, **more)))
        spool = io.BytesIO()
        assert client.poll(MODEL, REQUEST_ID, spool) is None
        return decode(spool.read(), request_id=REQUEST_ID)

    return poll


def queued(**changes: object) -> dict[str, object]:
    """The acknowledgement of a submission, and a poll's answer while it is queued."""
    result = {"status": "queued", "request_id": REQUEST_ID, "model": MODEL} | changes
    return {"result": result, "success": True, "errors": [], "messages": []}


def finished(*items: object, container: str = "responses", **more: object) -> dict[str, object]:
    """A finished reply."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    result = {container: list(items), "usage": usage} | more
    return {"result": result, "success": True, "errors": [], "messages": []}
