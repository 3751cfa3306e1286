"""One tick of background work: rescue stranded parts, send ready ones, poll due ones.

Every part is claimed first, so any number of ticks may run at the same time.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait

from django.db import DatabaseError
from django.db import connection as database
from django.utils import timezone

from batchui.batches import call_limit, due, polling, sending
from batchui.batches.models import Part
from batchui.worker import generation, reading
from batchui.worker.heartbeat import beat
from batchui.worker.watchdog import stopping

logger = logging.getLogger(__name__)

THREADS = 8
# A tick looks for new work when so many threads are free. Doing so for each would cost queries.
FREE_THREADS = 4
BEAT_SECONDS = 2
# A tick begins nothing new after this long: its last call ends well before its task must.
TICK_SECONDS = 100

Step = Callable[[Part], bool]
Pause = Callable[[Collection[Future[None]]], Collection[Future[None]]]


def first_done(under_way: Collection[Future[None]]) -> Collection[Future[None]]:
    """Wait until a step is done, or until the next heartbeat. Returns the steps that are done."""
    return wait(under_way, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED).done


def run_tick(
    *,
    clock: Callable[[], float] = time.monotonic,
    pool: Executor | None = None,
    pause: Pause = first_done,
    is_stopping: Callable[[], bool] = stopping,
) -> None:
    """Work until there is nothing to do now.

    No new step begins when the tick has lasted TICK_SECONDS, when a file waits that this worker may
    read, or when background work is asked to stop; steps under way are finished.
    clock: seconds, as `time.monotonic`. pool: runs the steps; a given one is not shut down.
    pause: waits for steps, and returns those that are done.
    """
    began = clock()
    beat()
    sending.rescue(timezone.now())
    if pool is not None:
        _work(pool, began=began, clock=clock, pause=pause, is_stopping=is_stopping)
        return
    with ThreadPoolExecutor(THREADS, "part") as own:
        _work(own, began=began, clock=clock, pause=pause, is_stopping=is_stopping)


def _work(
    pool: Executor,
    *,
    began: float,
    clock: Callable[[], float],
    pause: Pause,
    is_stopping: Callable[[], bool],
) -> None:
    last_beat = clock()
    under_way: dict[Future[None], int] = {}
    give_way = False
    while True:
        free = THREADS - len(under_way)
        too_long = clock() - began > TICK_SECONDS
        if free >= FREE_THREADS and not (too_long or give_way or is_stopping()):
            for step, part in next_work(free, besides=set(under_way.values())):
                under_way[pool.submit(take_step, step, part, is_stopping)] = part.pk
        if not under_way:
            return
        for future in pause(under_way):
            del under_way[future]
        if clock() - last_beat > BEAT_SECONDS:
            beat()
            give_way = reading.is_possible()
            last_beat = clock()


def next_work(limit: int, *, besides: Container[int]) -> list[tuple[Step, Part]]:
    """Up to `limit` parts, each with the step that is due, as far as call limits allow.

    Polls come before sends, because a finished part makes room for another one. besides: keys of
    parts that are under way already.
    """
    due.release_held()
    polls = _allowed(part for part in due.due_parts(limit) if part.pk not in besides)
    work: list[tuple[Step, Part]] = [(polling.poll, part) for part in polls]
    # Polls that may not be made now take no place from the sends of another connection.
    if len(work) < limit:
        ready = [part for part in due.ready_parts(limit - len(work)) if part.pk not in besides]
        # If this database is a copy, the parts wait for people now, and are not sent.
        sends = _allowed(ready) if ready and _may_send() else []
        work += [(sending.send, part) for part in sends]
    return work


def _may_send() -> bool:
    """Raise the number of this database. False: it cannot be written down, so nothing is sent.

    Polls go on then: what was sent is paid for.
    """
    try:
        generation.keep_up()
    except (DatabaseError, generation.AnotherDatabase):
        raise
    except Exception as problem:  # a bucket has errors of its own
        logger.error("Nothing is sent, because the storage cannot be written: %s", problem)
        return False
    return True


def _allowed(parts: Iterable[Part]) -> list[Part]:
    """As many parts of each connection as its call limit allows. Takes the calls."""
    by_connection: dict[int, list[Part]] = defaultdict(list)
    for part in parts:
        by_connection[part.batch.connection_id].append(part)
    allowed: list[Part] = []
    for group in by_connection.values():
        allowed += group[: call_limit.take(group[0].batch.connection, len(group))]
    return allowed


def take_step(step: Step, part: Part, is_stopping: Callable[[], bool] = stopping) -> None:
    """Take one part through a step, in a thread of its own.

    An error is logged; the part is free again when its lease ends. A call that was taken and not
    made is given back.
    """
    called = True
    try:
        # No step begins that could be cut off half-way.
        called = not is_stopping() and step(part)
    except Exception:
        logger.exception("Part %s of batch %s: unexpected error", part.number, part.batch_id)
    finally:
        if not called:
            call_limit.give_back(part.batch.connection, 1)
        database.close()  # each thread has a database connection of its own
