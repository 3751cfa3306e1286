"""How far a pass over the rows of a batch is, told to whoever waits for its end."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

# Is told how many rows are done. It may raise, and so end the pass.
Progress = Callable[[int], None]
TOLD_ROWS = 1_000


def untold(rows: int) -> None:
    """The progress of what nobody waits for."""


def telling(rows: Iterable[Item], progress: Progress) -> Iterator[Item]:
    """The same rows. After every TOLD_ROWS of them `progress` is told how many there were."""
    for done, row in enumerate(rows):
        if done and done % TOLD_ROWS == 0:
            progress(done)
        yield row
