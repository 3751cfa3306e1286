"""Buttons in a real browser: no press loses the page, and each one has an answer."""

from typing import TYPE_CHECKING

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.teams.models import User
from tests.batches.conftest import rows
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    return opened


@pytest.mark.usefixtures("every_file_is_small")
def test_a_refused_start_leaves_no_broken_address(page: "Page", web: Client) -> None:
    draft = drafted(web, rows(3))
    page.goto(reverse("batches"))
    page.goto(draft.get_absolute_url())
    page.locator("#id_template").fill("{{nothing}}")
    page.get_by_role("button", name="Start: 3 rows").click()
    page.locator("#id_template[aria-invalid=true]").wait_for()
    assert page.url.endswith(draft.get_absolute_url())
    response = page.reload()
    assert response is not None
    assert response.status == 200
    page.go_back()
    page.get_by_role("heading", name="Batches").wait_for()
    page.go_forward()
    page.get_by_role("button", name="Start: 3 rows").wait_for()


def test_a_server_that_is_down_does_not_replace_the_page(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.route("**/stop/", lambda route: route.abort())
    page.get_by_role("button", name="Stop …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Stop", exact=True).click()
    dialog.get_by_text("batchui cannot be reached, so nothing was done.").wait_for()
    assert page.url.endswith(batch.get_absolute_url())
    page.unroute("**/stop/")
    dialog.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("Stopped.").first.wait_for()
    batch.refresh_from_db()
    assert batch.stop_requested_at is not None


def test_a_download_says_which_file_is_saved_and_its_menu_closes(
    page: "Page", batch: Batch
) -> None:
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="The file as uploaded").click()
    assert saved.value.suggested_filename == "texts.csv"
    page.get_by_text("“texts.csv” is being saved.").wait_for()
    assert not page.locator("#downloads").is_visible()


def test_a_file_that_is_made_or_chosen_is_announced_too(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Excel workbook").click()
    page.get_by_text(f"“{saved.value.suggested_filename}” is being saved.").wait_for()
    page.goto(reverse("choose_download", args=[batch.pk]))
    page.get_by_label("CSV, every cell exactly as it is").check()
    with page.expect_download():
        page.get_by_role("button", name="Download").click()
    page.get_by_text("The file is on its way.").wait_for()
    assert page.get_by_role("button", name="Download").is_enabled()


def test_a_chosen_download_of_a_server_that_is_down_leaves_the_page(
    page: "Page", batch: Batch
) -> None:
    address = reverse("choose_download", args=[batch.pk])
    page.goto(address)
    page.route(f"**{address}", lambda route: route.abort())
    page.get_by_role("button", name="Download").click()
    page.get_by_text("batchui cannot be reached, so nothing was done.").wait_for()
    assert page.url.endswith(address)
    page.unroute(f"**{address}")
    with page.expect_download():
        page.get_by_role("button", name="Download").click()


def test_buttons_and_fields_have_the_letters_of_the_page(page: "Page") -> None:
    """A browser gives them others, and smaller ones, where the style sheet does not say so."""
    page.goto(reverse("batches"))
    page.get_by_role("link", name="New batch").wait_for()
    letters = """(e) => [getComputedStyle(e).fontFamily, getComputedStyle(e).fontSize]"""
    sample = page.get_by_role("button", name="Try it with a sample file")
    assert sample.evaluate(letters) == page.locator("body").evaluate(letters)
    page.evaluate(
        "() => document.body.append(...['button', 'input', 'select', 'textarea'].map("
        "(name) => document.createElement(name)))"
    )
    for name in ("button", "input", "select", "textarea"):
        field = page.locator(f"body > {name}").last
        assert field.evaluate(letters) == page.locator("body").evaluate(letters)


def test_arrows_move_in_a_menu(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="Download").press("Enter")
    focused = "document.activeElement.textContent.trim()"
    page.keyboard.press("ArrowDown")
    first = page.evaluate(focused)
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) != first
    page.keyboard.press("Home")
    assert page.evaluate(focused) == first
    page.keyboard.press("End")
    assert page.evaluate(focused) == "The file as uploaded"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == "The file as uploaded"


def test_escape_leaves_a_title_as_it_was(page: "Page", batch: Batch) -> None:
    page.goto(batch.get_absolute_url())
    page.get_by_role("heading", name="texts").click()
    page.get_by_label("Name of this batch").fill("Other")
    page.keyboard.press("Escape")
    page.get_by_role("heading", name="texts").wait_for()
    page.locator("#rename:focus").wait_for()
    page.keyboard.press("Enter")
    page.get_by_label("Name of this batch").fill("Reviews")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Reviews").wait_for()
    batch.refresh_from_db()
    assert batch.name == "Reviews"
