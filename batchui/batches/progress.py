"""How far a pass over the rows of a batch is, told to whoever waits for its end."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")

# Is told how many rows are done. It may raise, and so end the pass.
Progress = Callable[[int], None]
TOLD_ROWS = 1_000


def untold(rows: int) -> None:
    """The progress of what nobody waits for."""


def telling(rows: Iterable[Item], progress: Progress) -> Iterator[Item]:
    """The same rows. After every TOLD_ROWS of them `progress` is told how many there were."""
    rows, done = iter(rows), 0
    for row in rows:  # the first one of the next thousand
        if done:
            progress(done)
        yield row
        yield from islice(rows, TOLD_ROWS - 1)
        done += TOLD_ROWS


def in_steps(progress: Progress) -> Progress:
    """The same for who is told of any number of rows: `progress` is told as `telling` does."""
    told = 0

    def tell(rows: int) -> None:
        nonlocal told
        step = (rows - 1) // TOLD_ROWS * TOLD_ROWS
        if step > told:
            told = step
            progress(step)

    return tell
