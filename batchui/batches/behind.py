"""Work that another thread does while the caller makes what comes next.

Compressing, writing and syncing let other threads go on, so on two cores they take no time.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def one_behind(make: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """The same as `map(make, items)`, while the next item comes. Two are in memory at most.

    `make` may not use the database: its thread has no connection. Raises what it raises.
    """
    with ThreadPoolExecutor(1, "behind") as pool:
        before: Future[Made] | None = None
        for item in items:
            now = pool.submit(make, item)
            if before is not None:
                yield before.result()
            before = now
        if before is not None:
            yield before.result()
