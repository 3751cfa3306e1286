"""A question tried twice on a few rows, in a real browser. The test is the worker."""

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from batchui.batches import preparing, trying
from batchui.batches.models import Batch, TriedRow, Try
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.trying import ask_all
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Page, Route

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def draft(sandbox: RunningSandbox, receive: MakeBatch) -> Batch:
    return receive(rows(60))


@pytest.fixture
def page(new_page: NewPage, ana: User, draft: Batch) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    opened.goto(draft.get_absolute_url())
    opened.locator("#id_template").fill("Is this happy or sad? {{text}}")
    return opened


def has_focus(page: "Page", identity: str) -> bool:
    return bool(page.evaluate("id => document.activeElement.id === id", identity))


def test_a_question_is_tried_twice_and_both_answers_stand_beside_one_another(page: "Page") -> None:
    page.locator("#try-now").focus()
    page.keyboard.press("Enter")
    page.locator("#try-1-2", has_text="Waiting").wait_for()
    assert has_focus(page, "try-told")
    assert trying.ask(trying.waiting(1)[0])
    page.locator("#try-1-2", has_text="happy").wait_for()  # one by one, as they come
    assert page.locator("#try-1-3").inner_text().strip() == "Waiting"
    ask_all()
    page.locator("#try-now", has_text="Try again").wait_for()
    assert has_focus(page, "try-now")
    page.locator("#id_template").fill("In one word: {{text}}")
    page.locator("#try-now").click()
    page.locator("#try-2-2", has_text="Waiting").wait_for()
    ask_all()
    page.locator("#try-2-facts", has_text="5 rows answered").wait_for()
    assert "happy" in page.locator("#try-1-2").inner_text()
    assert [one.template for one in Try.objects.all()] == [
        "Is this happy or sad? {{text}}",
        "In one word: {{text}}",
    ]
    page.locator("#try-1-opens").click()
    page.get_by_role("button", name="Use this wording again").click()
    page.locator(".toast", has_text="that of try 1 again").wait_for()
    assert page.locator("#id_template").input_value() == "Is this happy or sad? {{text}}"


def test_from_a_try_to_the_last_answer_the_console_stays_empty(page: "Page", draft: Batch) -> None:
    """Neither the rules for styles are broken, nor anything else: `new_page` looks at its end."""
    page.locator("#start-from-tone").click()
    page.locator(".filled-in").wait_for()
    page.locator("#try-now").click()
    page.locator("#try-1-2", has_text="Waiting").wait_for()
    ask_all()
    page.locator("#try-1-facts", has_text="5 rows answered").wait_for()
    page.locator("#start-button").click()
    page.locator("#check[hx-get*='phase=preparing']").wait_for(state="attached")
    preparing.prepare(draft.pk)
    page.locator("#live").wait_for()
    work(draft)
    page.locator(".sheet-status", has_text="Finished").wait_for()
    page.locator("#row-3 td").first.click()
    page.locator("#panel [data-row='3']").wait_for()


def test_ticked_rows_are_tried_and_answers_move_nothing(page: "Page") -> None:
    page.get_by_role("checkbox", name="Tick row 21", exact=True).check()
    page.locator("#open-2").focus()
    for key in ("ArrowDown", "ArrowDown", "Space"):
        page.keyboard.press(key)
    page.locator("#try-which").click()
    page.get_by_role("button", name="The rows ticked in the sheet").click()
    page.locator("#try-1-4").wait_for()
    assert list(TriedRow.objects.values_list("number", flat=True)) == [4, 21]
    frame = page.locator("#grid-frame")
    frame.evaluate("frame => { frame.scrollTop = 120; }")
    page.locator("#id_template").focus()
    before = (page.locator("#row-8").bounding_box() or {})["y"]
    TriedRow.objects.filter(number=21).update(status="answered", answer='"long"')
    page.locator("#try-1-21", has_text="long").wait_for()
    assert (page.locator("#row-8").bounding_box() or {})["y"] == before
    assert has_focus(page, "id_template")
    page.locator("#try-stop").click()
    page.locator("#try-1-4", has_text="Not asked").wait_for()


def test_a_refused_try_says_why_and_a_press_at_the_same_moment_is_one_try(
    page: "Page", new_page: NewPage, ana: User, draft: Batch
) -> None:
    page.locator("#id_template").fill("Nothing of the row")
    page.locator("#try-now").click()
    page.locator("#try [role=alert]").wait_for()
    page.locator("#id_template").fill("{{text}}")
    other = new_page(ana)
    other.goto(draft.get_absolute_url())
    other.locator("#id_template").fill("{{text}}")
    page.locator("#try-now").click()
    page.locator("#try-stop").wait_for()
    other.locator("#try-now").click()
    other.locator("#try [role=alert]", has_text="still under way").wait_for()
    assert Try.objects.count() == 1


def test_what_came_before_the_sheet_was_loaded_again_changes_nothing_in_it(page: "Page") -> None:
    late: list[tuple[Route, APIResponse]] = []

    def hold(route: "Route") -> None:
        late.append((route, route.fetch()))

    page.locator("#try-now").click()
    page.locator("#try-1-2", has_text="Waiting").wait_for()
    page.route("**/tries/live/**", hold)
    assert trying.ask(trying.waiting(1)[0])
    page.wait_for_timeout(1_500)
    assert late
    ask_all()
    page.evaluate("htmx.trigger('#sheet-refresh', 'columns-changed')")
    page.locator("#try-1-6", has_text="happy").or_(
        page.locator("#try-1-6", has_text="sad")
    ).wait_for()
    page.unroute("**/tries/live/**")
    for route, response in late:
        with suppress(Exception):  # nobody waits for it any more
            route.fulfill(response=response)
    page.wait_for_timeout(500)
    assert page.locator(".try-answer", has_text="Waiting").count() == 0
    assert "5 rows answered" in page.locator("#try-1-facts").inner_text()


def test_tries_fit_every_width(page: "Page") -> None:
    page.locator("#try-now").click()
    page.locator("#try-1-2").wait_for()
    ask_all()
    TriedRow.objects.filter(number=3).update(
        status="failed", answer="", error="It is too long for this model."
    )
    TriedRow.objects.filter(number=4).update(answer='"' + "word " * 100 + '"')
    page.locator("#try-now").wait_for()
    page.reload()
    page.locator("#try-1-4").wait_for()
    for width in (390, 820, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator("#asking").evaluate("asking => asking.scrollWidth") <= width
