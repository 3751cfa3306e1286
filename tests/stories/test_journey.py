"""The journey, through real processes and in a real browser, with two people signed in at once."""

import csv
import io
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stories.product import Product, running_product
from tests.stories.visitors import MODEL, Visitor, visiting

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Route

pytestmark = [pytest.mark.browser, pytest.mark.processes]

ASK = "Summarise in five words: "
STATUSES = ["queued", "running", "finished"]
SHOWN_WITHIN_SECONDS = 5.0
# No promise: how late it is told that something never comes.
GIVE_UP_AFTER_SECONDS = 60.0


@pytest.fixture(scope="module")
def ben(browser: "Browser", product: Product, ana: Visitor) -> Iterator[Visitor]:
    """A colleague, who came in by Ana's link."""
    link = ana.invite()
    with visiting(browser, product.address) as ben:
        ben.come_in(link, name="Ben", email="ben@example.com")
        yield ben


@dataclass
class Watched:
    """A batch that Ana started while Ben looked at the history: when each status was true, when
    each of them saw it, and what their browsers asked for meanwhile and afterwards."""

    batch: str
    true_at: dict[str, float] = field(default_factory=dict)
    ana_saw: dict[str, float] = field(default_factory=dict)
    ben_saw: dict[str, float] = field(default_factory=dict)
    loads: list[str] = field(default_factory=list)
    ana_rows: list[str] = field(default_factory=list)
    requests_after_the_end: list[str] = field(default_factory=list)
    new_batches: int = 0
    submitted: list[int] = field(default_factory=list)

    def watch(self, product: Product, *, ana: Visitor, ben: Visitor) -> None:
        """Note every change until both have seen the batch finished.

        It goes on from each status when both have seen it: else a machine with much to do might
        show one to nobody.
        """
        looks: list[tuple[dict[str, float], Callable[[], str]]] = [
            (self.true_at, lambda: product.status(self.batch)),
            (self.ana_saw, ana.shown_status),
            (self.ben_saw, lambda: ben.status_in_history(self.batch)),
        ]

        def let_all_end() -> None:
            product.timings(queued=0, running=0)  # a part may not have been sent yet
            product.let_parts_end(apart=0)

        go_on = {"queued": product.let_parts_run, "running": let_all_end}
        for status in STATUSES:
            give_up = time.monotonic() + GIVE_UP_AFTER_SECONDS
            while not all(status in seen for seen, _ in looks):
                assert time.monotonic() < give_up, f"never {status}: {self}\n{product.lines}"
                for seen, look in looks:
                    seen.setdefault(look(), time.monotonic())
                ana.page.wait_for_timeout(50)
                ben.page.wait_for_timeout(50)
            if status in go_on:
                go_on[status]()

    def stay(self, *, ana: Visitor, ben: Visitor) -> None:
        """Leave both pages open after the end, longer than two rounds of polling."""
        ana.page.wait_for_timeout(500)  # the rows follow the last change
        ana.shows_all_rows()
        self.ana_rows = ana.page.locator("#grid-rows tr").all_inner_texts()
        for person in (ana, ben):
            person.requests.clear()
        ana.page.wait_for_timeout(4_500)
        ben.page.wait_for_timeout(50)
        for person in (ana, ben):
            self.requests_after_the_end += person.requests
            self.loads += person.loads


@pytest.fixture(scope="module")
def watched(product: Product, ana: Visitor, ben: Visitor, reviews: Path) -> Watched:
    """Ana uploads a file, says what to ask, and presses Start twice; both look on."""
    product.timings(queued=3600, running=3600)
    product.control("DELETE", "calls")
    before = number_of_batches(product)
    batch = ana.upload(reviews)
    ask_with_a_chip(ana)
    ana.start_button().dblclick()
    ana.page.locator("#live").wait_for()
    ben.page.goto("/")
    for person in (ana, ben):
        person.loads.clear()
    watched = Watched(batch)
    watched.watch(product, ana=ana, ben=ben)
    watched.stay(ana=ana, ben=ben)
    watched.new_batches = number_of_batches(product) - before
    watched.submitted = sorted(call["items"] for call in product.submissions())
    return watched


