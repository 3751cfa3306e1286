"""Answers are corrected in a real browser: in the cell, in the panel, by keyboard, on a phone."""

import re
from typing import TYPE_CHECKING

import pytest

from batchui.batches import corrections, one_row, results
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch
from batchui.prompts.answer_columns import AnswerColumn, to_json
from batchui.teams.models import Team, User
from tests.batches.sheet.made import made, no, yes
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults, sticks_out

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

COLUMNS = (AnswerColumn("tone", "one_of", ("good", "bad")), AnswerColumn("why"))


@pytest.fixture
def some(team: Team) -> Batch:
    """Rows 1 to 12 with two answer columns; the third has failed."""
    answers = [yes({"tone": "good", "why": f"Because of {number}."}) for number in range(1, 13)]
    answers[2] = no("failed", "Gate 3 is shut.")
    return made(team, answers, answer_columns=to_json(COLUMNS), template="Judge {{text}}")


@pytest.fixture
def page(new_page: NewPage, ana: User, some: Batch) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 800})
    opened.goto(f"{some.get_absolute_url()}?show=")
    return opened


def answer_of(batch: Batch, number: int) -> str:
    return next((one.answer or b"").decode() for one in results.results(batch) if one.row == number)


def focus(page: "Page") -> str:
    return str(page.evaluate("document.activeElement.id"))


def test_a_cell_is_corrected_in_place_with_the_keyboard(page: "Page", some: Batch) -> None:
    page.locator("#open-2").focus()
    page.keyboard.press("F2")
    page.locator("#cell-2-0 select:focus").wait_for()
    page.keyboard.press("F2")
    page.locator("#cell-2-1 textarea:focus").wait_for()
    assert page.locator("#cell-2-0").inner_text().strip() == "good"
    page.keyboard.press("Control+a")
    page.keyboard.type("First line")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second <b>line</b>")
    page.keyboard.press("Enter")
    page.locator("#cell-2-1 .edited").wait_for()
    assert "First line" in page.locator("#cell-2-1").inner_text()
    assert page.locator("#cell-2-1 b").count() == 0
    assert page.locator("#cell-2-0 .edited").count() == 0
    assert answer_of(some, 2) == '{"tone":"good","why":"First line\\nsecond <b>line</b>"}'
    page.locator("#open-2:focus").wait_for()
    assert page.locator("#show-edited").inner_text().split() == ["Edited", "1"]
    assert page.url.endswith("?show=")
    page.keyboard.press("ArrowDown")
    assert focus(page) == "open-3"


def test_escape_leaves_the_cell_as_it_was(page: "Page", some: Batch) -> None:
    before = page.locator("#cell-4-1").inner_html()
    page.locator("#cell-4-1").dblclick()
    page.locator("#cell-4-1 textarea:focus").fill("Not this.")
    page.keyboard.press("Escape")
    page.locator("#cell-4-1 textarea").wait_for(state="detached")
    assert page.locator("#cell-4-1").inner_html() == before
    assert "Not this." not in answer_of(some, 4)
    assert not page.locator("#panel").is_visible()  # neither click nor Esc opened or closed it


def test_a_row_without_an_answer_no_longer_needs_attention(page: "Page", some: Batch) -> None:
    assert page.locator("#count-attention").inner_text() == "1"
    page.locator("#cell-3-1").dblclick()
    page.locator("#cell-3-1 textarea").fill("By hand.")
    page.keyboard.press("Enter")
    page.locator("#cell-3-1 .edited").wait_for()
    assert page.locator("#count-attention").inner_text() == "0"
    assert page.locator("#cell-3-0 .badge").count() == 0
    assert "12 of 12" in page.locator("#live").inner_text()
    assert page.get_by_role("button", name="Retry").count() == 0


def test_two_people_in_one_cell_and_the_second_is_told(
    page: "Page", some: Batch, ana: User
) -> None:
    page.locator("#cell-5-1").dblclick()
    page.locator("#cell-5-1 textarea").fill("Mine.")
    seen = seen_of(b'{"tone":"good","why":"Because of 5."}', COLUMNS, 1)
    assert corrections.correct(some, 5, at=1, written="Hers.", seen=seen, by=ana).is_saved
    page.keyboard.press("Enter")
    cell = page.locator("#cell-5-1")
    cell.get_by_text("Somebody else has changed this answer meanwhile.").wait_for()
    assert cell.locator(".theirs").inner_text() == "Hers."
    assert cell.locator("textarea").input_value() == "Mine."
    assert '"Hers."' in answer_of(some, 5)
    assert faults(page) == []
    cell.get_by_role("button", name="Save mine").click()
    page.locator("#cell-5-1 .edited").wait_for()
    assert '"Mine."' in answer_of(some, 5)


