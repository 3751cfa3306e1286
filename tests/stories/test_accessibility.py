"""Everybody can use every page: axe finds no fault, a phone is wide enough, nothing complains."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.project.helpers import until
from tests.stories.product import Product
from tests.stories.visitors import PHONE, Visitor, faults, sticks_out, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

pytestmark = [pytest.mark.browser, pytest.mark.processes]

DESK: "ViewportSize" = {"width": 1280, "height": 900}
ASK = "Summarise: {{review}}"
# Where a page is looked at: its name, size and colours, and by which rules (all of them).
LOOKS: list[tuple[str, "ViewportSize", Literal["light", "dark"], list[str] | None]] = [
    ("desk", DESK, "light", None),
    ("dark", DESK, "dark", ["color-contrast"]),
    ("phone", PHONE, "light", None),
]


def problems(page: "Page", picture: Path | None = None) -> list[str]:
    """What is wrong with the page as it is: on a desk, in the dark, on a phone."""
    found = []
    for place, size, scheme, rules in LOOKS:
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{place}: {fault}" for fault in faults(page, rules=rules)]
        if picture:
            page.screenshot(path=f"{picture}-{place}.png", full_page=True)
    found += [f"sticks out: {element}" for element in sticks_out(page)]
    page.set_viewport_size(DESK)
    return found


@pytest.fixture(scope="module")
def first_impressions(browser: "Browser", product: Product) -> dict[str, list[str]]:
    """What is wrong with the pages that are there only before anybody has come in."""
    with visiting(browser, product.address) as visitor:
        found = {}
        for name, address in (("set-up", product.first_page), ("sign-in", "/sign-in/")):
            visitor.page.goto(address)
            found[name] = problems(visitor.page)
        found["console"] = visitor.complaints
    return found


@pytest.fixture(scope="module")
def eve(
    browser: "Browser", product: Product, first_impressions: dict[str, list[str]]
) -> Iterator[Visitor]:
    """The first administrator; her browser has looked at the empty history."""
    with visiting(browser, product.address) as eve:
        eve.come_in(product.first_page, name="Eve", email="eve@example.com", team="Night")
        first_impressions["no batches yet"] = problems(eve.page)
        yield eve


@dataclass
class Furnished:
    """The ids of batches that stand at different points of their way."""

    draft: str
    broken: str
    deleted: str
    finished: str
    with_problems: str
    attention: str
    running: str = ""

    def address(self, name: str) -> str:
        return f"/batches/{getattr(self, name)}/"


# What goes wrong goes wrong for one model, so that batches can be on their way side by side.
PROBLEMS, CUT = "@cf/moonshotai/kimi-k2.6", "@cf/google/gemma-4-26b-a4b-it"
FAULTS: list[dict[str, Any]] = [
    {"fault": "failed", "items": [1, 2], "times": 0, "model": PROBLEMS},
    {"fault": "missing", "items": [3], "times": 0, "model": PROBLEMS},
    {"fault": "empty", "items": [4], "times": 0, "model": PROBLEMS},
    {"fault": "cut_after", "call": "submit", "model": CUT},
]


@pytest.fixture(scope="module")
def furnished(product: Product, eve: Visitor, reviews: Path, broken_file: Path) -> Furnished:
    product.timings(queued=0, running=0.2)
    product.script(*FAULTS)
    batches = Furnished(
        draft=eve.upload(reviews),
        broken=eve.upload(broken_file),
        deleted=eve.upload(reviews),
        finished=eve.start(reviews, ask=ASK),
        with_problems=eve.start(reviews, ask=ASK, model=PROBLEMS),
        attention=eve.start(reviews, ask=ASK, model=CUT),
    )
    discard(eve, batches.deleted)
    for name, statuses in {
        "finished": ["done", "done", "done"],
        "with_problems": ["done", "done", "done"],
        "attention": ["done", "done", "unsure"],
    }.items():
        until(partial(stands, product, getattr(batches, name), statuses))
    product.timings(queued=0, running=3600)
    batches.running = eve.start(reviews, ask=ASK)
    eve.has_status("running")
    return batches


def stands(product: Product, batch: str, statuses: list[str]) -> bool:
    """Whether the parts of a batch have these statuses, however often they are looked at."""
    product.let_odd_replies_age()
    return sorted(product.statuses(batch).values()) == statuses


def discard(eve: Visitor, draft: str) -> None:
    eve.page.goto(f"/batches/{draft}/")
    eve.page.get_by_role("button", name="Discard").click()
    eve.page.locator("#delete-dialog").get_by_role("button", name="Discard").click()
    eve.page.wait_for_url(re.compile(r"://[^/]+/$"))


@pytest.fixture(scope="module")
def broken_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a row that cannot be asked."""
    file = tmp_path_factory.mktemp("files") / "broken.csv"
    file.write_text("id,review\n1,fine\n2,a,b,c\n3,fine\n")
    return file


