"""What is kept, and for how long."""

import os
from pathlib import Path

from batchui.sandbox.options import AT_ONCE, Options
from batchui.sandbox.server import SandboxServer
from batchui.sandbox.store import Store
from batchui.sandbox.upstream.work_store import WorkStore
from batchui.sandbox.wire import Sandbox
from tests.project.helpers import until

DAY = 86_400.0


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def opened(path: Path, clock: Clock, *, keep_bytes: int = 2**30) -> Store:
    return Store(Options(data=path, timings=AT_ONCE, keep_bytes=keep_bytes), clock=clock)


def add(store: Store, clock: Clock, *, body: bytes = b"{}", lasts: float = 0) -> str:
    moments = (clock.now, clock.now + lasts)
    return store.add(account="a", model="m", body=body, items=1, moments=moments)


def test_finished_requests_are_dropped_after_a_week(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path / "s.sqlite3", clock)
    old, unfinished = add(store, clock), add(store, clock, lasts=30 * DAY)
    clock.now += 6 * DAY
    young = add(store, clock)
    assert store.find(old, account="a", model="m")
    clock.now += 2 * DAY
    add(store, clock)
    assert store.find(old, account="a", model="m") is None
    assert store.body(old) is None
    assert store.find(young, account="a", model="m")
    assert store.find(unfinished, account="a", model="m")
    store.close()


def test_what_an_upstream_never_answers_is_dropped_after_a_month(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path / "s.sqlite3", clock)
    work = WorkStore(store, clock=clock)
    waiting = work.add(account="a", model="m", body=b"{}", items=[b"{}", b"{}"])
    clock.now += 29 * DAY
    add(store, clock)
    assert [one.id for one in work.unfinished()] == [waiting]
    clock.now += 2 * DAY
    add(store, clock)
    assert work.unfinished() == []
    assert work.asked(waiting, 0) is None
    store.close()


def test_old_requests_are_dropped_also_where_no_new_ones_come(tmp_path: Path) -> None:
    clock = Clock()
    sandbox = Sandbox(Options(data=tmp_path / "s.sqlite3", timings=AT_ONCE), clock=clock)
    store = sandbox.context.store
    with SandboxServer(("127.0.0.1", 0), sandbox).running():
        old = add(store, clock)
        clock.now += 8 * DAY
        until(lambda: store.body(old) is None)


def test_the_file_does_not_grow_for_ever(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "s.sqlite3"
    store = opened(path, clock, keep_bytes=1_000_000)
    largest = 0
    added = []
    for _ in range(40):
        added.append(add(store, clock, body=os.urandom(200_000)))
        clock.now += 7_200
        largest = max(largest, path.stat().st_size)
    assert 2 <= sum(store.body(request_id) is not None for request_id in added) <= 6
    assert largest < 4_000_000
    store.close()


def test_what_finished_within_the_hour_is_kept_whatever_its_size(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path / "s.sqlite3", clock, keep_bytes=1_000)
    first = add(store, clock, body=os.urandom(5_000))
    clock.now += 600
    add(store, clock)
    assert store.body(first)
    store.close()


def test_a_body_comes_back_byte_for_byte(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path / "s.sqlite3", clock)
    body = os.urandom(1_000_000)
    request_id = add(store, clock, body=body)
    store.close()
    again = opened(tmp_path / "s.sqlite3", clock)
    assert again.body(request_id) == body
    again.close()
