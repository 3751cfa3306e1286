"""How many files one person may download at the same time.

A download that is made while it is sent holds a thread of the web server as long as its client is
slower than its making. So one person gets a few of a process's threads, and never all.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Self

MOST_AT_ONCE = 6
_lock = threading.Lock()
_running: Counter[int] = Counter()


class TooManyDownloads(Exception):
    """This person is downloading MOST_AT_ONCE files already."""


class Counted:
    """The chunks of a download, which counts until `close`. The web server always calls that."""

    def __init__(self, chunks: Iterator[bytes], *, person: int) -> None:
        """Raises TooManyDownloads. person: the primary key."""
        with _lock:
            if _running[person] >= MOST_AT_ONCE:
                raise TooManyDownloads
            _running[person] += 1
        self._chunks, self._person, self._counts = chunks, person, True

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """Stop making chunks, and count no more."""
        try:
            close = getattr(self._chunks, "close", None)
            if close is not None:
                close()
        finally:
            with _lock:
                if self._counts:
                    self._counts = False
                    _running[self._person] -= 1
                    if not _running[self._person]:
                        del _running[self._person]
