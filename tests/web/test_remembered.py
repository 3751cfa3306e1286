"""What many ask for is found out once, and kept for a moment."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from batchui.web import remembered
from batchui.web.remembered import Remembered


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """Not here."""


def test_it_is_found_out_once_for_each_key_and_again_when_it_is_too_old() -> None:
    memory, numbers = Remembered[str, int](0.2, most=9), count()
    assert [memory.get(key, lambda: next(numbers)) for key in "aabab"] == [0, 0, 1, 0, 1]
    time.sleep(0.25)
    assert memory.get("a", lambda: next(numbers)) == 2


def test_its_age_counts_from_when_it_began_to_be_found_out() -> None:
    memory, numbers = Remembered[str, int](0.2, most=9), count()

    def slowly() -> int:
        time.sleep(0.25)
        return next(numbers)

    assert memory.get("a", slowly) == 0
    assert memory.get("a", slowly) == 1


def test_those_who_ask_meanwhile_wait_for_the_first() -> None:
    memory, asked, go_on = Remembered[str, int](60, most=9), count(), threading.Event()
    found: list[int] = []

    def slowly() -> int:
        go_on.wait(10)
        return next(asked)

    threads = [
        threading.Thread(target=lambda: found.append(memory.get("a", slowly))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    assert memory.get("b", lambda: 7) == 7  # another key does not wait
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == [0] * 5


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(remembered, "time", clock)
    return clock


@contextmanager
def finding_out(memory: Remembered[str, int], found: int) -> Iterator[list[int]]:
    """While a thread finds something out for “a”. It has what it was given afterwards."""
    finding, go_on = threading.Event(), threading.Event()

    def slowly() -> int:
        finding.set()
        go_on.wait(30)
        return found

    given: list[int] = []
    thread = threading.Thread(target=lambda: given.append(memory.get("a", slowly)))
    thread.start()
    assert finding.wait(30)
    yield given
    go_on.set()
    thread.join(30)


def test_it_is_found_out_anew_before_it_counts_no_more(clock: Clock) -> None:
    memory, numbers = Remembered[str, int](1, most=9), count()
    found = []
    for passed in (0, 0.7, 0.1, 0.7, 0.1, 1, 5):
        clock.seconds += passed
        found.append(memory.get("a", lambda: next(numbers)))
    assert found == [0, 0, 1, 1, 2, 3, 4]


def test_those_who_ask_while_it_is_found_out_anew_get_what_still_counts(clock: Clock) -> None:
    memory = Remembered[str, int](1, most=9)
    assert memory.get("a", lambda: 1) == 1
    clock.seconds += 0.8
    with finding_out(memory, 2) as given:
        assert memory.get("a", lambda: 3) == 1
        clock.seconds += 0.15
        assert memory.get("a", lambda: 3) == 1
    assert given == [2]
    assert memory.get("a", lambda: 3) == 2


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("before", "meanwhile"), [(0.8, 0.2), (1, 0), (1, 0.9), (3, 0)])
def test_nobody_gets_what_counts_no_more_and_one_finds_it_out(
    clock: Clock, known: bool, before: float, meanwhile: float
) -> None:
    memory = Remembered[str, int](1, most=9)
    if known:
        assert memory.get("a", lambda: 1) == 1
    clock.seconds += before
    asked: list[int] = []
    thread = threading.Thread(target=lambda: asked.append(memory.get("a", lambda: 3)))
    with finding_out(memory, 2):
        clock.seconds += meanwhile
        thread.start()
        thread.join(0.05)
        assert asked == []
    thread.join(30)
    assert asked == [2]


def test_what_took_all_its_time_to_be_found_out_is_given_to_nobody_else(clock: Clock) -> None:
    memory = Remembered[str, int](1, most=9)
    with finding_out(memory, 1) as given:
        clock.seconds += 1
        assert memory.get("a", lambda: 2) == 2
    assert given == [1]
    assert memory.get("a", lambda: 3) == 2


def test_what_fails_is_raised_and_tried_again() -> None:
    memory = Remembered[str, int](60, most=9)
    with pytest.raises(ZeroDivisionError):
        memory.get("a", lambda: 1 // 0)
    assert memory.get("a", lambda: 5) == 5


def test_nothing_is_kept_where_it_may_have_no_age() -> None:
    memory, numbers = Remembered[str, int](0, most=9), count()
    assert [memory.get("a", lambda: next(numbers)) for _ in range(3)] == [0, 1, 2]


def test_the_oldest_make_room() -> None:
    memory = Remembered[int, int](60, most=3)
    asked: list[int] = []

    def look_at(*keys: int) -> list[int]:
        asked.clear()
        for key in keys:
            memory.get(key, lambda key=key: asked.append(key) or key)  # type: ignore[misc]
        return list(asked)

    assert look_at(1, 2, 3) == [1, 2, 3]
    assert look_at(4) == [4]
    assert look_at(2, 3, 4) == []
    assert look_at(1) == [1]
