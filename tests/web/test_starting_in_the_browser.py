"""Start in a real browser, where something stands between its press and the batch."""

from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client

from batchui.batches import long_tasks, preparing, surveys
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from tests.batches.conftest import another_account
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TOO_LONG = b"id,review\n1,Lovely room\n2," + b"word " * 40_000 + b"\n3,Noisy street\n"


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(PATIENCE)
    return opened


def ask(page: "Page", batch: Batch) -> None:
    """Open a draft, and word its question."""
    page.goto(batch.get_absolute_url())
    page.locator("#id_template").fill("Judge {{review}}")
    page.locator("#saved").get_by_text("Saved", exact=True).wait_for()


def ask_otherwise(page: "Page") -> None:
    """Reword the question: it is saved as before."""
    page.locator("#id_template").fill("Judge {{review}} again")
    page.locator("#saved").get_by_text("Saving …", exact=True).wait_for()
    page.locator("#saved").get_by_text("Saved", exact=True).wait_for()


def says_why(page: "Page") -> None:
    """The note about the row is open, has the focus, and is read out."""
    page.locator("#skips-note:popover-open").get_by_text("row 3").first.wait_for()
    page.locator("#id_skip_invalid:focus").wait_for()
    spoken = page.locator("#announcement").inner_text()
    assert spoken.startswith("Nothing was started.")
    assert "too long" in spoken
    assert faults(page) == []


def goes_on_without_the_row(page: "Page", batch: Batch) -> None:
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Start: 2 rows").click()
    page.locator("#live").wait_for()
    batch.refresh_from_db()
    assert batch.started_at is not None


@pytest.mark.usefixtures("every_file_is_small")
def test_a_row_too_long_for_the_model_opens_the_note_that_skips_it(
    page: "Page", web: Client
) -> None:
    batch = drafted(web, TOO_LONG, "long.csv")
    ask(page, batch)
    page.locator("#start-button").click()
    says_why(page)
    goes_on_without_the_row(page, batch)


def test_what_a_worker_found_in_the_way_opens_the_note_too(
    page: "Page", web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = drafted(web, TOO_LONG, "long.csv")
    ask(page, batch)
    page.locator("#start-button").click()
    page.get_by_text("Preparing: ").wait_for()
    preparing.prepare(batch.pk)
    batch.refresh_from_db()
    assert batch.status == BatchStatus.DRAFT
    surveys.find_out(batch.pk)
    says_why(page)
    monkeypatch.setattr(long_tasks, "SMALL_BYTES", 10**8)
    goes_on_without_the_row(page, batch)


@pytest.mark.usefixtures("every_file_is_small")
def test_who_agrees_to_the_price_starts_the_batch(
    page: "Page", web: Client, team: Team, sandbox: RunningSandbox, settings: Any
) -> None:
    another_account(settings)
    settings.CLOUDFLARE_API_URL = sandbox.base_url
    Team.objects.filter(pk=team.pk).update(confirm_above=0)
    batch = drafted(web, b"id,review\n" + b"1,%b\n" % (b"word " * 400) * 3_000, "dear.csv")
    ask(page, batch)
    page.locator("#start-button").click()
    dialog = page.locator("#decision-dialog")
    dialog.get_by_role("heading", name="This batch may cost $").wait_for()
    assert faults(page) == []
    dialog.get_by_role("button", name="Do not start").click()
    ask_otherwise(page)
    page.locator("#start-button").click()
    dialog.get_by_role("button", name="Start for $").click()
    page.locator("#live").wait_for()
    batch.refresh_from_db()
    assert batch.started_at is not None


def chosen(page: "Page", web: Client, *jobs: str) -> tuple[Batch, list["Route"]]:
    """A draft with a question, and these jobs chosen one after the other.

    What that asks is on its way, until its route is continued or cut.
    """
    batch = drafted(web, b"id,review\n1,Lovely room\n", "reviews.csv")
    ask(page, batch)
    held: list[Route] = []
    page.route("**/job/**", lambda route: held.append(route))
    page.locator("#jobs-button").click()
    for job in jobs:
        page.locator(f"#job-{job}").click()
    page.locator("#start-button:disabled").wait_for()
    return batch, held


@pytest.mark.usefixtures("every_file_is_small")
def test_start_waits_for_the_question_that_was_chosen(page: "Page", web: Client) -> None:
    batch, [choice] = chosen(page, web, "rank", "categories")
    choice.continue_()
    page.locator("#start-button:enabled").click()
    page.locator("#id_query[aria-invalid=true]").wait_for()
    batch.refresh_from_db()
    assert batch.started_at is None


@pytest.mark.usefixtures("every_file_is_small")
def test_start_is_there_again_where_the_question_did_not_come(page: "Page", web: Client) -> None:
    batch, [choice] = chosen(page, web, "rank")
    choice.abort()
    page.get_by_text("batchui cannot be reached, so nothing was done.").wait_for()
    page.locator("#start-button:enabled").click()
    page.locator("#live").wait_for()
    batch.refresh_from_db()
    assert batch.started_at is not None
