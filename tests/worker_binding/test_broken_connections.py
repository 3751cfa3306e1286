"""Connections that break before, in and behind the Worker, and a Worker that dies."""

import io
import threading
from collections.abc import Callable
from typing import Any

import pytest

from batchui.cloudflare.errors import BadReply, CloudflareError, MaybeSent, NotSent
from batchui.cloudflare.worker_client import WorkerClient
from batchui.sandbox.testing import RunningSandbox
from tests.cloudflare.conftest import QUICK
from tests.project.helpers import until
from tests.worker_binding.conftest import SECRET, answered, submitted
from tests.worker_binding.workerd import Workerd

pytestmark = pytest.mark.processes

FAULTS: list[tuple[dict[str, Any], type[CloudflareError]]] = [
    ({"fault": "cut_before"}, BadReply),
    ({"fault": "cut_before", "reset": True}, BadReply),
    ({"fault": "cut_after"}, BadReply),
    ({"fault": "garbage"}, BadReply),
    ({"fault": "truncated"}, BadReply),
    ({"fault": "delay", "seconds": 0.7}, NotSent),
]


@pytest.mark.parametrize(("step", "when_polling"), FAULTS)
def test_behind_the_worker_a_batch_may_be_sent_and_a_poll_is_made_again(
    client: WorkerClient,
    workerd: Workerd,
    sandbox: RunningSandbox,
    step: dict[str, Any],
    when_polling: type[CloudflareError],
) -> None:
    request_id = submitted(client, {"prompt": "Yes?"})
    with WorkerClient(address=workerd.address(), secret=SECRET, timeout=QUICK) as hasty:
        caller = hasty if step["fault"] == "delay" else client
        sandbox.script(step)
        with pytest.raises(MaybeSent):
            submitted(caller, {"prompt": "Yes?"})
        sandbox.script(step)
        with pytest.raises(CloudflareError) as polling:
            answered(caller, request_id)
    assert type(polling.value) is when_polling
    assert [item.status for item in answered(client, request_id).items] == ["answered"]


def killed_during(
    act: Callable[[], Any], *, workerd: Workerd, sandbox: RunningSandbox
) -> CloudflareError:
    """The error of a call whose Worker is killed while Workers AI is working on it."""
    sandbox.script({"fault": "delay", "seconds": 30})
    caught: list[CloudflareError] = []

    def call() -> None:
        with pytest.raises(CloudflareError) as error:
            act()
        caught.append(error.value)

    calling = threading.Thread(target=call)
    calling.start()
    until(lambda: sandbox.sandbox.context.script.shown()[0]["used"])
    workerd.kill()
    calling.join(10)
    return caught[0]


def test_a_worker_that_dies_while_a_batch_is_sent_leaves_it_unclear(
    client: WorkerClient, workerd: Workerd, sandbox: RunningSandbox
) -> None:
    exc = killed_during(
        lambda: submitted(client, {"prompt": "Yes?"}), workerd=workerd, sandbox=sandbox
    )
    assert type(exc) is MaybeSent
    assert "your Worker (127.0.0.1:" in exc.user_message
    with pytest.raises(NotSent, match="Connection refused"):
        submitted(client, {"prompt": "Yes?"})


def test_a_worker_that_dies_during_a_poll_loses_nothing(
    client: WorkerClient, workerd: Workerd, sandbox: RunningSandbox
) -> None:
    request_id = submitted(client, {"prompt": "Yes?"})
    exc = killed_during(lambda: answered(client, request_id), workerd=workerd, sandbox=sandbox)
    assert type(exc) is NotSent
    assert "Nothing is lost." in exc.user_message
    sandbox.script()
    workerd.start()
    with WorkerClient(address=workerd.address(), secret=SECRET) as again:
        assert [item.status for item in answered(again, request_id).items] == ["answered"]


class Deadly(io.BytesIO):
    """A spool that kills the Worker when the first of a reply is written to it."""

    def __init__(self, workerd: Workerd) -> None:
        super().__init__()
        self._workerd = workerd

    def write(self, data: Any) -> int:
        self._workerd.kill()
        return super().write(data)


def test_a_worker_that_dies_in_the_middle_of_a_reply_is_no_answer(
    client: WorkerClient, workerd: Workerd, sandbox: RunningSandbox
) -> None:
    model = "@cf/baai/bge-large-en-v1.5"
    request_id = submitted(client, *({"text": f"Text {n}"} for n in range(1_500)), model=model)
    spool = Deadly(workerd)
    with pytest.raises(BadReply, match="peer closed connection"):
        client.poll(model, request_id, spool)
    assert spool.getvalue().startswith(b'{"result":{"responses":[')
