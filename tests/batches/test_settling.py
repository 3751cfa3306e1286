"""What a batch shows follows from its parts, and whoever watches it learns of every change."""

import itertools
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from batchui.batches import decisions, lifecycle, settling
from batchui.batches.models import WAITS_FOR_COPIES, Batch, Part
from batchui.batches.states import ALIKE_PARTS, BatchStatus, PartStatus, derive
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import on_record, work

pytestmark = pytest.mark.django_db


def settled(batch: Batch) -> Batch:
    """The batch, recomputed from its parts."""
    with transaction.atomic():
        settling.settle(settling.lock(batch.pk))
    return Batch.objects.get(pk=batch.pk)


def ended(team: Team) -> Batch:
    """A batch whose one part came back yesterday."""
    batch = on_record(team)
    batch.parts.update(status=PartStatus.DONE, answered=9, failed=1)
    settled(batch)
    Batch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    return Batch.objects.get()


def test_when_it_finished_is_noted_once(team: Team) -> None:
    batch = ended(team)
    again = settled(batch)
    assert again.finished_at == batch.finished_at
    assert again.epoch == batch.epoch
    assert again.events.filter(kind=BatchStatus.PROBLEMS).count() == 1


def test_rows_that_were_not_to_be_asked_are_no_gap(team: Team) -> None:
    batch = on_record(team)
    batch.parts.update(status=PartStatus.DONE, answered=7, skipped=2, invalid=1)
    event = settled(batch).events.latest("pk")
    assert event.text.endswith("7 of 7 rows answered, 3 skipped.")


def test_a_batch_that_goes_on_has_not_finished(team: Team) -> None:
    batch = ended(team)
    assert decisions.retry(batch, by=None)
    batch.refresh_from_db()
    assert (batch.status, batch.finished_at) == (BatchStatus.QUEUED, None)
    assert batch.duration is None


def test_an_ended_batch_says_how_long_it_took(team: Team) -> None:
    batch = on_record(team, started_at=timezone.now() - timedelta(minutes=5))
    batch.parts.update(status=PartStatus.DONE, answered=10)
    took = settled(batch).duration
    assert took is not None
    assert timedelta(minutes=5) <= took < timedelta(minutes=6)


@pytest.mark.parametrize(
    ("status", "count", "unusable"),
    [(BatchStatus.DRAFT, 0, True), (BatchStatus.DRAFT, 1, False), (BatchStatus.CHECKING, 0, False)],
)
def test_a_file_is_unusable_once_it_was_read_and_has_no_rows(
    team: Team, status: BatchStatus, count: int, unusable: bool
) -> None:
    assert on_record(team, status=status, rows=count).is_unusable is unusable


def test_the_address_of_a_batch_stays_as_people_have_kept_it(team: Team) -> None:
    batch = on_record(team)
    assert batch.get_absolute_url() == f"/batches/{batch.pk}/"


def test_a_batch_has_the_sums_of_its_parts(team: Team) -> None:
    on_record(team).parts.update(status=PartStatus.UNSURE, answered=5, prompt_tokens=5)
    batch = on_record(team, parts=2)
    early, late = timezone.now() - timedelta(minutes=2), timezone.now()
    for number, polled_at in ((1, late), (2, early)):
        batch.parts.filter(number=number).update(
            status=PartStatus.RUNNING,
            answered=number,
            missing=10 * number,
            prompt_tokens=100 * number,
            completion_tokens=1000 * number,
            last_polled_at=polled_at,
        )
    batch = settled(batch)
    assert (batch.answered, batch.missing) == (3, 30)
    assert (batch.prompt_tokens, batch.completion_tokens) == (300, 3000)
    assert batch.last_polled_at == late
    assert batch.status == BatchStatus.RUNNING


@pytest.mark.parametrize(
    ("status", "resume_in", "expected"),
    [
        (PartStatus.HELD, None, BatchStatus.ATTENTION),
        (PartStatus.HELD, timedelta(hours=1), BatchStatus.QUEUED),
        (PartStatus.READY, None, BatchStatus.QUEUED),
    ],
    ids=["held, and no clock releases it", "held until a time", "ready"],
)
def test_a_batch_needs_attention_only_where_no_clock_helps(
    team: Team, status: PartStatus, resume_in: timedelta | None, expected: BatchStatus
) -> None:
    batch = on_record(team)
    resume_at = resume_in and timezone.now() + resume_in
    batch.parts.update(status=status, resume_at=resume_at)
    assert settled(batch).status == expected


