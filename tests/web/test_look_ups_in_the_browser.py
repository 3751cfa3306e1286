"""The pages of look-ups and of example rows in a real browser."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from batchui.batches.look_up_models import LookUp
from batchui.batches.models import Batch
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.test_look_ups import ASKED, begun, looked, sent
from tests.conftest import PATIENCE
from tests.web.test_every_page_is_accessible import State, found_in
from tests.web.test_people_in_the_browser import NewPage, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    page = new_page(ana)
    page.set_default_timeout(PATIENCE)
    return page


def test_every_state_is_accessible(
    page: "Page", sandbox: RunningSandbox, team: Team, ana: User
) -> None:
    under_way = begun(team, ana, sent(sandbox, team, *ASKED))
    LookUp.objects.update(status="running", looks=2, looked_at=timezone.now())
    ended = looked(begun(team, ana, "0000-not-there"))
    form = reverse("begin_look_up")
    states = [
        State("form", form, shows="#id_request_id"),
        State("refused", form, ("#look-up",), "#id_request_id[aria-invalid=true]"),
        State("running", reverse("look_up", args=[under_way.pk]), shows="[data-status=running]"),
        State("ended", reverse("look_up", args=[ended.pk]), shows="#look-again"),
        State("above the history", "/", shows="#look-ups li"),
        State("example rows", reverse("new"), ("#example-rows summary",), "#id_about"),
    ]
    assert found_in(page, states) == {}


def test_the_page_and_the_history_follow_until_the_answers_are_there(
    page: "Page", new_page: NewPage, sandbox: RunningSandbox, team: Team, ana: User
) -> None:
    look_up = begun(team, ana, sent(sandbox, team, *ASKED))
    history = new_page(ana)
    history.goto("/")
    page.goto(reverse("look_up", args=[look_up.pk]))
    LookUp.objects.update(status="queued", looks=1, looked_at=timezone.now())
    page.locator("#look-up-state [data-status=queued]").wait_for()
    history.locator("#look-ups [data-status=queued]").wait_for()
    LookUp.objects.update(status="running", looks=2)
    page.locator("#look-up-state [data-status=running]").wait_for()
    looked(look_up)
    page.wait_for_url(f"**{Batch.objects.get().get_absolute_url()}")
    page.locator("#grid-rows", has_text="[sandbox]").wait_for()
    history.locator("#look-ups", has_text="its answers are there").wait_for()


def test_rows_are_made_while_the_button_says_so(page: "Page", sandbox: RunningSandbox) -> None:
    page.goto(reverse("new"))
    page.locator("#example-rows summary").click()
    page.locator("#id_about").fill("Reviews of a small hotel")
    page.locator("#make-rows").click()
    page.wait_for_url("**/batches/**")
    page.get_by_role("heading", name="Examples: Reviews of a small hotel").wait_for()
    assert page.locator("#grid-rows tr").count() == 10
