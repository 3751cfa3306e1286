"""A tick that has nothing to do now, but soon, waits for it.

Else a poll that is due in half a second would wait for the next tick, which comes within
`SOON_SECONDS`. Of a worker's two processes one waits at a time, the one that began to wait last. So
the other is free for what comes through the queue, and a Start waits for nobody.
"""

import mmap
import secrets
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone

from batchui.batches import due, events, look_ups

# What is due later than this is left to a later tick. The watchdog enqueues one every 5 s
# (`watchdog.Patience`), so nothing that is due in between is late.
SOON_SECONDS = 7.0
# After this time it looks again, whatever is due when: somebody may have pressed Start while the
# other process reads a file.
GLANCE_SECONDS = 0.5
# How soon it notices that another tick waits now, or that it is to stop.
NOTICE_SECONDS = 0.1
TOKEN_BYTES = 8
# The token of the tick that waits. The processes of a worker share this memory, because the cluster
# forks them after this module was imported; a process that is killed leaves nothing locked.
_who_waits = mmap.mmap(-1, TOKEN_BYTES)


def next_moment(now: datetime) -> datetime | None:
    """When something is due next, within SOON_SECONDS of `now`; None: nothing is so soon.

    A moment that is over: something is due that may not be done now, because the call limit is
    reached.
    """
    until = now + timedelta(seconds=SOON_SECONDS)
    moments = (
        due.next_poll_by(until),
        due.next_send_by(until),
        look_ups.next_by(until),
        events.next_pull_by(until),
    )
    return min((moment for moment in moments if moment is not None), default=None)


class Lingering:
    """Waits between two looks of one tick. is_stopping: whether background work is to stop."""

    def __init__(
        self, is_stopping: Callable[[], bool], *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._is_stopping = is_stopping
        self._sleep = sleep
        self._token = b""

    def wait(self) -> bool:
        """Wait until something may be due. False: nothing is due soon, or another tick waits."""
        if not self._is_the_one_that_waits():
            return False
        now = timezone.now()
        moment = next_moment(now)
        if moment is None:
            return False
        seconds = (moment - now).total_seconds()
        left = min(seconds, GLANCE_SECONDS) if seconds > 0 else GLANCE_SECONDS
        while left > 0:
            self._sleep(min(left, NOTICE_SECONDS))
            if self._is_stopping() or not self._is_the_one_that_waits():
                return False
            left -= NOTICE_SECONDS
        return True

    def _is_the_one_that_waits(self) -> bool:
        """Whether no tick began to wait after this one, which begins if it has not yet."""
        if not self._token:
            self._token = secrets.token_bytes(TOKEN_BYTES)
            _who_waits[:] = self._token
        return _who_waits[:] == self._token
