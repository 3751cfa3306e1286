"""The whole way in one sheet, by the keyboard alone.

A question is worded, tried twice, given answer columns, priced and started; two people watch the
answers come; then they are searched, corrected, asked again, downloaded, and compared with those of
a second run, in the middle of which everything is stopped and started.
"""

import csv
import io
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.project.helpers import until
from tests.stories.product import Product
from tests.stories.test_keyboard import reach
from tests.stories.visitors import Visitor, batch_id, faults, gets_the_focus, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]

# Where each row stands, and where the person is.
PLACES = """() => ({
    tops: Object.fromEntries([...document.querySelectorAll("#grid-rows tr")]
        .map((row) => [row.id, Math.round(row.getBoundingClientRect().top)])),
    focus: document.activeElement.id,
    scroll: document.querySelector("#grid-frame").scrollTop,
})"""
COLUMNS = ["tone", "stars", "summary"]
MINE = "Corrected by Ana"


@pytest.fixture(scope="module")
def ben(browser: "Browser", product: Product, ana: Visitor) -> Iterator[Visitor]:
    """A colleague, who came in by Ana's link."""
    link = ana.invite()
    with visiting(browser, product.address) as ben:
        ben.come_in(link, name="Ben", email="ben@example.com")
        yield ben


@pytest.fixture(scope="module")
def draft(product: Product, ana: Visitor, ben: Visitor, reviews: Path) -> str:
    """A file that was uploaded; its page is open, and nothing is asked yet."""
    page = ana.page
    # Choosers are caught from here on: the browser takes a moment to begin with that.
    page.on("filechooser", lambda _: None)
    page.goto("/")
    reach(page, page.get_by_role("link", name="New batch").first)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/new/$"))
    reach(page, page.locator("#id_file"))
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(reviews)
    page.wait_for_url(re.compile("/batches/"))
    ana.start_button().wait_for()
    # Nothing ends before it is told to.
    product.timings(queued=0.5, running=3600)
    product.control("DELETE", "calls")
    return batch_id(page.url)


def press(page: "Page", where: str, key: str = "Enter") -> None:
    """Go to a control with Tab, and press a key on it."""
    reach(page, page.locator(where))
    page.keyboard.press(key)


def are_accepted(product: Product, batch: str) -> bool:
    """Whether the sandbox has all parts of a batch."""
    return set(product.statuses(batch).values()) <= {"queued", "running"}


def write_column(page: "Page", number: int, name: str, kind: str, choices: str = "") -> None:
    """Fill in the line of an answer column, from its name on."""
    line = page.get_by_role("group", name=f"Answer column {number}")
    reach(page, line.get_by_label("Name"))
    page.keyboard.type(name)
    reach(page, line.get_by_label("Kind of value"))
    page.keyboard.type(kind)
    if choices:
        reach(page, line.get_by_label("Values to choose from"))
        page.keyboard.type(choices)


def test_a_start_without_a_question_says_so_and_leaves_the_address(
    ana: Visitor, draft: str
) -> None:
    page = ana.page
    press(page, "#start-button")
    page.locator("#id_template[aria-invalid=true]").wait_for()
    gets_the_focus(page.locator("#id_template"))
    assert page.url.endswith(f"/batches/{draft}/")
    assert faults(page) == []
    page.reload()
    ana.start_button().wait_for()
    assert page.locator("#id_template[aria-invalid=true]").count() == 0


def test_a_starting_point_is_filled_with_a_column_and_tried_twice(
    product: Product, ana: Visitor, draft: str
) -> None:
    page = ana.page
    press(page, "#start-from-summarise")
    question = page.locator("#id_template")
    until(lambda: "{{review}}" in question.input_value())
    press(page, "#try-now")
    page.locator("#try-1-facts", has_text="5 rows answered").wait_for()
    reach(page, question)
    page.keyboard.press("Control+End")
    page.keyboard.type(" Be brief.")
    press(page, "#try-now")
    page.locator("#try-2-facts", has_text="5 rows answered").wait_for()
    for number in (1, 2):
        page.locator(f"#try-{number}-2", has_text="sandbox").wait_for()
    assert product.status(draft) == "draft"
    assert faults(page) == []


