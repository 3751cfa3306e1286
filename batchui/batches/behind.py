"""Work that another thread does while the caller makes what comes next.

Compressing, writing and syncing let other threads go on, so on two cores they take no time.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

Item = TypeVar("Item")
Made = TypeVar("Made")
_END = object()


def one_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items, of which another thread makes the next one while the caller uses one.

    Making one may not use the database. Raises what it raises.
    """
    coming = iter(items)
    with ThreadPoolExecutor(1, "ahead") as pool:
        made = pool.submit(next, coming, _END)
        while (item := made.result()) is not _END:
            made = pool.submit(next, coming, _END)
            yield cast(Item, item)


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
