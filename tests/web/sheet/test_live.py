"""A page that is watched: its strip, its line, and the cells that fill."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import corrections, part_answers, sending
from batchui.batches.answer_editing import seen_of
from batchui.batches.models import Batch
from batchui.batches.sheet import asking_again, searches
from batchui.batches.sheet.glance import reasons_of
from batchui.prompts.answer_columns import AnswerColumn
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Connection, User
from batchui.web.sheet import live
from batchui.worker.heartbeat import beat
from tests.batches.conftest import MakeBatch, poll_all, rows, send_all, work
from tests.web.sheet.watching import Page, asked
from tests.web.visiting import HTMX, answer_cells_of, element, html, roots, said

pytestmark = pytest.mark.django_db


def cells(answer: str) -> list[str]:
    return re.findall(r'<td id="cell-(\d+-\d+)" hx-swap-oob="true"', answer)


@pytest.fixture(autouse=True)
def somebody_works(db: None) -> None:
    beat()


def test_while_nothing_changes_nothing_comes(web: Client, batch: Batch) -> None:
    page = Page(web, batch.get_absolute_url())
    assert page.watched["rows"] == "1a0_2_26.2a0_27_51.3a0_52_61"
    assert page.poll() == ""


def test_cells_say_what_they_wait_for_and_then_fill(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    page = Page(web, batch.get_absolute_url())
    sending.send(batch.parts.get(number=2))
    answer = page.poll()
    assert cells(answer) == [f"{row}-0" for row in range(27, 52)]
    assert answer.count("queued</span>") == 25
    poll_all()
    answer = page.poll()
    assert cells(answer) == [f"{row}-0" for row in range(27, 52)]
    assert "text number 26" in answer
    assert page.watched["rows"] == "1a0_2_26.3a0_52_61"
    assert page.poll() == ""
    work(batch)
    assert len(cells(page.poll())) == 35
    assert not page.polls()


def test_what_is_answered_stays_as_it_is(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sending.send(batch.parts.get(number=1))
    poll_all()
    page = Page(web, batch.get_absolute_url())
    assert page.watched["rows"] == "2a0_27_51.3a0_52_61"
    sending.send(batch.parts.get(number=3))
    assert cells(page.poll()) == [f"{row}-0" for row in range(52, 62)]


def test_every_part_of_the_answer_has_a_place_on_the_page(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    page = Page(web, batch.get_absolute_url())
    there = set(re.findall(r'\sid="([^"]*)"', page.markup))
    cells_there = {
        f"cell-{number}-{at}"
        for number in map(int, re.findall(r'id="row-(\d+)"', page.markup))
        for at in range(len(answer_cells_of(page.markup, number)))
    }
    send_all()
    answer = page.poll()
    found = [root for root in roots(answer) if root["tag"] not in ("title", "template")]
    assert [root["id"] for root in found if "hx-swap-oob" not in root] == ["live"]
    assert {root["id"] for root in found} <= there | cells_there
    assert {f"cell-{cell}" for cell in cells(answer)} <= cells_there


def test_the_strip_comes_only_when_it_has_changed(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    page = Page(web, batch.get_absolute_url())
    assert "3 parts: 3 queued (not sent yet)" in element(page.markup, "strip")
    Batch.objects.update(version=batch.version + 1)
    assert 'id="strip"' not in page.poll()
    send_all()
    answer = page.poll()
    assert "3 parts: 3 queued (sent)" in element(answer, "strip")
    assert 'aria-label="Part 2, rows 27 to 51: Queued (sent)"' in answer
    assert 'id="strip"' in answer


def test_the_end_is_told_once_with_the_buttons_that_it_brings(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    page = Page(web, batch.get_absolute_url())
    before = page.markup
    assert "Stop …" in before
    work(batch)
    answer = page.poll()
    assert "<title>Finished: texts · batchui</title>" in answer
    assert "Finished: 60 of 60 answered" in answer.split('id="announcement"')[1]
    actions = answer.split('id="head-actions"')[1]
    assert "Stop …" not in actions
    assert "Ask a further question" in actions
    in_menus = ("Ask a further question of the answers", "waiting rows have no answer yet")
    assert [text in before for text in in_menus] == [False, True]
    assert [text in answer for text in in_menus] == [True, False]
    assert element(answer, "downloads")
    assert not page.polls()


def test_the_end_is_an_event_of_its_own(web: Client, sandbox: RunningSandbox, batch: Batch) -> None:
    address = f"{reverse('live', args=[batch.pk])}?seen=0"
    assert json.loads(web.get(address)["HX-Trigger"]).keys() == {"batch-changed"}
    work(batch)
    told = json.loads(web.get(address)["HX-Trigger"])
    assert told.keys() == {"batch-changed", "batch-ended"}


def test_a_tab_without_rows_watches_none(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    assert 'hx-include="#watched"' in html(web.get(batch.get_absolute_url()))
    for tab in ("timeline", "parts", "attention", "asked"):
        assert "#watched" not in html(web.get(reverse(tab, args=[batch.pk]))), tab


def test_a_page_that_was_left_open_sees_what_others_did_once_it_is_looked_at(
    web: Client, sandbox: RunningSandbox, batch: Batch, ana: User
) -> None:
    work(batch)
    page = Page(web, batch.get_absolute_url())
    assert page.poll() == ""
    now = next(answer for answer in part_answers.read_answers(batch.parts.get(number=1)) if answer)
    seen = seen_of(bytes(now.answer), (), 0)
    assert corrections.correct(batch, 2, at=0, written="By Ana", seen=seen, by=ana).is_saved
    answer = page.poll()
    assert len(cells(answer)) == 60
    assert "By Ana" in answer
    assert "✎ edited" in answer
    assert page.poll() == ""
    batch.refresh_from_db()
    assert asking_again.ask_again(batch, chosen=[3, 30], by=None).rows == 2
    answer = page.poll()
    assert page.polls()
    assert page.watched["rows"] == "1a2_3_3.2a1_30_30"
    assert answer.count("asked again: waits") == 2
    send_all()
    assert cells(page.poll()) == ["3-0", "30-0"]
    work(Batch.objects.get())
    answer = page.poll()
    assert cells(answer) == ["3-0", "30-0"]
    assert "asked again" not in answer
    assert not page.polls()


def test_a_page_of_found_rows_that_was_left_open_lets_no_worker_search_again(
    web: Client, sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(batch)
    page = Page(web, f"{batch.get_absolute_url()}?q=text")
    Batch.objects.update(version=F("version") + 1)
    monkeypatch.setattr(searches, "is_quick", lambda _: False)
    monkeypatch.setattr(live, "grid_of", None)  # would fail
    assert cells(page.poll()) == []


def test_rows_that_come_while_a_filter_is_on_are_not_thrown_in(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sending.send(batch.parts.get(number=1))
    poll_all()
    page = Page(web, f"{batch.get_absolute_url()}?show=answered")
    assert page.watched["rows"] == ""
    assert page.watched["count"] == "25"
    sending.send(batch.parts.get(number=3))
    poll_all()
    answer = page.poll()
    assert cells(answer) == []
    assert "10 more rows match now." in said_of(answer)
    assert "?show=answered" in answer.split('id="grid-news"')[1]
    sending.send(batch.parts.get(number=2))
    poll_all()
    assert "35 more rows match now." in said_of(page.poll())


def come_back(batch: Batch, number: int) -> None:
    sending.send(batch.parts.get(number=number))
    poll_all()


def test_more_rows_with_a_reason_are_told(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "failed", "items": [0, 1], "times": 3})
    come_back(batch, 1)
    [reason] = reasons_of(batch)[0]
    page = Page(web, f"{batch.get_absolute_url()}?show=reason:{reason.reason.key}")
    assert page.watched["count"] == "2"
    come_back(batch, 2)
    answer = page.poll()
    assert "2 more rows match now." in said_of(answer)
    assert cells(answer) == []


def test_more_rows_with_a_value_are_told(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    tone = AnswerColumn("tone", "one_of", ("good", "bad"))
    batch = start(rows(60), answer_columns=(tone,))
    come_back(batch, 1)
    page = Page(web, f"{batch.get_absolute_url()}?show=value:tone:good")
    count = int(page.watched["count"])
    come_back(batch, 2)
    told = said_of(page.poll())
    now = int(Page(web, f"{batch.get_absolute_url()}?show=value:tone:good").watched["count"])
    assert now > count + 1
    assert f"{now - count} more rows match now." in told


def test_more_rows_with_words_are_told_and_those_that_waited_change(
    web: Client, sandbox: RunningSandbox, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searches, "FRESH", timedelta(0))
    # One row has it in its cells, and waits; the answers will say it of all.
    page = Page(web, f"{batch.get_absolute_url()}?show=&q=number 7")
    assert page.watched["count"] == "1"
    come_back(batch, 1)
    assert len(cells(page.poll())) == 1
    page = Page(web, f"{batch.get_absolute_url()}?show=&q=sandbox")
    assert page.watched["count"] == "25"
    come_back(batch, 3)
    assert "10 more rows match now." in said_of(page.poll())
    come_back(batch, 2)
    monkeypatch.setattr(searches, "AT_ONCE_ROWS", 1)
    assert "match now" not in page.poll()


def test_a_filter_that_was_not_there_comes_with_its_rows(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    sandbox.script({"fault": "failed", "items": [0], "times": 3})
    page = Page(web, f"{batch.get_absolute_url()}?show=answered")
    assert 'id="count-problems"' not in page.markup
    work(batch)
    answer = page.poll()
    assert 'id="count-problems"' in answer
    assert 'aria-current="true"' in element(answer, "show-answered")


def test_without_a_filter_no_more_rows_come(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    page = Page(web, batch.get_absolute_url())
    work(batch)
    assert "match now" not in page.poll()


def said_of(answer: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", answer).split())


def test_a_page_of_rows_that_came_late_is_brought_up_to_date(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    """Its rows were read before the last poll, and put in after it."""
    page = Page(web, batch.get_absolute_url())
    old = page.watched
    send_all()
    page.poll()
    address = reverse("live", args=[batch.pk])
    seen = asked(re.search(r'hx-get="([^"]*)"', page._live)[1])  # type: ignore[index]
    assert web.get(address, seen | page.watched, headers=HTMX).status_code == 204
    late = web.get(address, seen | old, headers=HTMX)
    assert len(cells(html(late))) == 60


@pytest.mark.parametrize("tab", ["timeline", "parts", "asked"])
def test_a_tab_without_rows_gets_none(
    web: Client, sandbox: RunningSandbox, batch: Batch, tab: str
) -> None:
    page = Page(web, reverse(tab, args=[batch.pk]))
    assert page.watched == {}
    send_all()
    answer = page.poll()
    assert cells(answer) == []
    assert 'id="watched"' not in answer
    assert 'id="strip"' in answer


@pytest.mark.parametrize(
    "nonsense",
    [
        {"rows": "x.1a0_9_1.99a0_1_2", "count": "x", "at": "y", "show": "zzz", "q": "a" * 999},
        {"rows": "1b0_500_510", "count": "²", "page": "-1"},
    ],
)
def test_nonsense_in_a_poll_is_harmless(
    web: Client, batch: Batch, nonsense: dict[str, str]
) -> None:
    response = web.get(reverse("live", args=[batch.pk]), nonsense, headers=HTMX)
    assert response.status_code == 200
    assert cells(html(response)) == []


def test_the_line_says_each_thing_once(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(60))
    send_all()
    line = said(web.get(batch.get_absolute_url())).split("More Download")[1]
    assert line.count("0 of 60 answered") == 1
    Connection.objects.update(kind="rest")
    Batch.objects.update(prompt_tokens=200_000, completion_tokens=10_000)
    shown = said(web.get(reverse("timeline", args=[batch.pk])))
    assert "so far $0.06 · 210,000 tokens" in shown


def test_a_poll_costs_as_many_queries_for_many_parts_as_for_few(
    web: Client, start: MakeBatch, django_assert_max_num_queries: Any
) -> None:
    counts = []
    for number in (60, 300):
        batch = start(rows(number))
        page = Page(web, batch.get_absolute_url())
        assert page.poll() == ""
        batch.parts.update(status="queued")
        # It has a pace only from its third second on.
        Batch.objects.filter(pk=batch.pk).update(version=99, started_at=timezone.now())
        with django_assert_max_num_queries(60) as queries:
            assert len(cells(page.poll())) == min(number, 100)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_page_without_rows_does_not_ask_for_them(web: Client, batch: Batch) -> None:
    sheet, parts = (
        html(web.get(address))
        for address in (batch.get_absolute_url(), f"/batches/{batch.pk}/parts/")
    )
    assert "#watched" in element(sheet, "live")
    assert "#watched" not in element(parts, "live")
    page = Page(web, batch.get_absolute_url())
    send_all()
    assert "#watched" in element(page.poll(), "live")
