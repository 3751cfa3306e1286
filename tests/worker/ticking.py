"""A tick whose clock, pool and pauses are the test's."""

from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future
from typing import Any

from batchui.batches.models import Part
from batchui.teams.models import Connection
from batchui.worker import tick

Futures = Collection[Future[None]]


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Pool(Executor):
    """Eight threads as one: a step is taken at once, and known as done when the test says so."""

    def __init__(self) -> None:
        self.under_way: list[Future[Any]] = []
        self.begun: list[tuple[Any, Part]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        assert len(self.begun) < 100, "this tick never ends"
        self.begun.append(args[:2])
        fn(*args, **kwargs)
        self.under_way.append(Future())
        assert len(self.under_way) <= 8
        return self.under_way[-1]

    def finish(self, most: int) -> Futures:
        """Let up to so many steps be done. Returns them."""
        done, self.under_way = self.under_way[:most], self.under_way[most:]
        for future in done:
            future.set_result(None)
        return done


def run(
    *,
    each_pause: Callable[[], None] = lambda: None,
    at_once: int = 100,
    clock: Clock | None = None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Pool:
    """A tick in which each pause ends with up to `at_once` steps done. Returns its pool."""
    pool = Pool()

    def pause(under_way: Futures) -> Futures:
        assert list(under_way) == pool.under_way
        each_pause()
        return pool.finish(at_once)

    tick.run_tick(clock=clock or Clock(), pool=pool, pause=pause, is_stopping=is_stopping)
    assert pool.under_way == []
    return pool


def calls_left() -> float | None:
    """What the call limit of the only connection leaves; None: it was never asked."""
    return Connection.objects.get().calls_left
