"""The timeline: a handful of lines in plain words."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import corrections, decisions, settling
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch, Event
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team, User
from batchui.web.sheet.timeline import OfParts, Sent, lines_of, timeline_of
from tests.batches.conftest import MakeBatch, attempt_on_record, on_record, rows, work
from tests.batches.sheet.made import made, no, yes
from tests.web.visiting import said

pytestmark = pytest.mark.django_db

NOW = timezone.now()


def event(seconds: int, kind: str, text: str, who: User | None = None) -> Event:
    return Event(at=NOW + timedelta(seconds=seconds), kind=kind, text=text, actor=who)


def told(lines: Any) -> list[str]:
    return [f"{line.text} by {line.who}" if line.who else line.text for line in lines]


NOTHING = Sent(0, None)


def test_a_batch_from_its_upload_to_its_end(ana: User) -> None:
    events = [
        event(0, "uploaded", "“a.csv” was uploaded.", ana),
        event(1, "draft", "The file was read: 60 rows."),
        event(5, "preparing", "Started.", ana),
        event(6, "queued", "Cut into 12 parts."),
        event(20, "finished", "Finished. 60 of 60 rows answered."),
    ]
    sent = Sent(12, NOW + timedelta(seconds=7))
    assert told(lines_of(Batch(part_count=12), events, sent, [])) == [
        "“a.csv” uploaded by Ana",
        "Started by Ana",
        "Sent in 12 parts",
        "All came back after 15 s: 60 of 60 rows answered.",
    ]


def test_a_retry_is_told_with_its_own_end(ana: User) -> None:
    events = [
        event(0, "preparing", "Started.", ana),
        event(10, "finished with problems", "Finished, with problems. 57 of 60 rows answered."),
        event(100, "retry", "Retry: 3 rows are sent again.", ana),
        event(104, "finished", "Finished. 60 of 60 rows answered."),
    ]
    assert told(lines_of(Batch(part_count=1), events, NOTHING, [])) == [
        "Started by Ana",
        "All came back after 10 s: 57 of 60 rows answered.",
        "Retry: 3 rows are sent again. by Ana",
        "All came back again after 4 s: 60 of 60 rows answered.",
    ]


def test_a_stopped_batch_did_not_all_come_back(ana: User) -> None:
    events = [
        event(0, "preparing", "Started.", ana),
        event(3, "stopping", "Stop was pressed.", ana),
        event(4, "stopped", "Stopped. 3 of 60 rows answered."),
    ]
    assert told(lines_of(Batch(part_count=1), events, NOTHING, []))[-1] == (
        "Stopped after 4 s: 3 of 60 rows answered."
    )


def test_an_end_without_a_start_says_no_time() -> None:
    events = [event(4, "failed", "Failed. 0 of 60 rows answered.")]
    assert told(lines_of(Batch(part_count=1), events, NOTHING, [])) == [
        "All came back: 0 of 60 rows answered."
    ]


def test_why_it_was_not_started_is_told() -> None:
    events = [event(4, "draft", "Not started: 2 rows cannot be asked.")]
    assert told(lines_of(Batch(), events, NOTHING, [])) == ["Not started: 2 rows cannot be asked."]


def test_while_parts_are_sent_it_says_how_many() -> None:
    lines = lines_of(Batch(part_count=1_200), [], Sent(5, NOW), [])
    assert told(lines) == ["Sent so far: 5 of 1,200 parts"]


def test_what_held_parts_up_is_one_line_a_kind() -> None:
    found = [
        OfParts("failure", 1, NOW + timedelta(seconds=9)),
        OfParts("held", 20, NOW + timedelta(seconds=3)),
    ]
    assert told(lines_of(Batch(part_count=20), [], Sent(20, NOW), found)) == [
        "Sent in 20 parts",
        "20 parts had to wait",
        "1 part met a problem on its way",
    ]


def test_the_name_of_a_stored_file_is_not_told() -> None:
    events = [event(0, "stopping", "The stored file batches/x/y is damaged.")]
    assert told(lines_of(Batch(), events, NOTHING, [])) == ["A stored file is damaged."]


def test_of_a_real_batch(sandbox: RunningSandbox, start: MakeBatch, ana: User) -> None:
    sandbox.script({"fault": "failed", "items": [0], "times": 1})
    batch = work(start(rows(60)))
    assert decisions.retry(batch, by=ana)
    lines = timeline_of(work(batch))
    said = told(lines)
    assert said[0] == "“texts.csv” uploaded"
    assert said[1:3] == ["Started", "Sent in 3 parts"]
    assert said[3].startswith("All came back after ")
    assert said[3].endswith("59 of 60 rows answered.")
    assert said[4] == "Retry: 1 row is sent again. by Ana"
    assert said[5].startswith("All came back again")
    assert len(said) == 6
    assert not any("Part " in line for line in said)


def test_while_a_batch_is_paused_the_last_line_says_why(team: Team, web: Client) -> None:
    batch = on_record(team, parts=2, status=BatchStatus.RUNNING)
    assert timeline_of(batch) == []
    soon = timezone.now() + timedelta(minutes=1)
    Connection.objects.update(paused_until=soon, pause_reason="Too many requests.")
    batch.events.create(kind="retry", text="Asked again.")
    assert told(timeline_of(batch)) == ["Asked again.", "Paused: Too many requests."]
    page = said(web.get(reverse("timeline", args=[batch.pk])))
    assert "now Paused: Too many requests." in page


def test_what_a_person_decided_about_one_part_is_told(team: Team, ana: User) -> None:
    batch = on_record(team, parts=3)
    batch.events.create(kind="done", part_number=2, text="Part 2 was left out.", actor=ana)
    batch.events.create(kind="done", part_number=1, text="Part 1 came back.")
    assert told(timeline_of(batch)) == ["Part 2 was left out. by Ana"]


def test_parts_are_counted_once_and_only_those_of_the_batch(team: Team) -> None:
    batch, other = on_record(team, parts=3), on_record(team, parts=3)
    for number in (1, 1, 2):
        batch.events.create(kind="held", part_number=number, text="It is on hold.")
    other.events.create(kind="held", part_number=3, text="It is on hold.")
    attempt_on_record(batch.parts.get(number=1), status="answered", accepted_at=NOW)
    attempt_on_record(batch.parts.get(number=1), status="accepted", accepted_at=NOW)
    attempt_on_record(batch.parts.get(number=2), status="refused")
    attempt_on_record(other.parts.get(number=1), status="accepted", accepted_at=NOW)
    assert set(told(timeline_of(batch))) == {"Sent so far: 1 of 3 parts", "2 parts had to wait"}


def test_the_number_of_queries_is_always_the_same(
    team: Team, django_assert_num_queries: Any
) -> None:
    batch = on_record(team, parts=30)
    for part in batch.parts.all():
        batch.events.create(kind="held", part_number=part.number, text="It is on hold.")
        attempt_on_record(part, status="accepted", accepted_at=NOW)
    with django_assert_num_queries(4):
        timeline_of(batch)


def test_corrections_are_one_line_and_no_end_of_the_batch(team: Team, ana: User) -> None:
    batch = made(team, [yes("one"), no(), no()], status=BatchStatus.RUNNING)
    settling.settle(batch)
    for number in (1, 2, 3):
        seen = seen_of(b'"one"' if number == 1 else None, (), 0)
        outcome = corrections.correct(batch, number, at=0, written="x", seen=seen, by=ana)
        assert outcome.is_saved
    batch.refresh_from_db()
    assert batch.status == BatchStatus.FINISHED
    assert told(timeline_of(batch)) == [
        "All came back: 1 of 3 rows answered.",
        "3 answers corrected by hand. by Ana",
    ]


def test_after_the_end_nothing_is_sent_any_more() -> None:
    ended = Batch(part_count=12, status=BatchStatus.STOPPED)
    assert told(lines_of(ended, [], Sent(5, NOW), [])) == ["Sent: 5 of 12 parts"]


def test_a_part_that_was_refused_when_it_was_polled_was_sent(team: Team) -> None:
    batch = on_record(team, parts=2)
    first, second = batch.parts.order_by("number")
    attempt_on_record(first, status="refused", accepted_at=NOW)
    attempt_on_record(second, status="refused", accepted_at=None)
    assert told(timeline_of(batch)) == ["Sent so far: 1 of 2 parts"]
