"""The pictures of the last days above the history."""

import re
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.money import amount, usd_of
from batchui.batches.spending import DAYS, today_in_utc
from batchui.batches.states import BatchStatus
from batchui.teams.models import Connection, Team
from tests.batches.conftest import MODEL, on_record
from tests.teams.people import outsider
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db


def ended(team: Team, days_ago: int, **fields: Any) -> None:
    at = datetime.combine(today_in_utc(), time(12), tzinfo=UTC) - timedelta(days=days_ago)
    on_record(team, status=BatchStatus.FINISHED, finished_at=at, **fields)


def bars(page: str) -> list[list[float]]:
    """The heights of the bars, by picture."""
    return [
        [float(height) for height in re.findall(r'y="[\d.]+"\s+width="6"\s+height="([\d.]+)"', one)]
        for one in page.split("<figure>")[1:]
    ]


def test_each_day_has_a_bar_and_a_line_of_the_table(web: Client, team: Team) -> None:
    ours = Connection.objects.create(team=team, kind="rest", name="Ours", account_id="a")
    tokens = {"prompt_tokens": 10**6, "completion_tokens": 10**6}
    ended(team, 0, answered=1200, connection=ours, **tokens)
    ended(team, 3, answered=300)
    ended(team, DAYS, answered=9)
    page = web.get(reverse("days"))
    usd = amount(usd_of(MODEL, read=10**6, written=10**6) or 0)
    assert f"Rows answered, 30 days 1,500 Spent, 30 days {usd}" in said(page)
    shown = re.sub(r"<rect class=.ground.*?</rect>", "", html(page))
    rows, spent = bars(shown)
    assert len(rows) == len(spent) == DAYS
    assert {n: height for n, height in enumerate(rows) if height} == {26: 8, 29: 32}
    assert {n: height for n, height in enumerate(spent) if height} == {29: 32}
    assert said(page).count("1,200 rows") == 1
    assert html(page).count('<th scope="row">') == 2


def test_a_price_that_is_not_known_is_said_to_be(web: Client, team: Team) -> None:
    ours = Connection.objects.create(team=team, kind="rest", name="Ours", account_id="a")
    ended(team, 0, answered=1, connection=ours, model="@cf/nobody/knows", prompt_tokens=5)
    assert "$0, and more not known" in said(web.get(reverse("days")))


def test_a_team_that_had_nothing_answered_sees_no_picture(web: Client, team: Team) -> None:
    theirs = outsider().membership.team
    Connection.objects.create(team=theirs, kind="sandbox", name="x", account_id="a")
    ended(theirs, 0, answered=7)
    assert said(web.get(reverse("days"))) == ""
