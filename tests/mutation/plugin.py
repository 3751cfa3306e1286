"""What each process of a mutation run needs: data of its own, and quick ways to a kill.

mutmut forks its workers from a process that has loaded the settings already. Without this they
share one test database, break each other's tests, and every breakage counts as a kill.
"""

import os
import signal
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import accumulate, chain
from types import FrameType

import pytest
from django.conf import settings
from mutmut.mutation.trampoline import get_mutant_under_test
from mutmut.state import state

# Processor time after which a test has met a mutant that never ends: many times what a test takes.
LONGEST_SECONDS = 20.0
# What stands for the name of a mutant while the code runs as it is, while it is noted which test
# runs what, and while every test is to fail.
UNCHANGED, NOTED, FAIL = "", "stats", "fail"
# The variable that says for how many seconds of tests a mutant of a sample is tried.
ENOUGH = "MUTATION_ENOUGH_SECONDS"


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail the test that runs when it has taken so many seconds of processor time.

    mutmut would let it go on for several times what all tests take.
    """
    before = signal.signal(signal.SIGVTALRM, _never_ends)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    with within(LONGEST_SECONDS):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    with within(LONGEST_SECONDS):
        return (yield)


def _never_ends(signum: int, frame: FrameType | None) -> None:
    # Not an Exception, which the code under test may take for a failure to report.
    pytest.fail("This test does not end.")


def pytest_sessionstart() -> None:
    from batchui.batches import claims  # Django is there only now

    database = settings.DATABASES["default"]
    database["TEST"]["NAME"] = settings.DATA / f"test-{os.getpid()}.sqlite3"
    settings.FILE_UPLOAD_TEMP_DIR = settings.DATA / f"incoming-{os.getpid()}"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
    claims.FOLDER = f"claims-{os.getpid()}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run first the tests that reach the fewest functions: they are about this one, and quick.

    mutmut runs all tests of its mutants unchanged before it begins. One is enough: it has just run
    every test for its statistics, and a mutant that changes nothing would show one that fails.

    In a sample those first tests are all that a mutant is tried with: of a function that thousands
    reach, one that survives would take as long as all others together.
    """
    mutant = get_mutant_under_test()
    if mutant == UNCHANGED:
        del items[1:]
    reached = functions_reached()
    items.sort(key=lambda item: reached[item.nodeid])
    if mutant not in (UNCHANGED, NOTED, FAIL):
        del items[number_of_enough(items, seconds=float(os.environ.get(ENOUGH, "inf"))) :]


def number_of_enough(items: Iterable[pytest.Item], *, seconds: float) -> int:
    """How many of these tests begin before so many seconds are over."""
    known = state().duration_by_test
    took = [known.get(item.nodeid, 0.0) for item in items]
    return sum(end - own < seconds for own, end in zip(took, accumulate(took), strict=True))


def functions_reached() -> Counter[str]:
    """How many functions each test reaches, by its id, as far as mutmut has found out."""
    return Counter(chain.from_iterable(state().tests_by_mangled_function_name.values()))
