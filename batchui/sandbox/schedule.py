"""When requests begin to run, and when they finish."""

import math
import threading

from batchui.sandbox.options import Timings


class Schedule:
    """The moments of each request, by the timings in force. Safe to use from many threads.

    timings: for requests to come; those already taken in keep their moments.
    """

    def __init__(self, timings: Timings) -> None:
        self.timings = timings
        self._last_end = -math.inf
        self._lock = threading.Lock()

    def add(self, created: float, *, items: int) -> tuple[float, float]:
        """When a new request begins to run and when it finishes (seconds since 1970).

        Several requests that are sent together finish one after another, `apart` seconds between
        them, as if they shared a machine.
        """
        timings = self.timings
        runs_at, done_at = timings.moments(created, items=items)
        if not timings.apart:
            return runs_at, done_at
        with self._lock:
            self._last_end = max(done_at, self._last_end + timings.apart)
            return runs_at, self._last_end
