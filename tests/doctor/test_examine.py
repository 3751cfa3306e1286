"""The second look, one batch alone, and how much memory it takes."""

import tracemalloc

import pytest
from django.db.models import F

from batchui.batches.models import Batch, Part
from batchui.doctor import examine, rows
from batchui.doctor.findings import INVARIANTS, Finding
from batchui.doctor.records import Scope, load
from tests.batches.conftest import MakeBatch, on_record
from tests.batches.conftest import rows as csv_rows
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db


def test_what_is_right_at_the_second_look_is_not_said(finished: Batch) -> None:
    Batch.objects.update(answered=F("answered") - 1)
    waited: list[float] = []

    def mend(seconds: float) -> None:
        waited.append(seconds)
        Batch.objects.update(answered=F("answered") + 1)

    assert examine.examine(Scope(), pause=3, sleep=mend).findings == []
    assert waited == [3]


def test_where_all_is_well_there_is_no_second_look(finished: Batch) -> None:
    def sleep(_: float) -> None:
        raise AssertionError("it waited")

    report = examine.examine(Scope(), sleep=sleep)
    assert (report.findings, report.batches, report.rows) == ([], 1, 60)


def test_what_is_wrong_elsewhere_at_the_second_look_is_not_said(finished: Batch) -> None:
    """Each look met another part in motion: neither is a fault."""
    finished.parts.filter(number=1).update(status="sending")

    def move_on(_: float) -> None:
        finished.parts.filter(number=1).update(status="done")
        finished.parts.filter(number=2).update(status="sending")

    found = examine.examine(Scope(), pause=0, sleep=move_on).findings
    assert not [one for one in found if one.part is not None]


def test_one_batch_alone_is_examined(start: MakeBatch, finished: Batch, find: Find) -> None:
    other = start(csv_rows(5))
    Batch.objects.filter(pk=other.pk).update(answered=1)
    assert find(batch=finished.pk) == []
    assert {one.batch for one in find(batch=other.pk)} == {other.pk}


def test_a_batch_that_was_deleted_meanwhile_is_no_fault(finished: Batch) -> None:
    finished.delete()
    assert load(finished.pk, Scope()) is None


def test_a_finding_says_where_what_since_when_and_what_to_do(finished: Batch, find: Find) -> None:
    Part.objects.filter(number=2).update(lease_until=None, status="sending")
    (found,) = [one for one in find() if one.invariant == 7]
    said = str(found)
    assert said.startswith(f"Batch “texts” {finished.pk}, part 2: It is being sent")
    assert f"Since {found.since:%Y-%m-%d %H:%M}" in said
    assert "What to do: See that a worker runs" in said


def test_a_name_cannot_steer_the_terminal(finished: Batch, find: Find) -> None:
    Batch.objects.update(answered=F("answered") - 1, name="\x1b[2Jtexts\r\n")
    assert str(find()[0]).startswith(f"Batch “[2Jtexts” {finished.pk}: The batch counts")


def test_every_check_has_one_of_the_ten_invariants(find: Find, finished: Batch) -> None:
    checks = [*examine.OF_A_BATCH, *examine.OF_EVERYTHING]
    named = {
        int(number)
        for check in checks
        for number in (check.__doc__ or "").partition("Invariant ")[2].partition(",")[0].split(":")
        if number.isdigit()
    }
    assert named == set(INVARIANTS)


def test_two_findings_at_one_place_are_one(finished: Batch) -> None:
    one = Finding(invariant=1, kind="a", what="3 rows", do="-", batch=finished.pk)
    other = Finding(invariant=1, kind="a", what="4 rows", do="-", batch=finished.pk)
    assert one.place == other.place
    assert places([one]) == [(1, "a", None)]


def test_twenty_thousand_rows_are_not_in_memory_at_once(start: MakeBatch) -> None:
    """They would take more than 10 MB: a list of two texts for each."""
    batch = start(csv_rows(20_000))
    record = load(batch.pk, Scope())
    assert record is not None
    tracemalloc.start()
    assert list(rows.each_row_has_one_fate(record)) == []
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert taken < 4_000_000


def test_a_record_has_every_part_of_its_batch(team: object) -> None:
    batch = on_record(team, parts=3)  # type: ignore[arg-type]
    record = load(batch.pk, Scope())
    assert record is not None
    assert [part.number for part in record.parts] == [1, 2, 3]
    assert record.is_started
