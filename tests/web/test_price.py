"""The price beside Start, and the question before a batch that costs more than usual."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.teams.models import Membership, Team, User
from tests.batches.conftest import MakeBatch, another_account, rows
from tests.web.visiting import HTMX, answers, drafted, html, press_start, said, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def account(settings: Any) -> None:
    another_account(settings)


@pytest.fixture
def draft(web: Client) -> Batch:
    return drafted(web, rows(100))


def previewed(web: Client, batch: Batch, **changes: Any) -> str:
    filled = answers(batch, **changes)
    return html(web.post(reverse("preview", args=[batch.pk]), filled, headers=HTMX))


def limit(team: Team, usd: float | None) -> None:
    Team.objects.filter(pk=team.pk).update(confirm_above=usd)


def pressed(web: Client, batch: Batch, **changes: Any) -> Any:
    address = reverse("start", args=[batch.pk])
    return web.post(address, answers(batch, **changes), headers=HTMX)


def is_started(batch: Batch) -> bool:
    return Batch.objects.get(pk=batch.pk).started_at is not None


def test_in_the_sandbox_it_is_free(web: Client, draft: Batch) -> None:
    assert "free in the sandbox" in previewed(web, draft)


@pytest.mark.usefixtures("account")
def test_it_is_a_range_and_tells_how_it_was_reckoned(web: Client, draft: Batch) -> None:
    page = previewed(web, draft, max_tokens="32768")
    assert "free today" in page
    assert "100 rows, in 4 parts" in page
    assert "a rule of thumb" in page
    assert "all of them were looked at" in page


@pytest.mark.usefixtures("account")
def test_what_is_free_today_is_taken_off_beside_start_as_in_the_dialog(
    web: Client, draft: Batch, team: Team
) -> None:
    limit(team, 0)
    dear = drafted(web, b"id,text\n" + b"1,%b\n" % (b"word " * 400) * 3_000)
    beside = previewed(web, dear)
    [to_pay] = re.findall(r"Start for ([^<]+)</button>", html(pressed(web, dear)))
    assert f", to pay {to_pay}<" in beside


@pytest.mark.usefixtures("account")
def test_a_page_that_is_opened_says_it_too(web: Client, draft: Batch) -> None:
    previewed(web, draft)
    assert "how reckoned" in said(web.get(draft.get_absolute_url()))


def test_without_a_question_there_is_none(web: Client, draft: Batch) -> None:
    page = said(web.get(draft.get_absolute_url()))
    assert "how reckoned" not in page


@pytest.mark.usefixtures("account")
def test_below_the_figure_start_starts(web: Client, draft: Batch) -> None:
    assert pressed(web, draft)["HX-Redirect"] == draft.get_absolute_url()
    started = Batch.objects.get(pk=draft.pk)
    assert started.started_at is not None
    assert started.estimated_low is not None
    assert started.estimated_high is not None
    assert 0 < started.estimated_low < started.estimated_high


@pytest.fixture
def dear(web: Client, team: Team, account: None, settings: Any) -> Batch:
    """A draft of which nothing is free, in a team that wants to be asked before each batch."""
    limit(team, 0)
    return drafted(web, b"id,text\n" + b"1,%b\n" % (b"word " * 400) * 3_000)


def test_above_it_start_asks_with_the_figure_in_the_button(web: Client, dear: Batch) -> None:
    response = pressed(web, dear)
    assert response.status_code == 200
    assert response["HX-Retarget"] == "#decision-detail"
    assert "opens-dialog" in response["HX-Trigger-After-Swap"]
    assert "Start for $" in said(response)
    assert not is_started(dear)


def agreed(response: Any) -> str:
    return html(response).split('name="agreed"')[1].split('value="')[1].split('"')[0]


def test_who_agrees_starts_it(web: Client, dear: Batch) -> None:
    figure = agreed(pressed(web, dear))
    assert "HX-Redirect" in pressed(web, dear, agreed=figure).headers
    assert is_started(dear)


@pytest.mark.parametrize("figure", ["", "0", "0.05", "nan", "-1", "inf", "1e999", "much"])
def test_who_agreed_to_less_is_asked_again(web: Client, dear: Batch, figure: str) -> None:
    assert "Start for $" in said(pressed(web, dear, agreed=figure))
    assert not is_started(dear)


def test_the_figure_that_has_risen_is_told(web: Client, dear: Batch) -> None:
    figure = agreed(pressed(web, dear))
    response = pressed(web, dear, agreed=figure, template="{{text}} {{text}} {{text}}")
    assert "has risen" in said(response)
    assert not is_started(dear)


def test_without_a_script_the_page_says_what_to_do(web: Client, dear: Batch) -> None:
    response = press_start(web, dear)
    assert response.status_code == 409
    assert "Back to the question" in said(response)
    assert not is_started(dear)


def test_a_team_may_want_never_to_be_asked(web: Client, dear: Batch, team: Team) -> None:
    limit(team, None)
    assert "HX-Redirect" in pressed(web, dear).headers
    assert is_started(dear)


def test_the_figure_of_the_team_counts(web: Client, dear: Batch, team: Team) -> None:
    limit(team, 1_000)
    pressed(web, dear)
    assert is_started(dear)


# -- the team's setting -------------------------------------------------------------------------


def save(web: Client, above: str) -> Any:
    return web.post(reverse("people_spending"), {"confirm_above": above}, headers=HTMX)


def test_an_administrator_sees_it_as_people_write_it(web: Client) -> None:
    assert 'name="confirm_above" value="5"' in html(web.get(reverse("people")))
    save(web, "12.50")
    assert 'name="confirm_above" value="12.5"' in html(web.get(reverse("people")))


@pytest.mark.parametrize(("typed", "kept"), [("12.5", 12.5), ("0", 0), ("", None)])
def test_an_administrator_sets_it(web: Client, team: Team, typed: str, kept: float | None) -> None:
    assert save(web, typed)["HX-Redirect"] == reverse("people")
    team.refresh_from_db()
    assert team.confirm_above == kept


@pytest.mark.parametrize("typed", ["-1", "nan", "inf", "much", "10000000"])
def test_what_is_no_amount_is_refused(web: Client, team: Team, typed: str) -> None:
    assert save(web, typed).status_code == 422
    team.refresh_from_db()
    assert team.confirm_above == 5


def test_a_member_neither_sees_nor_sets_it(web: Client, team: Team) -> None:
    member = User.objects.create_user(
        email="bo@example.com", password="a long password 1", name="Bo"
    )
    Membership.objects.create(user=member, team=team)
    bo = signed_in(member)
    assert "Ask once more" not in said(bo.get(reverse("people")))
    assert save(bo, "1").status_code == 403
    team.refresh_from_db()
    assert team.confirm_above == 5


def test_start_asks_once_more_above_five_dollars_at_first(
    web: Client, receive: MakeBatch, team: Team
) -> None:
    assert team.confirm_above == 5
