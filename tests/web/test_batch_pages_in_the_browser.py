"""The pages about batches in a real browser: what only happens there."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.utils import timezone

from batchui.batches import checking, preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Team, User
from batchui.web.sheet import grid
from tests.batches.conftest import MakeBatch, rows, send_all, work
from tests.conftest import PATIENCE
from tests.stories.visitors import gets_the_focus
from tests.web.test_history import made
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.test_people_pages_are_accessible import faults, sticks_out
from tests.web.visiting import drafted

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(new_page: NewPage, ana: User) -> "Page":
    opened = new_page(ana)
    opened.set_default_timeout(PATIENCE)
    return opened


def choose(page: "Page", path: Path, content: bytes) -> None:
    path.write_bytes(content)
    page.locator("#id_file").set_input_files(path)


def test_from_a_file_to_a_started_batch(page: "Page", tmp_path: Path) -> None:
    page.goto("/new/")
    choose(page, tmp_path / "texts.csv", rows(60))
    page.wait_for_url(re.compile("/batches/"))
    batch = Batch.objects.get()
    page.get_by_label("What to ask of every row").fill("Summarise: ")
    page.get_by_role("button", name="text", exact=True).click()
    page.get_by_text("Summarise: text number 1").wait_for()
    checking.check_file(batch.pk)
    page.get_by_role("button", name="Start: 60 rows").dblclick()
    page.get_by_text("Preparing: ").wait_for()
    preparing.prepare(batch.pk)
    page.get_by_text("0 of 60 answered").first.wait_for()
    assert batch.events.filter(text="Started.").count() == 1


@pytest.mark.usefixtures("every_file_is_small")
def test_what_the_button_and_the_tick_say_follows_what_is_typed(page: "Page", web: Client) -> None:
    page.goto(drafted(web, b"id,text\n1,x\n2,x\n3,\n").get_absolute_url())
    waits = page.get_by_label("Do not start while a row has nothing to ask about")
    question = page.get_by_label("What to ask of every row")
    page.get_by_role("button", name="Start: 3 rows").wait_for()
    assert not waits.is_visible()
    question.fill("Sentiment of {{text}}")
    page.get_by_role("button", name="Start: 2 rows").wait_for()
    page.get_by_role("button", name="1 row is skipped").click()
    page.get_by_text("1 row has nothing in “text”: row 4. It is skipped.").wait_for()
    # That tick is for rows that cannot be asked: there are none.
    assert not page.get_by_label("Skip rows that cannot be asked").is_visible()
    waits.check()
    page.get_by_role("button", name="1 row cannot be asked").wait_for()
    page.get_by_text("Start waits until that is filled in.").wait_for()
    waits.uncheck()
    page.get_by_role("button", name="1 row is skipped").wait_for()
    page.keyboard.press("Escape")
    page.get_by_label("Ask the same question only once").check()
    page.get_by_role("button", name="Start: 2 rows, 1 asked").wait_for()
    question.fill("{{id}}")
    page.get_by_role("button", name="Start: 3 rows", exact=True).wait_for()
    page.get_by_role("button", name="1 row is skipped").wait_for(state="hidden")


@pytest.mark.usefixtures("every_file_is_small")
def test_a_row_that_cannot_be_asked_is_skipped_by_a_tick(page: "Page", web: Client) -> None:
    page.goto(drafted(web, b"id,text\n1,x\n2,x\n3,x,y\n").get_absolute_url())
    page.get_by_label("What to ask of every row").fill("{{text}}")
    page.get_by_role("button", name="1 row cannot be asked").click()
    tick = page.get_by_label("Skip rows that cannot be asked")
    tick.check()
    page.get_by_role("button", name="1 row is skipped").wait_for()
    assert tick.is_checked()


def test_a_file_over_the_limit_is_refused_without_sending_it(
    page: "Page", tmp_path: Path, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 1_000
    page.goto("/new/")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    choose(page, tmp_path / "texts.csv", rows(60))
    page.get_by_text("This file is larger than the limit of 1 KB").wait_for()
    assert "POST" not in sent
    choose(page, tmp_path / "small.csv", b"id,text\n")
    page.get_by_text("“small.csv” cannot be used.").wait_for()
    choose(page, tmp_path / "good.csv", rows(3))
    page.wait_for_url(re.compile("/batches/"))


def test_an_error_goes_when_its_field_is_changed(page: "Page", web: Client) -> None:
    batch = drafted(web, rows(3))
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="Start: 3 rows").click()
    said = page.get_by_text("Write what to ask, then click a column to insert it.")
    said.wait_for()
    area = page.get_by_label("What to ask of every row")
    gets_the_focus(area)
    page.keyboard.type("{{text}}")
    said.wait_for(state="hidden")
    assert area.get_attribute("aria-invalid") is None


def test_a_wide_file_scrolls_under_a_shadow_and_its_columns_are_found(
    page: "Page", web: Client
) -> None:
    names = ",".join(f"name {number}" for number in range(120))
    cells = ",".join(f"cell {number}" for number in range(120))
    page.goto(drafted(web, f"{names}\n{cells}\n{cells}\n".encode()).get_absolute_url())
    page.get_by_label("Find a column").fill("e 11")
    chips = page.locator(".chip:visible")
    assert [chip.strip() for chip in chips.all_inner_texts()] == [
        *("name 11", *(f"name {number}" for number in range(110, 120)))
    ]
    wrap = page.locator("#grid-frame")
    assert wrap.evaluate("it => it.scrollWidth > it.clientWidth && it.clientWidth <= innerWidth")
    shadow = "it => getComputedStyle(it.parentElement, '::after').backgroundImage"
    assert "linear-gradient" in wrap.evaluate(shadow)
    wrap.evaluate("it => it.scrollTo(it.scrollWidth, 0)")
    page.locator(".grid-wrap:not([data-more])").wait_for()
    assert wrap.evaluate(shadow) == "none"  # no column is left
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_a_person_does_survives_a_refresh(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(60))
    page.goto(batch.get_absolute_url())
    page.get_by_role("button", name="Stop …").focus()
    with page.expect_response(lambda answer: "/live/" in answer.url and answer.status == 200):
        send_all()
    page.locator("#cell-2-0", has_text="queued").wait_for()
    page.locator("#stop-button:focus").wait_for()
    work(batch)
    page.locator("#announcement", has_text="Finished: 60 of 60 answered").wait_for(state="attached")
    page.locator("#chips", has_text="Answered 60").wait_for()
    page.locator("#cell-61-0", has_text="text number 60").wait_for()
    assert page.title() == "Finished: texts · batchui"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2_500)
    assert asked == []


def test_a_further_question_is_asked_of_the_answers(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(3))
    page.goto(batch.get_absolute_url())
    further = page.get_by_role("button", name="Ask a further question", exact=True)
    assert further.count() == 0
    work(batch)
    further.click()  # it appears without a reload
    page.get_by_text("use {{answer}} in your question").wait_for()
    draft = batch.asked_further.get()
    checking.check_file(draft.pk)
    page.reload()
    page.get_by_label("What to ask of every row").fill("Shorter: ")
    page.get_by_role("button", name="answer", exact=True).click()
    page.get_by_role("button", name="Start: 3 rows").click()
    page.get_by_text("Preparing: ").wait_for()
    preparing.prepare(draft.pk)
    work(draft)
    page.get_by_text("3 of 3 answered").first.wait_for()  # it follows by itself
    page.get_by_text("Shorter: ").first.wait_for()
    page.get_by_role("link", name="texts", exact=True).click()
    page.get_by_text("This batch asks further about the answers").wait_for()
    assert faults(page) + sticks_out(page) == []


def test_the_history_stays_where_somebody_reads(page: "Page", team: Team) -> None:
    running = [made(team, f"batch {number}", BatchStatus.RUNNING) for number in range(25)]
    read = running[3]  # far down: the newest is on top
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto("/")
    page.locator(f"#batch-{read.pk} time:visible").first.focus()
    scrolled = page.evaluate("scrollY")
    assert scrolled > 0
    with page.expect_response(lambda answer: answer.status == 204) as polled:
        pass
    assert len(polled.value.url.split("seen=")) == 1 + 25
    Batch.objects.filter(pk=read.pk).update(version=2, answered=7)
    page.locator(f"#batch-{read.pk}", has_text="7 of 10 answered").wait_for()
    page.locator(f"#batch-{read.pk} time:focus").wait_for()
    assert page.evaluate("scrollY") == scrolled

    Batch.objects.filter(pk=read.pk).update(deleted_at=timezone.now())
    page.locator(f"#batch-{read.pk}").wait_for(state="detached")
    assert page.locator("#history tbody tr").count() == 24
    Batch.objects.update(version=3, status=BatchStatus.FINISHED)
    page.locator("#history-poll:not([hx-get])").wait_for(state="attached")
    assert page.locator(".status[data-status=finished]").count() == 24
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2_500)
    assert asked == []


def test_rows_are_read_one_after_the_other(
    page: "Page", sandbox: RunningSandbox, start: MakeBatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "ROWS_PAGE", 25)
    batch = work(start(rows(60)))
    page.goto(batch.get_absolute_url())
    page.locator("#open-2").click()
    panel = page.get_by_role("dialog", name="The row in full")
    panel.get_by_role("button", name="Row 3").click()
    panel.get_by_role("heading", name="Row 3").wait_for()
    assert page.url.endswith("/rows/3/")
    page.keyboard.press("Escape")
    page.locator("#open-3:focus").wait_for()
    assert page.url.endswith(batch.get_absolute_url())
    page.get_by_role("link", name="Next").click()
    page.get_by_text("Rows 27 to 51 · 60 in all").wait_for()
    page.reload()
    assert page.get_by_text("Rows 27 to 51 · 60 in all").is_visible()
