"""Prepared queries find what the same query of Django finds, with whatever they are given."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import BigIntegerField, Count, DateTimeField, F, QuerySet, UUIDField
from pytest_django import DjangoAssertNumQueries

from batchui.batches.loading import AT_ONCE, NOT_NEEDED, batch_with, parts_with
from batchui.batches.models import Batch, Part
from batchui.batches.prepared import Given, prepared
from batchui.batches.states import PartStatus
from batchui.teams.models import Team
from tests.batches.conftest import on_record

pytestmark = pytest.mark.django_db
MOMENT = datetime(2026, 5, 4, 3, 2, 1, 654321, tzinfo=UTC)
made: list[str] = []


@prepared(batch=UUIDField(), since=DateTimeField(), more=BigIntegerField())
def parts_since(batch: Given, since: Given, more: Given) -> QuerySet[Any, Any]:
    made.append("parts_since")
    found = Part.objects.filter(batch=batch, next_poll_at__gte=since + timedelta(minutes=5))
    return found.values_list("batch", "status", "next_poll_at", F("rows") + more)


def part_of(batch: Batch, **changes: Any) -> Part:
    batch.parts.update(**changes)
    return batch.parts.get()


def test_it_finds_what_django_finds_with_the_same_types(team: Team) -> None:
    part = part_of(on_record(team), next_poll_at=MOMENT)
    [row] = parts_since(batch=part.batch_id, since=MOMENT - timedelta(minutes=5), more=7)
    assert row == (part.batch_id, PartStatus.READY, MOMENT, part.rows + 7)
    assert [type(value) for value in row[:1]] == [type(part.batch_id)]


def test_each_call_has_its_own_values(team: Team) -> None:
    one = part_of(on_record(team), next_poll_at=MOMENT)
    other = part_of(on_record(team), next_poll_at=MOMENT)
    made.clear()
    for part in (one, other, one):
        [row] = parts_since(batch=part.batch_id, since=MOMENT - timedelta(hours=1), more=0)
        assert row[0] == part.batch_id
    assert made.count("parts_since") <= 1


def test_what_is_added_to_a_moment_counts(team: Team) -> None:
    part = part_of(on_record(team), next_poll_at=MOMENT)
    just, late = MOMENT - timedelta(minutes=5), MOMENT - timedelta(minutes=4, seconds=59)
    assert len(parts_since(batch=part.batch_id, since=just, more=0)) == 1
    assert parts_since(batch=part.batch_id, since=late, more=0) == []


def test_later_and_later_still_is_added_up() -> None:
    moment = Given("at", DateTimeField()) + timedelta(hours=1) + timedelta(minutes=1)
    assert moment.plus == timedelta(minutes=61)


def test_groups_are_counted_as_ever(team: Team) -> None:
    batch = on_record(team)

    @prepared(batch=UUIDField())
    def by_status(batch: Given) -> QuerySet[Any, Any]:
        return (
            Part.objects.filter(batch=batch).order_by().values_list("status").annotate(Count("pk"))
        )

    assert by_status(batch=batch.pk) == [(PartStatus.READY, 1)]


def test_one_that_can_find_nothing_is_a_mistake_in_the_code() -> None:
    @prepared()
    def nothing() -> QuerySet[Any, Any]:
        return Part.objects.filter(pk__in=[]).values_list("pk")

    with pytest.raises(ValueError, match="never finds anything"):
        nothing()


def test_a_value_that_is_left_out_is_a_mistake_in_the_code(team: Team) -> None:
    with pytest.raises(KeyError, match="since"):
        parts_since(batch=on_record(team).pk, more=0)


def test_a_loaded_batch_is_the_same_in_every_field(team: Team) -> None:
    batch = on_record(team)
    loaded = batch_with(batch.pk)
    assert loaded is not None
    assert loaded.get_deferred_fields() == set(NOT_NEEDED)
    for one, other in ((loaded, batch), (loaded.connection, batch.connection)):
        plain = type(other)._default_manager.get(pk=other.pk)
        for field in plain._meta.concrete_fields:
            assert getattr(one, field.attname) == getattr(plain, field.attname), field


def test_loaded_parts_share_no_batch_and_can_be_saved(
    team: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    batch = on_record(team)
    first = batch.parts.get()
    Part.objects.create(batch=batch, number=2, first_row=first.rows + 1, rows=1, rows_file="r")
    pks = [part.pk for part in batch.parts.order_by("-number")]
    with django_assert_num_queries(2):
        loaded = list(parts_with(pks))
    assert [part.pk for part in loaded] == pks
    one, other = (part.batch for part in loaded)
    assert one == other
    assert one is not other
    assert one.connection is not other.connection
    loaded[0].message = "saved"
    loaded[0].save()
    assert Part.objects.filter(pk=pks[0], message="saved").exists()
    for field in Part._meta.concrete_fields:
        assert getattr(loaded[1], field.attname) == getattr(first, field.attname), field


def test_parts_that_are_gone_are_left_out_and_many_come_in_order(team: Team) -> None:
    batches = [on_record(team) for _ in range(AT_ONCE + 2)]
    pks = [batch.parts.get().pk for batch in reversed(batches)]
    Part.objects.filter(pk=pks[3]).delete()
    assert [part.pk for part in parts_with(pks)] == [*pks[:3], *pks[4:]]
    assert list(parts_with([])) == []
    gone = Batch(pk="00000000-0000-0000-0000-000000000000")
    assert batch_with(gone.pk) is None
