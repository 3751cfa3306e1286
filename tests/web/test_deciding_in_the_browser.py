"""One decision for all, in a real browser: with mouse, keyboard, and two people at once."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus, Question
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, Team, User
from tests.batches.conftest import statuses, work
from tests.conftest import PATIENCE
from tests.stories.visitors import gets_the_focus
from tests.teams.people import join
from tests.web.deciding import asked, recorded, storm
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults, sticks_out

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    return opened


def test_a_storm_is_over_with_one_decision(
    page: "Page", sandbox: RunningSandbox, batch: Batch
) -> None:
    storm(batch, sandbox)
    page.goto("/")
    page.get_by_role("link", name="texts", exact=True).first.click()
    page.get_by_role("heading", name="It is unclear whether 3 parts (60 rows)").wait_for()
    page.get_by_role("button", name="Send again …").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="Send 3 parts again?").wait_for()
    assert dialog.get_by_text("Sends 60 rows again.").is_visible()
    dialog.get_by_role("button", name="Send 60 rows again").click()
    page.locator(".toast", has_text="3 parts are sent now.").wait_for()
    assert page.locator(".question").count() == 0
    work(batch)
    page.locator(".status[data-status=finished]").first.wait_for()


def test_the_keyboard_alone_decides_and_can_think_again(page: "Page", team: Team) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    page.goto(batch.get_absolute_url())
    leave_out = page.locator("#leave-out-unclear")
    leave_out.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="Leave 3 parts out?").wait_for()
    # The careful answer has the focus, and Escape leads back to where one came from.
    cancel = dialog.get_by_role("button", name="Cancel")
    gets_the_focus(cancel)
    page.keyboard.press("Escape")
    gets_the_focus(leave_out)
    assert statuses(batch) == [PartStatus.UNSURE] * 3
    page.keyboard.press("Enter")
    cancel.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.locator(".toast", has_text="3 parts are left out.").wait_for()
    assert statuses(batch) == [PartStatus.DONE] * 3


def test_a_dialog_stays_open_while_the_page_behind_it_is_refreshed(
    page: "Page", team: Team
) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    page.goto(batch.get_absolute_url())
    page.locator("#send-again-unclear").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("heading", name="Send 3 parts again?").wait_for()
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 200):
        assert decisions.leave_out(batch.parts.get(number=2), by=None)
    page.get_by_role("heading", name="2 parts (20 rows)", include_hidden=True).wait_for(
        state="attached"
    )
    dialog.get_by_role("button", name="Send 30 rows again").click()
    page.locator(".toast", has_text="2 parts are sent now. 1 part no longer needed it.").wait_for()


def test_who_decides_part_by_part_keeps_the_place_when_the_page_is_refreshed(
    page: "Page", team: Team
) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    page.goto(batch.get_absolute_url())
    page.get_by_text("Decide part by part").click()
    button = page.locator("#leave-out-3")
    button.focus()
    before = button.element_handle()
    assert before is not None
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 200):
        assert decisions.leave_out(batch.parts.get(number=1), by=None)
    page.locator("#leave-out-1").wait_for(state="detached")
    assert not before.evaluate("element => element.isConnected")
    assert button.is_visible()
    gets_the_focus(button)
    page.get_by_text("Decide part by part").click()
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 200):
        Batch.objects.update(version=99)
    assert not button.is_visible()


def test_who_has_decided_about_one_part_finds_the_others_unfolded(page: "Page", team: Team) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    page.goto(batch.get_absolute_url())
    page.get_by_text("Decide part by part").click()
    page.locator("#leave-out-1").click()
    page.locator("#decide").click()
    page.locator(".toast", has_text="1 part is left out.").wait_for()
    assert page.locator("#leave-out-2").is_visible()
    assert not page.locator("#leave-out-1").count()


def test_the_focus_returns_to_a_button_that_was_replaced_while_its_dialog_was_open(
    page: "Page", team: Team
) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    page.goto(batch.get_absolute_url())
    button = page.locator("#leave-out-unclear")
    before = button.element_handle()
    assert before is not None
    button.click()
    page.locator("#decide").wait_for()
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 200):
        Batch.objects.update(version=99)
    page.wait_for_function("element => !element.isConnected", arg=before)
    page.keyboard.press("Escape")
    page.locator("#decision-dialog").wait_for(state="hidden")
    gets_the_focus(button)


def test_a_dialog_that_gets_no_answer_says_so_and_can_be_closed(page: "Page", team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    page.goto(batch.get_absolute_url())
    dialog = page.get_by_role("dialog")
    for answer, sentence in (
        (lambda route: route.abort(), "batchui cannot be reached now. Nothing was decided."),
        (lambda route: route.fulfill(status=500), "batchui could not do this."),
    ):
        page.route("**/confirm/", answer)
        page.locator("#send-again-unclear").click()
        dialog.get_by_text(sentence).wait_for()
        dialog.get_by_role("button", name="Close").click()
        dialog.wait_for(state="hidden")
    page.unroute("**/confirm/")
    page.locator("#send-again-unclear").click()
    page.locator("#decide").wait_for()
    assert not dialog.get_by_text("batchui cannot be reached now.").count()


def test_the_next_try_is_counted_down_to_now(page: "Page", team: Team) -> None:
    batch = recorded(team)
    until = timezone.now() + timedelta(seconds=50)
    Connection.objects.update(paused_until=until, pause_reason="Error.", failures_in_a_row=1)
    page.goto(batch.get_absolute_url())
    time = page.locator("#live time[data-due]")
    assert re.fullmatch(r"in \d+ s", time.inner_text())
    time.evaluate("time => { time.dateTime = new Date(Date.now() - 60_000).toISOString(); }")
    page.locator("#live", has_text="batchui sends one part now.").wait_for()


def test_the_second_of_two_people_is_told(
    page: "Page", new_page: NewPage, ana: User, team: Team
) -> None:
    batch = asked(team, Question.UNCLEAR, parts=3)
    other = new_page(join(ana))
    for who in (page, other):
        who.goto(batch.get_absolute_url())
        who.locator("#leave-out-unclear").click()
        who.get_by_role("heading", name="Leave 3 parts out?").wait_for()
    other.locator("#decide").click()
    other.locator(".toast", has_text="3 parts are left out.").wait_for()
    page.locator("#decide").click()
    page.locator(".toast", has_text="This was decided already, perhaps by a colleague.").wait_for()


def test_the_history_asks_for_the_whole_team_without_a_reload(page: "Page", team: Team) -> None:
    batch = recorded(team, parts=120)
    page.goto("/")
    assert page.locator(".question").count() == 0
    batch.parts.update(status=PartStatus.UNSURE, question=Question.UNCLEAR)
    Batch.objects.update(version=2)
    page.get_by_role("heading", name="It is unclear whether 120 parts (1,200 rows)").wait_for()
    page.locator("#send-again-unclear").click()
    page.get_by_role("heading", name="Send 120 parts again?").wait_for()
    page.locator("#decide").click()
    page.locator(".toast", has_text="120 parts are sent now.").wait_for()
    assert re.fullmatch(r".*//[^/]+/", page.url)


def test_on_a_phone_the_table_fits_and_nothing_stands_alone(page: "Page", team: Team) -> None:
    batch = asked(team, Question.UNCLEAR)
    recorded(team, name="a_name_that_cannot_be_broken", status=BatchStatus.PROBLEMS)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")
    too_wide = "table => table.offsetWidth - table.parentElement.clientWidth"
    assert page.locator("#history table").evaluate(too_wide) <= 0
    page.goto(batch.get_absolute_url())
    stop, status = (page.locator(where).first for where in ("#stop-button", "#live .status"))
    assert stop.bounding_box()["y"] + 20 < status.bounding_box()["y"]  # type: ignore[index]


@pytest.mark.parametrize("parts", [1, 120])
def test_axe_finds_no_fault_in_questions_and_nothing_sticks_out_of_a_phone(
    page: "Page", team: Team, parts: int
) -> None:
    questions = Question if parts == 1 else (Question.UNCLEAR, Question.MISMATCH)
    batches = [asked(team, question, parts=parts) for question in questions]
    found = {}
    for address in ("/", *(batch.get_absolute_url() for batch in batches)):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        folded = page.locator(".question details:not([open]) > summary")
        while folded.count():
            folded.first.click()
        found[address] = faults(page) + sticks_out(page)
    page.locator("[id^=leave-out-]").first.click()
    page.locator("#decide").wait_for()
    found["a dialog"] = faults(page) + sticks_out(page)
    assert {where: what for where, what in found.items() if what} == {}
