"""The figures beside the strip: pace and cost so far."""

from datetime import timedelta

import pytest
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.teams.models import Connection, Team
from batchui.web.sheet.progress import progress_of
from tests.batches.conftest import attempt_on_record, on_record

pytestmark = pytest.mark.django_db


def came_back(batch: Batch, *, items: int, seconds_ago: float, in_vain: int = 0) -> None:
    attempt_on_record(
        batch.parts.get(number=1),
        status="answered",
        items=items,
        in_vain=in_vain,
        finished_at=timezone.now() - timedelta(seconds=seconds_ago),
    )


def started(team: Team, seconds_ago: float, **fields: object) -> Batch:
    at = timezone.now() - timedelta(seconds=seconds_ago)
    return on_record(team, started_at=at, **{"status": "running", **fields})


def test_the_pace_is_of_the_last_minute(team: Team) -> None:
    batch = started(team, 600)
    came_back(batch, items=2_500, in_vain=100, seconds_ago=30)
    came_back(batch, items=9_999, seconds_ago=70)
    assert progress_of(batch).pace == "about 40 rows a second"


def test_a_young_batch_counts_from_its_start(team: Team) -> None:
    batch = started(team, 10)
    came_back(batch, items=100, seconds_ago=1)
    assert progress_of(batch).pace == "about 10 rows a second"


def test_a_slow_one_is_told_by_the_minute(team: Team) -> None:
    batch = started(team, 600)
    came_back(batch, items=25, seconds_ago=30)
    assert progress_of(batch).pace == "about 25 rows a minute"


def test_the_cost_stands_beside_its_estimate_both_before_what_is_free(team: Team) -> None:
    Connection.objects.update(kind=Connection.Kind.REST)
    used = {"prompt_tokens": 100_000, "completion_tokens": 50_000}
    batch = started(team, 600, estimated_low=0.06, estimated_high=0.16, **used)
    assert progress_of(batch).cost.endswith(" at list price, estimated $0.06 to $0.16")
    batch.estimated_low = None
    assert "estimated" not in progress_of(batch).cost


def test_a_pace_that_is_not_known_is_not_said(team: Team) -> None:
    assert progress_of(started(team, 600)).pace == ""
    batch = started(team, 1)
    came_back(batch, items=100, seconds_ago=0)
    assert progress_of(batch).pace == ""  # too young to tell
    ended = started(team, 600, status="finished")
    came_back(ended, items=100, seconds_ago=10)
    assert progress_of(ended).pace == ""


def test_the_rows_of_another_batch_are_not_counted(team: Team) -> None:
    batch, other = started(team, 600), started(team, 600)
    came_back(other, items=6_000, seconds_ago=1)
    assert progress_of(batch).pace == ""


def test_the_cost_so_far(team: Team) -> None:
    tokens = {"prompt_tokens": 200_000, "completion_tokens": 10_000}
    model = "@cf/meta/llama-3.3-70b-instruct-fp8-fast"
    batch = started(team, 60, model=model, **tokens)
    assert progress_of(batch).cost == "free in the sandbox"
    assert progress_of(batch).tokens == 210_000
    Connection.objects.update(kind="rest")
    batch.connection.refresh_from_db()
    assert progress_of(batch).cost == "$0.08"
    assert progress_of(started(team, 60)).cost == ""  # nothing is counted yet


def test_a_running_batch_says_how_long_others_like_it_took(team: Team) -> None:
    batch = started(team, 10)
    for minutes in (3, 5, 9):
        at = timezone.now() - timedelta(hours=1)
        ended = at + timedelta(minutes=minutes)
        on_record(team, status="finished", started_at=at, finished_at=ended)
    assert progress_of(batch).usual == "3 to 9 minutes"
    Batch.objects.filter(pk=batch.pk).update(status="finished")
    batch.refresh_from_db()
    assert progress_of(batch).usual == ""