def number_of_batches(product: Product) -> int:
    return int(product.ask("SELECT count(*) FROM batches_batch")[0][0])


def ask_with_a_chip(ana: Visitor) -> None:
    """Type a prompt, put a column in with a click, and see it filled for row after row."""
    page = ana.page
    ana.choose_model(MODEL)
    page.locator("#id_template").fill("")
    page.locator("#id_template").press_sequentially(ASK)
    page.get_by_role("button", name="review", exact=True).click()
    assert page.locator("#id_template").input_value() == ASK + "{{review}}"
    filled = page.locator("#prompt-preview .prose")
    for text in ("Room 1, lovely", "Room 2, lovely", "Room 3, noisy"):
        filled.filter(has_text=text).wait_for()
        assert filled.all_inner_texts() == [f"{ASK}{text}"]
        page.get_by_role("button", name="The next row").click()


def test_the_filled_prompts_follow_what_is_typed_while_they_are_fetched(
    ana: Visitor, reviews: Path
) -> None:
    ana.upload(reviews)
    page = ana.page
    held: list[Route] = []

    def hold_the_first(route: "Route") -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/preview/", hold_the_first)
    page.locator("#id_template").press_sequentially("Rate {{review}}")
    while not held:
        page.wait_for_timeout(20)
    page.locator("#id_template").press_sequentially(" from 1 to 5")
    held[0].continue_()
    page.locator("#prompt-preview .prose").filter(has_text="Room 1, lovely from 1 to 5").wait_for()
    page.unroute("**/preview/")


@pytest.mark.parametrize("first_page", ["printed", "invitation"])
def test_a_link_works_once(
    browser: "Browser", product: Product, ana: Visitor, first_page: str
) -> None:
    link = product.first_page
    if first_page == "invitation":
        link = ana.invite()
        with visiting(browser, product.address) as cleo:
            cleo.come_in(link, name="Cleo", email="cleo@example.com")
    with visiting(browser, product.address) as stranger:
        answer = stranger.page.goto(link)
        assert answer is not None
        assert answer.status == 410
        assert stranger.page.get_by_text("This link was used already").is_visible()


def test_pressing_start_twice_starts_one_batch(watched: Watched) -> None:
    assert watched.new_batches == 1
    assert watched.submitted == [10, 25, 25]


@pytest.mark.parametrize("status", STATUSES)
def test_each_status_is_seen_by_both_in_time(watched: Watched, status: str) -> None:
    for saw in (watched.ana_saw, watched.ben_saw):
        assert saw[status] - watched.true_at[status] < SHOWN_WITHIN_SECONDS


def test_nobody_reloaded_and_polling_ended_with_the_batch(watched: Watched) -> None:
    assert watched.loads == []
    assert watched.requests_after_the_end == []


def test_both_see_the_rows_with_their_answers(
    ana: Visitor, ben: Visitor, watched: Watched, pictures: Path
) -> None:
    for person in (ana, ben):
        person.page.goto(f"/batches/{watched.batch}/")
        person.says_answered("60 of 60")
        person.shows_all_rows()
        rows = person.page.locator("#grid-rows tr").all_inner_texts()
        assert rows == watched.ana_rows
    assert len(rows) == 60
    assert "Room 1, lovely" in rows[0]
    assert "Room 25, lovely" in rows[24]
    assert all("sandbox" in row for row in rows)
    ben.page.screenshot(path=pictures / "journey-finished.png", full_page=True)


