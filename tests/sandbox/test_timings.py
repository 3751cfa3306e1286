"""When a request runs, and when it is finished."""

from collections.abc import Iterator
from itertools import pairwise

import httpx
import pytest

from batchui.sandbox.options import USUAL, Timings
from batchui.sandbox.schedule import Schedule
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.sandbox.conftest import LLAMA, Caller

START = 1_800_000_000.0


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def usual(clock: Clock) -> Iterator[RunningSandbox]:
    """A sandbox with the timings of a first try, and a clock that stands still."""
    with running_sandbox(timings=USUAL, clock=clock) as running:
        yield running


def status(caller: Caller, request_id: str) -> str:
    return str(caller.poll(LLAMA, request_id).json()["result"].get("status", "finished"))


def finishes(clock: Clock, caller: Caller, *request_ids: str) -> list[float]:
    """The first tenth of a second at which each request is finished, from now on."""
    found: dict[str, float] = {}
    for tenth in range(600):
        clock.now = START + tenth / 10
        for request_id in set(request_ids) - set(found):
            if status(caller, request_id) == "finished":
                found[request_id] = tenth / 10
        if len(found) == len(request_ids):
            return [found[request_id] for request_id in request_ids]
    raise AssertionError(f"after a minute, only {len(found)} are finished")


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


def test_a_sample_is_finished_in_two_seconds(clock: Clock, usual: RunningSandbox) -> None:
    caller = Caller(usual.base_url)
    with caller.http:
        request_id = caller.submit(LLAMA, *({"prompt": f"Row {n}"} for n in range(12)))
        assert finishes(clock, caller, request_id)[0] <= 2


def test_requests_sent_together_finish_one_after_another(
    clock: Clock, usual: RunningSandbox
) -> None:
    caller = Caller(usual.base_url)
    with caller.http:
        parts = [caller.submit(LLAMA, {"prompt": f"Part {n}"}) for n in range(12)]
        moments = finishes(clock, caller, *parts)
    assert moments == sorted(moments)
    assert all(later - earlier >= 0.3 for earlier, later in pairwise(moments))
    assert moments[-1] <= 10


def test_the_parts_of_a_first_try_land_well_apart(clock: Clock, usual: RunningSandbox) -> None:
    caller = Caller(usual.base_url)
    with caller.http:
        parts = [caller.submit(LLAMA, {"prompt": f"Part {n}"}) for n in range(3)]
        moments = finishes(clock, caller, *parts)
    assert all(later - earlier >= 0.8 for earlier, later in pairwise(moments))
    assert moments[-1] <= 4


def test_the_more_requests_are_under_way_the_closer_they_finish() -> None:
    schedule = Schedule(Timings(queued=0, running=1, per_1000_items=0, apart=2, closer=1))
    assert [schedule.add(0, items=1)[1] for _ in range(4)] == pytest.approx(
        [1, 2, 2.667, 3.167], abs=0.001
    )
    assert schedule.add(60, items=1) == (60, 61)  # the others are finished


def test_a_request_after_the_others_are_finished_is_as_quick_as_the_first(
    clock: Clock, usual: RunningSandbox
) -> None:
    caller = Caller(usual.base_url)
    with caller.http:
        first = [caller.submit(LLAMA, {"prompt": f"Part {n}"}) for n in range(3)]
        finishes(clock, caller, *first)
        clock.now = START + 60
        later = caller.submit(LLAMA, {"prompt": "Later"})
        clock.now += 2
        assert status(caller, later) == "finished"


def test_a_request_with_many_items_is_not_finished_sooner_for_being_apart() -> None:
    schedule = Schedule(Timings(queued=0, running=1, per_1000_items=10, longest=60, apart=2))
    ends = [schedule.add(0, items=items)[1] for items in (0, 5_000, 0)]
    assert ends == [1, 51, 53]


def test_timings_that_are_set_are_exact(clock: Clock, usual: RunningSandbox) -> None:
    wanted = {"queued": 0, "running": 3, "per_1000_items": 0, "longest": 3}
    httpx.put(f"{usual.root_url}/control/timings", json=wanted)
    caller = Caller(usual.base_url)
    with caller.http:
        parts = [caller.submit(LLAMA, {"prompt": f"Part {n}"}) for n in range(4)]
        assert finishes(clock, caller, *parts) == [3] * 4


def test_being_apart_can_be_set_too(clock: Clock, usual: RunningSandbox) -> None:
    wanted = {"queued": 0, "running": 1, "per_1000_items": 0, "apart": 3}
    assert httpx.put(f"{usual.root_url}/control/timings", json=wanted).json()["apart"] == 3
    caller = Caller(usual.base_url)
    with caller.http:
        parts = [caller.submit(LLAMA, {"prompt": f"Part {n}"}) for n in range(3)]
        assert finishes(clock, caller, *parts) == [1, 4, 7]
