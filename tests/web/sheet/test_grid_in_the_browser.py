"""The grid in a real browser: keys, columns that are dragged and hidden, a phone."""

import re
from typing import TYPE_CHECKING

import pytest

from batchui.batches.models import Batch
from batchui.teams.models import Team, User
from batchui.web.sheet import grid
from tests.batches.sheet.made import FORM, made, yes
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import sticks_out

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "A long answer of many words, so that it takes more than three lines of its cell. " * 8


@pytest.fixture
def some(team: Team, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Rows 1 to 40, 30 a page; the third answer is long."""
    monkeypatch.setattr(grid, "ROWS_PAGE", 30)
    answers = [yes(f"answer {number}") for number in range(1, 41)]
    answers[2] = yes(LONG)
    return made(team, answers[:20], answers[20:], template="Judge {{text}}")


@pytest.fixture
def page(new_page: NewPage, ana: User, some: Batch) -> "Page":
    """Its page, wide enough for a panel."""
    opened = new_page(ana, viewport={"width": 1280, "height": 800})
    opened.goto(some.get_absolute_url())
    return opened


def focus(page: "Page") -> str:
    return str(page.evaluate("document.activeElement.id"))


def widths(page: "Page") -> dict[str, int]:
    found: dict[str, int] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#grid th[data-column]")]
            .map((th) => [th.dataset.column, Math.round(th.getBoundingClientRect().width)]))"""
    )
    return found


def in_the_panel(page: "Page", number: int) -> None:
    page.locator(f"#panel [data-row='{number}']").wait_for()


def test_keys_move_open_and_close(page: "Page", some: Batch) -> None:
    page.locator("#open-1").focus()
    for key, row in (
        *(("ArrowDown", 2), ("j", 3), ("k", 2), ("ArrowUp", 1), ("ArrowUp", 1)),
        *(("PageDown", 11), ("End", 30), ("PageUp", 20), ("Home", 1), ("ArrowDown", 2)),
    ):
        page.keyboard.press(key)
        assert focus(page) == f"open-{row}", key
    page.keyboard.press("Enter")
    in_the_panel(page, 2)
    assert page.url.endswith("/rows/2/")
    assert page.locator("#row-2").get_attribute("aria-selected") == "true"
    page.keyboard.press("j")
    in_the_panel(page, 3)
    assert page.url.endswith("/rows/3/")
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    page.wait_for_url(f"**{some.get_absolute_url()}")
    page.locator("#open-3:focus").wait_for()
    assert page.locator("#grid-rows [aria-selected]").count() == 0


def test_one_row_alone_is_reached_with_tab(page: "Page") -> None:
    stops = "#grid-rows a:not([tabindex='-1'])"
    assert page.locator(stops).count() == 1
    page.locator("#open-1").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(stops).get_attribute("id") == "open-2"


def test_pages_are_turned_with_keys_and_back_turns_them_back(page: "Page") -> None:
    page.keyboard.press("n")
    page.get_by_text("Rows 31 to 40 · 40 in all").wait_for()
    assert page.url.endswith("?page=2")
    page.keyboard.press("p")
    page.get_by_text("Rows 1 to 30 · 40 in all").wait_for()
    page.go_back()
    page.get_by_text("Rows 31 to 40 · 40 in all").wait_for()


def test_who_turns_the_page_goes_on_at_its_first_row(page: "Page") -> None:
    page.get_by_role("link", name="Last").click()
    page.locator("#open-31:focus").wait_for()
    page.get_by_role("link", name="First").click()
    page.locator("#open-1:focus").wait_for()


def test_escape_leaves_an_empty_search_for_the_row(page: "Page") -> None:
    page.locator("#open-4").focus()
    page.keyboard.press("/")
    assert focus(page) == "search-words"
    page.keyboard.press("Escape")
    assert focus(page) == "open-4"


def test_what_is_no_number_is_no_row_to_go_to(page: "Page") -> None:
    page.get_by_label("Go to row").fill("abc")
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert page.locator("#jump:invalid").count() == 1
    assert "row=" not in page.url
    page.get_by_label("Go to row").fill("3,7")
    page.keyboard.press("Enter")
    page.locator("#open-37:focus").wait_for()


