import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.sandbox.upstream.pauses import Patience
from batchui.sandbox.upstream.settings import Upstream
from tests.project.helpers import until
from tests.sandbox.conftest import Caller
from tests.sandbox.upstream.model_server import ModelServer, model_server

# Of Cloudflare's names: the default model of the upstream is asked.
MODEL = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
QUICK = Patience(first=0.02, longest=0.1, refusing=0.1, between_tries=0.01, run=5)


def upstream_of(server: ModelServer, **changes: Any) -> Upstream:
    given = {"url": f"{server.url}/v1", "model": "small", "concurrency": 2, **changes}
    return Upstream(**given)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


@pytest.fixture
def sandbox(server: ModelServer) -> Iterator[RunningSandbox]:
    """A sandbox whose answers come from the server."""
    with running_sandbox(upstream=upstream_of(server), patience=QUICK) as running:
        yield running


class Work(Caller):
    """The calls of the reference, for an upstream that takes its time."""

    def reply(self, model: str, request_id: str, *, seconds: float = 20) -> list[dict[str, Any]]:
        """The entries of a finished request, in the order of their positions."""

        def look() -> list[dict[str, Any]] | None:
            answer = self.poll(model, request_id)
            assert answer.status_code == 200, answer.text
            found: list[dict[str, Any]] | None = answer.json()["result"].get("results")
            return found

        return until(look, seconds=seconds)

    def entries(self, *items: dict[str, Any], model: str = MODEL) -> list[dict[str, Any]]:
        """Submit items, and wait for their entries."""
        return self.reply(model, self.submit(model, *items))

    def entry(self, item: dict[str, Any], *, model: str = MODEL) -> dict[str, Any]:
        """Submit an item, and wait for its entry."""
        [entry] = self.entries(item, model=model)
        return entry

    def status(self, model: str, request_id: str) -> str:
        """What a poll says of a request that is under way."""
        return str(self.poll(model, request_id).json()["result"]["status"])


@pytest.fixture
def caller(sandbox: RunningSandbox) -> Iterator[Work]:
    caller = Work(sandbox.base_url)
    with caller.http:
        yield caller


@contextmanager
def working(
    upstream: Upstream | None = None,
    *,
    data: Path | None = None,
    patience: Patience = QUICK,
    account: str = "account",
) -> Iterator[Work]:
    """The calls of a sandbox with this upstream, which ends with the context."""
    with running_sandbox(upstream=upstream, data=data, patience=patience) as running:
        caller = Work(running.base_url, account=account)
        with caller.http:
            yield caller


def prompts(count: int, *, name: str = "row") -> list[dict[str, Any]]:
    return [{"prompt": f"{name} {n}"} for n in range(count)]


def content(entry: dict[str, Any]) -> str:
    """What the model wrote."""
    return str(entry["result"]["choices"][0]["message"]["content"])


def code(reply: httpx.Response) -> tuple[int, int]:
    """HTTP status and code of an error."""
    return reply.status_code, int(reply.json()["errors"][0]["code"])


def still(look: Any, *, seconds: float = 0.3) -> None:
    """Fail if `look` becomes false within some time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        assert look()
        time.sleep(0.02)
