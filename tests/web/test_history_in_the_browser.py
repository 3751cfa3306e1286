"""The history, its labels and two runs side by side in a real browser."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from batchui.batches import labels
from batchui.batches.models import Batch
from batchui.teams.models import Team, User
from tests.batches.sheet.made import made, no, yes
from tests.conftest import PATIENCE
from tests.stories.visitors import gets_the_focus
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults, sticks_out

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "Customer letters of the second half of the year, all branches, with returns"
FILE = {"source_sha256": "a" * 64, "answer_columns": [{"name": "tone"}, {"name": "score"}]}


@pytest.fixture
def runs(team: Team) -> list[Batch]:
    """Two runs of one file; the second has a label and a long name."""
    one = made(team, [yes({"tone": "good", "score": "1"}), no()], name="First", **FILE)
    answers = [yes({"tone": "bad " * 60, "score": "1"}), yes({"tone": "x", "score": "2"})]
    other = made(team, answers, name=LONG, **FILE)
    labels.add(other, "For Ana")
    return [one, other]


@pytest.fixture
def page(new_page: NewPage, ana: User, runs: list[Batch]) -> "Page":
    opened = new_page(ana, viewport={"width": 1280, "height": 800})
    opened.goto("/")
    return opened


def test_labels_are_added_and_taken_away_with_keys_where_a_batch_stands(
    page: "Page", runs: list[Batch]
) -> None:
    page.get_by_role("button", name="Labels of “First”").focus()
    page.keyboard.press("Enter")
    field = page.get_by_label("Labels to add to “First”")
    field.wait_for()
    page.keyboard.type("for ana")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Take the label “For Ana” away").wait_for()
    gets_the_focus(field)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Labels of “First”").wait_for()
    assert runs[0].labels.get().name == "For Ana"
    page.locator(f"#labels-{runs[0].pk}").get_by_role("link", name="For Ana").click()
    page.wait_for_url("**/?label=*")
    assert page.locator("#history tbody tr").count() == 2


def test_nothing_of_a_line_wraps_on_a_tablet_and_nothing_sticks_out(page: "Page") -> None:
    page.set_viewport_size({"width": 820, "height": 800})
    heights = page.locator("#history .stretched").evaluate_all(
        "(links) => links.map((link) => link.getBoundingClientRect().height)"
    )
    assert max(heights) == min(heights)
    assert faults(page) == []
    assert sticks_out(page) == []


def test_a_name_has_the_whole_width_of_its_column(page: "Page", team: Team) -> None:
    """An answer column that is worded has a name, too, which is to leave room for its kind."""
    batch = made(team, [yes()], name="Reviews of May (2)")
    page.set_viewport_size({"width": 820, "height": 900})
    page.goto("/")
    name = page.locator(f"#batch-{batch.pk}-link")
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_two_ticked_runs_stand_side_by_side(page: "Page", runs: list[Batch]) -> None:
    button = page.get_by_role("button", name="Compare the two ticked runs")
    assert not button.is_visible()
    for name in ("First", LONG):
        page.get_by_role("checkbox", name=f"Compare “{name}”").check()
    button.click()
    page.wait_for_url(f"**{reverse('compare', args=[run.pk for run in runs])}")
    assert page.locator("#compared tbody tr.differs").count() == 2
    assert faults(page) == []
    assert sticks_out(page) == []


def test_a_tick_stays_when_its_line_is_shown_anew(page: "Page", runs: list[Batch]) -> None:
    Batch.objects.filter(pk=runs[1].pk).update(status="running", version=5)
    page.reload()
    ticks = [page.get_by_role("checkbox", name=f"Compare “{name}”") for name in ("First", LONG)]
    for tick in ticks:
        tick.check()
    ticks[1].focus()
    Batch.objects.filter(pk=runs[1].pk).update(status="finished", version=6)
    page.locator(f"#batch-{runs[1].pk} [data-status=finished]").wait_for()
    assert [tick.is_checked() for tick in ticks] == [True, True]
    gets_the_focus(ticks[1])
    page.get_by_role("button", name="Compare the two ticked runs").click()
    page.wait_for_url(f"**{reverse('compare', args=[run.pk for run in runs])}")


def test_the_pictures_of_the_last_days_follow_what_is_answered(
    page: "Page", runs: list[Batch]
) -> None:
    theirs = Batch.objects.filter(pk=runs[1].pk)
    theirs.update(status="running", version=5, answered=2)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/days/" in one.url else None)
    page.reload()
    total = page.locator("#days figure", has_text="Rows answered").locator("strong")
    before = int(total.inner_text())
    theirs.update(version=6, answered=102)
    page.locator("#days strong", has_text=f"{before + 100}").wait_for()
    # So soon after that only an end counts at once.
    theirs.update(version=7, answered=152)
    page.locator(f"#batch-{runs[1].pk}", has_text="152").wait_for()
    page.wait_for_timeout(500)
    assert len(asked) == 2
    theirs.update(status="finished", version=8, answered=202, finished_at=timezone.now())
    page.locator("#days strong", has_text=f"{before + 200}").wait_for(timeout=8_000)
    assert len(asked) == 3


def test_the_list_of_runs_is_accessible(page: "Page", runs: list[Batch]) -> None:
    page.goto(reverse("choose_run", args=[runs[0].pk]))
    assert faults(page) == []
    assert sticks_out(page) == []
    page.goto(reverse("labels"))
    assert faults(page) == []
    assert sticks_out(page) == []


def test_a_line_leads_to_its_own_batch_wherever_it_is_pressed(
    page: "Page", runs: list[Batch]
) -> None:
    box = page.locator(f"#batch-{runs[0].pk} .state").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 2, box["y"] + 2)
    page.wait_for_url(f"**{runs[0].get_absolute_url()}")
    page.go_back()
    page.get_by_label("Search names").click()
    page.get_by_role("link", name="New batch").click()
    page.wait_for_url("**/new/")


# A browser in which nobody looks at the page; what it would notify of is kept.
NOBODY_LOOKS = """
    window.said = [];
    window.Notification = class {
        static permission = "%s";
        static requestPermission = async () => window.Notification.permission;
        constructor(title, options) { window.said.push([title, options.body]); }
        addEventListener() {}
    };
    Document.prototype.hasFocus = () => window.looks ?? false;
    const every = window.setInterval;
    window.setInterval = (act, time) => every(act, time === 15_000 ? 200 : time);
