"""Takes steps at the same moment, in real threads with database connections of their own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection

T = TypeVar("T")


def at_once(steps: Sequence[Callable[[], T]]) -> list[T]:
    """Take all steps at the same moment, each in a thread of its own; returns what they did."""
    line = threading.Barrier(len(steps))

    def step_in_line(step: Callable[[], T]) -> T:
        with own_connection():
            line.wait(10)
            return step()

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(step_in_line, steps))


@contextmanager
def own_connection() -> Iterator[None]:
    """A thread's own database connection, open before it is needed."""
    connection.ensure_connection()
    try:
        yield
    finally:
        connection.close()
