"""News that watchers have in common: made once for all web processes, and few at one time."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import msgspec
import pytest

from batchui.web import shared
from batchui.web.shared import News, Shared

MINE, THEIRS = Shared(b"mine", b"", ()), Shared(b"theirs", b"", ())
PACKED = msgspec.msgpack.encode(THEIRS)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """Here it is."""


@pytest.fixture
def name() -> str:
    """Of news of which no test has told anybody."""
    return f"news {uuid4()}"


def another_process_says(name: str, key: int, what: bytes) -> None:
    shared._common.put(f"{name} {key}".encode(), what, seconds=60)


def fails() -> Shared:
    raise RuntimeError("no template")


def test_what_another_process_is_making_is_waited_for_but_not_for_long(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(shared.time, "sleep", waited.append)
    monkeypatch.setattr(shared, "PATIENCE", 0.01)
    another_process_says(name, 1, b"")
    assert News[int](name).get(1, lambda: MINE) == MINE
    assert waited

    another_process_says(name, 2, b"")
    monkeypatch.setattr(shared, "PATIENCE", 60.0)
    monkeypatch.setattr(shared.time, "sleep", lambda _: another_process_says(name, 2, PACKED))
    assert News[int](name).get(2, lambda: MINE) == THEIRS


def test_nobody_waits_for_one_that_could_not_be_made(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    news = News[int](name)
    with pytest.raises(RuntimeError, match="no template"):
        news.get(1, fails)
    monkeypatch.setattr(shared.time, "sleep", lambda _: pytest.fail("nobody makes it"))
    assert news.get(1, lambda: MINE) == MINE


def test_few_are_made_at_one_time_and_those_that_wait_take_what_others_made(name: str) -> None:
    """Threads that wait are in nobody's way; threads that all render are in each other's."""
    news = News[int](name)
    under_way, most, go_on = 0, 0, threading.Event()
    counting = threading.Lock()

    def slowly() -> Shared:
        nonlocal under_way, most
        with counting:
            under_way += 1
            most = max(most, under_way)
        go_on.wait(30)
        with counting:
            under_way -= 1
        return MINE

    askers = 6
    with ThreadPoolExecutor(askers) as pool:
        asked = [pool.submit(news.get, key, slowly) for key in range(askers)]
        while under_way < shared.AT_ONE_TIME:
            time.sleep(0.001)
        time.sleep(1)  # until the others wait for their turn, on a machine with much to do, too
        for key in range(askers):
            another_process_says(name, key, PACKED)
        go_on.set()
        found = [one.result(30) for one in asked]
    assert most == shared.AT_ONE_TIME
    assert found.count(THEIRS) == askers - shared.AT_ONE_TIME


def test_one_that_could_not_be_made_takes_no_place(name: str) -> None:
    news = News[int](name)
    for key in range(shared.AT_ONE_TIME + 1):
        with pytest.raises(RuntimeError):
            news.get(key, fails)
    assert news.get(-1, lambda: MINE) == MINE
