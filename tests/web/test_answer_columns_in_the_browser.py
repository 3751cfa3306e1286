"""The lines of the answer columns, in a real browser."""

import os
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from batchui.batches.models import Batch
from batchui.prompts.answer_columns import AnswerColumn
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from tests.batches.conftest import MakeBatch, rows, work
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User, web: Client) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    opened.goto(drafted(web, rows(3)).get_absolute_url())
    opened.get_by_label("What to ask of every row").fill("Tone of {{text}}?")
    opened.get_by_role("button", name="Add a column").click()
    opened.locator("[name=column_name]:focus").wait_for()
    return opened


def shot(page: "Page", name: str) -> None:
    if folder := os.environ.get("LOOK"):
        page.screenshot(path=f"{folder}/{name}.png")


def saved(page: "Page") -> tuple[AnswerColumn, ...]:
    page.wait_for_timeout(400)
    page.locator("#saved").get_by_text("Saved").wait_for()
    return Batch.objects.get().ask.answer_columns


def test_columns_are_written_moved_and_removed_from_the_keyboard(page: "Page") -> None:
    keys = page.keyboard
    keys.type("tone")  # the first line is there, with the focus in it
    first = page.get_by_role("group", name="Answer column 1")
    choices = first.get_by_label("Values to choose from")
    assert not choices.is_visible()
    first.get_by_label("Kind of value").select_option("one of a list")
    choices.fill("good; mixed; bad")
    first.get_by_label("What it means").fill("How the guest feels")
    page.get_by_role("button", name="Add a column").press("Enter")
    keys.type("score")
    page.get_by_role("group", name="Answer column 2").get_by_label("Kind").select_option("number")
    tone = AnswerColumn("tone", "one_of", ("good", "mixed", "bad"), "How the guest feels")
    score = AnswerColumn("score", "number")
    assert saved(page) == (tone, score)
    shot(page, "lines")
    assert faults(page) == []
    up = page.get_by_role("group", name="Answer column 2").get_by_label("Move up")
    up.press("Enter")
    assert page.evaluate("document.activeElement.ariaLabel") == "Move up"
    assert saved(page) == (score, tone)
    page.get_by_role("group", name="Answer column 1").get_by_label("Remove").press("Enter")
    assert page.evaluate("document.activeElement.value") == "tone"
    assert saved(page) == (tone,)
    page.reload()
    line = page.get_by_role("group", name="Answer column 1").locator("summary")
    assert line.inner_text().split("\n") == ["tone", "one of good, mixed, bad"]
    assert not page.get_by_label("What it means").is_visible()
    line.press("Enter")
    page.get_by_label("Values to choose from").fill("fine; bad")
    assert line.inner_text().split("\n") == ["tone", "one of fine, bad"]
    assert page.locator("#answer-lines [name=column_name]").input_value() == "tone"


def test_a_column_named_right_before_the_page_is_left_is_kept(page: "Page") -> None:
    """Also where the new page is made before the words have come to the server."""
    page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    page.keyboard.type("tone")
    page.reload()
    # A slow machine may have saved the beginning of the name, which is shown until then.
    page.wait_for_function(
        "() => document.querySelector('#answer-lines [name=column_name]')?.value === 'tone'"
    )
    assert saved(page) == (AnswerColumn("tone"),)


def test_what_is_said_about_the_columns_is_shown_with_the_question(page: "Page") -> None:
    page.keyboard.type("tone")
    page.get_by_text("What is said about the answer columns").click()
    page.get_by_text('- "tone": a text').wait_for()


def test_a_line_that_is_not_ready_does_not_cost_the_others(page: "Page") -> None:
    page.keyboard.type("summary")
    page.get_by_role("button", name="Add a column").click()
    page.keyboard.type("tone")
    second = page.get_by_role("group", name="Answer column 2")
    second.get_by_label("Kind of value").select_option("one of a list")
    assert saved(page) == (AnswerColumn("summary"),)
    page.get_by_role("button", name="Start").click()
    page.get_by_text("“tone” needs a list to choose from").wait_for()
    assert second.get_by_label("Name").input_value() == "tone"
    shot(page, "refused")


