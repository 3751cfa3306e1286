"""The keyboard alone is enough, and keeps its place while pages refresh themselves."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.project.helpers import until
from tests.stories.product import Product
from tests.stories.visitors import Visitor, batch_id, faults, gets_the_focus

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.processes]

HAS_FOCUS = "element => element === document.activeElement"


def reach(page: "Page", target: "Locator") -> None:
    """Press Tab until the target has the focus."""
    target.wait_for(state="attached")
    if target.evaluate(HAS_FOCUS):
        return
    passed = []
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate(HAS_FOCUS):
            return
        passed.append(page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
    raise AssertionError("Tab does not lead there, but past:\n" + "\n".join(passed))


def test_from_the_file_to_start_without_a_mouse(
    product: Product, ana: Visitor, reviews: Path
) -> None:
    page = ana.page
    # Choosers are caught from here on: the browser takes a moment to begin with that.
    page.on("filechooser", lambda _: None)
    page.goto("/")
    reach(page, page.get_by_role("link", name="New batch"))
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/new/$"))
    reach(page, page.locator("#id_file"))
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(reviews)
    page.wait_for_url(re.compile("/batches/"))
    batch = batch_id(page.url)
    reach(page, page.locator("#id_template"))
    page.keyboard.press("Control+a")
    page.keyboard.type("Summarise: ")
    reach(page, page.get_by_role("button", name="review", exact=True))
    page.keyboard.press("Enter")
    page.keyboard.type(" Be brief.")
    page.locator("#prompt-preview .prose").filter(has_text="Room 1, lovely Be brief.").wait_for()
    reach(page, ana.start_button())
    page.keyboard.press("Enter")
    ana.has_status("finished")
    [(template,)] = product.ask(
        "SELECT template FROM batches_batch WHERE id = ?", batch.replace("-", "")
    )
    assert template == "Summarise: {{review}} Be brief."


def test_another_job_is_chosen_and_taken_back_without_a_mouse(ana: Visitor, reviews: Path) -> None:
    page = ana.page
    ana.upload(reviews)
    ana.start_button().wait_for()
    reach(page, page.locator("#jobs-button"))
    page.keyboard.press("Enter")
    page.locator("#jobs:popover-open").wait_for()
    assert faults(page) == []
    for job in ("ask", "fields", "categories", "translate"):
        page.keyboard.press("ArrowDown")
        gets_the_focus(page.locator(f"#job-{job}"))
    page.keyboard.press("Escape")
    gets_the_focus(page.locator("#jobs-button"))
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("#jobs-button", has_text="Translate").wait_for()
    gets_the_focus(page.locator("#id_template"))
    reach(page, page.locator("#undo-question"))
    page.keyboard.press("Enter")
    page.locator("#jobs-button", has_text="Ask about each row").wait_for()
    gets_the_focus(page.locator("#id_template"))


@pytest.fixture(scope="module")
def running(product: Product, ana: Visitor, reviews: Path) -> str:
    """A batch that stays on its way; its page is open."""
    product.timings(queued=0, running=3600)
    batch = ana.start(reviews, ask="Rate: {{review}}")
    ana.has_status("running")
    return batch


@pytest.mark.parametrize(
    ("tab", "place", "polled"),
    [
        ("", "#live time >> nth=0", "live"),
        ("parts/", "#parts button >> nth=0", "parts"),
        ("timeline/", "#timeline time >> nth=0", "timeline"),
    ],
)
def test_the_focus_stays_when_a_batch_refreshes_itself(
    product: Product, ana: Visitor, running: str, tab: str, place: str, polled: str
) -> None:
    ana.page.goto(f"/batches/{running}/{tab}")
    assert_focus_stays(product, ana, place=place, polled=polled)


def test_the_focus_stays_when_the_history_refreshes_itself(
    product: Product, ana: Visitor, running: str
) -> None:
    ana.page.goto("/")
    assert_focus_stays(product, ana, place=f"#batch-{running} a", polled="history")


def assert_focus_stays(product: Product, ana: Visitor, *, place: str, polled: str) -> None:
    """Focus the place, let its fragment be swapped for a newer one, and look where the focus is."""
    page = ana.page
    page.locator(place).focus()
    before = page.locator(place).element_handle()
    assert before is not None
    with page.expect_response(lambda answer: f"/{polled}/" in answer.url and answer.status == 200):
        product.change("UPDATE batches_batch SET version = version + 1")
    until(lambda: not before.evaluate("element => element.isConnected"))
    page.wait_for_timeout(200)
    gets_the_focus(page.locator(place))
