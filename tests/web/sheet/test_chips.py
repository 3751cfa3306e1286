"""The filters of a sheet, with how many rows each shows; and on what a batch opens."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.batches.sheet.reasons import reason_of
from batchui.teams.models import Team
from batchui.web.sheet.chips import chips_of
from tests.batches.sheet.made import WAITS, cut, made, no, yes
from tests.web.visiting import html

pytestmark = pytest.mark.django_db

BROKEN = reason_of("failed", "broken").key


@pytest.fixture
def some(team: Team) -> Batch:
    return made(team, [yes("a"), no(), yes("b"), no("empty")], [yes("a"), no("failed", "other")])


def shown(response: Any) -> list[int]:
    """The numbers of the rows in the grid."""
    return [int(number) for number in re.findall(r'id="row-(\d+)"', html(response))]


def page(web: Client, batch: Batch, query: str = "") -> Any:
    return web.get(f"{reverse('batch', args=[batch.pk])}{query}")


def test_there_is_a_filter_for_each_kind_of_rows_that_there_are(some: Batch) -> None:
    assert [(chip.show, chip.count) for chip in chips_of(some)] == [
        ("", 6),
        ("answered", 3),
        ("attention", 3),
        ("empty", 1),
        ("failed", 2),
    ]


def test_rows_whose_answers_were_cut_off_have_a_filter_and_are_answered(
    web: Client, team: Team
) -> None:
    batch = made(team, [yes("a"), cut(), no()], [cut(), yes("b")])
    assert [(chip.show, chip.word, chip.count) for chip in chips_of(batch)][1:] == [
        ("answered", "Answered", 4),
        ("attention", "Failed", 1),
        ("cut", "Cut off", 2),
    ]
    assert shown(page(web, batch, "?show=cut")) == [2, 4]
    assert shown(page(web, batch, "?show=answered")) == [1, 2, 4, 5]
    assert html(page(web, batch, "?show=cut")).count("… cut off</small>") == 2


def test_all_and_answered_are_always_there(team: Team) -> None:
    batch = made(team, [WAITS, WAITS])
    assert [(chip.show, chip.count) for chip in chips_of(batch)] == [
        ("", 2),
        ("answered", 0),
        ("waiting", 2),
    ]


def test_one_kind_of_problem_needs_no_filter_for_all_kinds(team: Team) -> None:
    batch = made(team, [yes(), no()])
    [*_, last] = chips_of(batch)
    assert (last.show, last.word, last.count) == ("attention", "Failed", 1)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("?show=", [1, 2, 3, 4, 5, 6]),
        ("?show=answered", [1, 3, 5]),
        ("?show=failed", [2, 6]),
        (f"?show=reason:{BROKEN}", [2]),
        ("?show=value:answer:a", [1, 5]),
        ("?show=nonsense", [1, 2, 3, 4, 5, 6]),
        ("?show=answered&row=5", [1, 3, 5]),
    ],
)
def test_the_grid_has_the_chosen_rows(
    web: Client, some: Batch, query: str, rows: list[int]
) -> None:
    assert shown(page(web, some, query)) == rows


def test_a_batch_opens_on_the_rows_that_need_a_person(web: Client, some: Batch) -> None:
    response = page(web, some)
    assert shown(response) == [2, 4, 6]
    assert f'href="/batches/{some.pk}/?show="' in html(response)


def test_a_batch_without_problems_opens_on_all_rows(web: Client, team: Team) -> None:
    batch = made(team, [yes(), yes()])
    response = page(web, batch)
    assert shown(response) == [1, 2]
    assert "?show=" not in html(response).replace("?show=answered", "")


def test_skipped_rows_need_nobody(web: Client, team: Team) -> None:
    assert shown(page(web, made(team, [yes(), no("invalid", "it is blank")]))) == [1, 2]


def test_a_row_of_its_own_address_stands_among_all_rows(web: Client, some: Batch) -> None:
    response = web.get(reverse("row", args=[some.pk, 3]))
    assert shown(response) == [1, 2, 3, 4, 5, 6]


def test_a_chosen_reason_stands_beside_the_filters_and_can_be_taken_away(
    web: Client, some: Batch
) -> None:
    response = page(web, some, f"?show=reason:{BROKEN}")
    assert re.search(r'class="filter chosen"\s+href="[^"]*\?show="', html(response))
    assert "broken" in html(response)


def test_what_somebody_typed_into_the_address_is_escaped(web: Client, some: Batch) -> None:
    response = page(web, some, "?show=value:answer:<script>alert(1)</script>")
    assert "<script>alert" not in html(response)
