"""The strip: one segment a part, or a group of parts."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from batchui.batches.models import WAITS_FOR_COPIES, Attempt, Batch, Part
from batchui.batches.states import BatchStatus
from batchui.teams.models import Connection, Team
from batchui.web.sheet import strip
from batchui.web.sheet.strip import strip_of
from batchui.web.status_words import SEGMENTS, of_part
from tests.batches.conftest import attempt_on_record, on_record
from tests.web.visiting import html

pytestmark = pytest.mark.django_db


def changed(batch: Batch, number: int, **fields: Any) -> None:
    assert batch.parts.filter(number=number).update(**fields) == 1


STATES: list[tuple[str, dict[str, Any]]] = [
    ("ready", {"status": "ready"}),
    ("sending", {"status": "sending"}),
    ("queued", {"status": "queued"}),
    ("running", {"status": "running", "answered": 3}),
    ("held", {"status": "held", "resume_at": timezone.now()}),
    ("person", {"status": "held"}),
    ("ready", {"status": "held", "message": WAITS_FOR_COPIES}),
    ("person", {"status": "unsure"}),
    ("answered", {"status": "done", "answered": 10}),
    ("answered", {"status": "done", "answered": 9, "skipped": 1}),
    ("partly", {"status": "done", "answered": 9, "failed": 1}),
    ("failed", {"status": "done", "failed": 10}),
    ("answered", {"status": "stopped", "answered": 10}),
    ("halted", {"status": "stopped", "answered": 1, "unsent": 9}),
    ("left", {"status": "stopped", "unsent": 10}),
]


@pytest.mark.parametrize(("state", "fields"), STATES)
def test_the_state_of_a_part(team: Team, state: str, fields: dict[str, Any]) -> None:
    batch = on_record(team)
    changed(batch, 1, **fields)
    (segment,) = strip_of(batch).segments
    assert segment.state == state
    assert segment.name == f"Part 1, rows 1 to 10: {SEGMENTS[state]}"
    assert segment.name.split(": ")[1].startswith(of_part(batch.parts.get()).word)


def test_what_waits_looks_paused_while_its_batch_is(team: Team, web: Client) -> None:
    batch = on_record(team, parts=2, status=BatchStatus.RUNNING)
    address = batch.get_absolute_url()
    assert 'class="strip-frame"' in html(web.get(address))
    before = strip_of(batch).signature
    soon = timezone.now() + timedelta(minutes=1)
    Connection.objects.update(paused_until=soon, pause_reason="Too many requests.")
    assert 'class="strip-frame paused"' in html(web.get(address))
    assert replace(strip_of(batch), is_paused=True).signature != before


def test_every_part_has_a_segment_up_to_so_many(team: Team) -> None:
    batch = on_record(team, parts=strip.MOST_SEGMENTS)
    batch.parts.exclude(number=7).update(status="done", answered=10)
    changed(batch, 7, status="running")
    shown = strip_of(batch)
    assert [segment.first for segment in shown.segments] == list(range(1, 121))
    assert shown.segments[6].name == "Part 7, rows 61 to 70: Running"
    assert shown.summary == "120 parts: 119 finished, 1 running"


def test_more_parts_are_shown_in_groups_without_a_gap(team: Team) -> None:
    batch = on_record(team, parts=250)
    batch.parts.update(status="done", answered=10)
    changed(batch, 3, status="queued")
    shown = strip_of(batch)
    assert len(shown.segments) == strip.MOST_SEGMENTS
    spans = [range(segment.first, segment.last + 1) for segment in shown.segments]
    assert [number for span in spans for number in span] == list(range(1, 251))
    first = shown.segments[0]
    assert first.name == "Rows 1 to 30, 3 parts: 2 finished, 1 queued (sent)"
    assert first.state == "queued"
    assert shown.segments[1].name == "Rows 31 to 50: finished"


def test_a_group_looks_like_what_a_person_must_know_first(team: Team) -> None:
    batch = on_record(team, parts=240)
    changed(batch, 1, status="running")
    changed(batch, 2, status="unsure")
    assert strip_of(batch).segments[0].state == "person"


def test_a_part_of_one_row_says_so(team: Team) -> None:
    batch = on_record(team)
    changed(batch, 1, rows=1, first_row=2)
    assert strip_of(batch).segments[0].name == "Part 1, row 2: Queued (not sent yet)"


def test_it_takes_no_more_queries_for_many_parts(
    team: Team, django_assert_num_queries: Any
) -> None:
    few, many = on_record(team, parts=2), on_record(team, parts=300)
    with django_assert_num_queries(2):
        strip_of(few)
    with django_assert_num_queries(1):
        strip_of(many)


def test_parts_of_another_batch_are_not_in_it(team: Team) -> None:
    on_record(team, parts=5)
    assert strip_of(on_record(team, parts=2)).counts.total() == 2
    assert Part.objects.count() == 7


def test_a_part_at_cloudflare_says_when_it_was_sent(team: Team) -> None:
    batch = on_record(team, parts=3)
    changed(batch, 1, status="done", answered=10)
    changed(batch, 2, status="running")
    sent = timezone.now()
    for part in batch.parts.filter(number__lte=2):
        attempt_on_record(part, number=1, status="failed", accepted_at=None)
        status = "answered" if part.number == 1 else "accepted"
        attempt_on_record(part, number=2, status=status, accepted_at=sent)
    before = strip_of(batch)
    assert [segment.sent for segment in before.segments] == [None, sent, None]
    Attempt.objects.filter(status="accepted").update(accepted_at=sent + timedelta(seconds=1))
    assert strip_of(batch).signature != before.signature
