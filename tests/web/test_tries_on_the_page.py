"""What was tried stands in the sheet: answers, reasons, prices, and what can be done with a try."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch, TriedRow, Try
from batchui.batches.try_models import TriedStatus
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import User
from batchui.web.trying.columns import told_apart
from tests.batches.conftest import TEMPLATE, another_account
from tests.batches.trying import ask_all
from tests.teams.people import join, outsider
from tests.web.tried import draft, live, page, press, words
from tests.web.visiting import (
    HTMX,
    answers,
    html,
    press_start,
    said,
    signed_in,
)

__all__ = ["draft"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox", "every_file_is_small")]


def test_the_head_of_a_try_has_its_wording_and_model(web: Client, draft: Batch) -> None:
    press(web, draft, template="Judge: {{text}}")
    assert "Try 1 Judge: {{text}} Llama 4 Scout" in words(page(web, draft), "try-1-head")


def test_heads_show_where_wordings_part(web: Client, draft: Batch) -> None:
    begin = "Read what this guest of our house wrote in the book at the desk, and say in one word "
    for end in ("how it sounds: {{text}}", "what it is about: {{text}}"):
        press(web, draft, template=begin + end)
        ask_all()
    shown = page(web, draft)
    assert "Try 1 … and say in one word how it sounds: {{text}}" in words(shown, "try-1-head")
    assert "Try 2 … and say in one word what it is about: {{text}}" in words(shown, "try-2-head")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([], []),
        ([Ask(template="Sum up: {{a}}")], ["Sum up: {{a}}"]),
        ([Ask(template="x" * 200)] * 2, ["x" * 200] * 2),
        (
            [Ask(template="Sum up: {{a}}"), Ask(template="Sum up: {{b}}")],
            ["Sum up: {{a}}", "Sum up: {{b}}"],
        ),
        ([Ask(template="x" * 60), Ask(template="x" * 60 + "y")], ["x" * 60, "x" * 60 + "y"]),
        (
            [Ask(template="word " * 20), Ask(template="word " * 20 + "end")],
            ["… " + "word " * 4, "… " + "word " * 4 + "end"],
        ),
        (
            [
                Ask(template="{{a}}", instruction="Be brief"),
                Ask(template="{{a}}"),
                Ask(template="b"),
            ],
            ["Instruction: Be brief", "Instruction: none", "b"],
        ),
    ],
)
def test_wordings_are_told_apart(asked: list[Ask], told: list[str]) -> None:
    assert told_apart(asked) == told


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


def test_a_fifth_try_says_beforehand_that_it_takes_the_place_of_the_first(
    web: Client, draft: Batch
) -> None:
    for _ in range(4):
        assert "takes the place of" not in page(web, draft)
        press(web, draft)
        ask_all()
    assert page(web, draft).count("The next try takes the place of try 1.") == 2
    assert "Try 5, in the place of try 1: " in html(press(web, draft))
    ask_all()
    assert list(Try.objects.order_by("number").values_list("number", flat=True)) == [2, 3, 4, 5]
    # Nothing had to go where somebody has removed one.
    web.post(reverse("try_remove", args=[draft.pk, 2]), headers=HTMX)
    assert "in the place of" not in html(press(web, draft))


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
