"""Asks what is to be done next, beside many parts, and measures each question.

    python -m batchui.bench.with_django batchui.bench.choosing_times ROUNDS

Prints lines of JSON: a state of the parts, then each question in it. The CPU seconds are those of
the thread that asks; the database is in them where it is SQLite.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from statistics import median
from typing import Any

from django.db import connection
from django.utils import timezone

from batchui.batches import call_limit, due, events, look_ups, trying
from batchui.batches.models import Batch, Part
from batchui.batches.states import BatchStatus, PartStatus
from batchui.bench.question import MODEL
from batchui.teams.models import Connection, Team
from batchui.worker import tick

PARTS, PARTS_OF_A_BATCH, AT_ONCE = 10_000, 500, 1_000
FREE = 8


@dataclass(frozen=True)
class Case:
    """What state all parts are in, and through how many connections they go."""

    name: str
    status: PartStatus
    connections: int
    due: bool = False


CASES = (
    Case("10,000 parts under way, 1 connection", PartStatus.RUNNING, 1),
    Case("10,000 parts under way, 200 connections", PartStatus.RUNNING, 200),
    Case("10,000 parts ready, 1 connection", PartStatus.READY, 1),
    Case("10,000 parts ready, 200 connections", PartStatus.READY, 200),
    Case("10,000 parts to be polled, 1 connection", PartStatus.RUNNING, 1, due=True),
    Case("10,000 parts to be polled, 200 connections", PartStatus.RUNNING, 200, due=True),
)


def main(rounds: str) -> None:
    """Make the parts of each case, ask, and print the figures."""
    for case in CASES:
        make(case)
        _print(parts=case.name, database=connection.vendor)
        for name, question in questions():
            question()
            seconds = [_seconds(question) for _ in range(int(rounds))]
            _print(question=name, median=median(seconds), worst=max(seconds))


def questions() -> Iterator[tuple[str, Callable[[], object]]]:
    """All that `tick.next_work` asks, and itself."""
    yield "release_held", due.release_held
    yield "tries", lambda: trying.waiting(FREE)
    yield "events", events.due
    yield "look-ups", lambda: look_ups.due(FREE)
    yield "due_parts", lambda: due.due_parts(FREE)
    yield "ready_parts", lambda: due.ready_parts(FREE)
    yield "requests_under_way", due.requests_under_way
    yield "all of next_work", lambda: tick.next_work(FREE, besides=())


def make(case: Case) -> None:
    """Make PARTS parts as the case wants them, in place of all others."""
    Batch.objects.all().delete()
    Team.objects.all().delete()
    numbers = count(1)
    batches = []
    for number in range(case.connections):
        team = Team.objects.create(name=f"Team {number}")
        through = Connection.objects.create(team=team, account_id="bench", name="bench")
        of_this = max(1, PARTS // PARTS_OF_A_BATCH // case.connections)
        batches += [_batch(team, through, next(numbers)) for _ in range(of_this)]
    _parts(case, batches)
    if connection.vendor == "postgresql":  # which does it by itself, a little later
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def _batch(team: Team, through: Connection, number: int) -> Batch:
    return Batch.objects.create(
        team=team,
        connection=through,
        name=f"reviews {number}",
        model=MODEL,
        source_size=1,
        status=BatchStatus.RUNNING,
        started_at=timezone.now() - timedelta(minutes=number),
    )


def _parts(case: Case, batches: list[Batch]) -> None:
    each = PARTS // len(batches)
    sign = -1 if case.due else 1
    now = timezone.now()
    made = [
        Part(
            batch=batch,
            number=number + 1,
            first_row=number * 100 + 2,
            rows=100,
            status=case.status,
            next_poll_at=now + sign * timedelta(minutes=20, seconds=number),
        )
        for batch in batches
        for number in range(each)
    ]
    Part.objects.bulk_create(made, AT_ONCE)


def _seconds(question: Callable[[], object]) -> float:
    """The CPU seconds of a question; the call limit is whole again before it."""
    Connection.objects.update(calls_left=call_limit.NEARLY_NONE * FREE)
    began = time.thread_time()
    question()
    return time.thread_time() - began


def _print(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
