"""What a call costs: for tests that hand in the worst input somebody may send."""

import time
import tracemalloc
from collections.abc import Callable

SECONDS = 1.0
MEGABYTES = 100.0


def cost(call: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds of this process, and the peak of its memory in MB, each from a call of its own.

    Python's own look at memory makes everything several times slower.
    """
    began = time.process_time()
    call()
    seconds = time.process_time() - began
    tracemalloc.start()
    try:
        call()
        return seconds, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def assert_cheap(call: Callable[[], object]) -> None:
    """Fail if a call takes more than a second of CPU time, or 100 MB."""
    seconds, megabytes = cost(call)
    assert seconds < SECONDS
    assert megabytes < MEGABYTES