def test_keys_do_nothing_while_somebody_types_or_a_dialog_is_open(page: "Page") -> None:
    page.locator("#jump").focus()
    page.keyboard.type("n?j")
    assert page.locator("#jump").input_value() == "n?j"
    assert page.get_by_text("Rows 1 to 30").is_visible()
    assert not page.locator("#keys-dialog").is_visible()
    page.locator("#open-1").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("n")
    assert page.get_by_text("Rows 1 to 30").is_visible()
    page.keyboard.press("Escape")
    page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


def test_somebody_goes_to_a_row_as_her_spreadsheet_shows_it(page: "Page") -> None:
    page.get_by_label("Go to row").fill("37")
    page.keyboard.press("Enter")
    page.locator("#open-37:focus").wait_for()
    assert page.locator("#row-37").evaluate(
        """(row) => { const frame = document.getElementById("grid-frame").getBoundingClientRect();
            const box = row.getBoundingClientRect();
            return box.top >= frame.top && box.bottom <= frame.bottom; }"""
    )


def test_anywhere_on_a_row_opens_it_but_selecting_its_text_does_not(page: "Page") -> None:
    page.locator("#cell-4-0").click()
    in_the_panel(page, 4)
    page.keyboard.press("Escape")
    page.locator("#panel").wait_for(state="hidden")
    page.locator("#cell-5-0 div").select_text()
    page.locator("#cell-5-0").dispatch_event("click")
    page.wait_for_timeout(300)
    assert not page.locator("#panel").is_visible()


def test_a_column_is_dragged_and_stays_so(page: "Page") -> None:
    before = widths(page)
    edge = page.get_by_role("separator", name="Width of text")
    box = edge.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + 8)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 60, middle[1], steps=5)
    page.mouse.up()
    after = widths(page)
    assert after == before | {"c2": before["c2"] + 60}
    page.reload()
    assert widths(page) == after
    page.keyboard.press("n")
    page.get_by_text("Rows 31 to 40").wait_for()
    assert widths(page) == after
    page.get_by_role("button", name="View").click()
    page.get_by_role("button", name="Widths as at first").click()
    assert widths(page) == before


def test_a_column_is_made_wider_and_fitted_with_keys(page: "Page") -> None:
    before = widths(page)
    page.get_by_role("separator", name="Width of id").focus()
    page.keyboard.press("ArrowRight")
    assert widths(page)["c1"] == before["c1"] + 16
    now = page.get_by_role("separator", name="Width of id").get_attribute("aria-valuenow")
    assert now == str(before["c1"] + 16)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    assert widths(page)["c2"] == before["c2"] - 16
    # Wider than its texts are in any font.
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    wide = widths(page)["c2"]
    page.keyboard.press("Enter")
    assert widths(page)["c2"] < wide
    cut = "it => it.scrollWidth > it.clientWidth"
    assert not page.locator("#row-30 td.c2 div").evaluate(cut)


def test_columns_are_hidden_and_shown_again(page: "Page") -> None:
    page.get_by_role("button", name="View").click()
    page.get_by_label("id", exact=True).uncheck()
    assert not page.locator("#row-1 .c1").is_visible()
    page.reload()
    assert not page.locator("#row-1 .c1").is_visible()
    page.get_by_role("button", name="View · 1 hidden").click()
    assert not page.get_by_label("id", exact=True).is_checked()
    page.get_by_role("button", name="Show all columns").click()
    assert page.locator("#row-1 .c1").is_visible()


def test_what_a_browser_keeps_may_be_anything(page: "Page", some: Batch) -> None:
    before = widths(page)
    for kept in ("[]", "{", "7", '{"hidden":7,"widths":[1]}', '{"widths":{"x{}":9,"c1":"9"}}'):
        page.evaluate(
            "([key, kept]) => localStorage.setItem(key, kept)", [f"batchui.sheet.{some.pk}", kept]
        )
        page.reload()
        assert widths(page) == before


