"""What many ask for is found out once, and kept for a moment."""

import threading
import time
from itertools import count

import pytest

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


def test_those_who_ask_while_it_is_found_out_again_get_what_counted_until_now() -> None:
    memory, finding, go_on = Remembered[str, int](0.2, most=9), threading.Event(), threading.Event()
    assert memory.get("a", lambda: 1) == 1
    time.sleep(0.25)

    def slowly() -> int:
        finding.set()
        go_on.wait(30)
        return 2

    again: list[int] = []
    thread = threading.Thread(target=lambda: again.append(memory.get("a", slowly)))
    thread.start()
    assert finding.wait(30)
    assert memory.get("a", lambda: 3) == 1
    go_on.set()
    thread.join(30)
    assert again == [2]


def test_who_asks_alone_gets_nothing_that_counts_no_more() -> None:
    memory, numbers = Remembered[str, int](0.05, most=9), count()
    found = []
    for _ in range(3):
        found.append(memory.get("a", lambda: next(numbers)))
        time.sleep(0.06)
    assert found == [0, 1, 2]


def test_what_is_too_old_is_given_to_nobody() -> None:
    memory, finding, go_on = (
        Remembered[str, int](0.05, most=9),
        threading.Event(),
        threading.Event(),
    )
    assert memory.get("a", lambda: 1) == 1
    time.sleep(0.15)

    def slowly() -> int:
        finding.set()
        go_on.wait(30)
        return 2

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(memory.get("a", slowly))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert finding.wait(30)
    time.sleep(0.02)
    assert found == []
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert set(found) == {2}


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
