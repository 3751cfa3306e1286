"""How long batches like one took, from the team's own history."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.batches.usual_times import LOOKED_BACK, MOST, UsualTime, usual_time
from batchui.teams.models import Connection, Team
from tests.batches.conftest import on_record

pytestmark = pytest.mark.django_db


def ended(team: Team, seconds: float, **fields: Any) -> Batch:
    """A batch of the team that ended an hour ago, or when `fields` says, after so many seconds."""
    finished = fields.pop("finished_at", timezone.now() - timedelta(hours=1))
    fields |= {"finished_at": finished, "started_at": finished - timedelta(seconds=seconds)}
    return on_record(team, **{"status": BatchStatus.FINISHED} | fields)


def took(*seconds: float) -> UsualTime:
    return UsualTime(*(timedelta(seconds=one) for one in seconds))


def test_two_batches_tell_nothing_and_three_do(team: Team) -> None:
    batch = on_record(team)
    ended(team, 20)
    ended(team, 60)
    assert usual_time(batch) is None
    ended(team, 30)
    assert usual_time(batch) == took(20, 60)


@pytest.mark.parametrize(
    "unlike",
    [
        {"model": "@cf/meta/llama-3.1-8b-instruct-fast"},
        {"rows": 31},
        {"rows": 3},
        {"status": BatchStatus.FAILED},
        {"status": BatchStatus.STOPPED},
        {"finished_at": timezone.now() - LOOKED_BACK - timedelta(minutes=1)},
    ],
)
def test_a_batch_that_is_not_like_it_does_not_count(team: Team, unlike: dict[str, Any]) -> None:
    batch = on_record(team)
    for _ in range(3):
        ended(team, 20, **unlike)
    assert usual_time(batch) is None


@pytest.mark.parametrize("like", [{"rows": 30}, {"rows": 4}, {"status": BatchStatus.PROBLEMS}])
def test_a_batch_that_is_like_it_counts(team: Team, like: dict[str, Any]) -> None:
    batch = on_record(team)
    for _ in range(3):
        ended(team, 20, **like)
    assert usual_time(batch) == took(20, 20)


def test_the_sandbox_tells_nothing_of_cloudflare_and_no_team_of_another(team: Team) -> None:
    account = Connection.objects.create(
        team=team, kind=Connection.Kind.REST, name="Ours", account_id="a", base_url="https://x.test"
    )
    batch = on_record(team, connection=account)
    another = Team.objects.create(name="Others")
    for _ in range(3):
        ended(team, 20)
        ended(another, 20)
    assert usual_time(batch) is None


def test_what_was_idle_before_a_retry_does_not_count(team: Team) -> None:
    batch = on_record(team)
    for _ in range(3):
        ended(team, 3620, idle=timedelta(hours=1))
    assert usual_time(batch) == took(20, 20)


def test_it_is_not_like_itself(team: Team) -> None:
    for _ in range(2):
        ended(team, 20)
    assert usual_time(ended(team, 20)) is None


def test_one_in_ten_is_left_out_at_either_end(team: Team) -> None:
    batch = on_record(team)
    for seconds in (1, 10, 11, 12, 13, 14, 15, 16, 17, 9_999):
        ended(team, seconds)
    assert usual_time(batch) == took(10, 17)


def test_only_the_latest_are_looked_at(team: Team) -> None:
    batch = on_record(team)
    hour_ago = timezone.now() - timedelta(hours=1)
    for number in range(MOST):
        ended(team, 10, finished_at=hour_ago - timedelta(seconds=number))
    for number in range(20):
        ended(team, 5_000, finished_at=hour_ago - timedelta(hours=1, seconds=number))
    assert usual_time(batch) == took(10, 10)


def test_it_is_about_the_rows_that_are_asked(team: Team) -> None:
    batch = on_record(team)
    for _ in range(3):
        ended(team, 20, rows=1_000)
    assert usual_time(batch) is None
    assert usual_time(batch, rows=900) == took(20, 20)


@pytest.mark.parametrize(
    ("shortest", "longest", "text"),
    [
        (0.2, 0.4, "about 1 second"),
        (8, 12, "8 to 12 seconds"),
        (60, 119, "60 seconds to 2 minutes"),
        (11, 102, "11 seconds to 2 minutes"),
        (30, 89, "30 to 89 seconds"),
        (180, 540, "3 to 9 minutes"),
        (110, 121, "about 2 minutes"),
        (20, 600, "20 seconds to 10 minutes"),
        (3_600, 10_800, "60 minutes to 3 hours"),
    ],
)
def test_each_end_is_said_in_its_own_unit(shortest: float, longest: float, text: str) -> None:
    assert str(took(shortest, longest)) == text
