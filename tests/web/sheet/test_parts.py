"""The tab of the parts: a page of many, one state of them, and the part that somebody looks for."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.teams.models import Team
from tests.batches.conftest import on_record
from tests.web.visiting import HTMX, element, html, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(team: Team) -> Batch:
    """Sixty parts: the 40th and 50th have failed, the 55th runs, the others are finished."""
    batch = on_record(team, parts=60, status="running")
    batch.parts.update(status="done", answered=10)
    batch.parts.filter(number__in=(40, 50)).update(answered=0, failed=10)
    batch.parts.filter(number=55).update(status="running", answered=0)
    return batch


def shown(web: Client, batch: Batch, query: str = "", **headers: str) -> str:
    return html(web.get(f"{reverse('parts', args=[batch.pk])}{query}", headers=headers))


def numbers(markup: str) -> list[int]:
    return [int(number) for number in re.findall(r'<tr[^>]* id="part-(\d+)"', markup)]


def test_each_state_is_a_filter_with_its_count(web: Client, batch: Batch) -> None:
    page = shown(web, batch)
    chips = said(web.get(reverse("parts", args=[batch.pk])))
    assert "All 60 Finished (no row answered) 2 Running 1 Finished 57" in chips
    assert numbers(page) == list(range(1, 25))
    assert numbers(shown(web, batch, "?state=failed")) == [40, 50]
    assert numbers(shown(web, batch, "?state=answered&parts=2"))[0] == 25


@pytest.mark.parametrize("state", ["held", "nonsense", "' OR 1"])
def test_a_state_that_no_part_has_is_none(web: Client, batch: Batch, state: str) -> None:
    assert len(numbers(shown(web, batch, f"?state={state}"))) == 24


def test_the_filter_stays_while_the_table_refreshes_itself(web: Client, batch: Batch) -> None:
    table = element(shown(web, batch, "?state=failed"), "parts")
    address = re.search(r'hx-get="[^"?]*(\?[^"]*)"', table)
    assert address is not None
    again = shown(web, batch, address[1].replace("&amp;", "&"), **HTMX, **{"HX-Target": "parts"})
    assert numbers(again) == [40, 50]


def test_somebody_goes_to_a_part_by_its_number(web: Client, batch: Batch) -> None:
    page = shown(web, batch, "?part=52")
    assert 'id="part-52" class="at"' in page
    assert 'name="part"' in page


def test_a_few_parts_of_one_state_need_no_filters(web: Client, team: Team) -> None:
    few = shown(web, on_record(team, parts=3, status="finished"))
    assert 'class="filter"' not in few
    assert 'name="part"' not in few


def test_many_parts_cost_as_many_queries_as_few(
    web: Client, team: Team, django_assert_max_num_queries: Any
) -> None:
    counts = []
    for parts in (25, 130, 300):
        address = reverse("parts", args=[on_record(team, parts=parts, status="finished").pk])
        with django_assert_max_num_queries(60) as queries:
            web.get(address)
        counts.append(len(queries))
    assert counts[1] == counts[2]  # the first request of all looks up what is cached then


def test_the_technical_details_say_how_often_cloudflare_was_asked(
    web: Client, batch: Batch
) -> None:
    part = reverse("part", args=[batch.pk, 55])
    assert "Looks" not in said(web.get(part, headers=HTMX))
    batch.parts.filter(number=55).update(polls=1_234, last_polled_at=timezone.now())
    assert "1,234 while it was queued or running" in said(web.get(part, headers=HTMX))
