"""One tick of background work: rescue what was stranded, send what is ready, look at what is due.

Everything is claimed before it is touched, so any number of ticks may run at once.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from django.db import connection as database
from django.utils import timezone

from batchui.batches import budget, polling, sending
from batchui.batches.heartbeat import beat
from batchui.batches.models import Part
from batchui.batches.watchdog import stopping

logger = logging.getLogger(__name__)

THREADS = 8
BEAT_SECONDS = 5
# A tick ends after about this long, so that none of it is at the mercy of one long process.
TICK_SECONDS = 20


def tick() -> None:
    """Work until nothing is left to do now, or the tick has lasted long enough."""
    beat()
    sending.rescue(timezone.now())
    deadline = time.monotonic() + TICK_SECONDS
    while time.monotonic() < deadline and not stopping():
        sending.release_held()
        worked = affordable(sending.ready_parts(THREADS), sending.send)
        worked += affordable(polling.due_parts(THREADS), polling.look)
        beat()
        if not worked:
            break


def affordable(parts: list[Part], step: Callable[[Part], None]) -> int:
    """Take as many parts through a step as their connections' call budgets allow. Returns how
    many were taken."""
    by_connection: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        by_connection[part.batch.connection_id].append(part)
    allowed: list[Part] = []
    for group in by_connection.values():
        granted = budget.take(group[0].batch.connection, len(group))
        allowed += group[:granted]
    fan_out(step, allowed)
    return len(allowed)


def fan_out(step: Callable[[Part], None], parts: list[Part]) -> None:
    """Take parts through a step, side by side. A step that breaks is logged and leaves its part
    to its lease; the others go on."""
    if not parts:
        return
    if len(parts) == 1:
        _guarded(step, parts[0])
        return
    with ThreadPoolExecutor(min(THREADS, len(parts)), "part") as pool:
        pending = {pool.submit(_in_thread, step, part) for part in parts}
        while pending:
            _, pending = wait(pending, timeout=BEAT_SECONDS)
            beat()


def _in_thread(step: Callable[[Part], None], part: Part) -> None:
    try:
        _guarded(step, part)
    finally:
        database.close()  # each thread has a database connection of its own


def _guarded(step: Callable[[Part], None], part: Part) -> None:
    if stopping():
        return  # nothing is begun that could be cut off half-way
    try:
        step(part)
    except Exception:
        logger.exception("Part %s of batch %s: unexpected trouble", part.number, part.batch_id)