def test_the_downloads_are_the_file_with_its_answers(
    ana: Visitor, watched: Watched, reviews: Path
) -> None:
    with reviews.open(newline="") as file:
        uploaded = list(csv.DictReader(file))
    as_csv = list(csv.DictReader(io.StringIO(downloaded(ana, "CSV for Excel"), newline="")))
    as_json = json.loads(downloaded(ana, "JSON"))
    assert list(as_csv[0]) == ["id", "review", "note", "answer", "status", "error"]
    assert [{name: row[name] for name in uploaded[0]} for row in as_csv] == uploaded
    assert [row["columns"] for row in as_json] == uploaded
    assert [row["row"] for row in as_json] == list(range(2, 62))
    assert [row["answer"] for row in as_csv] == [row["answer"] for row in as_json]
    assert {row["status"] for row in as_csv} == {"answered"}


def downloaded(ana: Visitor, kind: str) -> str:
    """What a download on the batch's page brings."""
    ana.page.get_by_role("button", name="Download").click()
    with ana.page.expect_download() as download:
        ana.page.locator("#downloads").get_by_role("link", name=kind).first.click()
    ana.page.keyboard.press("Escape")
    return download.value.path().read_bytes().decode("utf-8-sig")


@pytest.fixture(scope="module")
def half_sent(product: Product, ana: Visitor, reviews: Path) -> str:
    """A batch of which one part was answered while Cloudflare was busy for the others; Ana looks
    at it, about to stop it."""
    product.timings(queued=0, running=0.5)
    product.control("DELETE", "calls")
    product.script({"fault": "error", "code": 3040, "call": "submit", "nth": 2, "times": 0})
    batch = ana.start(reviews, ask="Rate: {{review}}")
    # Once nothing is under way any more, “Paused” at the top says that it is on hold.
    ana.page.locator("#live .banner").get_by_text("Cloudflare has no room for this").wait_for()
    ana.page.locator("#show-answered .count", has_not_text=re.compile("^0$")).wait_for()
    ana.page.locator("#stop-button").click()
    ana.loads.clear()
    return batch


def test_clicks_on_stale_pages_are_answered_in_a_sentence(
    product: Product, ana: Visitor, ben: Visitor, half_sent: str, pictures: Path
) -> None:
    ben.page.goto(f"/batches/{half_sent}/")
    ben.page.locator("#stop-button").click()
    confirm_stop(ben)
    # “Stopping” where a part was on its way to Cloudflare, busy as it is, when Ben pressed.
    ben.toast(re.compile(r"Stopp(ed|ing)\.")).wait_for()
    pressed = time.monotonic()
    ana.has_status("stopped")
    assert time.monotonic() - pressed < SHOWN_WITHIN_SECONDS
    assert ana.loads == []
    confirm_stop(ana)
    ana.toast("There was nothing to stop").wait_for()
    ana.page.screenshot(path=pictures / "journey-nothing-to-stop.png", full_page=True)

    accepted = sum(call["items"] for call in product.submissions() if call["status"] == 200)
    product.script()
    product.control("DELETE", "calls")
    ben.page.locator("#retry-button").click()
    ben.toast("are sent.").wait_for()
    ana.page.locator("#retry-button").click()
    ana.toast("There was nothing to retry").wait_for()
    for person in (ana, ben):
        person.has_status("finished")
    sent = [(call["items"], call["status"], call["fault"]) for call in product.submissions()]
    assert sum(items for items, *_ in sent) == 60 - accepted, sent


def confirm_stop(person: Visitor) -> None:
    """Press Stop in the dialog that asks."""
    person.page.locator("#decision-dialog").get_by_role("button", name="Stop", exact=True).click()


def test_no_page_of_the_journey_complained(ana: Visitor, ben: Visitor) -> None:
    assert ana.complaints == ben.complaints == []


def test_stopping_in_the_middle_of_a_batch_ends_everything_in_time(
    browser: "Browser", tmp_path: Path, reviews: Path
) -> None:
    with (
        running_product(tmp_path / "data", from_nothing=True) as product,
        visiting(browser, product.address) as eve,
    ):
        eve.come_in(product.first_page, name="Eve", email="eve@example.com", team="Night")
        eve.start(reviews, ask="Rate: {{review}}")
        assert len(product.family()) > 6
        assert product.stop() < 10
