"""The web server goes away in the middle of a batch, and comes back."""

from pathlib import Path

import pytest

from tests.project.helpers import until
from tests.stories.product import Product
from tests.stories.visitors import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.processes]


def test_the_page_says_so_quietly_and_goes_on_by_itself(
    product: Product, ana: Visitor, reviews: Path, pictures: Path
) -> None:
    product.timings(queued=0, running=8)
    ana.start(reviews, ask="Rate: {{review}}")
    ana.has_status("running")
    ana.loads.clear()
    banner = ana.page.locator("#offline").get_by_text("batchui cannot be reached now.")
    assert not banner.is_visible()

    def is_noticed() -> bool:
        """Kill the server whenever it is up, until a look of the page has met its absence."""
        if not banner.is_visible():
            product.part("web").kill()
            ana.page.wait_for_timeout(500)
        return banner.is_visible()

    until(is_noticed, seconds=20)
    ana.page.screenshot(path=pictures / "offline.png")
    banner.wait_for(state="hidden", timeout=20_000)
    ana.has_status("finished")
    ana.says_answered("60 of 60")
    assert ana.loads == []
    # htmx tells the console of the requests that failed; nothing else may have gone wrong.
    assert [told for told in ana.complaints if not told.startswith("htmx:")] == []
