"""Uploading in a real browser: chosen or dropped, cancelled, and left."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from batchui.batches.models import Batch
from batchui.teams.models import User
from tests.batches.conftest import rows
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NO_FILE_YET = "Drop a file here"
# Dispatches the events of a file that is dragged from the desktop and dropped onto the title.
DROP = """(name) => {
  const dragged = new DataTransfer();
  dragged.items.add(new File(["id,text\\n1,one\\n2,two\\n"], name));
  const drag = (type) => {
    const event = new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: dragged });
    document.querySelector("h1").dispatchEvent(event);
    return event.defaultPrevented;
  };
  return ["dragenter", "dragover", "drop"].map(drag);
}"""


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    opened.goto("/new/")
    return opened


@pytest.fixture
def asked(page: "Page") -> list[str]:
    """What the browser asked in a dialog of its own; each is answered with “stay”."""
    kinds: list[str] = []

    def stay(dialog: object) -> None:
        kinds.append(dialog.type)  # type: ignore[attr-defined]
        dialog.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", stay)
    return kinds


def choose(page: "Page", path: Path, content: bytes) -> None:
    """Click, and choose a file, as people do: browsers ask nothing of who has not clicked."""
    path.write_bytes(content)
    with page.expect_file_chooser() as chooser:
        page.locator("#id_file").click()
    chooser.value.set_files(path)


@contextmanager
def slow_line(page: "Page") -> Iterator[None]:
    """A line on which a megabyte takes a long time."""
    line = page.context.new_cdp_session(page)
    quick = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", quick | {"uploadThroughput": 50_000})
    yield
    line.send("Network.emulateNetworkConditions", quick)


def test_a_chosen_file_leads_to_its_page_without_a_question(
    page: "Page", asked: list[str], tmp_path: Path
) -> None:
    choose(page, tmp_path / "texts.csv", rows(60))
    page.wait_for_url(re.compile("/batches/"))
    assert asked == []


def test_a_file_may_be_dropped_anywhere_on_the_page(page: "Page") -> None:
    assert page.evaluate(DROP, "dropped.csv") == [True, True, True]
    page.wait_for_url(re.compile("/batches/"))
    assert Batch.objects.get().source_name == "dropped.csv"


def test_who_leaves_during_an_upload_is_asked_and_cancel_takes_it_back(
    page: "Page", asked: list[str], tmp_path: Path
) -> None:
    with slow_line(page):
        choose(page, tmp_path / "texts.csv", rows(60_000))
        page.get_by_text(re.compile(r" of [\d.]+ MB")).wait_for()
        assert page.locator("[data-file-name]").inner_text() == "texts.csv"
        page.evaluate("location.reload()")
        page.wait_for_timeout(300)
        assert asked == ["beforeunload"]
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text(NO_FILE_YET).wait_for()
        page.locator("#toasts").get_by_text(
            "The upload was cancelled. Nothing was kept."
        ).wait_for()
        assert not page.get_by_role("button", name="Cancel").is_visible()
    choose(page, tmp_path / "texts.csv", rows(3))
    page.wait_for_url(re.compile("/batches/"))
    assert (asked, Batch.objects.count()) == (["beforeunload"], 1)
