"""A sheet that fills while somebody reads it: nothing jumps, and a hidden tab does not ask."""

from typing import TYPE_CHECKING, Any, Literal

import pytest
from django.db.models import F

from batchui.batches import corrections, one_row, sending
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch
from batchui.batches.states import PartStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.worker.heartbeat import beat
from tests.batches.conftest import MakeBatch, poll_all, rows, work
from tests.conftest import PATIENCE
from tests.web.test_people_in_the_browser import NewPage, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TOPS = """() => Object.fromEntries([...document.querySelectorAll("#grid-rows tr")]
    .map((row) => [row.id, Math.round(row.getBoundingClientRect().top * 10) / 10]))"""
STATE = """() => ({
    focus: document.activeElement.id,
    selection: String(getSelection()),
    scroll: document.querySelector("#grid-frame").scrollTop,
})"""


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    opened.set_viewport_size({"width": 1280, "height": 800})
    return opened


def came_back(batch: Batch, number: int) -> None:
    """A part is sent, and its answers are there."""
    sending.send(batch.parts.get(number=number))
    poll_all()


def long_rows() -> bytes:
    """Sixty rows, of which each third has a text of many lines."""
    lines = [f'{n},"text {n} {"and so on " * (60 * (n % 3 == 0))}"' for n in range(1, 61)]
    return "\r\n".join(["id,text", *lines, ""]).encode()


PROBLEMS = (
    {"fault": "failed", "items": [2, 3], "times": 0},
    {"fault": "empty", "items": [6], "times": 0},
)


@pytest.mark.parametrize(("answered", "faults"), [(60, ()), (51, PROBLEMS)])
def test_nothing_jumps_while_parts_land(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch, answered: int, faults: tuple[Any, ...]
) -> None:
    """Nor where filters, Retry and more come with problems."""
    sandbox.script(*faults)
    beat()
    batch = start(long_rows(), template="{{text}}")
    page.goto(batch.get_absolute_url())
    page.locator("#open-30").focus()
    page.evaluate("document.querySelector('#grid-frame').scrollTop += 120")
    page.evaluate(
        """() => {
            const cell = document.querySelector("#row-31 td:nth-child(3) > div");
            getSelection().selectAllChildren(cell);
        }"""
    )
    before, state = page.evaluate(TOPS), page.evaluate(STATE)
    assert state["focus"] == "open-30"
    assert state["selection"].startswith("text 30")
    assert state["scroll"] > 0
    for number, row in ((1, 5), (2, 30), (3, 60)):
        came_back(batch, number)
        page.locator(f"#cell-{row}-0 > div:not(:has(.waits))").wait_for()
        page.wait_for_timeout(100)
        assert page.evaluate(TOPS) == before, f"rows moved when part {number} landed"
        assert page.evaluate(STATE) == state
    page.get_by_text(f"{answered} of 60 answered").first.wait_for()
    assert page.locator("#retry-button").count() == (answered < 60)
    assert page.evaluate(TOPS) == before
    assert page.evaluate(STATE) == state
    assert page.title().startswith("Finished: ")
    # A reload shows as much of the answers as a cell does; then rows may be higher.
    page.reload()
    assert page.locator(".waits").count() == 0


def test_long_cells_in_full_grow_but_move_nothing_that_is_in_view(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(long_rows(), template="{{text}}")
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="View").click()
    page.get_by_label("More of long cells").check()
    page.keyboard.press("Escape")
    page.locator("#row-40").evaluate("it => it.scrollIntoView({block: 'center'})")
    height = "it => it.getBoundingClientRect().height"
    row, before = page.locator("#row-4"), page.evaluate(TOPS)["row-40"]
    low = row.evaluate(height)
    page.locator("#row-4").evaluate("it => { it.querySelector('.c2').replaceChildren(); }")
    low = row.evaluate(height)
    before = page.evaluate(TOPS)["row-40"]
    came_back(batch, 1)
    page.locator("#cell-4-0 > div:not(:has(.waits))").wait_for()
    page.wait_for_timeout(100)
    assert row.evaluate(height) > low, "the answer is not shown in full"
    assert abs(page.evaluate(TOPS)["row-40"] - before) < 1


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_something_moves_while_parts_are_under_way_unless_she_wants_none(
    new_page: NewPage,
    ana: User,
    sandbox: RunningSandbox,
    start: MakeBatch,
    motion: Literal["no-preference", "reduce"],
) -> None:
    """Endless pictures alone: what merely fades once is not counted."""
    beat()
    batch = start(rows(30))
    sending.send(batch.parts.get(number=1))
    page = new_page(ana, reduced_motion=motion)
    page.goto(batch.get_absolute_url())
    page.locator("#grid-rows .waits").first.wait_for()
    endless = page.evaluate(
        """() => document.getAnimations().filter((one) =>
            one.playState === "running" && one.effect.getTiming().iterations === Infinity).length"""
    )
    assert (endless > 0) == (motion == "no-preference")


def test_what_the_answers_come_to_is_there_at_the_end_and_moves_no_row(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(30), template="Is this good or bad? {{text}}")
    page.goto(batch.get_absolute_url())
    before = page.evaluate(TOPS)
    work(batch)
    page.get_by_text("Finished: 30 of 30 answered").wait_for()
    page.wait_for_timeout(300)
    assert page.evaluate(TOPS) == before
    page.get_by_role("button", name="At a glance").click()
    page.locator("#glance .glance-field").first.wait_for()


