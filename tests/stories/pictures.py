"""Takes the pictures of README.md anew: `python -m tests.stories.pictures [FOLDER]`.

They are of a real product, which a person uses in a browser: the sandbox answers. FOLDER is docs/
where none is named.
"""

import csv
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from batchui.web.sample import sample_csv
from tests.conftest import CHROMIUM_FLAGS, chromium
from tests.stories.product import QUICK, Product, running_product
from tests.stories.visitors import Visitor, visiting

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

SIZE: "ViewportSize" = {"width": 1280, "height": 800}
ROWS, ROWS_DONE = 360, 150
FOLDER = Path(__file__).parents[2] / "docs"
QUESTION = "Judge this hotel review.\n\nReview: {{review}}"
COLUMNS = (
    ("tone", "one_of", "good; mixed; bad"),
    ("score", "number", ""),
    ("summary", "text", ""),
)


def write_reviews(file: Path) -> Path:
    """Reviews as a hotel has them: those of the sample, again and again."""
    head, *lines = csv.reader(sample_csv().decode("utf-8-sig").splitlines())
    with file.open("w", newline="", encoding="utf-8") as written:
        writer = csv.writer(written)
        writer.writerow(head)
        writer.writerows(lines[at % len(lines)] for at in range(ROWS))
    return file


def take(ana: Visitor, folder: Path, name: str) -> None:
    """A picture of the page as it is, without a focus ring or a mouse in it."""
    page = ana.page
    page.mouse.move(0, 0)
    page.wait_for_timeout(600)
    page.screenshot(path=folder / f"{name}.png", caret="initial", animations="disabled")


def take_all(product: Product, ana: Visitor, reviews: Path, folder: Path) -> None:
    """Upload, ask, start, and look, with a picture of each."""
    page = ana.page
    product.timings(queued=0.5, running=3600)
    page.goto("/new/")
    take(ana, folder, "new")
    ana.upload(reviews)
    ana.start_button().wait_for()
    page.locator("#id_template").fill(QUESTION)
    for number, (name, kind, choices) in enumerate(COLUMNS, 1):
        page.get_by_role("button", name="Add a column").click()
        line = page.get_by_role("group", name=f"Answer column {number}")
        line.get_by_label("Name").fill(name)
        line.get_by_label("Kind of value").select_option(kind)
        if choices:
            line.get_by_label("Values to choose from").fill(choices)
    page.locator("#saved").get_by_text("Saved", exact=True).wait_for()
    page.reload()
    page.locator("#try-now").click()
    page.locator("#try-now", has_text="Try again").wait_for()
    take(ana, folder, "ask")
    page.locator("#start-button").click()
    ana.has_status("running")
    product.let_parts_end(apart=2)
    page.wait_for_function(
        "([rows]) => parseInt(document.querySelector('#live strong').textContent) >= rows",
        arg=[ROWS_DONE],
    )
    take(ana, folder, "batch-running")
    product.let_parts_end(apart=0.05)
    ana.has_status("finished")
    page.goto(page.url)
    page.locator("#glance h2").first.wait_for(state="attached")
    if not page.locator("#glance h2").first.is_visible():
        page.locator("#glance-button").click()
    take(ana, folder, "batch-finished")


def main() -> None:
    from playwright.sync_api import sync_playwright

    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    folder.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        running_product(Path(data, "data"), **QUICK) as product,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_FLAGS)
        with visiting(browser, product.address, viewport=SIZE, reduced_motion="reduce") as ana:
            ana.page.set_default_timeout(180_000)
            ana.come_in(product.first_page, name="Ana Lima", email="ana@example.com", team="Care")
            take_all(product, ana, write_reviews(Path(data, "hotel-reviews.csv")), folder)
            assert not ana.complaints, ana.complaints
        browser.close()


if __name__ == "__main__":
    main()
