"""When a request runs, and when it is finished."""

import pytest

from batchui.sandbox.options import Timings
from batchui.sandbox.testing import running_sandbox
from tests.sandbox.conftest import LLAMA, Caller

START = 1_800_000_000.0


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_request_is_queued_then_running_then_an_array_without_a_status(clock: Clock) -> None:
    timings = Timings(queued=10, running=20, per_1000_items=0, longest=20)
    with running_sandbox(timings=timings, clock=clock) as sandbox:
        caller = Caller(sandbox.base_url)
        with caller.http:
            request_id = caller.submit(LLAMA, {"prompt": "Hello"})
            seen = []
            for _ in range(4):
                seen.append(caller.poll(LLAMA, request_id).json()["result"])
                clock.now += 10
    told = {"request_id": request_id, "model": LLAMA}
    assert seen[0] == {"status": "queued", **told}
    assert seen[1] == seen[2] == {"status": "running", **told}
    assert set(seen[3]) == {"responses", "usage"}


def test_more_items_run_longer_up_to_a_limit() -> None:
    timings = Timings(queued=1, running=2, per_1000_items=1, longest=5)
    assert timings.moments(0, items=10) == (1, 3.01)
    assert timings.moments(0, items=100_000) == (1, 6)