def test_a_schema_is_pasted(page: "Page") -> None:
    page.get_by_text("Paste a JSON schema").click()
    schema = page.get_by_label("JSON schema of the answer")
    schema.fill('{"properties": {"tone": {"type": "object"}}}')
    page.get_by_role("button", name="Make columns of it").click()
    page.get_by_text("properties.tone: an object inside the answer cannot be a column").wait_for()
    assert schema.input_value().startswith("{")
    schema.fill('{"properties": {"tone": {"enum": ["a", "b"]}, "score": {"type": "number"}}}')
    page.get_by_role("button", name="Make columns of it").click()
    page.get_by_role("group", name="Answer column 2").wait_for()
    assert page.evaluate("document.activeElement.innerText").split("\n") == ["tone", "one of a, b"]
    assert saved(page) == (
        AnswerColumn("tone", "one_of", ("a", "b")),
        AnswerColumn("score", "number"),
    )


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (820, "light")])
def test_the_lines_fit_into_narrow_windows(page: "Page", width: int, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 900})
    page.keyboard.type("tone")
    line = page.get_by_role("group", name="Answer column 1")
    line.get_by_label("Kind of value").select_option("several of a list")
    page.get_by_role("button", name="Add a column").click()
    line.scroll_into_view_if_needed()
    shot(page, f"lines-{width}-{scheme}")
    for box in (one.bounding_box() for one in page.locator("#answer-columns *:visible").all()):
        assert box is not None
        assert box["x"] + box["width"] <= width
    assert faults(page) == []


def test_the_sheet_has_a_column_for_each_and_says_what_does_not_fit(
    new_page: NewPage, ana: User, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    sandbox.script(
        {"fault": "unfit", "form": "other", "items": [2]}, {"fault": "empty", "items": [4]}
    )
    columns = (
        AnswerColumn("tone", "one_of", ("good", "mixed", "bad")),
        AnswerColumn("score", "number"),
        AnswerColumn("refund", "yes_no"),
        AnswerColumn("topics", "several_of", ("price", "staff", "room")),
        AnswerColumn("summary", "text", (), "One sentence"),
    )
    batch = work(start(rows(12), template="Tone of {{text}}?", answer_columns=columns))
    page = new_page(ana, viewport={"width": 1440, "height": 900})
    page.goto(f"{batch.get_absolute_url()}?show=")
    heads = page.locator("#grid th .column-name").all_inner_texts()
    assert heads[-5:] == ["tone", "score", "refund", "topics", "summary"]
    page.locator("#row-4").get_by_text("The answer has no “tone”, “score”").wait_for()
    shot(page, "sheet-1440")
    assert faults(page) == []
    page.locator("#row-3").click()
    page.locator("#panel").get_by_role("heading", name="topics").wait_for()
    shot(page, "sheet-panel")
    page.set_viewport_size({"width": 390, "height": 844})
    shot(page, "sheet-390")


def test_the_sheet_follows_the_lines_and_stays_where_it_is(page: "Page", web: Client) -> None:
    batch = drafted(web, rows(150), "many.csv")
    page.goto(batch.get_absolute_url())
    page.get_by_label("What to ask of every row").fill("Tone of {{text}}?")
    page.locator("#page-next").click()
    page.locator("#row-120").wait_for()
    page.locator("#row-120 .tick").check()
    page.locator("#grid-frame").evaluate("frame => frame.scrollTop = 400")
    page.get_by_role("button", name="Add a column").click()
    page.locator("[name=column_name]:focus").wait_for()
    page.keyboard.type("mood")
    page.locator("#grid th .column-name").get_by_text("mood", exact=True).wait_for()
    assert page.locator("#grid-frame").evaluate("frame => frame.scrollTop") == 400
    assert page.locator("#row-120 .tick").is_checked()
    assert page.locator("#grid .tick:checked").count() == 1
    assert page.evaluate("document.activeElement.value") == "mood"
