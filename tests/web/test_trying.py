"""Trying a question on a few rows: the button, the columns, and the answers as they come."""

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from batchui.batches import tries
from batchui.batches.models import Batch, TriedRow, Try
from batchui.batches.try_models import TriedStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.web.trying.columns import WIDTH
from tests.batches.conftest import TEMPLATE, another_account, rows
from tests.batches.trying import ask_all
from tests.teams.people import join, outsider
from tests.web.visiting import (
    HTMX,
    answers,
    drafted,
    element,
    html,
    press_start,
    roots,
    said,
    signed_in,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox", "every_file_is_small")]

GRID = {"HX-Target": "grid-area"}


@pytest.fixture
def draft(web: Client) -> Batch:
    return drafted(web, rows(40))


def press(web: Client, draft: Batch, which: str = "first", **typed: Any) -> Any:
    """Press Try. Returns the answer, which is the new button."""
    ticked = typed.pop("rows", [])
    body = {**answers(draft, **typed), "which": which, "rows": ticked}
    return web.post(reverse("try", args=[draft.pk]), body, headers=HTMX)


def page(web: Client, draft: Batch) -> str:
    return html(web.get(draft.get_absolute_url()))


def part(page: str, identity: str) -> str:
    """The element with this id, with what is in it."""
    begins = page.index(opening := element(page, identity))
    name = opening[1:].split()[0]
    depth = 0
    for tag in re.finditer(rf"<(/?){name}\b", page[begins:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return f"{page[begins : begins + tag.end()]}>"
    raise AssertionError(f"{identity} is not closed")


def words(page: str, identity: str) -> str:
    """The words of the element with this id, on one line."""
    spaced = re.sub(r"(</[a-z]+>)", r"\1 ", part(page, identity))
    return " ".join(unescape(strip_tags(spaced)).split())


def live(web: Client, draft: Batch, seen: str = "") -> Any:
    return web.get(f"{reverse('try_live', args=[draft.pk])}?seen={seen}", headers=HTMX)


def seen(fragment: str) -> str:
    """What the poll of a page says that it knows."""
    return re.findall(r"live/\?seen=([^\"]*)", fragment)[0]


# -- pressing -----------------------------------------------------------------------------------


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


# -- as they come -------------------------------------------------------------------------------


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


def test_the_head_of_a_try_has_its_wording_and_model(web: Client, draft: Batch) -> None:
    press(web, draft, template="Judge: {{text}}")
    assert "Try 1 Judge: {{text}} Llama 4 Scout" in words(page(web, draft), "try-1-head")


def test_a_try_that_fails_says_why_once(web: Client, draft: Batch, sandbox: RunningSandbox) -> None:
    sandbox.script({"fault": "error", "call": "run", "code": 3036})
    press(web, draft)
    ask_all()
    shown = page(web, draft)
    assert "free allowance of Workers AI is used up" in words(shown, "try-1-facts")
    assert words(shown, "try-1-2") == "Not asked"
    assert "Nothing was tried. Today" in said(press(web, draft))


def test_a_row_that_fails_alone_says_why_in_its_cell(web: Client, draft: Batch) -> None:
    press(web, draft)
    ask_all()
    TriedRow.objects.filter(number=3).update(
        status=TriedStatus.FAILED, answer="", error="It is too long."
    )
    shown = page(web, draft)
    assert words(shown, "try-1-3") == "Failed It is too long."
    assert "4 of 5 rows answered" in words(shown, "try-1-facts")


def test_a_long_answer_is_cut_in_its_cell_and_whole_in_the_panel(web: Client, draft: Batch) -> None:
    press(web, draft)
    TriedRow.objects.update(status=TriedStatus.ANSWERED, answer='"' + "word " * 200 + 'end"')
    cell = words(page(web, draft), "try-1-2")
    assert cell.endswith("…")
    assert len(cell) == 400
    panel = web.get(reverse("row", args=[draft.pk, 2]), headers=HTMX | {"HX-Target": "panel"})
    assert words(html(panel), "row-try-1").endswith("word end")


def test_answers_in_columns_are_shown_field_by_field(web: Client, draft: Batch) -> None:
    press(web, draft)
    Try.objects.update(
        answer_columns=[
            {"name": "tone", "kind": "text", "choices": [], "meaning": ""},
            {"name": "good", "kind": "yes_no", "choices": [], "meaning": ""},
        ]
    )
    TriedRow.objects.update(
        status=TriedStatus.ANSWERED, answer='{"tone":"calm & kind","good":true}'
    )
    assert words(page(web, draft), "try-1-2") == "tone: calm & kind good: yes"
    row = web.get(reverse("row", args=[draft.pk, 2]), headers={**HTMX, "HX-Target": "panel"})
    assert "Try 1 tone calm & kind good yes" in said(row)


def test_what_a_model_writes_is_text_on_the_page(web: Client, draft: Batch) -> None:
    press(web, draft)
    TriedRow.objects.update(status=TriedStatus.ANSWERED, answer='"<script>alert(1)</script>"')
    assert "<script>alert(1)" not in page(web, draft)
    assert "&lt;script&gt;alert(1)" in page(web, draft)


# -- prices -------------------------------------------------------------------------------------


def test_the_price_is_said_before_and_after(web: Client, draft: Batch, settings: Any) -> None:
    another_account(settings)
    settings.CLOUDFLARE_API_URL = settings.SANDBOX_URL
    assert words(page(web, draft), "try-now") == "Try 5 rows, under $0.02"
    cheap = web.post(
        reverse("preview", args=[draft.pk]), answers(draft, max_tokens="100"), headers=HTMX
    )
    assert words(html(cheap), "try-price") == ", under $0.01"
    dear = web.post(
        reverse("preview", args=[draft.pk]), answers(draft, max_tokens="32000"), headers=HTMX
    )
    assert words(html(dear), "try-price") == ", under $0.14"
    press(web, draft)
    ask_all()
    TriedRow.objects.update(prompt_tokens=100, completion_tokens=50)
    shown = page(web, draft)
    assert "$0.00035 · 5 rows answered" in words(shown, "try-1-facts")


def test_the_sandbox_has_no_price(web: Client, draft: Batch) -> None:
    press(web, draft)
    ask_all()
    assert "$" not in words(page(web, draft), "try-1-facts")
    assert "the sandbox answers" in words(page(web, draft), "try").lower()


# -- stop, remove, use again --------------------------------------------------------------------


def test_a_try_can_be_stopped(web: Client, draft: Batch) -> None:
    press(web, draft)
    response = web.post(reverse("try_stop", args=[draft.pk, 1]), headers=HTMX)
    assert "Try again" in said(response)
    assert ask_all() == 0


def test_a_try_can_be_removed_once_it_has_ended(web: Client, draft: Batch) -> None:
    press(web, draft)
    address = reverse("try_remove", args=[draft.pk, 1])
    assert web.post(address, headers=HTMX).status_code == 422
    ask_all()
    response = web.post(address, headers=HTMX)
    assert response.headers["HX-Trigger"] == '{"tries-changed": {}}'
    assert "try-1-head" not in page(web, draft)


def test_its_wording_can_be_used_again(web: Client, draft: Batch) -> None:
    press(web, draft)
    ask_all()
    press(web, draft, template="Judge: {{text}}")
    response = web.post(reverse("try_use", args=[draft.pk, 1]), headers=HTMX)
    assert response.headers["HX-Refresh"] == "true"
    draft.refresh_from_db()
    assert draft.template == TEMPLATE


@pytest.mark.parametrize("action", ["try_stop", "try_remove", "try_use"])
def test_a_try_that_is_gone_is_not_found(web: Client, draft: Batch, action: str) -> None:
    assert web.post(reverse(action, args=[draft.pk, 1]), headers=HTMX).status_code == 404


def test_what_was_tried_is_told_with_what_was_asked(web: Client, draft: Batch) -> None:
    press(web, draft, template="Judge: {{text}}")
    ask_all()
    press_start(web, draft)
    shown = html(web.get(reverse("asked", args=[draft.pk])))
    assert "1 Llama 4 Scout Judge: {{text}} 5 rows answered" in words(shown, "tries")


def test_a_batch_that_was_not_tried_says_nothing_of_tries(web: Client, draft: Batch) -> None:
    press_start(web, draft)
    assert 'id="tries"' not in html(web.get(reverse("asked", args=[draft.pk])))


# -- whose --------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["try_stop", "try_remove", "try_use"])
def test_another_team_neither_sees_nor_changes_tries(
    web: Client, draft: Batch, ana: User, action: str
) -> None:
    press(web, draft)
    theirs = signed_in(outsider())
    assert live(theirs, draft).status_code == 404
    assert press(theirs, draft).status_code == 404
    assert theirs.post(reverse(action, args=[draft.pk, 1]), headers=HTMX).status_code == 404
    assert Try.objects.count() == 1
    assert set(TriedRow.objects.values_list("status", flat=True)) == {"waiting"}


@pytest.mark.parametrize("action", ["try_stop", "try_remove", "try_use"])
def test_a_colleague_sees_the_tries_of_a_draft_and_changes_nothing(
    web: Client, draft: Batch, ana: User, action: str
) -> None:
    press(web, draft)
    colleague = signed_in(join(ana))
    assert live(colleague, draft).status_code == 200
    for response in (
        press(colleague, draft, template="Other: {{text}}"),
        colleague.post(reverse(action, args=[draft.pk, 1]), headers=HTMX),
    ):
        assert response.headers["HX-Redirect"] == draft.get_absolute_url()
    draft.refresh_from_db()
    assert draft.template == TEMPLATE
    assert Try.objects.count() == 1
    assert set(TriedRow.objects.values_list("status", flat=True)) == {"waiting"}


def test_the_page_asks_the_database_no_more_for_more_tries(
    web: Client, draft: Batch, django_assert_max_num_queries: Any
) -> None:
    for _ in range(4):
        press(web, draft)
        ask_all()
    page(web, draft)
    with django_assert_max_num_queries(18):
        page(web, draft)
    with django_assert_max_num_queries(13):
        live(web, draft)
