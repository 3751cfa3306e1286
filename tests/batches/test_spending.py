"""What a team has spent, day by day, and what is free of charge today."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.utils import timezone

from batchui.batches.allowance import FREE_USD_A_DAY, free_usd_left, usd_used_today
from batchui.batches.models import Batch
from batchui.batches.spending import last_days, today_in_utc
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MODEL as MODEL_NAME
from tests.batches.conftest import on_record

pytestmark = pytest.mark.django_db

MILLION = 1_000_000
MODEL = catalogue.find(MODEL_NAME)
# Of a million tokens each way.
PRICE = MODEL.usd_per_m_input + (MODEL.usd_per_m_output or 0)


@pytest.fixture
def account(team: Team) -> Connection:
    return Connection.objects.create(
        team=team, kind=Connection.Kind.REST, name="Ours", account_id="a", base_url="https://x.test"
    )


def ended(team: Team, days_ago: int = 0, **fields: Any) -> Batch:
    """A batch that ended at noon UTC so many days ago, with a million tokens each way."""
    at = datetime.combine(today_in_utc(), time(12), tzinfo=UTC) - timedelta(days=days_ago)
    usual = {"status": BatchStatus.FINISHED, "finished_at": at, "answered": 10}
    return on_record(
        team, **usual | {"prompt_tokens": MILLION, "completion_tokens": MILLION} | fields
    )


def use(batch: Batch, tokens: int = MILLION, **fields: Any) -> None:
    batch.parts.update(**{"prompt_tokens": tokens, "last_polled_at": timezone.now()} | fields)


def test_thirty_days_each_once_up_to_today(team: Team) -> None:
    days = last_days(team)
    assert [one.day for one in days] == [
        today_in_utc() - timedelta(days=ago) for ago in range(29, -1, -1)
    ]
    assert {one[1:] for one in days} == {(0, 0, 0.0)}


def test_a_batch_counts_on_the_day_on_which_it_ended(team: Team, account: Connection) -> None:
    ended(team, 29, connection=account)
    ended(team, 30, connection=account)
    ended(team, 3, connection=account)
    ended(team, 3, connection=account, deleted_at=timezone.now())
    days = last_days(team)
    assert days[0][1:] == (1, 10, pytest.approx(PRICE))
    assert days[26][1:] == (2, 20, pytest.approx(2 * PRICE))
    assert sum(one.batches for one in days) == 3


def test_the_price_at_start_counts_and_not_the_one_that_came_with_batchui(
    team: Team, account: Connection
) -> None:
    dear = ended(team, connection=account, usd_read=9.0, usd_written=1.0)
    ended(team, connection=account, model="@cf/acme/brand-new-7b", usd_read=2.0)
    assert last_days(team)[-1][1:] == (2, 20, pytest.approx(12.0))
    use(dear, tokens=1000)
    assert usd_used_today(account) == pytest.approx(0.009, abs=0.002)


def test_what_is_under_way_counts_today(team: Team, account: Connection) -> None:
    ended(team, status=BatchStatus.RUNNING, finished_at=None, connection=account)
    assert last_days(team)[-1][1:] == (1, 10, pytest.approx(PRICE))


def test_one_that_runs_again_counts_today_alone(team: Team, account: Connection) -> None:
    ended(team, 3, status=BatchStatus.RUNNING, connection=account)
    assert [one.batches for one in last_days(team)[-4:]] == [0, 0, 0, 1]


def test_a_draft_counts_nowhere(team: Team) -> None:
    on_record(team, parts=0, part_count=0, status=BatchStatus.CHECKING)
    assert last_days(team)[-1].batches == 0


def test_the_sandbox_costs_nothing_and_other_teams_are_theirs(team: Team) -> None:
    ended(team)
    ended(Team.objects.create(name="Others"))
    assert last_days(team)[-1][1:] == (1, 10, 0.0)


def test_a_day_with_a_model_without_a_price_has_none(team: Team, account: Connection) -> None:
    ended(team, connection=account)
    ended(team, connection=account, model="@cf/new/model")
    ended(team, connection=account)
    assert last_days(team)[-1][1:] == (3, 30, None)


def test_it_takes_two_queries(team: Team, django_assert_num_queries: Any) -> None:
    for ago in range(10):
        ended(team, ago)
    with django_assert_num_queries(2):
        last_days(team)


def test_what_was_used_today_is_no_longer_free(team: Team, account: Connection) -> None:
    assert free_usd_left(account) == pytest.approx(0.11)
    use(ended(team, connection=account), tokens=100_000)
    used = MODEL.usd_per_m_input / 10
    assert usd_used_today(account) == pytest.approx(used)
    assert free_usd_left(account) == pytest.approx(FREE_USD_A_DAY - used)


def test_there_is_never_less_than_nothing(team: Team, account: Connection) -> None:
    use(ended(team, connection=account), tokens=MILLION)
    assert free_usd_left(account) == 0


def test_only_answers_of_today_through_this_connection_count(
    team: Team, account: Connection
) -> None:
    yesterday = timezone.now() - timedelta(days=1)
    use(ended(team, 1, connection=account))
    use(ended(team, connection=account), last_polled_at=yesterday)
    use(ended(team))
    assert usd_used_today(account) == 0


def test_what_is_under_way_has_been_used_too(team: Team, account: Connection) -> None:
    batch = on_record(team, connection=account, status=BatchStatus.RUNNING, parts=2)
    use(batch, tokens=10)
    assert usd_used_today(account) == pytest.approx(20 * MODEL.usd_per_m_input / MILLION)


def test_a_model_without_a_price_may_have_used_all(team: Team, account: Connection) -> None:
    use(ended(team, connection=account, model="@cf/new/model"), tokens=1)
    assert free_usd_left(account) == 0


def test_the_sandbox_has_no_allowance(team: Team) -> None:
    assert free_usd_left(on_record(team).connection) == 0


def test_a_day_begins_and_ends_at_midnight_in_utc(team: Team) -> None:
    midnight = datetime.combine(today_in_utc(), time(), tzinfo=UTC)
    for at in (midnight - timedelta(microseconds=1), midnight):
        on_record(team, status=BatchStatus.FINISHED, finished_at=at, answered=1)
    ahead = midnight + timedelta(days=1)
    on_record(team, status=BatchStatus.FINISHED, finished_at=ahead, answered=1)
    assert [day.rows for day in last_days(team, 3)] == [0, 1, 1]
