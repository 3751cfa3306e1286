"""Rows that come when they are near: by scrolling, by keys, on paper, while answers land."""

from typing import TYPE_CHECKING

import pytest

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.teams.models import Team, User
from batchui.web.sheet import gaps
from tests.batches.sheet.made import made, yes
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROWS = "#grid-rows tr:not(.gap)"
TOP = "id => document.getElementById(id).getBoundingClientRect().top"
# The gap above does, by some pixels; returns the first row below it.
COMES_INTO_VIEW = """() => {
    const gap = document.querySelector("#gap-above");
    const row = gap.nextElementSibling;
    document.querySelector("#grid-frame").scrollTop = gap.offsetHeight - 20;
    return { id: row.id, top: row.getBoundingClientRect().top };
}"""
WIDTHS = "() => [...document.querySelectorAll('#grid th[scope=col]')].map((th) => th.offsetWidth)"
TEXT = "Many words, so that rows differ in height. "


@pytest.fixture
def whole_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not here: about twenty rows come at first."""
    monkeypatch.setattr(gaps, "HEIGHT", 800)


@pytest.fixture
def batch(team: Team) -> Batch:
    """90 rows on one page, of one to three lines."""
    return made(team, [yes(TEXT * (number % 4)) for number in range(90)])


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(PATIENCE)
    return opened


def all_there(page: "Page") -> None:
    page.locator(".gap").first.wait_for(state="detached")
    order = page.locator(ROWS).evaluate_all("all => all.map((row) => row.id)")
    assert order == [f"row-{number}" for number in range(1, 91)]


def test_scrolling_brings_the_others(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.locator("#open-1").wait_for()
    assert page.locator(ROWS).count() < 30
    assert not faults(page)
    widths = page.evaluate(WIDTHS)
    page.locator("#grid-frame").evaluate("frame => frame.scrollTo(0, frame.scrollHeight)")
    all_there(page)
    assert page.url.endswith(batch.get_absolute_url())  # which goes to colleagues as it is
    assert page.evaluate(WIDTHS) == widths
    assert min(widths) > 40
    assert page.locator("#open-90").get_attribute("tabindex") == "-1"


def test_rows_that_come_into_view_while_the_page_asks_what_is_new_are_not_forgotten(
    page: "Page", batch: Batch
) -> None:
    Batch.objects.update(status=BatchStatus.RUNNING)
    held: list[Route] = []
    page.route("**/live/**", lambda one: one.continue_() if held else held.append(one))
    page.goto(batch.get_absolute_url())
    while not held:
        page.wait_for_timeout(50)
    page.locator("#grid-frame").evaluate("frame => frame.scrollTo(0, frame.scrollHeight)")
    page.wait_for_timeout(300)
    assert page.locator(".gap").count() == 1
    Batch.objects.update(version=batch.version + 1)
    held[0].continue_()
    all_there(page)


def test_rows_that_did_not_come_are_asked_for_again(page: "Page", batch: Batch) -> None:
    to_end = "frame => frame.scrollTo(0, frame.scrollHeight)"
    page.goto(batch.get_absolute_url())
    page.route("**gap=**", lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.locator("#grid-frame").evaluate(to_end)
    page.unroute("**gap=**")
    page.locator("#grid-frame").evaluate("frame => frame.scrollTo(0, 0)")
    page.wait_for_timeout(300)
    page.locator("#grid-frame").evaluate(to_end)
    all_there(page)


def test_keys_go_on_where_rows_are_still_to_come(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.locator("#open-1").focus()
    page.keyboard.press("End")
    page.locator("#open-90:focus").wait_for()
    all_there(page)
    page.keyboard.press("k")
    page.locator("#open-89:focus").wait_for()


def test_a_row_that_was_asked_for_stays_where_it_is(page: "Page", batch: Batch) -> None:
    page.goto(f"{batch.get_absolute_url()}?row=50")
    page.locator("#open-50:focus").wait_for()
    assert page.locator(".gap").count() == 2
    shown = page.evaluate(COMES_INTO_VIEW)
    page.locator("#gap-above").wait_for(state="detached")
    page.locator("#row-1").wait_for(state="attached")
    assert abs(page.evaluate(TOP, shown["id"]) - shown["top"]) < 2
    page.keyboard.press("Home")
    page.locator("#open-1:focus").wait_for()
    page.keyboard.press("End")
    page.locator("#open-90:focus").wait_for()
    all_there(page)


def test_the_panel_marks_its_row_when_that_comes(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.locator("#open-1").click()
    page.locator("#panel [data-row='1']").wait_for()
    page.locator("#open-1").focus()
    page.keyboard.press("End")
    page.locator("#panel [data-row='90']").wait_for()
    assert page.locator("#row-90").get_attribute("aria-selected") == "true"


def test_paper_and_the_search_of_the_browser_have_all_rows(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".gap").count() == 0
    all_there(page)
    page.locator("#open-90").click()
    page.locator("#panel [data-row='90']").wait_for()
    page.goto(batch.get_absolute_url())
    page.locator("#open-1").focus()
    page.keyboard.press("Control+f")
    all_there(page)