def test_the_panel_edits_and_brings_the_models_own_back(page: "Page", some: Batch) -> None:
    page.locator("#open-6").click()
    panel = page.locator("#panel")
    panel.get_by_role("button", name="Edit why").click()
    box = panel.locator("textarea:focus")
    box.fill("Not so.")
    page.keyboard.press("Escape")
    box.wait_for(state="detached")
    page.locator("#edit-6-1:focus").wait_for()
    page.keyboard.press("Enter")
    panel.locator("textarea:focus").fill("In truth.")
    assert faults(page) == []
    page.keyboard.press("Control+Enter")
    panel.get_by_text("Corrected by Ana").wait_for()
    page.locator("#edit-6-1:focus").wait_for()
    assert "In truth." in page.locator("#cell-6-1").inner_text()
    assert faults(page) == []
    panel.get_by_text("The model’s own answer").click()
    assert "Because of 6." in panel.locator("#row-own").inner_text()
    panel.get_by_role("button", name="Back to the model’s own").click()
    panel.get_by_text("Corrected by Ana").wait_for(state="detached")
    assert "Because of 6." in page.locator("#cell-6-1").inner_text()
    assert page.locator("#show-edited").count() == 0
    assert re.search(r"/rows/6/", page.url)


def test_on_a_phone_the_panel_edits(new_page: NewPage, ana: User, some: Batch) -> None:
    page = new_page(ana, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page.goto(f"{some.get_absolute_url()}rows/7/")
    panel = page.locator("#panel")
    panel.get_by_role("button", name="Edit tone").tap()
    panel.locator("select").select_option("bad")
    assert sticks_out(page) == []
    assert faults(page) == []
    panel.get_by_role("button", name="Save").tap()
    panel.get_by_text("Corrected by Ana").wait_for()
    assert '"tone":"bad"' in answer_of(some, 7)


def test_what_is_written_in_the_panel_is_not_lost_to_another_row(page: "Page", some: Batch) -> None:
    page.locator("#open-2").click()
    panel = page.locator("#panel")
    panel.get_by_role("button", name="Edit why").click()
    control = panel.locator(".edit-form [name=value]")
    control.fill("Mine, not saved yet")
    for leave in (
        lambda: page.locator("#row-after").click(),
        lambda: page.locator("#cell-4-0").click(),
        lambda: panel.get_by_role("button", name="Close").click(),
        lambda: (page.locator("#open-2").focus(), page.keyboard.press("Escape")),
    ):
        leave()
        panel.get_by_text("This is not saved yet.").wait_for()
        page.wait_for_timeout(300)
        assert control.input_value() == "Mine, not saved yet"
        assert control.evaluate("it => it === document.activeElement")
        assert "/rows/2/" in page.url
    panel.get_by_role("button", name="Save").click()
    panel.locator(".edit-form").wait_for(state="detached")
    page.locator("#row-after").click()
    panel.locator("[data-row='3']").wait_for()
    assert "Mine, not saved yet" in answer_of(some, 2)


def test_who_comes_back_sees_what_somebody_else_corrected(
    page: "Page", some: Batch, ana: User
) -> None:
    page.locator("#open-2").click()
    page.locator("#panel [data-row='2']").wait_for()
    page.locator("#open-3").focus()
    found = one_row.find(some, 1)
    assert found is not None
    seen = seen_of(found.result.answer, COLUMNS, 1)
    assert corrections.correct(some, 1, at=1, written="Theirs", seen=seen, by=ana).is_saved
    assert page.locator("#cell-1-1").inner_text() == "Because of 1."
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator("#cell-1-1", has_text="Theirs").wait_for()
    assert focus(page) == "open-3"
    assert page.locator("#row-2").get_attribute("aria-selected") == "true"
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    with page.expect_response("**/live/**") as told:
        page.evaluate("dispatchEvent(new Event('focus'))")
    assert told.value.status == 204
    page.wait_for_timeout(200)
    assert len(requests) == 1
