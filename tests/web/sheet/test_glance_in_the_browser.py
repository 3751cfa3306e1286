"""What comes after the page of a batch, in a real browser: pictures of answers, and banners."""

from typing import TYPE_CHECKING, Any

import pytest

from batchui.batches.models import Batch
from batchui.teams.models import Team, User
from tests.batches.sheet.made import made, no, yes
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import sticks_out

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    return new_page(ana, viewport={"width": 1280, "height": 800})


def grid_top(page: "Page") -> float:
    return float(page.locator("#grid-frame").evaluate("it => it.getBoundingClientRect().top"))


@pytest.fixture
def tones(team: Team) -> Batch:
    """A batch whose answers are worth a picture."""
    wanted = [{"name": "tone", "kind": "one_of", "choices": ["good", "bad"], "meaning": ""}]
    answers = [yes({"tone": "good"}), yes({"tone": "bad"})] * 15
    return made(team, answers, answer_columns=wanted, status="finished")


CHOICES = [{"name": "tone", "kind": "one_of", "choices": ["good", "bad", "mixed"], "meaning": ""}]
TEXTS = [*CHOICES, {"name": "why", "kind": "text", "choices": [], "meaning": ""}]
MANY: Any = [CHOICES[0] | {"choices": ["good", "bad", "mixed", "odd", "mild", "none"]}]
NUMBERS = [{"name": "stars", "kind": "number", "choices": [], "meaning": ""}]


@pytest.mark.parametrize(
    ("columns", "answers", "highest"),
    [
        (CHOICES, [{"tone": tone} for tone in ("good", "bad", "mixed")], 330),
        (CHOICES, [{"tone": "good"}], 330),
        (TEXTS, [{"tone": "bad", "why": f"{'word ' * n}{n}"} for n in range(40)], 350),
        (TEXTS, [{"tone": "good", "why": "Too short."}], 350),
        (NUMBERS, [{"stars": number} for number in range(60)], 350),
        (NUMBERS, [{"stars": 3}], 350),
        (MANY, [{"tone": tone} for tone in MANY[0]["choices"]], 350),
        (CHOICES, [], 330),
    ],
    ids=["choices", "one", "lengths", "one length", "numbers", "one number", "many", "none"],
)
def test_rows_begin_high_and_do_not_move_when_the_pictures_come(
    columns: list[Any], answers: list[Any], highest: int, page: "Page", team: Team
) -> None:
    """Whoever clicks a row meanwhile hits that one."""
    outcomes = [yes(one) for one in answers] or [no("failed", "Gate 3 is shut.")]
    batch = made(team, outcomes, answer_columns=columns, status="finished")
    page.set_viewport_size({"width": 1440, "height": 900})
    held: list[Any] = []
    page.route("**/glance/", lambda route: held.append(route))
    page.goto(batch.get_absolute_url())
    before = grid_top(page)
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    page.locator("#glance[aria-label]").wait_for()
    assert grid_top(page) == before
    assert before < highest


def test_a_banner_that_comes_moves_no_row(page: "Page", tones: Batch) -> None:
    page.goto(tones.get_absolute_url())
    page.wait_for_load_state("networkidle")  # what the page gets afterwards would take it away
    top = grid_top(page)
    page.evaluate("document.querySelector('#offline').hidden = false")
    assert grid_top(page) == top
    box = page.locator("#offline").bounding_box()
    assert box is not None
    assert 0 < box["height"] < 120


def test_the_pictures_are_folded_away_and_stay_so(page: "Page", tones: Batch) -> None:
    page.goto(tones.get_absolute_url())
    button = page.get_by_role("button", name="At a glance")
    page.locator("#glance-button[aria-expanded=true]").wait_for()
    top = grid_top(page)
    button.click()
    assert button.get_attribute("aria-expanded") == "false"
    assert not page.locator("#glance").is_visible()
    assert grid_top(page) < top - 60
    page.reload()
    page.wait_for_load_state("networkidle")
    assert not page.locator("#glance").is_visible()
    button.focus()
    page.keyboard.press("Enter")
    page.locator("#glance").get_by_text("50 %").first.wait_for()
    assert button.get_attribute("aria-expanded") == "true"


def test_on_a_phone_the_pictures_wait_until_they_are_asked_for(page: "Page", tones: Batch) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(tones.get_absolute_url())
    page.wait_for_load_state("networkidle")
    assert not page.locator("#glance").is_visible()
    assert grid_top(page) < 420
    page.get_by_role("button", name="At a glance").click()
    page.locator("#glance").get_by_text("50 %").first.wait_for()
    assert sticks_out(page) == []


def test_at_twice_the_size_nothing_sticks_out(page: "Page", tones: Batch) -> None:
    page.set_viewport_size({"width": 720, "height": 450})
    page.goto(tones.get_absolute_url())
    assert sticks_out(page) == []
