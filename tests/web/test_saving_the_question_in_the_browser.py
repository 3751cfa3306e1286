"""The page before Start in a real browser: what is typed is saved, whatever comes in between."""

import time
from typing import TYPE_CHECKING

import pytest

from batchui.batches import long_tasks
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from tests.web.test_asking_in_the_browser import draft, page, question
from tests.web.test_people_in_the_browser import new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

__all__ = ["draft", "new_page", "page"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("every_file_is_small"),
]


def test_the_page_says_when_it_has_saved_and_when_it_has_not(page: "Page", draft: Batch) -> None:
    held: list[Route] = []
    page.route("**/preview/", lambda route: held.append(route))
    saved = page.locator("#saved")
    assert saved.inner_text().strip() == "Saved"
    page.keyboard.insert_text("{{review}}?")  # at once: slow typing is saved in pieces
    saved.get_by_text("Saving …").wait_for()
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    saved.get_by_text("Saved", exact=True).wait_for()
    page.keyboard.insert_text("!")
    while len(held) < 2:
        page.wait_for_timeout(20)
    held[1].abort()
    saved.get_by_text("Not saved").wait_for()
    page.unroute("**/preview/")


def test_no_save_overtakes_the_one_before_it(page: "Page", draft: Batch) -> None:
    """It may be slower on its way, and would then take the place of the newer one."""
    held: list[Route] = []
    sent: list[str] = []

    def hold(route: "Route") -> None:
        sent.append(route.request.post_data or "")
        if len(sent) == 1:
            held.append(route)
        else:
            route.continue_()

    page.route("**/preview/", hold)
    page.locator("#id_template").fill("Older")
    page.wait_for_timeout(600)
    page.locator("#id_template").fill("Newer")
    page.wait_for_timeout(600)
    assert len(sent) == 1
    held[0].continue_()
    page.locator("#saved").get_by_text("Saved", exact=True).wait_for()
    draft.refresh_from_db()
    assert draft.template == "Newer"


def test_a_save_that_start_has_ended_and_that_comes_after_it_changes_nothing(
    page: "Page", draft: Batch
) -> None:
    """The browser has given it up; on its way, or in the server, it goes on."""
    held: list[Route] = []
    page.route("**/preview/", lambda route: held.append(route))
    page.keyboard.type("Nothing")
    while not held:
        page.wait_for_timeout(20)
    page.keyboard.type(" of the file")
    page.get_by_role("button", name="Start: ").click()
    page.get_by_role("alert").get_by_text("Nothing was started.").wait_for()
    late = held[0].request
    answer = page.request.post(late.url, headers=late.headers, data=late.post_data)
    assert answer.ok
    page.reload()
    assert question(page) == "Nothing of the file"


def test_words_typed_right_before_the_page_is_left_are_kept(page: "Page", draft: Batch) -> None:
    page.keyboard.type("The last words about {{review}}")
    page.goto("/people/")
    page.go_back()
    page.locator("#id_template").wait_for()
    assert question(page) == "The last words about {{review}}"
    page.locator("#id_template").press("End")
    page.keyboard.type(", and more")
    page.reload()
    assert question(page) == "The last words about {{review}}, and more"


def test_words_typed_right_before_start_are_started_and_not_brought_back(
    page: "Page", draft: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They went with Start. Saved once more, they would take away the page that prepares it."""
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 0)
    page.route("**/preview/", lambda route: None)  # the answer never comes
    saves: list[str] = []
    page.on("request", lambda request: saves.append(request.url))
    page.keyboard.type("Sum up {{review}}")
    page.locator("#start-button").click()
    page.get_by_text("Preparing: ").wait_for()
    page.wait_for_timeout(300)
    assert [url for url in saves if url.endswith("?save")] == []
    draft.refresh_from_db()
    assert draft.template == "Sum up {{review}}"


def test_a_page_that_brings_words_back_leads_to_a_batch_that_was_started_meanwhile(
    page: "Page", draft: Batch
) -> None:
    def started_meanwhile(route: "Route") -> None:
        Batch.objects.update(status=BatchStatus.STOPPED)
        route.fulfill(status=204)

    page.evaluate(
        """() => sessionStorage.setItem("batchui.left", JSON.stringify({
            page: document.querySelector("#ask").dataset.saves,
            at: Date.now() + 60000, fields: "template=Other&model=other"}))"""
    )
    page.route("**/preview/?save", started_meanwhile)
    page.reload()
    page.locator("#live").wait_for()


def test_words_that_are_saved_while_the_next_page_is_under_way_are_kept(
    page: "Page", draft: Batch
) -> None:
    """The page was made before they were."""

    def made_early(route: "Route") -> None:
        made = route.fetch()
        time.sleep(2)
        route.fulfill(response=made)

    page.route(f"**{draft.get_absolute_url()}", made_early)
    with page.expect_navigation():
        page.evaluate(
            """() => {
                const area = document.getElementById("id_template");
                area.value = "Judge {{review}}";
                setTimeout(() => location.reload());
                setTimeout(() => area.dispatchEvent(new Event("input", { bubbles: true })), 300);
            }"""
        )
    page.locator("#id_template").wait_for()
    assert question(page) == "Judge {{review}}"