@pytest.mark.parametrize("name", ["set-up", "sign-in", "no batches yet", "console"])
def test_first_impressions(
    first_impressions: dict[str, list[str]], eve: Visitor, name: str
) -> None:
    assert first_impressions[name] == []


@pytest.mark.parametrize("address", ["/", "/new/", "/people/", "/account/", "/?q=nothing"])
def test_pages_around_the_batches(
    eve: Visitor, furnished: Furnished, address: str, pictures: Path
) -> None:
    eve.page.goto(address)
    name = address.strip("/?").replace("=", "-") or "batches"
    assert problems(eve.page, pictures / name) == []


@pytest.mark.parametrize(
    "name", ["draft", "broken", "running", "finished", "with_problems", "attention", "deleted"]
)
def test_the_page_of_a_batch(eve: Visitor, furnished: Furnished, name: str, pictures: Path) -> None:
    eve.page.goto(furnished.address(name))
    assert problems(eve.page, pictures / name) == []


def open_a_row(page: "Page") -> None:
    page.get_by_role("button", name="Row 3 in full").click()
    page.get_by_role("heading", name="Row 3", exact=True).wait_for()


def open_a_part(page: "Page") -> None:
    page.locator("main summary", has_text="3 parts").click()
    page.get_by_role("button", name="Technical details of part 1").click()
    page.get_by_role("heading", name="Technical details of part 1").wait_for()


def open_all_that_folds(page: "Page") -> None:
    folded = page.locator("main details:not([open]) > summary")
    while folded.count():
        folded.first.click()


def open_the_downloads(page: "Page") -> None:
    page.get_by_role("button", name="Download").click()


def open_more(page: "Page") -> None:
    page.get_by_role("button", name="More").click()


def ask_to_delete(page: "Page") -> None:
    open_more(page)
    page.get_by_role("button", name="Delete …").click()


@pytest.mark.parametrize(
    "opened",
    [open_a_row, open_a_part, open_all_that_folds, open_the_downloads, open_more, ask_to_delete],
)
def test_what_opens_on_the_page_of_a_batch(
    eve: Visitor, furnished: Furnished, opened: Callable[["Page"], None], pictures: Path
) -> None:
    eve.page.goto(furnished.address("with_problems"))
    opened(eve.page)
    assert problems(eve.page, pictures / opened.__name__) == []


def test_a_refused_start_is_told_at_its_field(
    eve: Visitor, furnished: Furnished, pictures: Path
) -> None:
    eve.page.goto(furnished.address("draft"))
    eve.page.locator("#id_template").fill("No column in it")
    eve.start_button().click()
    eve.page.locator("#id_template[aria-invalid=true]").wait_for()
    assert problems(eve.page, pictures / "refused") == []


def test_nothing_in_the_console(eve: Visitor, furnished: Furnished) -> None:
    assert eve.complaints == []