CHANGES: dict[str, Callable[[Part], object]] = {
    "a part is sent": lambda part: lifecycle.move_part(part, PartStatus.SENDING),
    "a part was polled": lambda part: lifecycle.touch_part(part, message="still waiting"),
    "a batch is moved": lambda part: lifecycle.move_batch(part.batch, BatchStatus.STOPPING),
    "a file is read on": lambda part: lifecycle.touch_batch(part.batch, progress_rows=500),
    "parts are settled": lambda part: settled(part.batch),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_page_that_watches_learns_of_it(team: Team, change: str) -> None:
    batch = on_record(team)
    assert CHANGES[change](batch.parts.get())
    assert Batch.objects.get().version > batch.version


def test_a_batch_shows_when_it_was_last_polled(team: Team) -> None:
    part = on_record(team).parts.get()
    now = timezone.now()
    assert lifecycle.touch_part(part, last_polled_at=now)
    assert Batch.objects.get().last_polled_at == now
    assert lifecycle.touch_part(part, message="no poll")
    assert Batch.objects.get().last_polled_at == now


def test_a_line_of_the_timeline_names_the_part_and_the_person(team: Team, ana: User) -> None:
    part = on_record(team, parts=2).parts.get(number=2)
    lifecycle.move_part(part, PartStatus.SENDING, event="Part 2 is sent.", by=ana)
    assert lifecycle.touch_part(part, event="Part 2 waits.")
    told = part.batch.events.filter(part_number=2).order_by("id")
    assert list(told.values_list("kind", "text", "actor")) == [
        ("sending", "Part 2 is sent.", ana.pk),
        ("failure", "Part 2 waits.", None),
    ]


def test_what_has_no_sentence_has_no_line_in_the_timeline(team: Team) -> None:
    part = on_record(team).parts.get()
    assert lifecycle.move_part(part, PartStatus.SENDING)
    assert lifecycle.touch_part(part)
    assert lifecycle.touch_batch(part.batch, progress_rows=5)
    assert lifecycle.move_batch(part.batch, BatchStatus.STOPPING)
    assert not part.batch.events.exists()


def test_a_part_that_stop_ended_is_known_as_ended_at_once(team: Team) -> None:
    part = on_record(team, stop_requested_at=timezone.now()).parts.get()
    assert lifecycle.move_part(part, PartStatus.SENDING) is True
    assert lifecycle.move_part(part, PartStatus.READY) is True
    assert (part.status, part.unsent, part.waiting_became) == (PartStatus.STOPPED, 10, "unsent")


def test_what_was_idle_before_a_retry_is_no_part_of_how_long_it_took(team: Team) -> None:
    batch = ended(team)
    Batch.objects.update(started_at=timezone.now() - timedelta(days=1, minutes=5))
    batch.refresh_from_db()
    assert batch.duration is not None
    assert round(batch.duration.total_seconds()) == 300
    assert decisions.retry(batch, by=None)
    batch = settled(batch)
    assert batch.duration is None
    assert batch.working_since is not None
    assert round((timezone.now() - batch.working_since).total_seconds()) == 300
    batch.parts.update(status=PartStatus.DONE, answered=10, failed=0)
    again = settled(batch).duration
    assert again is not None
    assert round(again.total_seconds()) == 300


def test_answers_that_people_give_another_worth_after_the_end_take_no_time(team: Team) -> None:
    batch = ended(team)
    batch.parts.update(answered=10, failed=0)
    again = settled(batch)
    assert again.status == BatchStatus.FINISHED
    assert again.idle == timedelta(0)


def test_a_part_that_comes_back_after_stop_ends_itself_alone(team: Team) -> None:
    other = on_record(team)
    part = on_record(team, stop_requested_at=timezone.now()).parts.get()
    lifecycle.move_part(part, PartStatus.SENDING)
    lifecycle.move_part(part, PartStatus.READY)
    assert part.status == PartStatus.STOPPED
    assert other.parts.get().status == PartStatus.READY


def test_the_batch_ends_with_its_last_part(sandbox: RunningSandbox, batch: Batch) -> None:
    batch = work(batch)
    told = batch.events.get(kind=BatchStatus.FINISHED)
    assert told.text == "Finished. 60 of 60 rows answered."


@pytest.mark.parametrize(
    ("other", "becomes"),
    [
        (PartStatus.DONE, PartStatus.READY),
        (PartStatus.STOPPED, PartStatus.READY),
        (PartStatus.QUEUED, PartStatus.HELD),
        (PartStatus.UNSURE, PartStatus.HELD),
        (PartStatus.HELD, PartStatus.HELD),
    ],
)
def test_parts_that_wait_for_the_others_go_on_when_those_have_ended(
    team: Team, other: PartStatus, becomes: PartStatus
) -> None:
    batch = on_record(team, parts=3)
    batch.parts.filter(number=1).update(status=other)
    waiting = batch.parts.exclude(number=1)
    later = timezone.now() + timedelta(hours=1)
    waiting.update(status=PartStatus.HELD, message=WAITS_FOR_COPIES, resume_at=later)
    settled(batch)
    assert [part.status for part in waiting] == [becomes] * 2
    assert batch.parts.get(number=1).status == other


def test_a_move_that_changes_no_count_does_not_ask_for_the_sums(team: Team) -> None:
    batch = on_record(team, parts=2)
    part = batch.parts.get(number=1)
    with CaptureQueriesContext(connection) as asked:
        assert lifecycle.move_part(part, PartStatus.SENDING)
    assert not [query for query in asked.captured_queries if "SUM(" in query["sql"]]
    with CaptureQueriesContext(connection) as asked:
        assert lifecycle.move_part(part, PartStatus.DONE, answered=part.rows)
    assert [query for query in asked.captured_queries if "SUM(" in query["sql"]]
    batch.refresh_from_db()
    assert (batch.answered, batch.status) == (part.rows, BatchStatus.RUNNING)


def test_stop_changes_the_sums_whatever_move_it_meets(team: Team) -> None:
    batch = on_record(team, stop_requested_at=timezone.now())
    part = batch.parts.get()
    Part.objects.update(status=PartStatus.SENDING)
    part.refresh_from_db()
    assert lifecycle.move_part(part, PartStatus.READY)
    batch.refresh_from_db()
    assert (batch.unsent, batch.status) == (batch.rows, BatchStatus.STOPPED)


@pytest.mark.parametrize("stop", [False, True])
def test_a_move_between_parts_that_are_alike_never_changes_what_their_batch_is(stop: bool) -> None:
    few = (0, 1)
    for numbers in itertools.product(few, repeat=len(PartStatus)):
        others = dict(zip(PartStatus, numbers, strict=True))
        held = others[PartStatus.HELD]
        found = {
            derive(
                {**others, status: others[status] + 1},
                held_for_person=held,
                answers={},
                stop_requested=stop,
            )
            for status in ALIKE_PARTS
        }
        assert len(found) == 1


def test_a_part_on_its_way_to_cloudflare_is_shown_anew_without_adding_all_parts_up(
    team: Team,
) -> None:
    batch = on_record(team, parts=3)
    part = batch.parts.select_related("batch").get(number=2)
    for status in (PartStatus.SENDING, PartStatus.QUEUED):
        before = Batch.objects.get(pk=batch.pk).version
        with CaptureQueriesContext(connection) as asked:
            assert lifecycle.move_part(part, status)
        assert not any("COUNT" in query["sql"] for query in asked)
        now = Batch.objects.get(pk=batch.pk)
        assert (now.status, now.version) == (BatchStatus.QUEUED, before + 1)
    assert lifecycle.move_part(part, PartStatus.RUNNING)
    assert Batch.objects.get(pk=batch.pk).status == BatchStatus.RUNNING


def test_a_part_that_comes_from_elsewhere_is_added_up(team: Team) -> None:
    batch = on_record(team, parts=2)
    part = batch.parts.select_related("batch").get(number=2)
    Part.objects.filter(pk=part.pk).update(status=PartStatus.UNSURE)
    assert settled(batch).status == BatchStatus.ATTENTION
    part.refresh_from_db()
    assert lifecycle.move_part(part, PartStatus.READY)
    assert Batch.objects.get(pk=batch.pk).status == BatchStatus.QUEUED
