"""Which parts are sent, polled and released next, and which are left alone."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection as database
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from batchui.batches import due
from batchui.batches.models import Batch, Part
from batchui.batches.states import SENT_PARTS, BatchStatus, PartStatus
from batchui.batches.steps import PART_LEASE
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team
from tests.batches.conftest import on_record, statuses

pytestmark = pytest.mark.django_db

MINUTE = timedelta(minutes=1)


@pytest.fixture
def other(db: None) -> Team:
    """A team with a connection of its own."""
    return Team.objects.create(name="Others")


def ready(limit: int = 100) -> list[tuple[Any, int]]:
    return [(part.batch_id, part.number) for part in due.ready_parts(limit)]


def polled(limit: int = 100) -> list[int]:
    return [part.pk for part in due.due_parts(limit)]


def in_a_minute() -> datetime:
    return timezone.now() + MINUTE


def a_minute_ago() -> datetime:
    return timezone.now() - MINUTE


# -- to be sent ---------------------------------------------------------------------------------


def test_a_part_waits_for_its_time_and_no_longer(team: Team) -> None:
    batch = on_record(team)
    Part.objects.update(resume_at=in_a_minute())
    assert ready() == []
    Part.objects.update(resume_at=a_minute_ago())
    assert ready() == [(batch.pk, 1)]
    Part.objects.update(resume_at=None)
    assert ready() == [(batch.pk, 1)]


def test_a_part_waits_for_its_connection_and_no_longer(team: Team, other: Team) -> None:
    batch, free = on_record(team), on_record(other)
    Connection.objects.filter(team=team).update(paused_until=in_a_minute())
    assert ready() == [(free.pk, 1)]
    Connection.objects.filter(team=team).update(paused_until=a_minute_ago())
    assert ready() == [(batch.pk, 1), (free.pk, 1)]


@pytest.mark.parametrize("status", sorted(set(PartStatus) - {PartStatus.READY}))
def test_only_what_is_ready_is_sent(team: Team, status: PartStatus) -> None:
    on_record(team).parts.update(status=status)
    assert ready() == []


def test_what_is_done_takes_no_place_among_those_to_send(team: Team) -> None:
    batch = on_record(team, parts=3)
    batch.parts.filter(number__lte=2).update(status=PartStatus.DONE)
    assert ready(1) == [(batch.pk, 3)]


def test_nothing_of_a_deleted_batch_is_sent(team: Team) -> None:
    on_record(team, deleted_at=timezone.now())
    assert ready() == []


def test_the_oldest_batch_goes_first_but_none_waits_for_all_of_another(team: Team) -> None:
    now = timezone.now()
    young = on_record(team, parts=2, started_at=now)
    old = on_record(team, parts=3, started_at=now - MINUTE)
    order = [(old.pk, 1), (young.pk, 1), (old.pk, 2), (young.pk, 2), (old.pk, 3)]
    assert ready() == order
    assert ready(2) == order[:2]


def test_batches_are_sent_in_the_order_in_which_they_were_started(team: Team) -> None:
    now = timezone.now()
    started = [now - minutes * MINUTE for minutes in (3, 5, 1, 6, 2, 4)]
    batches = [on_record(team, started_at=at) for at in started]
    oldest_first = sorted(batches, key=lambda batch: batch.started_at or now)
    assert ready() == [(batch.pk, 1) for batch in oldest_first]


def test_the_parts_of_a_batch_are_sent_in_the_order_of_the_file(team: Team) -> None:
    batch = on_record(team, parts=0)
    for number in (3, 1, 2):
        Part.objects.create(batch=batch, number=number, first_row=number, rows=1)
    assert ready() == [(batch.pk, 1), (batch.pk, 2), (batch.pk, 3)]


def test_connections_take_turns_at_sending(team: Team, other: Team) -> None:
    now = timezone.now()
    first, second = (on_record(team, started_at=now - n * MINUTE) for n in (9, 8))
    theirs = on_record(other, started_at=now)
    assert ready() == [(first.pk, 1), (theirs.pk, 1), (second.pk, 1)]


@pytest.mark.parametrize("status", [PartStatus.SENDING, *sorted(SENT_PARTS)])
@pytest.mark.parametrize(("under_way", "room"), [(48, 2), (49, 1), (50, 0), (51, 0)])
def test_fifty_parts_of_a_connection_are_under_way_at_most(
    team: Team, other: Team, status: PartStatus, under_way: int, room: int
) -> None:
    batch, theirs = on_record(team, parts=60), on_record(other)
    lease = timezone.now() + PART_LEASE
    batch.parts.filter(number__lte=under_way).update(status=status, lease_until=lease)
    chosen = ready()
    assert [pk for pk, _ in chosen].count(batch.pk) == room
    assert (theirs.pk, 1) in chosen


def test_a_full_connection_with_many_batches_does_not_hide_another(team: Team, other: Team) -> None:
    full = on_record(team, parts=due.MOST_UNDER_WAY)
    full.parts.update(status=PartStatus.RUNNING)
    many = Batch.objects.bulk_create(
        Batch(
            team=team,
            connection=full.connection,
            name=f"{number}",
            source_size=1,
            status=BatchStatus.QUEUED,
            started_at=a_minute_ago(),
        )
        for number in range(500)
    )
    Part.objects.bulk_create(Part(batch=batch, number=1, first_row=1, rows=1) for batch in many)
    theirs = on_record(other)
    assert ready() == [(theirs.pk, 1)]


@pytest.mark.parametrize(("begun", "room"), [(50, 0), (60, 10)])
def test_parts_that_a_dead_worker_was_sending_hold_their_places_for_a_minute(
    team: Team, begun: int, room: int
) -> None:
    batch = on_record(team, parts=60)
    lease = timezone.now() + PART_LEASE - timedelta(seconds=begun)
    batch.parts.filter(number__lte=50).update(status=PartStatus.SENDING, lease_until=lease)
    assert len(ready()) == room


@pytest.mark.parametrize("status", sorted(SENT_PARTS))
@pytest.mark.parametrize(("failures", "room"), [(2, 0), (3, 10), (4, 10)])
def test_requests_whose_polls_fail_do_not_hold_up_the_others(
    team: Team, status: PartStatus, failures: int, room: int
) -> None:
    batch = on_record(team, parts=60)
    batch.parts.filter(number__lte=50).update(status=status, failures_in_a_row=failures)
    assert len(ready()) == room
    assert due.requests_under_way()[batch.connection_id] == 50 - 5 * room


def test_parts_of_deleted_batches_hold_up_no_others(team: Team) -> None:
    deleted, batch = on_record(team, parts=50), on_record(team)
    deleted.parts.update(status=PartStatus.RUNNING)
    assert ready() == []
    Batch.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    assert ready() == [(batch.pk, 1)]


# -- one at a time, after a send that failed ----------------------------------------------------


def after_failures(count: int) -> None:
    """Let so many sends in a row have failed; the pause after them is over."""
    Connection.objects.update(failures_in_a_row=count, paused_until=a_minute_ago())


def test_after_a_failed_send_one_part_of_its_connection_is_tried(team: Team, other: Team) -> None:
    now = timezone.now()
    young, old = (on_record(team, parts=3, started_at=now - n * MINUTE) for n in (1, 2))
    theirs = on_record(other, parts=2, started_at=now)
    after_failures(1)
    Connection.objects.filter(team=other).update(failures_in_a_row=0)
    assert ready() == [(old.pk, 1), (theirs.pk, 1), (theirs.pk, 2)]
    after_failures(0)
    assert len(ready()) == 8
    assert (young.pk, 3) in ready()


def test_no_second_part_is_tried_while_the_first_is_under_way(team: Team, other: Team) -> None:
    batch, theirs = on_record(team, parts=3), on_record(other)
    after_failures(1)
    lease = timezone.now() + PART_LEASE
    batch.parts.filter(number=1).update(status=PartStatus.SENDING, lease_until=lease)
    assert ready() == [(theirs.pk, 1)]
    batch.parts.filter(number=1).update(status=PartStatus.DONE)
    assert ready() == [(batch.pk, 2), (theirs.pk, 1)]


def test_the_models_take_turns_at_being_tried(team: Team) -> None:
    now = timezone.now()
    models = ("@cf/one", "@cf/two", "@cf/one", "@cf/three")
    one, two, _, three = (
        on_record(team, parts=2, model=model, started_at=now + n * MINUTE)
        for n, model in enumerate(models)
    )
    for failures, batch in ((3, one), (4, two), (5, three), (6, one)):
        after_failures(failures)
        assert ready() == [(batch.pk, 1)]


def test_of_two_workers_that_look_at_the_same_time_only_one_tries_a_part(team: Team) -> None:
    """The other one claims the first part just before this one reads what there is."""
    batch = on_record(team, parts=3)
    after_failures(1)
    claimed = {"status": PartStatus.SENDING, "lease_until": timezone.now() + PART_LEASE, "epoch": 1}

    def claimed_first(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT") and 'ORDER BY "batches_part"."number"' in sql:
            Part.objects.filter(number=1).update(**claimed)
        return execute(sql, *rest)

    with database.execute_wrapper(claimed_first):
        assert ready() == []
    assert batch.parts.filter(status=PartStatus.SENDING).count() == 1


# -- to be polled -------------------------------------------------------------------------------


def sent(team: Team, *due_since: timedelta) -> list[int]:
    """Accepted parts of one batch; each has been due for so long. Returns their keys."""
    batch = on_record(team, parts=len(due_since))
    parts = list(batch.parts.order_by("number"))
    for part, since in zip(parts, due_since, strict=True):
        part.status, part.next_poll_at = PartStatus.QUEUED, timezone.now() - since
    Part.objects.bulk_update(parts, ["status", "next_poll_at"])
    return [part.pk for part in parts]


def test_a_part_is_polled_when_its_time_has_come(team: Team) -> None:
    assert sent(team, -MINUTE, MINUTE)[1:] == polled()


def test_a_part_that_somebody_polls_is_left_alone_until_the_lease_is_over(team: Team) -> None:
    keys = sent(team, MINUTE)
    Part.objects.update(lease_until=in_a_minute())
    assert polled() == []
    Part.objects.update(lease_until=a_minute_ago())
    assert polled() == keys


@pytest.mark.parametrize("status", PartStatus)
def test_only_what_was_accepted_is_polled(team: Team, status: PartStatus) -> None:
    keys = sent(team, MINUTE)
    Part.objects.update(status=status)
    assert polled() == (keys if status in SENT_PARTS else [])


def test_what_is_done_takes_no_place_among_those_to_poll(team: Team) -> None:
    done, waiting = sent(team, 2 * MINUTE, MINUTE)
    Part.objects.filter(pk=done).update(status=PartStatus.DONE)
    assert polled(1) == [waiting]


def test_nothing_of_a_deleted_batch_is_polled(team: Team) -> None:
    sent(team, MINUTE)
    Batch.objects.update(deleted_at=timezone.now())
    assert polled() == []


def test_the_longest_due_is_polled_first_whichever_connection_is_older(
    team: Team, other: Team
) -> None:
    ensure_connection(team)  # the first, whose parts would come first in no order at all
    ours = sent(team, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE)
    theirs = sent(other, 5 * MINUTE)
    order = [theirs[0], ours[2], ours[1], ours[0]]
    assert polled() == order
    assert polled(2) == order[:2]


def test_connections_take_turns_at_polling(team: Team, other: Team) -> None:
    ours = sent(team, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE)
    theirs = sent(other, MINUTE)
    Part.objects.filter(pk=ours[2]).update(status=PartStatus.RUNNING)
    assert polled() == [ours[2], theirs[0], ours[1], ours[0]]


# -- to be released from hold -------------------------------------------------------------------


def test_what_is_on_hold_is_released_at_its_time(team: Team) -> None:
    batch = on_record(team, parts=3)
    batch.parts.update(status=PartStatus.HELD, message="no room")
    batch.parts.filter(number=1).update(resume_at=a_minute_ago())
    batch.parts.filter(number=2).update(resume_at=in_a_minute())
    assert due.release_held() == 1
    assert statuses(batch) == [PartStatus.READY, PartStatus.HELD, PartStatus.HELD]
    released = batch.parts.get(number=1)
    assert (released.resume_at, released.message) == (None, "")
    assert due.release_held() == 0


def test_a_page_that_watches_sees_what_was_released(team: Team) -> None:
    batch = on_record(team)
    batch.parts.update(status=PartStatus.HELD, resume_at=a_minute_ago())
    assert due.release_held() == 1
    assert Batch.objects.get().version > batch.version


def test_what_is_released_is_counted_over_all_batches(team: Team) -> None:
    for _ in range(2):
        on_record(team).parts.update(status=PartStatus.HELD, resume_at=a_minute_ago())
    assert due.release_held() == 2


def test_a_batch_of_which_nothing_is_on_hold_is_left_alone(team: Team) -> None:
    batch = on_record(team)
    batch.parts.update(resume_at=a_minute_ago())
    assert due.release_held() == 0
    assert Batch.objects.get().version == batch.version


# -- as they are read ---------------------------------------------------------------------------


def test_parts_come_in_the_order_asked_for_without_those_that_moved_on(team: Team) -> None:
    batch = on_record(team, parts=3)
    one, two, three = batch.parts.order_by("number").values_list("pk", flat=True)
    batch.parts.filter(pk=two).update(status=PartStatus.SENDING)
    found = due.in_order([three, two, one], PartStatus.READY)
    assert [part.pk for part in found] == [three, one]


def test_parts_come_with_their_batches_and_connections_in_two_queries(
    team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    keys = [on_record(team).parts.get().pk for _ in range(3)]
    with django_assert_num_queries(2):
        found = due.in_order(keys, PartStatus.READY)
        assert {part.batch.connection.kind for part in found} == {"sandbox"}
