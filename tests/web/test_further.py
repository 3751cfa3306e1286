"""Asking a further question: the button, the new draft, and the chain of batches."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.batches import checking
from batchui.batches.models import Batch
from batchui.batches.pressed_twice import TWICE_WITHIN
from batchui.sandbox.testing import RunningSandbox
from tests.batches.conftest import MakeBatch, work
from tests.web.visiting import answers, html, page, press, said

pytestmark = pytest.mark.django_db

BUTTON = "Ask a further question"


@pytest.fixture
def ended(sandbox: RunningSandbox, batch: Batch) -> Batch:
    """Sixty rows in three parts, all answered."""
    return work(batch)


def draft_of(batch: Batch) -> Batch:
    """The draft that asks further about a batch, read."""
    draft = batch.asked_further.get()
    checking.check_file(draft.pk)
    draft.refresh_from_db()
    return draft


def test_the_button_is_there_once_the_batch_has_ended(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    assert BUTTON not in page(web, batch)
    refused = press(web, batch, "ask_further")
    assert (
        "A further question can be asked once this batch has ended with at least one answer."
        in refused
    )
    assert not batch.asked_further.exists()
    shown = page(web, work(batch))
    assert shown.count(BUTTON) == 2
    assert "Ask a further question of the answers Run again, with changes" in shown


def test_one_click_makes_a_draft_with_the_answers_as_a_column(web: Client, ended: Batch) -> None:
    shown = press(web, ended, "ask_further")
    assert "use {{answer}} in your question" in shown
    assert "The first rows appear here as soon as they are read." in shown
    draft = draft_of(ended)
    source = html(web.get(draft.get_absolute_url()))
    assert 'data-insert="{{answer}}"' in source
    assert 'data-insert="{{error}}"' not in source
    assert "texts with answers.csv" in page(web, draft)
    asked = answers(draft, template="Shorter: {{answer}}")
    preview = said(web.post(reverse("preview", args=[draft.pk]), asked))
    assert "Shorter: " in preview
    assert "{{answer}}" not in preview
    response = web.post(reverse("start", args=[draft.pk]), asked)
    assert response.status_code == 302, said(response)


def test_the_column_that_is_named_is_that_of_the_new_answers(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    content = b"text,answer\r\none,two\r\nthree,four\r\n"
    assert "use {{answer_2}} in your question" in press(web, work(start(content)), "ask_further")


def test_both_pages_and_the_history_show_the_chain(web: Client, ended: Batch) -> None:
    press(web, ended, "ask_further")
    draft = draft_of(ended)
    assert "Asks further about texts." in page(web, draft)
    first = page(web, ended)
    assert "This batch asks further about the answers: texts (2)" in first
    assert "Asks further about “texts”" in said(web.get(reverse("batches")))
    assert f'href="{draft.get_absolute_url()}"' in html(web.get(ended.get_absolute_url()))
    Batch.objects.filter(pk=draft.pk).update(created_at=timezone.now() - TWICE_WITHIN)
    press(web, ended, "ask_further")
    assert "These batches ask further about the answers: texts (3), texts (2)" in page(web, ended)


def test_a_first_batch_that_was_deleted_is_named_without_a_link(web: Client, ended: Batch) -> None:
    press(web, ended, "ask_further")
    draft = draft_of(ended)
    press(web, ended, "delete")
    assert "Asks further about “texts”, which was deleted." in page(web, draft)
    assert ended.get_absolute_url() not in html(web.get(draft.get_absolute_url()))
    assert "Asks further about “texts”" in said(web.get(reverse("batches")))
    ended.delete()
    assert "Asks further about" not in page(web, draft)
    kept: Any = web.get(reverse("source", args=[draft.pk]))
    assert b"".join(kept).startswith(b"id,text,answer,status,error\r\n1,")


def test_a_further_batch_that_was_deleted_is_not_named(web: Client, ended: Batch) -> None:
    press(web, ended, "ask_further")
    press(web, draft_of(ended), "delete")
    assert "further about the answers" not in page(web, ended)


def test_the_file_of_a_draft_that_is_not_made_yet_is_not_found(web: Client, ended: Batch) -> None:
    press(web, ended, "ask_further")
    response = web.get(reverse("source", args=[ended.asked_further.get().pk]))
    assert response.status_code == 404
    assert "The file of this draft is not made yet." in said(response)
