"""Empty answers count as answered, because a person says so."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, exporting, many_parts, results
from batchui.batches.empty_answers import can_count_as_empty, count_as_answered, count_as_empty
from batchui.batches.models import Batch, Part
from batchui.batches.part_answers import COUNTED
from batchui.batches.sheet import digests, pages
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import MakeBatch, accepted, send_all, work
from tests.batches.sheet.made import damage, made, no, yes

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(sandbox: RunningSandbox, start: MakeBatch) -> Batch:
    """Ten rows, of which two are empty."""
    sandbox.script({"fault": "empty", "form": "object", "items": [1, 4]})
    return work(accepted(start))


def statuses(batch: Batch) -> list[str]:
    return [row.status for row in pages.page(batch, offset=0, limit=20)]


def test_empty_answers_are_answers_then(batch: Batch, ana: User) -> None:
    ended = timezone.now() - timedelta(hours=1)
    Batch.objects.update(finished_at=ended)
    files = set(Part.objects.values_list("answers_file", flat=True))
    assert count_as_answered(batch, by=ana) == 2
    batch.refresh_from_db()
    assert (batch.status, batch.answered, batch.empty) == (BatchStatus.FINISHED, 10, 0)
    assert batch.finished_at == ended
    assert statuses(batch) == ["answered"] * 10
    assert set(Part.objects.values_list("answers_file", flat=True)) == files
    event = batch.events.get(kind="counted")
    assert (event.text, event.actor) == ("2 empty answers count as answered.", ana)
    counted = [row for row in exporting.export_rows(batch) if row.error]
    assert [(row.row, row.error, row.answer) for row in counted] == [
        (3, COUNTED, b"{}"),
        (6, COUNTED, b"{}"),
    ]


def test_there_is_nothing_to_count_twice_or_under_way_or_once_deleted(batch: Batch) -> None:
    Batch.objects.update(deleted_at=timezone.now())
    assert count_as_answered(batch, by=None) == 0
    Batch.objects.update(deleted_at=None, status=BatchStatus.RUNNING)
    assert count_as_answered(batch, by=None) == 0
    Batch.objects.update(status=BatchStatus.PROBLEMS)
    assert Part.objects.get().empty == 2
    assert count_as_answered(batch, by=None) == 2
    assert count_as_answered(batch, by=None) == 0
    assert batch.events.filter(kind="counted").count() == 1


def test_a_retry_asks_the_others_and_leaves_these_alone(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "empty", "items": [1]}, {"fault": "failed", "items": [2]}, {"fault": "queued"}
    )
    batch = work(accepted(start))
    assert count_as_answered(batch, by=None) == 1
    batch.refresh_from_db()
    assert (batch.status, batch.unanswered) == (BatchStatus.PROBLEMS, 1)
    assert decisions.retry(batch, by=None)
    send_all()
    batch = work(batch)
    assert (batch.status, batch.answered, batch.empty) == (BatchStatus.FINISHED, 10, 0)
    assert statuses(batch) == ["answered"] * 10
    assert not Part.objects.get().empty_counts  # it is written down now


def test_an_answer_that_comes_later_and_is_empty_is_empty_again(
    sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "empty", "items": [1]},
        {"fault": "failed", "items": [2]},
        {"fault": "empty", "items": [0], "nth": 2},
    )
    batch = work(accepted(start))
    assert count_as_answered(batch, by=None) == 1
    assert decisions.retry(batch, by=None)
    send_all()
    batch = work(batch)
    assert (batch.answered, batch.empty) == (9, 1)
    assert statuses(batch)[1:3] == ["answered", "empty"]


def test_parts_without_empty_answers_are_left_alone(team: Team) -> None:
    batch = made(team, [yes(), no("empty")], [yes()], [no("empty"), no("empty")])
    epochs = list(batch.parts.order_by("number").values_list("epoch", flat=True))
    assert count_as_answered(batch, by=None) == 3
    now = list(batch.parts.order_by("number").values_list("epoch", "empty_counts", "answered"))
    assert now == [(epochs[0] + 1, True, 2), (epochs[1], False, 1), (epochs[2] + 1, True, 2)]


def test_what_is_summed_up_of_the_answers_is_summed_up_anew(team: Team) -> None:
    batch = made(team, [yes("good"), no("empty")])
    digests.make_some(batch)
    assert digests.of(batch).reasons[0]
    count_as_answered(batch, by=None)
    batch.refresh_from_db()
    digests.make_some(batch)
    found = digests.of(batch)
    assert (found.reasons, found.is_whole) == (({},), True)


def test_it_can_be_taken_back(batch: Batch, ana: User) -> None:
    assert not can_count_as_empty(batch)
    before = list(results.results(batch))
    count_as_answered(batch, by=None)
    batch.refresh_from_db()
    assert can_count_as_empty(batch)
    assert count_as_empty(batch, by=ana) == 2
    batch.refresh_from_db()
    assert (batch.status, batch.answered, batch.empty) == (BatchStatus.PROBLEMS, 8, 2)
    assert list(results.results(batch)) == before
    assert not can_count_as_empty(batch)
    event = batch.events.filter(kind="counted").first()
    assert event is not None
    assert (event.text, event.actor) == ("2 answers count as empty again.", ana)
    assert count_as_empty(batch, by=ana) == 0


def test_nothing_is_taken_back_under_way_or_once_deleted_or_where_rows_changed(team: Team) -> None:
    batch = made(team, [yes(), no("empty")], [no("empty")], [no("empty")])
    count_as_answered(batch, by=None)
    first, second, third = batch.parts.order_by("number")
    Batch.objects.update(deleted_at=timezone.now())
    assert count_as_empty(Batch.objects.get(), by=None) == 0
    Batch.objects.update(deleted_at=None, status=BatchStatus.RUNNING)
    assert count_as_empty(Batch.objects.get(), by=None) == 0
    Batch.objects.update(status=BatchStatus.PROBLEMS)
    Part.objects.filter(pk=second.pk).update(forget_unanswered=True)
    damage(third, lines=0)
    assert count_as_empty(Batch.objects.get(), by=None) == 1
    counts = batch.parts.order_by("number").values_list("answered", "empty", "epoch")
    assert list(counts) == [(1, 1, first.epoch + 1), (1, 0, second.epoch), (1, 0, third.epoch)]


def test_a_part_that_has_moved_meanwhile_is_left_alone(team: Team) -> None:
    batch = made(team, [no("empty")])
    count_as_answered(batch, by=None)
    part = batch.parts.get()
    Part.objects.update(epoch=part.epoch + 1)
    assert not many_parts.count_as_empty(part, 1)
    assert Part.objects.get().empty_counts
