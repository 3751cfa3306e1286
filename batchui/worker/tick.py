"""One tick of background work: free what dead processes had claimed, rescue stranded parts, ask
what is tried, send, and poll.

Every part and every row is claimed first, so any number of ticks may run at the same time.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from django.db import DatabaseError
from django.utils import timezone

from batchui.batches import call_limit, claims, due, events, look_ups, polling, sending, trying
from batchui.batches.events import Pull
from batchui.batches.models import LookUp, Part, TriedRow
from batchui.batches.states import SENT_PARTS, PartStatus
from batchui.worker import generation, installation_mark, reading
from batchui.worker.database import kept_connections
from batchui.worker.heartbeat import beat
from batchui.worker.watchdog import stopping

logger = logging.getLogger(__name__)

THREADS = 8
# So many of them ask rows of tries, at most: people wait for those, but for batches, too.
TRYING = 4
# A tick looks for new work when so many threads are free. Doing so for each would cost queries.
FREE_THREADS = 4
# The bodies of the requests that a tick makes at one time have so many bytes, unless one alone has
# more: threads wait for the other side while they hold them.
MOST_BODY_BYTES = 16_000_000
BEAT_SECONDS = 2
SECONDS_FOR_OTHERS = 0.02
# A tick begins nothing new after this long: its last call ends well before its task must.
TICK_SECONDS = 100

# The statuses of a part, from when it is chosen to be sent until it has been.
BEING_SENT = (PartStatus.READY, PartStatus.SENDING)

# What a step takes: a part of a batch, a row that is tried, a request that is looked up, or a queue
# that is looked into.
Work = Part | TriedRow | LookUp | Pull
OneWork = TypeVar("OneWork", Part, TriedRow, LookUp, Pull)
Step = Callable[[Any], bool]
Pause = Callable[[Collection[Future[None]]], Collection[Future[None]]]
Linger = Callable[[], bool]


def first_done(under_way: Collection[Future[None]]) -> Collection[Future[None]]:
    """Wait until a step is done, or until the next heartbeat. Returns the steps that are done.

    Once one is done it waits a moment for others: looking for work again takes as long as a step.
    """
    done = wait(under_way, timeout=BEAT_SECONDS, return_when=FIRST_COMPLETED).done
    return wait(under_way, timeout=SECONDS_FOR_OTHERS).done if done else done


def not_at_all() -> bool:
    """Do not wait: the tick ends as soon as there is nothing to do now."""
    return False


def run_tick(
    *,
    clock: Callable[[], float] = time.monotonic,
    pool: Executor | None = None,
    pause: Pause = first_done,
    is_stopping: Callable[[], bool] = stopping,
    linger: Linger = not_at_all,
) -> None:
    """Work until there is nothing to do now.

    No new step begins when the tick has lasted TICK_SECONDS, when a file waits that this worker may
    read, or when background work is asked to stop; steps under way are finished.
    clock: seconds, as `time.monotonic`. pool: runs the steps; a given one is not shut down.
    pause: waits for steps, and returns those that are done. linger: waits when there is nothing to
    do now; False: this tick is not to wait.
    """
    began = clock()
    beat()
    claims.end_those_of_the_dead()
    sending.rescue(timezone.now())
    trying.rescue(timezone.now())
    with kept_connections() as keep, _pool_or_own(pool) as threads:

        def take(step: Step, work: Work) -> None:
            try:
                take_step(step, work, is_stopping)
            finally:
                keep()

        _work(
            threads, take, began, clock=clock, pause=pause, is_stopping=is_stopping, linger=linger
        )
    claims.forget()


def _pool_or_own(pool: Executor | None) -> AbstractContextManager[Executor]:
    return ThreadPoolExecutor(THREADS, "part") if pool is None else nullcontext(pool)


def _work(
    pool: Executor,
    take: Callable[[Step, Work], None],
    began: float,
    *,
    clock: Callable[[], float],
    pause: Pause,
    is_stopping: Callable[[], bool],
    linger: Linger,
) -> None:
    last_beat = clock()
    under_way: dict[Future[None], Work] = {}
    give_way = False
    while True:
        free = THREADS - len(under_way)
        too_long = clock() - began > TICK_SECONDS
        may_begin = not (too_long or give_way or is_stopping())
        if free >= FREE_THREADS and may_begin:
            for step, work in claimed(next_work(free, besides=set(under_way.values()))):
                under_way[pool.submit(take, step, work)] = work
        if under_way:
            for future in pause(under_way):
                del under_way[future]
        elif not (may_begin and linger()):
            return
        if clock() - last_beat > BEAT_SECONDS:
            beat()
            give_way = reading.is_possible()
            last_beat = clock()


def next_work(limit: int, *, besides: Collection[Work]) -> list[tuple[Step, Work]]:
    """Up to `limit` parts and rows, each with the step that is due, as far as call limits allow.

    Rows of tries come first, because somebody waits for them; then polls, because a finished part
    makes room for another one. besides: what is under way already.
    """
    there = due.statuses_there()
    if PartStatus.HELD in there and due.release_held():
        there.add(PartStatus.READY)
    work = _tries(limit, besides)
    pulls = [one for one in events.due()[: limit - len(work)] if one not in besides]
    work += [(events.look, one) for one in _allowed(pulls)]
    looks = [one for one in look_ups.due(limit - len(work)) if one not in besides]
    work += [(look_ups.look, one) for one in _allowed(looks)]
    if there & SENT_PARTS:
        to_poll = due.due_parts(limit - len(work))
        polls = _allowed(part for part in to_poll if part not in besides)
        work += [(polling.poll, part) for part in polls]
    # Polls that may not be made now take no place from the sends of another connection.
    if PartStatus.READY in there and len(work) < limit:
        ready = _that_fit([*besides, *(one for _, one in work)], limit - len(work))
        # If this database is a copy, the parts wait for people now, and are not sent.
        sends = _allowed(ready) if ready and _may_send() else []
        work += [(sending.send, part) for part in sends]
    return work


def _that_fit(under_way: Collection[Work], limit: int) -> list[Part]:
    """The first ready parts whose requests may be made beside those under way, up to `limit`.

    Where another one like the largest under way has no room, it is not looked for: parts of a batch
    are alike.
    """
    parts = [work for work in under_way if isinstance(work, Part)]
    sizes = [part.request_bytes for part in parts if part.status in BEING_SENT]
    taken = sum(sizes)
    if sizes and taken + max(sizes) > MOST_BODY_BYTES:
        return []
    chosen: list[Part] = []
    for part in due.ready_parts(limit):
        if part in parts:
            continue
        taken += part.request_bytes
        if taken > MOST_BODY_BYTES and taken > part.request_bytes:
            break
        chosen.append(part)
    return chosen


def _tries(limit: int, besides: Collection[Work]) -> list[tuple[Step, Work]]:
    """Rows that are tried, to be asked now: no more at one time than TRYING."""
    free = min(limit, TRYING - sum(isinstance(work, TriedRow) for work in besides))
    waiting = [row for row in trying.waiting(TRYING + THREADS) if row not in besides]
    if free <= 0 or not waiting or not _may_send():
        return []
    return [(trying.ask, row) for row in _allowed(waiting[:free])]


def _may_send() -> bool:
    """Raise the number of this database. False: it cannot be written down, so nothing is sent.

    Polls go on then: what was sent is paid for.
    """
    try:
        generation.keep_up()
    except (DatabaseError, installation_mark.AnotherDatabase):
        raise
    except Exception as problem:  # a bucket has errors of its own
        logger.error("Nothing is sent, because the storage cannot be written: %s", problem)
        return False
    return True


def _allowed(waiting: Iterable[OneWork]) -> list[OneWork]:
    """As many parts or rows of each connection as its call limit allows. Takes the calls."""
    by_connection: dict[int, list[OneWork]] = defaultdict(list)
    for work in waiting:
        by_connection[work.connection.pk].append(work)
    allowed: list[OneWork] = []
    for group in by_connection.values():
        allowed += group[: call_limit.take(group[0].connection, len(group))]
    return allowed


def claimed(chosen: Sequence[tuple[Step, Work]]) -> list[tuple[Step, Work]]:
    """The same, with the parts to be sent claimed together, and without those that others have.

    If each thread claimed its own, they would wait for each other, and those of another worker,
    which has chosen the same parts, for nothing. The calls of what others have are given back.
    """
    to_send = [work for step, work in chosen if step is sending.send and isinstance(work, Part)]
    ours = set(sending.claim(to_send))
    for connection, lost in Counter(part.connection for part in set(to_send) - ours).items():
        call_limit.give_back(connection, lost)
    rest = [(step, work) for step, work in chosen if step is not sending.send]
    return [*rest, *((sending.send_claimed, part) for part in to_send if part in ours)]


def take_step(step: Step, work: Work, is_stopping: Callable[[], bool] = stopping) -> None:
    """Take one part, row, look-up or queue through a step, in a thread of its own.

    An error is logged; what it was about is free again, or ended, when its lease ends. A call that
    was taken and not made is given back.
    """
    called = True
    try:
        if is_stopping():  # no step begins that could be cut off half-way
            step = _do_without
        called = step(work)
    except Exception:
        name = str(work)
        logger.exception("%s%s: unexpected error", name[0].upper(), name[1:])
    finally:
        if not called:
            call_limit.give_back(work.connection, 1)


def _do_without(work: Work) -> bool:
    """The step of what is left to the next worker."""
    if isinstance(work, Part) and work.status == PartStatus.SENDING:
        sending.let_go(work)
    return False
