"""At a glance: a picture of each answer column, drawn on the server, with words beside it."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch, Counting
from batchui.batches.sheet import digests
from batchui.teams.models import Team
from batchui.web.sheet.glance import number, percent
from tests.batches.sheet.made import made, no, yes
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db

TONES = [{"name": "tone", "kind": "one_of", "choices": ["good", "bad"], "meaning": ""}]


def pictures(web: Client, batch: Batch) -> Any:
    return web.get(reverse("glance", args=[batch.pk]))


def test_few_values_have_a_bar_each_with_its_share_which_is_a_filter(
    web: Client, team: Team
) -> None:
    batch = made(team, [yes("good")] * 3 + [yes("bad")], [yes("good"), no(), yes("bad")])
    response = pictures(web, batch)
    assert "good 67 % 4 rows. Show them" in said(response)
    assert "bad 33 % 2 rows. Show them" in said(response)
    assert "?show=value%3Aanswer%3Agood" in html(response)
    assert 'width="66.7"' in html(response)


def test_a_filter_of_a_picture_shows_as_many_rows_as_it_says(web: Client, team: Team) -> None:
    batch = made(team, [yes("a & b: c"), yes("other")] * 3, [yes("a & b: c")])
    [address] = re.findall(r'href="([^"]*c)"', html(pictures(web, batch)))
    assert html(web.get(address)).count('id="row-') == 4


def test_numbers_have_a_histogram_with_the_ends_and_the_middle(web: Client, team: Team) -> None:
    batch = made(team, [yes(str(at)) for at in range(50)], [yes(str(at)) for at in range(50, 101)])
    response = pictures(web, batch)
    assert re.search(r'aria-label="answer: 0 to 100, 50 in the middle"', html(response))
    assert html(response).count("<title>") == 16
    assert "<caption>answer, 101 rows</caption>" in html(response)


def test_one_number_in_every_row_is_said_and_not_drawn(web: Client, team: Team) -> None:
    batch = made(team, [yes(f"these are {at} words each") for at in range(20)])
    response = pictures(web, batch)
    assert "5 words in every row" in said(response)
    assert "histogram" not in html(response)


def test_texts_are_shown_by_their_lengths(web: Client, team: Team) -> None:
    batch = made(team, [yes("word " * at + f"end {at}") for at in range(1, 41)])
    words = said(pictures(web, batch))
    assert "3 23 words in the middle 42" in words
    assert "Rows, about 3 to 5 " in words


def test_answer_columns_have_a_picture_each(web: Client, team: Team) -> None:
    answers = [yes({"tone": "good"}), yes({"tone": "bad"})] * 2
    batch = made(team, answers, answer_columns=TONES)
    response = pictures(web, batch)
    assert "tone one of a list bad 50 % 2 rows. Show them good 50 %" in said(response)
    assert "?show=value%3Atone%3Agood" in html(response)


def test_while_some_is_not_counted_the_page_says_so_and_looks_again(
    web: Client, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "SECONDS_IN_A_REQUEST", -1)
    batch = made(team, [yes()])
    response = pictures(web, batch)
    assert "Counted so far" in said(response)
    assert 'hx-trigger="load delay:3s"' in html(response)
    digests.make_all(Counting.objects.get(), beat=lambda: None)
    whole = pictures(web, batch)
    assert 'hx-trigger="answer-changed from:body, unfolded"' in html(whole)
    assert "Counted so far" not in said(whole)


def test_lists_of_numbers_are_not_counted_as_words(web: Client, team: Team) -> None:
    batch = made(team, [yes([0.25] * 40)] * 2, model="@cf/baai/bge-m3")
    words = said(pictures(web, batch))
    assert "Each answer is a list of numbers" in words
    assert "words in the middle" not in words
    assert "answer numbers" in said(web.get(batch.get_absolute_url()))


def test_a_value_is_escaped(web: Client, team: Team) -> None:
    batch = made(team, [yes("<b>bold</b>")] * 2)
    assert "<b>bold" not in html(pictures(web, batch))


@pytest.mark.parametrize(
    ("share", "text"), [(1, "100 %"), (0.623, "62 %"), (0.004, "0.4 %"), (0.0001, "< 0.1 %")]
)
def test_shares_have_as_many_digits_as_they_need(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3"), (1204.0, "1,204"), (4.25, "4.25"), (1234.56, "1,234.6"), (0.0, "0")],
)
def test_numbers_have_as_many_digits_as_they_need(value: float, text: str) -> None:
    assert number(value) == text


def test_it_is_worth_its_room_where_there_is_more_than_the_lengths_of_texts(
    web: Client, team: Team
) -> None:
    few = made(team, [yes("good")] * 3 + [yes("bad")])
    texts = made(team, [yes(f"some words about room {at}" + " more" * at) for at in range(60)])
    assert "data-worth-room" in html(pictures(web, few))
    assert "words in the middle" in html(pictures(web, texts))
    assert "data-worth-room" not in html(pictures(web, texts))


def test_the_page_keeps_room_for_what_is_sure_to_be_worth_it(web: Client, team: Team) -> None:
    typed = made(team, [yes({"tone": "good"})], answer_columns=TONES)
    assert "data-worth-room" in html(web.get(typed.get_absolute_url()))
    assert "data-worth-room" not in html(web.get(made(team, [yes()]).get_absolute_url()))


@pytest.mark.parametrize(("values", "lines", "more"), [(4, 4, ""), (5, 3, "2 more values")])
def test_a_column_has_at_most_four_lines(
    web: Client, team: Team, values: int, lines: int, more: str
) -> None:
    batch = made(team, [yes(f"value {at % values}") for at in range(40)])
    page = html(pictures(web, batch))
    shown, _, folded = page.partition("<details")
    assert shown.count("?show=value") / 2 == lines
    assert folded.count("?show=value") / 2 == values - lines
    assert more in folded