def test_three_answer_columns_are_written_and_the_price_is_said(ana: Visitor, draft: str) -> None:
    page = ana.page
    press(page, "#add-answer-column")
    page.locator("[name=column_name]:focus").wait_for()
    write_column(page, 1, "tone", "one of", "good; mixed; bad")
    for number, name, kind in ((2, "stars", "number"), (3, "summary", "text")):
        reach(page, page.get_by_role("button", name="Add a column"))
        page.keyboard.press("Enter")
        write_column(page, number, name, kind)
    page.locator("#price", has_text=re.compile(r"[Ff]ree|\$")).wait_for()
    page.locator("#saved").get_by_text("Saved").wait_for()
    assert faults(page) == []


def test_two_people_see_the_answers_come_and_nothing_jumps(
    product: Product, ana: Visitor, ben: Visitor, draft: str, pictures: Path
) -> None:
    press(ana.page, "#start-button")
    ana.page.locator("#live").wait_for()
    ben.page.goto(f"/batches/{draft}/")
    before = {}
    for person in (ana, ben):
        person.shows_all_rows()
        person.page.locator("#open-10").focus()
        person.page.locator("#grid-frame").evaluate("frame => { frame.scrollTop = 90; }")
        before[person.page] = person.page.evaluate(PLACES)
        assert person.page.locator("#cell-12-0 .waits").count() == 1, "it was over before"
        person.has_status("running")
        person.loads.clear()
    until(partial(are_accepted, product, draft))
    product.let_parts_end(apart=0.7)
    for person in (ana, ben):
        for row in (2, 12, 40, 61):
            person.page.locator(f"#cell-{row}-0 > div:not(:has(.waits))").wait_for()
            assert person.page.evaluate(PLACES) == before[person.page], f"row {row} landed"
        person.has_status("finished")
        person.says_answered("60 of 60")
        assert person.page.evaluate(PLACES) == before[person.page]
        assert person.loads == []
    heads = ana.page.locator("#grid th .column-name").all_inner_texts()
    assert heads[-3:] == COLUMNS
    assert ana.page.title().startswith("Finished: ")
    ana.page.screenshot(path=pictures / "sheet-finished.png")


def test_a_search_is_an_address_that_back_leaves(ana: Visitor, draft: str) -> None:
    page = ana.page
    page.goto(f"/batches/{draft}/")
    page.locator("#open-2").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("Room 41,")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"q=Room"))
    page.locator("#open-2").wait_for(state="detached")
    assert page.locator("#grid-rows tr").count() == 1
    assert "Room 41, lovely" in page.locator("#grid-rows").inner_text()
    page.reload()
    assert page.locator("#grid-rows tr").count() == 1
    page.go_back()
    page.locator("#open-2").wait_for()
    ana.shows_all_rows()
    assert page.locator("#grid-rows tr").count() == 60


def test_an_answer_is_corrected_and_the_colleague_sees_it(
    ana: Visitor, ben: Visitor, draft: str
) -> None:
    page = ana.page
    page.goto(f"/batches/{draft}/")
    reach(page, page.locator("#open-2"))
    for number, control in enumerate(("select", "input", "textarea")):
        page.keyboard.press("F2")
        page.locator(f"#cell-2-{number} {control}:focus").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type(MINE)
    page.keyboard.press("Enter")
    page.locator("#cell-2-2 .edited").wait_for()
    page.locator("#open-2:focus").wait_for()
    ben.page.goto(f"/batches/{draft}/rows/2/")
    ben.page.locator("#panel").get_by_text(MINE).first.wait_for()
    assert faults(ben.page) == []


