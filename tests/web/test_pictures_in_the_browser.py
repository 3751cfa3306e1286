"""The page of a draft with pictures stays usable, however slowly they come."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.test import Client

from batchui.batches import decisions
from batchui.prompts.ask import Ask
from batchui.teams.models import User
from tests.batches.picturing import LOOK, add_archive, archive, jpeg, naming
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Route

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NAMES = [f"{number}.jpg" for number in range(1, 9)]


def test_pictures_that_hang_leave_connections_for_the_page(
    new_page: NewPage, ana: User, web: Client
) -> None:
    batch = drafted(web, naming(*NAMES))
    add_archive(batch, archive(*NAMES))
    decisions.edit(batch, ask=Ask(**LOOK))
    page = new_page(ana, viewport={"width": 1280, "height": 900})
    hanging: list[Route] = []
    page.route(re.compile("/picture/.*(?<!large)$"), lambda route: hanging.append(route))
    asked_for = page.locator("#grid-rows img[src]")
    page.goto(batch.get_absolute_url())
    with page.expect_response("**/preview/"):
        page.locator("#id_template").fill("What is in it?")
    assert (len(hanging), asked_for.count()) == (2, 2)

    # Each that came, or did not, lets another one begin.
    while hanging:
        hanging.pop().fulfill(body=jpeg(), content_type="image/jpeg")
        hanging.pop().fulfill(status=404)
        page.wait_for_timeout(100)
    assert asked_for.evaluate_all("all => all.map((one) => one.naturalWidth)") == [64] * 4


def test_arrows_go_through_the_columns_of_pictures(
    new_page: NewPage, ana: User, web: Client
) -> None:
    page = new_page(ana)
    page.goto(drafted(web, naming("a.jpg", "b.jpg")).get_absolute_url())
    for key, column in (("ArrowDown", "id"), ("ArrowDown", "photo"), ("ArrowUp", "id")):
        with page.expect_response("**/pictures/choose/"):
            page.locator("#id_picture_column").press(key)
        page.wait_for_load_state("networkidle")
        page.locator("#id_picture_column:focus").wait_for()
        assert page.locator("#id_picture_column").input_value() == column


def test_a_reason_stands_above_the_question_and_not_beside_it(
    new_page: NewPage, ana: User, web: Client
) -> None:
    batch = drafted(web, naming("a.jpg"))
    decisions.edit(batch, ask=Ask(**LOOK))
    page = new_page(ana, viewport={"width": 1280, "height": 900})
    page.goto(batch.get_absolute_url())
    page.get_by_text("is no address of a picture").wait_for()
    boxes = page.locator(".prompt-asked > *").evaluate_all(
        "all => all.map((one) => one.offsetWidth)"
    )
    assert len(boxes) == 2
    assert boxes[0] == boxes[1]


def test_an_archive_goes_up_once_however_often_its_dialog_was_opened(
    new_page: NewPage, ana: User, web: Client, tmp_path: Path
) -> None:
    """The script of uploads comes with the dialog."""
    batch = drafted(web, naming("a.jpg"))
    decisions.edit(batch, ask=Ask(**LOOK))
    packed = tmp_path / "pictures.zip"
    packed.write_bytes(archive("a.jpg"))
    page = new_page(ana)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method + request.url))
    page.goto(batch.get_absolute_url())
    assert not [address for address in sent if "upload.js" in address or "-new." in address]
    for _ in range(2):
        page.get_by_role("button", name="ZIP archive").click()
        page.locator("#pictures-upload").wait_for()
        page.wait_for_load_state("networkidle")
        page.keyboard.press("Escape")
    page.get_by_role("button", name="ZIP archive").click()
    field = page.locator("#id_pictures")
    field.evaluate("field => { field.dataset.limit = 1; }")
    field.set_input_files(packed)
    page.get_by_text("This file is larger than the limit").wait_for()
    assert not [
        address for address in sent if address.startswith("POST") and "/pictures/" in address
    ]

    field.evaluate("field => { field.dataset.limit = 1e6; }")
    field.set_input_files(packed)
    page.get_by_text("pictures.zip").first.wait_for()
    page.locator("#pictures-dialog").wait_for(state="hidden")
    assert len([one for one in sent if one.startswith("POST") and "/pictures/" in one]) == 1
