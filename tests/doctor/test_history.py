"""Planted faults of the timeline: what reopens by itself, and statuses that nothing explains."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches import decisions, due, sending
from batchui.batches.models import Batch, Event, Part
from batchui.batches.states import AttemptStatus, BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, attempt_on_record, rows, work
from tests.doctor.conftest import Find, places

pytestmark = pytest.mark.django_db


# -- 6 --------------------------------------------------------------------------------------------


def test_a_batch_that_reopens_by_itself_is_found(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    sandbox.script({"fault": "failed", "items": [0]})
    batch = work(start(rows(60)))
    decisions.retry(batch, by=None)
    assert not [one for one in find() if one.invariant == 6]
    Event.objects.filter(kind="retry").delete()
    found = places(find())
    assert (6, "batch reopened", None) in found
    [part] = batch.parts.filter(status=PartStatus.READY)
    assert (6, "part reopened", part.number) in found


def test_an_attempt_after_the_end_is_found(finished: Batch, find: Find) -> None:
    attempt_on_record(
        finished.parts.get(number=2),
        status=AttemptStatus.NOT_SENT,
        created_at=timezone.now() + timedelta(minutes=1),
    )
    assert (6, "attempt 2 after the end", 2) in places(find())


# -- 9 --------------------------------------------------------------------------------------------


def test_a_batch_that_does_not_follow_from_its_parts_is_found(finished: Batch, find: Find) -> None:
    Batch.objects.update(status=BatchStatus.PROBLEMS)
    assert places(find()) == [
        (9, "batch follows from parts", None),
        (9, "batch ended", None),
    ]


@pytest.mark.parametrize("kind", ["preparing", "queued"])
def test_a_start_that_no_line_tells_is_found(finished: Batch, find: Find, kind: str) -> None:
    Event.objects.filter(kind=kind, part_number=None).delete()
    assert (9, "batch started", None) in places(find())


def test_an_end_that_no_line_tells_is_found(finished: Batch, find: Find) -> None:
    Event.objects.filter(kind="finished").delete()
    assert places(find()) == [(9, "batch ended", None)]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (PartStatus.QUEUED, "queued"),
        (PartStatus.DONE, "done"),
        (PartStatus.STOPPED, "stopping"),
        (PartStatus.UNSURE, "unsure"),
        (PartStatus.HELD, "held"),
    ],
)
def test_a_part_whose_status_no_line_tells_is_found(
    sandbox: RunningSandbox, start: MakeBatch, find: Find, status: PartStatus, kind: str
) -> None:
    faults = {PartStatus.UNSURE: {"status": 502}, PartStatus.HELD: {"code": 10000}}
    if status in faults:
        sandbox.script({"fault": "error", "call": "submit", **faults[status]})
    batch = start(rows(60))
    if status == PartStatus.DONE:
        work(batch)
    elif status == PartStatus.STOPPED:
        decisions.stop(batch, by=None)
    else:
        sending.send(due.ready_parts(1)[0])
    [part, *_] = batch.parts.filter(status=status)
    assert find() == []
    Event.objects.filter(kind=kind).delete()
    assert (9, "part", part.number) in places(find())


def test_parts_of_a_draft_are_found(finished: Batch, find: Find) -> None:
    Batch.objects.update(status=BatchStatus.DRAFT)
    assert (9, "batch started", None) in places(find())


def test_a_part_of_which_nothing_could_be_asked_needs_no_line(
    sandbox: RunningSandbox, start: MakeBatch, find: Find
) -> None:
    blank = b"\r\n".join(b"%d," % number for number in range(1, 26)) + b"\r\n"
    content = b"id,text\r\n" + blank + rows(25).partition(b"\r\n")[2]
    batch = work(start(content))
    assert batch.skipped == 25
    assert Part.objects.filter(skipped=25, status=PartStatus.DONE).exists()
    assert find() == []
