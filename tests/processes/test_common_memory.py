"""What one forked process has made, another takes; never half of it, and never something else."""

import os
import signal
from collections.abc import Callable

import pytest

from batchui.processes.common_memory import CommonMemory

SECONDS = 60.0


@pytest.fixture
def memory() -> CommonMemory:
    return CommonMemory(places=4, place_bytes=4096)


def in_another_process(act: Callable[[], None]) -> int:
    """Let a forked process do it. Returns how it ended."""
    pid = os.fork()
    if not pid:
        try:
            act()
        finally:
            os._exit(0)
    return os.waitpid(pid, 0)[1]


def test_what_a_forked_process_puts_another_takes(memory: CommonMemory) -> None:
    assert memory.take(b"a") is None
    in_another_process(lambda: memory.put(b"a", b"from afar", seconds=SECONDS))
    assert memory.take(b"a") == b"from afar"


def test_nothing_is_something_else_than_an_empty_text(memory: CommonMemory) -> None:
    assert memory.take(b"") is None
    memory.put(b"", b"", seconds=SECONDS)
    assert memory.take(b"") == b""


def test_after_its_time_it_is_gone(memory: CommonMemory) -> None:
    memory.put(b"a", b"old", seconds=0)
    assert memory.take(b"a") is None


def test_the_last_one_put_counts(memory: CommonMemory) -> None:
    memory.put(b"a", b"a long first one", seconds=SECONDS)
    memory.put(b"a", b"second", seconds=SECONDS)
    assert memory.take(b"a") == b"second"


def test_two_names_in_one_place_are_never_mistaken_for_each_other() -> None:
    memory = CommonMemory(places=1, place_bytes=4096)
    memory.put(b"a", b"of a", seconds=SECONDS)
    memory.put(b"b", b"of b", seconds=SECONDS)
    assert memory.take(b"a") is None
    assert memory.take(b"b") == b"of b"


def test_a_name_is_not_the_beginning_of_what_is_put() -> None:
    memory = CommonMemory(places=1, place_bytes=4096)
    memory.put(b"ab", b"c", seconds=SECONDS)
    assert memory.take(b"a") is None


def test_what_is_too_large_is_not_put(memory: CommonMemory) -> None:
    memory.put(b"a", b"x" * memory.largest, seconds=SECONDS)
    assert memory.take(b"a") == b"x" * memory.largest
    memory.put(b"a", b"y" * (memory.largest + 1), seconds=SECONDS)
    assert memory.take(b"a") == b"x" * memory.largest


@pytest.mark.parametrize("place", range(0, 60, 3))
def test_what_is_half_overwritten_is_not_there(place: int) -> None:
    memory = CommonMemory(places=1, place_bytes=4096)
    memory.put(b"a", b"first, which is long enough for it", seconds=SECONDS)
    was = memory._memory[place]
    memory._memory[place] = was ^ 0xFF
    assert memory.take(b"a") is None
    memory._memory[place] = was
    assert memory.take(b"a") == b"first, which is long enough for it"


def test_a_process_that_is_killed_while_it_puts_hinders_nobody(memory: CommonMemory) -> None:
    def dies() -> None:
        memory.put(b"a", b"x" * 2000, seconds=SECONDS)
        memory._memory[100:2000] = b"y" * 1900
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_another_process(dies) == signal.SIGKILL
    assert memory.take(b"a") is None
    memory.put(b"a", b"again", seconds=SECONDS)
    assert memory.take(b"a") == b"again"
