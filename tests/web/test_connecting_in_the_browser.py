"""An administrator connects an account in a browser; later its token is refused, and replaced."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams.models import User
from tests.batches.conftest import MakeBatch, rows, send_all, work
from tests.conftest import PATIENCE
from tests.teams.people import join
from tests.web.test_people_in_the_browser import NewPage, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ACCOUNT = "0123456789abcdef0123456789abcdef"
RIGHT = "Xk7_zP-2mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO"
SECOND = "Second-mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO9"


@pytest.fixture
def cloudflare(sandbox: RunningSandbox, settings: Any) -> Iterator[RunningSandbox]:
    """A Cloudflare that knows one token; the sandbox of the team is another one."""
    with running_sandbox(token=RIGHT) as running:
        settings.CLOUDFLARE_API_URL = running.base_url
        yield running


def fill(page: "Page", token: str) -> None:
    page.get_by_label("API token", exact=True).fill(token)


def test_from_the_sandbox_to_an_account_and_over_a_refused_token(
    ana: User, new_page: NewPage, cloudflare: RunningSandbox, start: MakeBatch
) -> None:
    page = new_page(ana)
    page.set_default_timeout(PATIENCE)
    # 1. From the sandbox's note to the form.
    page.goto("/")
    page.get_by_role("button", name="Sandbox").click()
    page.get_by_role("link", name="Connect an account").click()
    page.wait_for_url("**/connections/connect/rest/")
    # 2. A wrong token: it is said where it is, and what is typed stays.
    page.get_by_label("Account id", exact=True).fill(f"https://dash.cloudflare.com/{ACCOUNT}/home")
    fill(page, RIGHT[::-1])
    page.get_by_role("button", name="Test").click()
    page.locator("#id_token_error").get_by_text("The API token is not accepted.").wait_for()
    assert page.get_by_label("API token", exact=True).input_value() == RIGHT[::-1]
    # 3. The right one: connected, and used for the next batch.
    fill(page, f" Bearer {RIGHT} ")
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_text("is connected, and new batches go to it.").wait_for()
    assert page.locator(".chip-sandbox").count() == 0
    batch = start(rows(60))
    assert batch.connection.account_id == ACCOUNT
    # 4. The token is refused later: everybody is told, and nothing is lost.
    context = cloudflare.sandbox.context
    context.options = replace(context.options, token=SECOND)
    send_all()
    assert _statuses(batch) == {PartStatus.HELD}
    colleague = new_page(join(ana))
    colleague.goto("/")
    colleague.get_by_text("Ana can put it right.").wait_for()
    page.goto(batch.get_absolute_url())
    page.get_by_role("link", name="Replace the API token").click()
    # 5. A new token, and all goes on by itself.
    fill(page, SECOND)
    page.get_by_role("button", name="Replace").click()
    page.get_by_text("3 parts that waited go on.").wait_for()
    assert page.get_by_text("is not let in").count() == 0
    assert _statuses(batch) == {PartStatus.READY}
    assert work(batch).status == BatchStatus.FINISHED


def _statuses(batch: Batch) -> set[str]:
    return set(batch.parts.values_list("status", flat=True))


def test_while_cloudflare_is_away_the_page_stays_and_says_so(
    ana: User, new_page: NewPage, settings: Any
) -> None:
    settings.CLOUDFLARE_API_URL = "http://127.0.0.1:9/client/v4"
    page = new_page(ana)
    page.set_default_timeout(PATIENCE)
    page.goto("/connections/connect/rest/")
    page.get_by_label("Account id", exact=True).fill(ACCOUNT)
    fill(page, RIGHT)
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("alert").get_by_text("could not be reached").wait_for()
    assert page.get_by_label("Account id", exact=True).input_value() == ACCOUNT
    page.get_by_role("button", name="Save it untested").click()
    page.get_by_text("is connected, and new batches go to it.").wait_for()
