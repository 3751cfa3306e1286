"""Around the grid in a real browser: the View menu, going to a row, the panel, a new name."""

from typing import TYPE_CHECKING

import pytest
from django.test import Client

from batchui.batches.models import Batch
from batchui.teams.models import Team, User
from batchui.web.sheet import grid
from tests.batches.books import reviews
from tests.batches.sheet.made import FORM, made, no, yes
from tests.conftest import PATIENCE
from tests.stories.visitors import gets_the_focus
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "A long answer of many words, so that it takes more than three lines of its cell. " * 8


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(PATIENCE)
    return opened


@pytest.fixture
def some(team: Team, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Rows 1 to 60, 50 a page."""
    monkeypatch.setattr(grid, "ROWS_PAGE", 50)
    return made(
        team, [yes(10 * LONG if n == 3 else f"answer {n}") for n in range(1, 61)], name="Reviews"
    )


def height(element: "Locator") -> float:
    return float(element.evaluate("(one) => one.getBoundingClientRect().height"))


def test_view_hides_columns_and_opens_cells_before_start(
    page: "Page", web: Client, every_file_is_small: None
) -> None:
    text = "many words " * 60
    draft = drafted(web, f"id,review\n1,{text}\n2,short\n".encode(), "reviews.csv")
    page.goto(draft.get_absolute_url())
    row = page.locator("#grid-rows tr").first
    clamped = height(row)
    page.locator("#view-button").click()
    page.get_by_label("More of long cells").check()
    assert height(row) > 1.5 * clamped
    page.locator("#view-menu").get_by_label("review").uncheck()
    page.locator("#grid th", has_text="review").wait_for(state="hidden")
    page.get_by_role("button", name="Show all columns").click()
    page.locator("#grid th", has_text="review").wait_for()


def test_the_row_that_somebody_goes_to_has_others_on_both_sides(page: "Page", some: Batch) -> None:
    page.goto(some.get_absolute_url())
    page.get_by_label("Go to row").fill("30")
    page.keyboard.press("Enter")
    page.locator("#open-30:focus").wait_for()
    where = page.locator("#row-30").evaluate(
        """(row) => { const frame = document.getElementById("grid-frame").getBoundingClientRect();
            return (row.getBoundingClientRect().top - frame.top) / frame.height; }"""
    )
    assert 0.25 < where < 0.75


def test_the_page_of_a_row_stays_where_it_is_when_the_row_is_long(
    page: "Page", some: Batch
) -> None:
    page.goto(f"{some.get_absolute_url()}rows/3/")
    page.locator("#panel-head").wait_for()
    page.locator("#panel-head").hover()
    page.mouse.wheel(0, 600)
    page.wait_for_function("() => document.getElementById('panel').scrollTop > 0")
    assert page.evaluate("[scrollY, document.documentElement.scrollHeight - innerHeight]") == [0, 0]


def test_a_panel_is_beside_the_rows_or_over_them_as_the_window_has_room(
    page: "Page", some: Batch
) -> None:
    page.goto(f"{some.get_absolute_url()}rows/3/")
    panel = page.locator("#panel[open]")
    panel.wait_for()
    assert not panel.evaluate("(one) => one.matches(':modal')")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("() => document.getElementById('panel').matches(':modal')")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function("() => !document.getElementById('panel').matches(':modal')")
    page.locator("#panel [data-row='3']").wait_for()


def test_a_new_name_stands_in_the_dialog_and_in_the_menu_at_once(page: "Page", some: Batch) -> None:
    page.goto(some.get_absolute_url())
    page.get_by_role("button", name="Rename “Reviews”").click()
    page.get_by_label("Name of this batch").fill("Letters")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Rename “Letters”").wait_for()
    assert "Letters" in page.title()
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete …").click()
    page.get_by_role("heading", name="Delete “Letters”?").wait_for()
    page.keyboard.press("Escape")
    saved_as = page.locator("#downloads [data-saves]").first.get_attribute("data-saves")
    assert saved_as is not None
    assert saved_as.startswith("Letters")


def test_on_a_phone_the_head_has_one_line_of_buttons_and_the_chosen_filter_is_in_view(
    page: "Page", team: Team
) -> None:
    answers = [yes("fine")] * 900 + [no("empty"), no("failed"), no("unfit"), no("missing")]
    batch = made(team, answers, name="Reviews")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{batch.get_absolute_url()}?show=failed")
    buttons = page.locator(".sheet-head > .row button:visible")
    tops = buttons.evaluate_all("all => all.map((one) => one.getBoundingClientRect().top)")
    assert len(tops) == 4
    assert max(tops) - min(tops) < 2
    for name in ("Retry 4 rows", "Count 1 empty", "More", "Download"):
        assert page.get_by_role("button", name=name).count() == 1, name
    chosen = page.locator("#chips [aria-current]")
    page.wait_for_function(
        """() => { const line = document.getElementById("chips").getBoundingClientRect();
            const chosen = document.querySelector("#chips [aria-current]").getBoundingClientRect();
            return chosen.left >= line.left - 1 && chosen.right <= line.right + 1; }"""
    )
    assert "Failed" in chosen.inner_text()
    # The last filters are beyond the end: the line fades there.
    page.goto(f"{batch.get_absolute_url()}?show=")
    page.locator(".filters[data-more]").first.wait_for()


def test_what_was_asked_about_stays_beside_answers_that_are_far_to_the_right(
    page: "Page", team: Team
) -> None:
    names = [f"extra {n}" for n in range(1, 30)]
    form = FORM | {"columns": ["id", "text", *names]}
    batch = made(team, [yes(f"answer {n}") for n in range(1, 9)], source_format=form)
    where = """() => ["thead .n", "thead .main", "thead .answer"].map((kind) => {
        const box = document.querySelector(kind).getBoundingClientRect();
        return [Math.round(box.left), Math.round(box.right)]; })"""
    for width in (1280, 820, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(batch.get_absolute_url())
        page.locator("#grid-frame[data-frozen]").wait_for()
        number, asked, answer = page.evaluate(where)
        assert number[0] == 0
        assert asked[0] == number[1]
        assert asked[1] <= answer[0] < width
    assert "text" in page.locator("thead .main").inner_text()


def test_a_column_that_leaves_answers_no_room_scrolls_away(page: "Page", some: Batch) -> None:
    page.goto(some.get_absolute_url())
    page.locator("#grid-frame[data-frozen]").wait_for()
    edge = page.locator("thead .main .edge")
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 900, box["y"] + 8, steps=5)
    page.mouse.up()
    page.locator("#grid-frame:not([data-frozen])").wait_for()


def test_a_sheet_that_cannot_be_used_lets_her_choose_another_one(
    page: "Page", web: Client, every_file_is_small: None
) -> None:
    draft = drafted(web, reviews(), "reviews.xlsx")
    page.goto(draft.get_absolute_url())
    page.get_by_role("button", name="sheet “May”").click()
    page.get_by_role("radio", name="Read me").check()
    page.get_by_text("This file cannot be used.").wait_for()
    page.locator("#choose-sheet-button:focus").wait_for()
    assert page.locator(":popover-open").count() == 0
    page.get_by_role("button", name="sheet “Read me”").click()
    page.get_by_role("radio", name="May").check()
    page.locator("#start-button").wait_for()
    assert page.get_by_text("This file cannot be used.").count() == 0


def test_a_question_mark_shows_the_keys(page: "Page", some: Batch) -> None:
    page.goto(some.get_absolute_url())
    page.keyboard.press("?")
    page.locator("#keys-dialog[open] #keys-head").wait_for()
    page.keyboard.press("Escape")
    gets_the_focus(page.locator("#keys-button"))
