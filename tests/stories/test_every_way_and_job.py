"""From nothing to an account, a Worker, each job, and a request that somebody else has sent."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from batchui.prompts.jobs import BY_SLUG
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from tests.stories.product import QUICK, Product, running_product
from tests.stories.visitors import MODEL, Visitor, faults
from tests.worker_binding.conftest import SECRET
from tests.worker_binding.workerd import Workerd

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ACCOUNT = "0123456789abcdef0123456789abcdef"
RIGHT = "Xk7_zP-2mQ9vR4tY8wB1nC6dF3gH5jK0lS_aE-iO"
FILE = (
    "id,review,question\n"
    "1,The room was lovely and quiet,How is the room?\n"
    "2,Breakfast was cold,How is the food?\n"
    "3,The staff of Hotel Alba helped at once,Who helped?\n"
)
ITEMS = "".join(
    json.dumps({"prompt": f"Summarise: {text}", "external_reference": f"r{n}"}) + "\n"
    for n, text in enumerate(("a lovely room", "a cold breakfast"))
)


@pytest.fixture(scope="module")
def cloudflare() -> Iterator[RunningSandbox]:
    """What stands in for Cloudflare: it knows one token, and answers at once."""
    with running_sandbox(token=RIGHT, binding=True) as running:
        yield running


@pytest.fixture(scope="module")
def product(
    cloudflare: RunningSandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Product]:
    data = tmp_path_factory.mktemp("product") / "data"
    with running_product(data, CLOUDFLARE_API_URL=cloudflare.base_url, **QUICK) as product:
        yield product


@pytest.fixture(scope="module")
def workerd(
    cloudflare: RunningSandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workerd]:
    """The Worker of the team, on Cloudflare's runtime."""
    log = tmp_path_factory.mktemp("workerd") / "log"
    workerd = Workerd(log=log, sandbox=cloudflare.root_url.removeprefix("http://"))
    workerd.start()
    try:
        yield workerd
    finally:
        workerd.kill()


def test_an_account_is_connected_with_a_wrong_token_first(ana: Visitor) -> None:
    page = ana.page
    page.goto("/")
    page.get_by_role("button", name="Sandbox").click()
    page.get_by_role("link", name="Connect an account").click()
    page.get_by_label("Account id", exact=True).fill(f" {ACCOUNT}\n")
    page.get_by_label("API token", exact=True).fill(RIGHT[::-1])
    page.get_by_role("button", name="Connect", exact=True).click()
    page.locator("#id_token_error", has_text="The API token is not accepted.").wait_for()
    page.get_by_label("API token", exact=True).fill(f"{RIGHT}\n")
    page.get_by_role("button", name="Connect", exact=True).click()
    ana.toast("is connected, and new batches go to it.").wait_for()
    assert page.locator(".chip-sandbox").count() == 0


FORMS = {
    "ask": ("#id_template", "Summarise: {{review}}"),
    "fields": ("#id_template", "Which hotel is named in {{review}}?"),
    "categories": ("#id_template", "Is this praise or blame? {{review}}"),
    "translate": ("#id_template", "{{review}}"),
    "embed": ("#id_template", "{{review}}"),
    "rank": ("#id_query", "{{question}}"),
}


@pytest.mark.parametrize("job", FORMS)
def test_each_job_is_picked_filled_in_and_answered(ana: Visitor, tmp_path: Path, job: str) -> None:
    page = ana.page
    file = tmp_path / f"{job}.csv"
    file.write_text(FILE)
    ana.upload(file)
    ana.start_button().wait_for()
    if job != "ask":
        page.locator("#jobs-button").click()
        page.locator(f"#job-{job}").click()
        page.locator("#jobs-button", has_text=BY_SLUG[job].label).wait_for()
    if job == "rank":
        page.locator("#id_template").fill("{{review}}")
    field, text = FORMS[job]
    page.locator(field).fill(text)
    if job == "translate":
        page.locator("#id_target_lang").select_option("de")
    if job == "categories":
        column = page.get_by_role("group", name="Answer column 1")
        column.get_by_label("Name").fill("judgement")
        column.get_by_label("Values to choose from").fill("praise; blame")
    page.locator(".saved", has_text="Saved").wait_for()
    ana.start_button().click()
    page.locator("#live").wait_for()
    ana.has_status("finished")
    ana.says_answered("3 of 3")


def test_ready_made_requests_are_sent_as_they_are(ana: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    file.write_text(ITEMS)
    ana.upload(file)
    ana.start_button().click()
    ana.page.locator("#live").wait_for()
    ana.has_status("finished")
    ana.says_answered("2 of 2")


def test_a_request_that_a_script_has_sent_is_looked_up(
    ana: Visitor, cloudflare: RunningSandbox
) -> None:
    answer = httpx.post(
        f"{cloudflare.base_url}/accounts/{ACCOUNT}/ai/run/{MODEL}?queueRequest=true",
        headers={"Authorization": f"Bearer {RIGHT}"},
        json={"requests": [{"prompt": f"Summarise: text {at}"} for at in range(4)]},
        timeout=10,
    )
    page = ana.page
    page.goto("/new/")
    page.locator("#to-look-up").click()
    page.locator("#id_request_id").fill(answer.text)
    assert faults(page) == []
    page.locator("#look-up").click()
    page.wait_for_url("**/batches/**")
    ana.has_status("finished")
    ana.says_answered("4 of 4")
    page.locator("#grid-rows", has_text="text 3").wait_for()


def test_a_worker_is_connected_as_its_page_says_and_asked(
    ana: Visitor, workerd: Workerd, reviews: Path
) -> None:
    page = ana.page
    page.goto("/connections/")
    page.get_by_role("link", name="Connect a Worker").first.click()
    assert "queueRequest" in page.locator("#worker-script").text_content()
    page.locator("#id_address").fill(f"{workerd.address()}/\n")
    page.locator("#id_secret").fill(SECRET)
    page.get_by_role("button", name="Connect", exact=True).click()
    ana.toast("is connected. New batches go where they went before.").wait_for()
    ana.upload(reviews)
    ana.start_button().wait_for()
    page.locator("#goes-to-button").click()
    page.locator("#goes-to-choices button", has_text="Cloudflare Worker").click()
    chosen = page.locator("#goes-to-choices button[aria-current]", has_text="Cloudflare Worker")
    chosen.wait_for(state="attached")  # the page is loaded anew with it
    page.locator("#id_template").fill("Summarise: {{review}}")
    ana.start_button().click()
    page.locator("#live").wait_for()
    ana.has_status("finished")
    page.get_by_role("link", name="What was asked").click()
    page.locator(".sheet-tab", has_text="Cloudflare Worker").wait_for()
    assert ana.complaints == []
