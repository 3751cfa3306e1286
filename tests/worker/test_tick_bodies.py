"""How many bytes of requests a tick holds at one time."""

import pytest

from batchui.batches import sending
from batchui.batches.models import Batch, Part
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.worker import tick

pytestmark = pytest.mark.django_db


def begun(*besides: Part) -> list[int]:
    """The numbers of the parts that would be sent now."""
    work = tick.next_work(8, besides=besides)
    return [part.number for step, part in work if step is sending.send and isinstance(part, Part)]


@pytest.fixture
def large(sandbox: RunningSandbox, twenty: Batch) -> Batch:
    """A batch of twenty parts, of which two may be sent at one time."""
    Part.objects.update(request_bytes=tick.MOST_BODY_BYTES // 2)
    return twenty


def test_requests_are_made_up_to_so_many_bytes(large: Batch) -> None:
    assert begun() == [1, 2]
    Part.objects.filter(number=2).update(request_bytes=tick.MOST_BODY_BYTES // 2 + 1)
    assert begun() == [1]


def test_those_under_way_count_until_they_were_sent(large: Batch) -> None:
    first, second = large.parts.filter(number__lte=2)
    assert begun(first) == [2]
    first.status = PartStatus.SENDING
    assert begun(first) == [2]
    assert begun(first, second) == []
    first.status = second.status = PartStatus.QUEUED
    assert begun(first, second) == [3, 4]


def test_one_that_is_larger_is_sent_alone(large: Batch) -> None:
    Part.objects.update(request_bytes=2 * tick.MOST_BODY_BYTES)
    assert begun() == [1]
    first = large.parts.get(number=1)
    assert begun(first) == []


def test_parts_of_older_versions_whose_size_is_not_known_are_not_held_back(
    sandbox: RunningSandbox, twenty: Batch
) -> None:
    Part.objects.update(request_bytes=0)
    assert begun() == list(range(1, 9))
