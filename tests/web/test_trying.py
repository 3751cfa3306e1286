"""Trying a question on a few rows: the button, the columns, and the answers as they come."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import tries
from batchui.batches.models import Batch, TriedRow, Try
from batchui.batches.try_models import TriedStatus
from batchui.web.trying.columns import WIDTH
from tests.batches.conftest import rows
from tests.batches.trying import ask_all
from tests.web.tried import GRID, draft, live, page, part, press, seen, words
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    html,
    roots,
    said,
)

__all__ = ["draft"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox", "every_file_is_small")]


def test_the_button_tries_five_rows_and_the_sheet_gets_a_column(web: Client, draft: Batch) -> None:
    assert "Try 5 rows" in words(page(web, draft), "try-now")
    response = press(web, draft)
    assert response.headers["HX-Trigger"] == '{"tries-changed": {}}'
    assert "Try 1: 0 of 5 rows answered" in said(response)
    shown = page(web, draft)
    assert "Llama 4 Scout 0 of 5 rows answered" in words(shown, "try-1-head")
    assert words(shown, "try-1-2") == "Waiting"
    ask_all()
    shown = page(web, draft)
    assert "5 rows answered" in words(shown, "try-1-facts")
    assert "text number 1" in words(shown, "try-1-2")
    assert 'hx-get="' not in shown.split('id="try-poll"')[1].split(">")[0]


def test_the_sheet_is_wide_enough_for_the_columns_of_tries(web: Client, draft: Batch) -> None:
    def width() -> int:
        found = re.search(r'id="grid"[^>]*\swidth="(\d+)"', page(web, draft))
        assert found
        return int(found[1])

    before = width()
    press(web, draft)
    assert width() == before + WIDTH


def test_what_is_typed_is_tried_and_kept_in_the_draft(web: Client, draft: Batch) -> None:
    press(web, draft, template="Judge: {{text}}")
    draft.refresh_from_db()
    assert draft.template == Try.objects.get().template == "Judge: {{text}}"


def test_ticked_rows_are_tried(web: Client, draft: Batch) -> None:
    press(web, draft, "chosen", rows=["7", "9", "", "-1", "x", "9" * 30])
    assert list(TriedRow.objects.values_list("number", flat=True)) == [7, 9]


def test_a_second_try_is_of_the_same_rows_and_stands_beside_the_first(
    web: Client, draft: Batch
) -> None:
    press(web, draft, "chosen", rows=["7", "9"])
    ask_all()
    shown = page(web, draft)
    assert "Try again" in words(shown, "try-now")
    assert roots(part(shown, "try-now"))[0]["value"] == "same"
    press(web, draft, "same", template="Judge: {{text}}")
    ask_all()
    shown = page(web, draft)
    assert re.findall(r'id="try-(\d)-head"', shown) == ["1", "2"]
    assert re.findall(r'id="(try-\d-9)"', shown) == ["try-1-9", "try-2-9"]
    assert 'id="try-1-8"' not in shown


def test_tried_rows_of_another_page_are_shown_above_the_rows_of_this_one(web: Client) -> None:
    draft = drafted(web, rows(250))
    press(web, draft, "chosen", rows=["239", "3"])
    shown = page(web, draft)
    above = shown.split('class="tried-beyond">')[1].split("</tbody>")[0]
    assert words(f'<table id="above">{above}</table>', "above") == (
        "Tried, from another page 239 238 text number 238 Waiting"
    )
    assert shown.count('id="row-239"') == shown.count('id="row-3"') == 1
    third = html(web.get(f"{draft.get_absolute_url()}?page=3", headers=HTMX | GRID))
    assert third.split('class="tried-beyond">')[1].count("<tr") == 1 + 1 + 50
    assert third.count('id="row-239"') == third.count('id="row-3"') == 1
    assert seen(third) == "1.3.waiting,1.239.waiting"


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"template": ""}, "Write what to ask"),
        ({"template": "Hello"}, "column"),
        ({"template": "{{nothing}}"}, "nothing"),
        ({"max_tokens": "0"}, "Write 1 or more"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused_with_its_reason(
    web: Client, draft: Batch, typed: dict[str, str], sentence: str
) -> None:
    response = press(web, draft, **typed)
    assert response.status_code == 422
    assert sentence in said(response)
    assert 'role="alert"' in html(response)
    assert not Try.objects.exists()


def test_rows_that_stop_start_do_not_stop_a_try(web: Client) -> None:
    draft = drafted(web, b"id,text\n1,one\n2,two,three\n3,four\n")
    assert draft.bad_rows == 1
    assert press(web, draft).status_code == 200
    assert list(TriedRow.objects.values_list("number", flat=True)) == [2, 4]


def test_one_press_is_enough(web: Client, draft: Batch) -> None:
    press(web, draft)
    response = press(web, draft)
    assert response.status_code == 422
    assert tries.ONE_UNDER_WAY in said(response)
    assert Try.objects.count() == 1


def test_an_unknown_choice_of_rows_is_a_bad_request(web: Client, draft: Batch) -> None:
    assert press(web, draft, "all").status_code == 400


def test_without_script_the_page_comes_back(web: Client, draft: Batch) -> None:
    address = reverse("try", args=[draft.pk])
    assert web.post(address, {**answers(draft), "which": "first"})["Location"] == (
        draft.get_absolute_url()
    )
    response = web.post(address, {**answers(draft), "which": "first"}, follow=True)
    assert tries.ONE_UNDER_WAY in html(response)


def test_only_what_came_is_sent_and_nothing_where_nothing_came(web: Client, draft: Batch) -> None:
    press(web, draft)
    known = seen(page(web, draft))
    assert live(web, draft, known).status_code == 204
    TriedRow.objects.filter(number=3).update(status=TriedStatus.ANSWERED, answer='"Fine."')
    found = html(live(web, draft, known))
    assert re.findall(r'id="(try-\d-\d)"', found) == ["try-1-3"]
    assert words(found, "try-1-3") == "Fine."
    assert "1 of 5 rows answered" in words(found, "try-1-facts")
    assert live(web, draft, seen(found)).status_code == 204


def test_a_try_begun_on_another_page_brings_its_column(web: Client, draft: Batch) -> None:
    press(web, draft)
    known = seen(page(web, draft))
    ask_all()
    press(web, draft)
    response = live(web, draft, known)
    assert response.headers["HX-Trigger"] == '{"tries-changed": {}}'
    assert [root["id"] for root in roots(html(response))] == ["try-poll", "try"]
    again = live(web, draft, seen(html(response)))
    assert again.status_code == 204


def test_every_fragment_replaces_what_it_names(web: Client, draft: Batch) -> None:
    press(web, draft)
    shown = page(web, draft)
    TriedRow.objects.filter(number=3).update(status=TriedStatus.FAILED, error="Too long.")
    found = roots(html(live(web, draft)))
    assert [root["id"] for root in found] == [
        "try-poll",
        "try",
        "try-1-facts",
        *(f"try-1-{number}" for number in range(2, 7)),
    ]
    assert [root.get("hx-swap-oob") for root in found[1:]] == ["true"] * 7
    assert all(f'id="{root["id"]}"' in shown for root in found)


def test_the_end_is_announced_and_nothing_more_is_asked(web: Client, draft: Batch) -> None:
    press(web, draft)
    known = seen(page(web, draft))
    ask_all()
    found = html(live(web, draft, known))
    assert "Try 1: 5 rows answered" in words(found, "announcement")
    assert "hx-get" not in roots(found)[0]
    assert "Try again" in words(found, "try-now")


def test_the_price_is_reckoned_anew_from_what_was_tried(web: Client, draft: Batch) -> None:
    press(web, draft)
    known = seen(page(web, draft))
    assert "the rows you tried" not in page(web, draft)
    ask_all()
    assert "the rows you tried" in html(live(web, draft, known))