"""


def until(page: "Page", is_so: Callable[[], bool]) -> None:
    """Wait until it is so. The page allows no function that is a text."""
    for _ in range(PATIENCE // 50):
        if is_so():
            return
        page.wait_for_timeout(50)
    pytest.fail("it did not come to be so")


def test_the_end_of_a_batch_is_told_once_when_answers_are_slow(
    new_page: NewPage, ana: User, runs: list[Batch]
) -> None:
    Batch.objects.filter(pk=runs[1].pk).update(status="running", version=5)
    page = new_page(ana)
    held: list[Route] = []
    page.add_init_script(NOBODY_LOOKS % "granted")
    page.goto(reverse("batch", args=[runs[1].pk]))
    page.get_by_role("button", name="Tell me when it is done").click()
    page.get_by_role("button", name="You will be told", pressed=True).wait_for()
    page.route(f"**{reverse('ended')}?**", lambda route: held.append(route))
    until(page, lambda: len(held) >= 2)
    Batch.objects.filter(pk=runs[1].pk).update(status="finished")
    for one in held:
        one.continue_()
    until(page, lambda: page.evaluate("said.length") > 0)
    page.wait_for_timeout(500)
    assert page.evaluate("said.length") == 1


@pytest.mark.parametrize("place", ["batches", "batch"])
def test_the_end_of_a_batch_is_told_to_whoever_looks_elsewhere(
    new_page: NewPage, ana: User, runs: list[Batch], place: str
) -> None:
    Batch.objects.filter(pk=runs[1].pk).update(status="running", version=5)
    page = new_page(ana)
    page.add_init_script(NOBODY_LOOKS % "granted")
    page.goto(reverse(place, args=[runs[1].pk] if place == "batch" else []))
    page.get_by_role("button", name="Tell me when it is done").click()
    page.get_by_role("button", name="You will be told", pressed=True).wait_for()
    Batch.objects.filter(pk=runs[1].pk).update(status="finished")  # no version: no other poll
    until(page, lambda: page.title().startswith("✓ Finished: Customer"))
    until(page, lambda: page.evaluate("said.length") == 1)
    assert page.evaluate("said[0]") == [f"Finished: {LONG}", "2 rows are answered."]
    assert "favicon-done" in str(page.locator("link[rel=icon]").get_attribute("href"))
    page.evaluate("window.looks = true; dispatchEvent(new Event('focus'))")
    assert not page.title().startswith("✓")
    assert "favicon-done" not in str(page.locator("link[rel=icon]").get_attribute("href"))


@pytest.mark.parametrize("place", ["batches", "batch"])
def test_whoever_has_seen_the_end_is_not_told_and_the_page_asks_no_more(
    new_page: NewPage, ana: User, runs: list[Batch], place: str
) -> None:
    Batch.objects.filter(pk=runs[1].pk).update(status="running", version=5)
    page = new_page(ana)
    page.add_init_script(NOBODY_LOOKS % "granted")
    page.add_init_script("""
        window.looks = true;
        window.setInterval = (act, time) => { if (time === 15_000) window.ask = act; };
    """)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(reverse(place, args=[runs[1].pk] if place == "batch" else []))
    with page.expect_response("**/history/ended/**"):
        page.evaluate("ask()")
    line = f"#batch-{runs[1].pk} .status" if place == "batches" else "#live .status"
    Batch.objects.filter(pk=runs[1].pk).update(status="finished", version=6)
    page.locator(f"{line}[data-status=finished]").first.wait_for()
    page.evaluate("ask()")
    assert len([url for url in asked if "/history/ended/" in url]) == 1
    assert not page.title().startswith("✓")


def test_after_a_denial_the_page_says_how_to_allow_it(
    new_page: NewPage, ana: User, runs: list[Batch]
) -> None:
    Batch.objects.filter(pk=runs[1].pk).update(status="running")
    page = new_page(ana)
    page.add_init_script(NOBODY_LOOKS % "denied")
    page.goto("/")
    page.get_by_role("button", name="Tell me when it is done").click()
    page.locator("#tell-note", has_text="Allow them in the settings of this site").wait_for()
    Batch.objects.filter(pk=runs[1].pk).update(status="finished")
    until(page, lambda: page.title().startswith("✓ Finished: Customer"))
    assert page.evaluate("said.length") == 0


def test_nothing_offers_to_tell_where_nothing_is_under_way(page: "Page") -> None:
    assert not page.locator("#tell").is_visible()


def test_on_a_phone_a_name_has_more_room_than_its_status(page: "Page", runs: list[Batch]) -> None:
    Batch.objects.update(rows=80, answered=67, skipped=13)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto("/")
    line = page.locator(f"#batch-{runs[1].pk}")
    name, status = (line.locator(cell).bounding_box() for cell in ("th", "td.state"))
    assert name is not None
    assert status is not None
    assert name["width"] > 1.3 * status["width"]
    assert sticks_out(page) == []