def test_pictures_that_are_open_are_right_at_the_end(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(60), template="Is this good or bad? {{text}}")
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="At a glance").click()
    page.get_by_text("As soon as there are answers").wait_for()
    came_back(batch, 1)
    page.locator("#glance .glance-field").first.wait_for()
    work(batch)
    page.get_by_text("Finished: 60 of 60 answered").wait_for()
    counted = "its => its.map(it => parseInt(it.textContent)).reduce((a, b) => a + b)"
    rows_said = page.locator("#glance .glance-values .unseen")
    rows_said.first.wait_for(state="attached")
    page.wait_for_timeout(500)
    assert rows_said.evaluate_all(counted) == 60


# To read how wide the grid's content is lays the whole grid out.
COUNT_LAYOUTS = """() => {
    window.measured = 0;
    const real = Object.getOwnPropertyDescriptor(Element.prototype, "scrollWidth").get;
    Object.defineProperty(Element.prototype, "scrollWidth", {
        configurable: true,
        get() {
            if (this.id === "grid-frame") window.measured += 1;
            return real.call(this);
        },
    });
}"""


def test_many_cells_that_come_at_once_do_not_hold_the_page_up(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(100))
    page.goto(batch.get_absolute_url())
    page.evaluate(COUNT_LAYOUTS)
    work(batch)
    page.get_by_text("Finished: 100 of 100 answered").wait_for()
    page.locator("#cell-101-0 > div:not(:has(.waits))").wait_for()
    page.wait_for_timeout(100)
    assert page.evaluate("window.measured") < 20, "the grid was laid out for each of its cells"


def test_a_row_that_is_open_stays_open_and_the_end_is_announced_once(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(30))
    page.goto(batch.get_absolute_url())
    page.locator("#open-4").click()
    page.get_by_role("heading", name="Row 4").wait_for()
    work(batch)
    page.get_by_text("Finished: 30 of 30 answered").wait_for()
    assert page.locator("#announcement").inner_text() == "Finished: 30 of 30 answered"
    assert page.locator("#row-4").get_attribute("aria-selected") == "true"
    assert page.get_by_role("heading", name="Row 4").is_visible()


def test_a_hidden_tab_does_not_ask_and_a_seen_one_does_at_once(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(30))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    hide = "Object.defineProperty(document, 'hidden', {value: %s, configurable: true})"
    page.goto(batch.get_absolute_url())
    page.evaluate(hide % "true")
    page.wait_for_timeout(300)
    asked.clear()
    page.wait_for_timeout(4_500)
    assert [url for url in asked if "/live/" in url] == []
    with page.expect_request("**/live/**", timeout=1_500):
        page.evaluate(hide % "false" + "; document.dispatchEvent(new Event('visibilitychange'))")


def test_rows_can_be_ticked_once_the_batch_that_was_watched_has_ended(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(30))
    page.goto(batch.get_absolute_url())
    page.locator("#open-2").focus()
    tops = page.evaluate(TOPS)
    page.keyboard.press("Space")
    assert page.locator(".tick:checked").count() == 0
    assert not page.locator("#row-2 .tick").is_visible()
    work(batch)
    page.get_by_text("Finished: 30 of 30 answered").wait_for()
    page.locator("#row-2 .tick").wait_for()
    assert page.evaluate(TOPS) == tops
    page.keyboard.press("Space")
    page.locator("#ask-ticked").click()
    page.get_by_role("heading", name="Ask 1 row again?").wait_for()


def test_what_others_do_to_an_ended_batch_is_seen_when_its_page_is_looked_at_again(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch, ana: User
) -> None:
    beat()
    batch = work(start(rows(30)))
    page.goto(batch.get_absolute_url())
    page.locator("#cell-4-0").dblclick()
    page.locator("#cell-edit").fill("Mine, not saved yet")
    for number in (3, 4):
        here = one_row.find(batch, number)
        assert here is not None
        seen = seen_of(here.result.answer, (), 0)
        assert corrections.correct(batch, number, at=0, written="Ben’s", seen=seen, by=ana).is_saved
    page.evaluate("dispatchEvent(new Event('focus'))")
    page.locator("#cell-3-0", has_text="Ben’s").wait_for()
    assert page.locator("#cell-edit").input_value() == "Mine, not saved yet"
    page.locator("#cell-edit:focus").wait_for()
    page.keyboard.press("Enter")
    page.locator("#cell-4-0").get_by_text("Somebody else has changed this answer").wait_for()


def test_the_strip_is_one_stop_and_leads_to_its_parts(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    beat()
    batch = start(rows(60))
    page.goto(batch.get_absolute_url())
    first = page.locator("#strip-1")
    first.focus()
    page.keyboard.press("ArrowRight")
    page.locator("#strip-2:focus").wait_for()
    assert page.locator("#strip a[tabindex='0']").count() == 1
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.locator("#strip-3:focus").wait_for()
    page.keyboard.press("Home")
    came_back(batch, 2)
    page.locator("#strip-2[data-state=answered]").wait_for()
    page.wait_for_timeout(100)
    page.locator("#strip-1:focus").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Technical details of part 1").wait_for()


def test_a_note_that_somebody_closed_comes_back_once_it_says_something_else(
    page: "Page", batch: Batch
) -> None:
    def told(message: str) -> None:
        batch.parts.update(status=PartStatus.HELD, message=message)
        Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1)

    beat()
    told("It is too late today.")
    page.goto(batch.get_absolute_url())
    note = page.locator("#hold-note")
    note.get_by_text("It is too late today.").wait_for()
    page.locator("#live").evaluate("(live) => { live.dataset.old = '1'; }")
    note.get_by_role("button", name="Close this note").click()
    note.wait_for(state="hidden")
    told("It is too late today.")
    page.locator("#live:not([data-old])").wait_for(state="attached")
    assert note.is_hidden()
    told("It is too early today.")
    note.get_by_text("It is too early today.").wait_for()
