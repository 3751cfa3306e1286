"""One tick of background work: rescue what was stranded, send what is ready, look at what is due.

Everything is claimed before it is touched, so any number of ticks may run at once.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Container
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.db import connection as database
from django.utils import timezone

from batchui.batches import call_limit, due, long_tasks, polling, sending
from batchui.batches.models import Part
from batchui.worker.heartbeat import beat
from batchui.worker.watchdog import stopping

logger = logging.getLogger(__name__)

THREADS = 8
# New work is looked for when so many threads are free: not for each, which would cost queries.
FREE_THREADS = 4
BEAT_SECONDS = 2
# A tick begins nothing new after this long: its last call ends well before its task must.
TICK_SECONDS = 100

Step = Callable[[Part], bool]


def run_tick() -> None:
    """Work until nothing is left to do now, the tick has lasted long enough, or somebody's file
    waits to be read."""
    beat()
    sending.rescue(timezone.now())
    began = last_beat = time.monotonic()
    under_way: dict[Future[None], int] = {}
    give_way = False
    with ThreadPoolExecutor(THREADS, "part") as pool:
        while True:
            free = THREADS - len(under_way)
            too_long = time.monotonic() - began > TICK_SECONDS
            if free >= FREE_THREADS and not (too_long or give_way or stopping()):
                for step, part in next_work(free, besides=set(under_way.values())):
                    under_way[pool.submit(_in_thread, step, part)] = part.pk
            if not under_way:
                return
            done, _ = wait(under_way, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                del under_way[future]
            if time.monotonic() - last_beat > BEAT_SECONDS:
                beat()
                give_way = long_tasks.has_unclaimed()
                last_beat = time.monotonic()


def next_work(limit: int, *, besides: Container[int]) -> list[tuple[Step, Part]]:
    """Up to `limit` parts with the step each is due for, as far as call budgets allow; looks go
    before sends, because what has come back frees a place."""
    due.release_held()
    found: list[tuple[Step, Part]] = [
        (polling.poll, part) for part in due.due_parts(limit) if part.pk not in besides
    ]
    if len(found) < limit:
        ready = due.ready_parts(limit - len(found))
        found += [(sending.send, part) for part in ready if part.pk not in besides]
    return _affordable(found)


def _affordable(found: list[tuple[Step, Part]]) -> list[tuple[Step, Part]]:
    by_connection: dict[int, list[tuple[Step, Part]]] = defaultdict(list)
    for step, part in found:
        by_connection[part.batch.connection_id].append((step, part))
    allowed: list[tuple[Step, Part]] = []
    for group in by_connection.values():
        connection = group[0][1].batch.connection
        allowed += group[: call_limit.take(connection, len(group))]
    return allowed


def _in_thread(step: Step, part: Part) -> None:
    """Take one part through a step. One that breaks is logged and leaves its part to its lease."""
    called = True
    try:
        # Nothing is begun that could be cut off half-way.
        called = not stopping() and step(part)
    except Exception:
        logger.exception("Part %s of batch %s: unexpected trouble", part.number, part.batch_id)
    finally:
        if not called:
            call_limit.give_back(part.batch.connection, 1)
        database.close()  # each thread has a database connection of its own