def test_long_cells_have_three_lines_or_all(page: "Page") -> None:
    page.set_viewport_size({"width": 800, "height": 700})
    height = "it => it.getBoundingClientRect().height"
    cell = page.locator("#cell-3-0 div")
    clamped = cell.evaluate(height)
    page.get_by_role("button", name="View").click()
    page.get_by_label("More of long cells").check()
    assert cell.evaluate(height) > clamped
    page.reload()
    assert cell.evaluate(height) > clamped


def test_the_head_and_the_row_numbers_stay_in_view(page: "Page", some: Batch) -> None:
    page.set_viewport_size({"width": 800, "height": 600})
    page.get_by_role("separator", name="Width of text").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    wrap = page.locator(".grid-wrap")
    assert wrap.get_attribute("data-more") is not None
    page.locator("#grid-frame").evaluate("it => it.scrollTo(9999, 300)")
    page.locator(".grid-wrap:not([data-more])").wait_for()
    tops = "it => it.getBoundingClientRect().top"
    frame_top = page.locator("#grid-frame").evaluate(tops)
    assert page.locator("#grid th[data-column=c2]").evaluate(tops) == frame_top
    assert page.locator("#row-20 .n").evaluate("it => it.getBoundingClientRect().left") == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_shadow_says_on_which_side_more_columns_are(page: "Page") -> None:
    page.set_viewport_size({"width": 800, "height": 600})
    page.get_by_role("separator", name="Width of text").focus()
    for _ in range(30):
        page.keyboard.press("ArrowRight")
    wrap = page.locator(".grid-wrap")
    shadow = "it => getComputedStyle(it, '::after').backgroundImage"
    number = page.locator("#row-1 .n")
    assert wrap.get_attribute("data-less") is None
    assert number.evaluate(shadow) == "none"
    page.locator("#grid-frame").evaluate("it => it.scrollTo(50, 0)")
    page.locator(".grid-wrap[data-more][data-less]").wait_for()
    assert "gradient" in number.evaluate(shadow)


# Where the first letter of a cell's text is drawn, as a share of the cell's width.
BEGINS_AT = """it => {
    const letter = new Range();
    letter.setStart(it.firstChild, 0);
    letter.setEnd(it.firstChild, 1);
    const [cell, drawn] = [it.getBoundingClientRect(), letter.getBoundingClientRect()];
    return (drawn.left - cell.left) / cell.width;
}"""


def test_a_text_begins_where_its_script_does(page: "Page", team: Team) -> None:
    hebrew = "החדר היה נקי. The lift was broken."
    page.goto(made(team, [yes("Quiet and clean."), yes(hebrew)]).get_absolute_url())
    assert page.locator("#cell-1-0 div").evaluate(BEGINS_AT) < 0.1
    assert page.locator("#cell-2-0 div").evaluate(BEGINS_AT) > 0.9
    page.locator("#open-2").click()
    in_the_panel(page, 2)
    assert page.locator("#row-answer-text").evaluate(BEGINS_AT) > 0.9


def test_the_answers_behind_many_columns_are_in_view(page: "Page", team: Team) -> None:
    more = [f"column {number}" for number in range(58)]
    form = FORM | {"columns": ["id", "text", *more]}
    wide = made(team, [yes("Fine")] * 3, source_format=form)
    page.goto(wide.get_absolute_url())
    page.locator("td.answer").first.wait_for()
    box = page.locator("th.answer").bounding_box()
    assert box is not None
    assert 0 < box["x"] < box["x"] + box["width"] <= 1281


def test_on_a_phone_a_row_has_its_number_what_was_asked_about_and_the_answer(
    page: "Page", some: Batch
) -> None:
    page.set_viewport_size({"width": 390, "height": 760})
    shown = page.locator("#row-1 > :visible")
    assert [re.sub(r"\s+", " ", text).strip() for text in shown.all_inner_texts()] == [
        *("1", "text 1", "answer 1")
    ]
    assert sticks_out(page) == []
    page.locator("#open-1").click()
    in_the_panel(page, 1)
    assert page.locator("#panel").evaluate("it => it.matches(':modal')")
    page.keyboard.press("Escape")
    page.locator("#open-1:focus").wait_for()
