"""When requests begin to run, and when they finish."""

import threading
from collections import deque

from batchui.sandbox.options import Timings


class Schedule:
    """Calculates the moments of each request from the timings. Safe to use from many threads.

    timings: for new requests; requests that were accepted before keep their moments.
    """

    def __init__(self, timings: Timings) -> None:
        self.timings = timings
        self._ends: deque[float] = deque()  # of the requests under way, in order
        self._lock = threading.Lock()

    def add(self, created: float, *, items: int) -> tuple[float, float]:
        """When a new request begins to run and when it finishes (seconds since 1970).

        Requests that are sent together finish one after another, with `apart` seconds between
        them (see `Timings`), as if they shared a machine.
        """
        timings = self.timings
        runs_at, done_at = timings.moments(created, items=items)
        if not timings.apart:
            return runs_at, done_at
        with self._lock:
            while self._ends and self._ends[0] <= created:
                self._ends.popleft()
            apart = timings.apart / (1 + timings.closer * len(self._ends))
            if self._ends:
                done_at = max(done_at, self._ends[-1] + apart)
            self._ends.append(done_at)
            return runs_at, done_at