def test_two_ticked_rows_are_asked_again_and_no_other(
    product: Product, ana: Visitor, draft: str
) -> None:
    page = ana.page
    product.control("DELETE", "calls")
    product.timings(queued=0, running=0.2)
    reach(page, page.locator("#open-2"))
    for key in ("ArrowDown", "Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    press(page, "#ask-ticked")
    page.get_by_role("heading", name="Ask 2 rows again?").wait_for()
    assert faults(page) == []
    again = page.get_by_role("button", name="Ask 2 rows again")
    reach(page, again)
    page.keyboard.press("Enter")
    ana.toast("2 rows are asked again").wait_for()
    ana.has_status("finished")
    ana.says_answered("60 of 60")
    assert sum(call["items"] for call in product.submissions()) == 2


def test_the_download_has_the_answers_and_the_correction(
    ana: Visitor, draft: str, reviews: Path
) -> None:
    page = ana.page
    page.goto(f"/batches/{draft}/")
    reach(page, page.get_by_role("button", name="Download"))
    page.keyboard.press("Enter")
    reach(page, page.locator("#downloads").get_by_role("link", name="CSV for Excel").first)
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    text = download.value.path().read_bytes().decode("utf-8-sig")
    found: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text, newline="")))
    with reviews.open(newline="") as file:
        uploaded = list(csv.DictReader(file))
    assert [{name: row[name] for name in uploaded[0]} for row in found] == uploaded
    assert found[0]["summary"] == MINE
    assert {row["status"] for row in found} <= {"answered", "edited"}
    assert {row["tone"] for row in found} <= {"good", "mixed", "bad"}
    assert all(float(row["stars"]) >= 0 for row in found)


@pytest.fixture(scope="module")
def second(product: Product, ana: Visitor, draft: str) -> str:
    """The same file and question once more, started and under way; its page is open."""
    page = ana.page
    product.timings(queued=0, running=3600)
    page.goto(f"/batches/{draft}/")
    press(page, "[popovertarget=actions]")
    press(page, "#actions button:has-text('Run again')")
    page.wait_for_url(lambda address: "/batches/" in address and draft not in address)
    ana.start_button().wait_for()
    press(page, "#start-button")
    ana.has_status("running")
    batch = batch_id(page.url)
    until(partial(are_accepted, product, batch))
    return batch


def test_a_page_outlives_a_server_that_is_stopped_and_started(
    product: Product, ana: Visitor, second: str
) -> None:
    page = ana.page
    ana.shows_all_rows()
    reach(page, page.locator("#open-2"))
    page.keyboard.press("PageDown")
    gets_the_focus(page.locator("#open-12"))
    ana.loads.clear()
    product.stop()
    product.end()
    banner = page.locator("#offline").get_by_text("batchui cannot be reached now.")
    banner.wait_for()
    assert page.locator("#grid-rows tr").count() == 60
    product.start()
    product.let_parts_end(apart=0.1)
    banner.wait_for(state="hidden", timeout=20_000)
    ana.has_status("finished")
    ana.says_answered("60 of 60")
    gets_the_focus(page.locator("#open-12"))
    assert ana.loads == []
    page.reload()
    ana.shows_all_rows()
    assert page.locator("#grid-rows tr").count() == 60


def test_two_runs_are_compared_and_the_correction_is_what_differs(
    ana: Visitor, draft: str, second: str
) -> None:
    page = ana.page
    press(page, "[popovertarget=actions]")
    press(page, "#actions a:has-text('Compare')")
    page.get_by_role("heading", name="Compare with …").wait_for()
    press(page, f"main a[href*='{draft}'].stretched")
    page.locator("#compared", has_text="98% agree: 59 of the 60 rows").wait_for()
    [line] = page.locator("#compared tbody tr").all()
    assert MINE in line.inner_text()
    assert "Room 1, lovely" in line.inner_text()
    press(page, "#compared nav a:has-text('All rows')")
    page.locator("#compared tbody tr").nth(49).wait_for()
    assert faults(page) == []
    page.go_back()
    page.locator("#compared tbody tr").nth(1).wait_for(state="detached")


def test_nothing_complained(ana: Visitor, ben: Visitor) -> None:
    # htmx tells the console of the requests that met no server; nothing else may have gone wrong.
    told = ana.complaints + ben.complaints
    assert [one for one in told if not one.startswith("htmx:")] == []
