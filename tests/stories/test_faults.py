"""Whatever is killed or cut, at whatever moment: no row is lost, on a wrong line, or silently sent
twice."""

import csv
import io
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

import psutil
import pytest

from batchui.batches.steps import PART_LEASE
from tests.project.helpers import is_alive, until
from tests.stories.person import Person, first_person
from tests.stories.product import Product

pytestmark = pytest.mark.processes

ROWS, PART = 500, 25
ASK = "Repeat: {{text}}"
# No promise: how late a failure is told, on a machine with much to do.
LONGEST = 180


@pytest.fixture(scope="module")
def ana(product: Product) -> Iterator[Person]:
    with first_person(product) as ana:
        yield ana


@pytest.fixture(autouse=True)
def well_again(product: Product) -> Iterator[None]:
    """The sandbox works, its calls are forgotten, and nothing waits for what was before."""
    product.script()
    product.control("DELETE", "calls")
    yield
    product.script()


def texts() -> bytes:
    """A file whose parts are requests of different sizes, so that the sandbox's calls tell them
    apart."""
    lines = [f"{n},text {n} of part {'x' * (n // PART)}" for n in range(1, ROWS + 1)]
    return "\r\n".join(["id,text", *lines, ""]).encode()


def the_sender(product: Product) -> psutil.Process:
    """The worker process that is sending parts now, by the threads it sends with.

    Not one that waits for work: that one takes the queue's lock with it, and half a minute goes
    by until the watchdog notices (`tests/worker/test_watchdog.py`). After a kill it may be a minute
    until the next one sends: so long, parts that a dead worker was sending hold their places.
    """

    def find() -> psutil.Process | None:
        for process in product.part("worker").children(recursive=True):
            if is_alive(process) and process.num_threads() > 2:
                return process
        return None

    return until(find, seconds=LONGEST)


def the_cluster(product: Product) -> psutil.Process:
    """`manage.py worker --cluster`."""
    return until(lambda: next(iter(product.part("worker").children()), None))


def the_worker(product: Product) -> psutil.Process:
    """`manage.py worker`."""
    return product.part("worker")


@pytest.mark.parametrize("victim", [the_sender, the_cluster, the_worker])
def test_background_work_killed_at_any_moment_sends_nothing_twice_and_loses_nothing(
    product: Product, ana: Person, victim: Callable[[Product], psutil.Process]
) -> None:
    seed = random.randrange(1_000_000)
    moments = random.Random(seed)
    product.timings(queued=0.2, running=0.2)
    product.script({"fault": "delay", "call": "submit", "seconds": 1.5, "times": 0})
    batch = ana.start(texts(), ask=ASK)
    until(product.submissions)
    for _ in range(2):
        time.sleep(moments.uniform(0, 1))
        victim(product).kill()
    settle(product, batch)
    seen = f"killed with seed {seed}; up said:\n{product.lines}"

    sizes = Counter(call["bytes"] for call in product.submissions())
    assert max(sizes.values()) == 1, f"a part was sent twice: {sizes}; {seen}"
    unsure = [n for n, status in product.statuses(batch).items() if status == "unsure"]
    product.script()
    for number in unsure:
        ana.send_again(batch, number)
    until(lambda: product.status(batch) == "finished", seconds=LONGEST)
    assert_every_row_is_on_its_own_line(ana.download(batch))
    resent = sum((Counter(c["bytes"] for c in product.submissions()) - sizes).values())
    assert resent == len(unsure), seen


@pytest.mark.parametrize("victim", [the_sender, the_cluster, the_worker])
def test_what_killed_work_left_is_taken_up_long_before_its_leases_end(
    product: Product, ana: Person, victim: Callable[[Product], psutil.Process]
) -> None:
    product.timings(queued=0.2, running=0.2)
    product.script({"fault": "delay", "call": "submit", "seconds": 1.5, "times": 0})
    product.forget_kills()
    batch = ana.start(texts(), ask=ASK)
    until(product.submissions)
    victim(product).kill()
    product.script()

    def look() -> bool:
        product.end_pauses()  # and no lease
        return set(product.statuses(batch).values()) <= {"done", "unsure"}

    until(look, seconds=PART_LEASE.total_seconds() / 2)


def settle(product: Product, batch: str) -> None:
    """Let time pass quickly until no part changes by itself any more, and a while longer."""

    def look() -> bool:
        product.run_out_of_patience()
        time.sleep(0.3)
        return set(product.statuses(batch).values()) <= {"done", "unsure"}

    until(look, seconds=LONGEST)
    # A part may have been given up while its POST was under way, and be received only now.
    time.sleep(2)
    sent = len(product.submissions())
    time.sleep(2.5)  # longer than from tick to tick
    assert len(product.submissions()) == sent


def assert_every_row_is_on_its_own_line(download: str) -> None:
    rows = list(csv.DictReader(io.StringIO(download, newline="")))
    assert [row["id"] for row in rows] == [str(number) for number in range(1, ROWS + 1)]
    for row in rows:
        assert row["status"] == "answered"
        assert f"text {row['id']} of part" in row["answer"]


def test_on_a_flaky_network_every_row_is_answered(product: Product, ana: Person) -> None:
    product.timings(queued=0.3, running=0.5)
    product.script(
        {"fault": "cut_before", "call": "poll", "times": 3},
        {"fault": "cut_after", "call": "poll", "times": 3, "state": "finished", "reset": True},
        {"fault": "error", "call": "poll", "code": 3040, "times": 3, "retry_after": 1},
        {"fault": "error", "call": "poll", "status": 502, "times": 3},
        {"fault": "garbage", "call": "poll", "times": 3},
        {"fault": "truncated", "call": "poll", "times": 3, "state": "finished"},
        {"fault": "error", "call": "submit", "code": 3040, "times": 4},
    )
    batch = ana.start(texts(), ask=ASK)

    def look() -> bool:
        product.end_pauses()
        time.sleep(0.3)
        statuses = product.statuses(batch)
        assert "unsure" not in statuses.values(), f"{statuses}; up said:\n{product.lines}"
        return product.status(batch) == "finished"

    until(look, seconds=LONGEST)
    assert_every_row_is_on_its_own_line(ana.download(batch))
    assert all(step["used"] == step["times"] for step in product.control("GET", "script"))
    sent = [call["bytes"] for call in product.submissions() if call["status"] == 200]
    assert len(sent) == len(set(sent)) == ROWS // PART


def test_a_batch_api_that_is_restarted_is_waited_for(product: Product, ana: Person) -> None:
    product.timings(queued=0.5, running=1)
    batch = ana.start(texts(), ask=ASK)
    until(lambda: "queued" in product.statuses(batch).values())
    product.part("sandbox").kill()

    def look() -> bool:
        product.run_out_of_patience()
        time.sleep(0.3)
        return not {"ready", "sending", "queued", "running"} & set(product.statuses(batch).values())

    until(look, seconds=LONGEST)
    for number, status in product.statuses(batch).items():
        if status == "unsure":
            ana.send_again(batch, number)
    until(lambda: product.status(batch) == "finished", seconds=LONGEST)
    assert_every_row_is_on_its_own_line(ana.download(batch))
