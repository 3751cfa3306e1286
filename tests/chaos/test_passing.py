"""Time that passes at once ends leases and pauses."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches import due
from batchui.batches.models import Part
from batchui.batches.states import PartStatus
from batchui.chaos.passing import pass_time
from batchui.teams.founding import first_team
from batchui.teams.models import Connection
from tests.batches.conftest import on_record

pytestmark = pytest.mark.django_db


def test_a_lease_ends_and_a_pause_goes_by() -> None:
    soon = timezone.now() + timedelta(minutes=5)
    batch = on_record(first_team(), parts=3)
    for number, changes in enumerate(
        (
            {"status": PartStatus.SENDING, "lease_until": soon},
            {"status": PartStatus.READY, "resume_at": soon},
            {"status": PartStatus.QUEUED, "next_poll_at": soon},
        ),
        1,
    ):
        fields: dict[str, Any] = changes
        Part.objects.filter(batch=batch, number=number).update(**fields)
    Connection.objects.update(paused_until=soon)

    def to_do() -> list[int]:
        now = timezone.now()
        parts = [*due.stranded_parts(now), *due.ready_parts(9), *due.due_parts(9)]
        return [part.number for part in parts]

    pass_time(minutes=4)
    assert to_do() == []
    pass_time(minutes=2)
    assert to_do() == [1, 2, 3]


def test_what_has_no_time_keeps_none() -> None:
    batch = on_record(first_team())
    pass_time(hours=9)
    assert batch.parts.get().lease_until is None
