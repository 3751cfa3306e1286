"""The search above the grid."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch, Search
from batchui.batches.sheet import searches
from batchui.batches.sheet_models import SearchStatus
from batchui.teams.models import Team
from tests.batches.sheet.made import made, no, yes
from tests.web.sheet.test_chips import shown
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, [yes("Cold breakfast"), no()], [yes("cold feet"), yes("warm")])


@pytest.fixture
def large(some: Batch, monkeypatch: pytest.MonkeyPatch) -> Batch:
    monkeypatch.setattr(searches, "AT_ONCE_ROWS", 1)
    return some


def page(web: Client, batch: Batch, query: str) -> Any:
    return web.get(f"{batch.get_absolute_url()}{query}")


def test_the_grid_has_the_rows_with_the_words(web: Client, some: Batch) -> None:
    assert shown(page(web, some, "?show=&q=COLD")) == [1, 3]
    assert shown(page(web, some, "?show=failed&q=text")) == [2]


def test_the_words_stand_in_the_field_and_can_be_taken_away(web: Client, some: Batch) -> None:
    response = page(web, some, "?show=&q=cold")
    assert 'value="cold"' in html(response)
    assert "“cold”" in said(response)


def test_words_that_stand_nowhere_are_said(web: Client, some: Batch) -> None:
    assert "No row has “<u>” in its cells" in said(page(web, some, "?show=&q=<u>"))
    assert "<u>" not in html(page(web, some, "?show=&q=<u>"))


def test_a_search_among_some_rows_says_so_and_leads_to_all(web: Client, some: Batch) -> None:
    def told(query: str) -> str:
        return html(web.get(f"{some.get_absolute_url()}{query}"))

    among = told("?show=attention&q=room")
    assert "Searched only in rows of “Failed”." in among
    assert (
        f'href="{some.get_absolute_url()}?show=&amp;q=room"' in among.split('id="searched-in"')[1]
    )
    assert 'id="searched-in"' not in told("?show=&q=room")
    assert 'id="searched-in"' not in told("?show=attention")
    assert "Searched only in rows of “Failed”." in told("?show=failed&q=nowhere")


def test_a_search_under_way_says_how_far_it_is_and_can_be_stopped(
    web: Client, large: Batch
) -> None:
    response = page(web, large, "?show=&q=cold")
    assert "Searching: 0 % of 4 rows, 0 found so far" in said(response)
    assert "Nothing found yet." in said(response)
    assert 'hx-trigger="load delay:1s"' in html(response)
    search = Search.objects.get()
    stopped = web.post(reverse("stop_search", args=[large.pk, search.pk]))
    assert Search.objects.get().status == SearchStatus.STOPPED
    assert "Stopped after 0 of 4 rows." in said(web.get(stopped["Location"]))


def test_the_search_of_another_batch_is_not_stopped(web: Client, large: Batch, team: Team) -> None:
    page(web, large, "?q=cold")
    other = made(team, [yes()])
    address = reverse("stop_search", args=[other.pk, Search.objects.get().pk])
    assert web.post(address).status_code == 404
    assert Search.objects.get().status == SearchStatus.RUNNING


def test_too_many_rows_are_said(web: Client, some: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "MOST_FOUND", 1)
    assert "More rows have these words. The first 1 are shown." in said(
        page(web, some, "?show=&q=text")
    )
