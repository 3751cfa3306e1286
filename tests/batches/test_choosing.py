"""Which parts are chosen among many, in every state: what a plain statement of the rule chooses."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from random import Random

import pytest
from django.utils import timezone

from batchui.batches import due
from batchui.batches.clock import LONGEST_PAUSE
from batchui.batches.models import MOST_FAILURES, Batch, Part
from batchui.batches.states import SENT_PARTS, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.teams.models import Connection, Team
from tests.batches.conftest import on_record

pytestmark = pytest.mark.django_db

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
MODELS = ("@cf/a/one", "@cf/a/two")
STATUSES = (
    *(PartStatus.READY,) * 6,
    *(PartStatus.QUEUED, PartStatus.RUNNING) * 2,
    *(PartStatus.SENDING, PartStatus.HELD, PartStatus.DONE),
)


@pytest.fixture(autouse=True)
def built_with_these_limits() -> Iterator[None]:
    """These tests change limits that are in the SQL of queries which a process builds once."""
    _forget_queries()
    yield
    _forget_queries()


def _forget_queries() -> None:
    for query in (due._first_ready, due._longest_due):
        query._built.clear()


def fill(pick: Random) -> datetime:
    """Up to four connections with batches and parts in all states. Returns the time that it is."""
    now = timezone.now()
    for number in range(pick.randint(1, 4)):
        team = Team.objects.create(name=f"Team {number}")
        for _ in range(pick.randint(0, 5)):
            batch = on_record(
                team,
                parts=pick.randint(1, 12),
                model=pick.choice(MODELS),
                started_at=now - pick.randint(1, 10_000) * SECOND,
                deleted_at=pick.choice((None, None, None, now)),
            )
            _mix(batch, pick, now)
        Connection.objects.filter(team=team).update(
            failures_in_a_row=pick.choice((0, 0, 0, 1, 2, 3)),
            paused_until=pick.choice((None, None, now + MINUTE, now - MINUTE)),
        )
    return now


def _mix(batch: Batch, pick: Random, now: datetime) -> None:
    parts = list(batch.parts.all())
    for part in parts:
        part.status = pick.choice(STATUSES)
        part.resume_at = pick.choice((None, None, now - MINUTE, now + MINUTE, now + MINUTE * 300))
        # No two are due at the same moment: which of them is first does not matter.
        part.next_poll_at = now + pick.randint(-10_000_000, 10_000_000) * timedelta(milliseconds=1)
        part.lease_until = pick.choice((None, now - MINUTE, now + PART_LEASE))
        part.failures_in_a_row = pick.choice((0, 0, MOST_FAILURES))
    Part.objects.bulk_update(
        parts, ["status", "resume_at", "next_poll_at", "lease_until", "failures_in_a_row"]
    )


def is_over(moment: datetime, now: datetime) -> bool:
    return moment <= now or moment > now + LONGEST_PAUSE


def parts_of_kept_batches() -> list[Part]:
    found = Part.objects.filter(batch__deleted_at=None).select_related("batch__connection")
    return list(found.order_by("batch__started_at", "number"))


def ready_by_the_rule(now: datetime, limit: int) -> list[int]:
    """The keys of the parts to send, as README and CONTRIBUTING say it, without a database."""
    parts = parts_of_kept_batches()
    in_turns: dict[int, list[tuple[int, Part]]] = {}
    turns = Counter[object]()
    for part in parts:
        paused = part.connection.paused_until
        if part.status != PartStatus.READY or (paused is not None and paused > now):
            continue
        if part.resume_at is None or is_over(part.resume_at, now):
            in_turns.setdefault(part.connection.pk, []).append((turns[part.batch_id], part))
            turns[part.batch_id] += 1
    chosen = []
    for owner, found in in_turns.items():
        found.sort(key=lambda one: one[0])
        room = due.MOST_UNDER_WAY - sum(_is_under_way(part, now) for part in _of(owner, parts))
        chosen.append(_of_one_connection([part for _, part in found], room, now))
    return _by_turns(chosen)[:limit]


def _of(owner: int, parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if part.connection.pk == owner]


def _is_being_sent(part: Part, now: datetime) -> bool:
    begun = now - due.SENDING_COUNTS
    lease = part.lease_until
    return part.status == PartStatus.SENDING and lease is not None and lease > begun + PART_LEASE


def _is_under_way(part: Part, now: datetime) -> bool:
    sent = part.status in SENT_PARTS and part.failures_in_a_row < MOST_FAILURES
    return sent or _is_being_sent(part, now)


def _of_one_connection(ready: list[Part], room: int, now: datetime) -> list[int]:
    connection = ready[0].connection
    if room <= 0:
        return []
    if not connection.failures_in_a_row:
        return [part.pk for part in ready[:room]]
    # A batch that was deleted meanwhile may have one under way, too.
    everything = Part.objects.filter(batch__connection=connection)
    if any(_is_being_sent(part, now) for part in everything):
        return []
    firsts = {part.batch.ask.model: part.pk for part in reversed(ready)}
    in_order = [pk for pk in (part.pk for part in ready) if pk in firsts.values()]
    return [in_order[connection.failures_in_a_row % len(in_order)]]


def _by_turns(queues: list[list[int]]) -> list[int]:
    longest = max(map(len, queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if len(queue) > turn]


def due_by_the_rule(now: datetime, limit: int) -> list[int]:
    """The keys of the parts to poll: of each connection the longest due, and then by turns."""
    turns = Counter[int]()
    found = []
    for part in sorted(parts_of_kept_batches(), key=lambda part: part.next_poll_at or now):
        is_free = part.lease_until is None or part.lease_until <= now
        is_due = part.next_poll_at is not None and is_over(part.next_poll_at, now)
        if part.status in SENT_PARTS and is_free and is_due:
            found.append((turns[part.connection.pk], part.next_poll_at, part.pk))
            turns[part.connection.pk] += 1
    return [pk for *_, pk in sorted(found)[:limit]]


@pytest.mark.parametrize("seed", range(40))
def test_the_parts_to_send_are_those_of_the_rule(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = Random(seed)
    monkeypatch.setattr(due, "MOST_UNDER_WAY", pick.choice((3, 6, 50)))
    now = fill(pick)
    for limit in (1, 3, 8, 100):
        assert [part.pk for part in due.ready_parts(limit)] == ready_by_the_rule(now, limit)


@pytest.mark.parametrize("few", [1, 5, 200])
@pytest.mark.parametrize("seed", range(20))
def test_the_parts_to_poll_are_those_of_the_rule(
    seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "FEW_DUE", few)
    now = fill(Random(seed))
    every = due_by_the_rule(now, 1_000)
    parts = Part.objects.filter(pk__in=every)
    owners = len(set(parts.values_list("batch__connection", flat=True)))
    # Of one connection no more are looked at; of several, by turns, all are.
    most = few if owners == 1 else len(every)
    for limit in (1, 3, 8, 100):
        assert [part.pk for part in due.due_parts(limit)] == every[: min(limit, most)]


@pytest.mark.parametrize("seed", range(10))
def test_every_status_that_some_part_has_is_known(seed: int) -> None:
    fill(Random(seed))
    there = set(Part.objects.values_list("status", flat=True))
    assert due.statuses_there() == there - {PartStatus.DONE}
