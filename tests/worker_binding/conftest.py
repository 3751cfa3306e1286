import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from batchui.cloudflare.replies import Reply, decode
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.sandbox.conftest import NO_CERTIFICATES
from tests.worker_binding.workerd import Workerd

# That of worker.capnp.
SECRET = "a-secret-for-tests-0123456789abcdef"
LLAMA = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
RUN = f"/ai/run/{LLAMA}"
# More than the Worker lets through, so that only the Worker is asked how much that is.
SANDBOX_BYTES = 12_000_000


@pytest.fixture(scope="session")
def running() -> Iterator[RunningSandbox]:
    with running_sandbox(binding=True, max_bytes=SANDBOX_BYTES) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def one_workerd(
    running: RunningSandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workerd]:
    workerd = Workerd(
        log=tmp_path_factory.mktemp("workerd") / "log",
        sandbox=running.root_url.removeprefix("http://"),
    )
    try:
        yield workerd
    finally:
        workerd.kill()


@pytest.fixture
def sandbox(running: RunningSandbox) -> Iterator[RunningSandbox]:
    """The sandbox behind the binding, without faults and with no calls on record."""
    running.script()
    running.sandbox.calls.clear()
    yield running
    running.script()


@pytest.fixture
def workerd(one_workerd: Workerd, sandbox: RunningSandbox) -> Workerd:
    """The process, started anew where a test has killed it."""
    one_workerd.start()
    return one_workerd


@pytest.fixture
def client(workerd: Workerd) -> Iterator[WorkerClient]:
    with WorkerClient(address=workerd.address(), secret=SECRET) as client:
        yield client


@pytest.fixture
def http(workerd: Workerd) -> Iterator[httpx.Client]:
    """Calls with the secret, and with nothing of the product's client."""
    headers = {"Authorization": f"Bearer {SECRET}"}
    with httpx.Client(
        base_url=workerd.address(), headers=headers, timeout=20, verify=NO_CERTIFICATES
    ) as http:
        yield http


def submitted(client: WorkerClient, *items: dict[str, Any], model: str = LLAMA) -> str:
    return client.submit(model, json.dumps({"requests": items}).encode()).request_id


def answered(client: WorkerClient, request_id: str, *, model: str = LLAMA) -> Reply:
    spool = io.BytesIO()
    assert client.poll(model, request_id, spool) is None
    return decode(spool.read(), request_id=request_id)
