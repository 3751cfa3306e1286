"""One prompt without a file: a draft of one row, answered at once."""

import pytest
from django.test import Client

from batchui.batches.models import Batch, Try
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.sandbox.testing import RunningSandbox
from tests.batches.trying import ask_all
from tests.web.tried import words
from tests.web.visiting import HTMX, html

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox", "every_file_is_small")]

NEW, ASK = "/new/", "/new/prompt/"
PROMPT = 'Say "good morning", in\r\nGerman; and in French'


def test_the_page_offers_the_models_that_answer_questions(web: Client) -> None:
    page = html(web.get(NEW))
    offered = page.split('id="id_prompt_model"')[1].split("</select>")[0]
    assert f'<option value="{DEFAULT_MODEL}">' in offered
    assert "m2m100" not in offered
    assert "bge" not in offered


def test_a_prompt_is_asked_at_once_and_kept_as_a_draft(
    web: Client, sandbox: RunningSandbox
) -> None:
    answer = web.post(ASK, {"prompt": f" {PROMPT} ", "model": DEFAULT_MODEL})
    draft = Batch.objects.get()
    assert answer["Location"] == draft.get_absolute_url()
    assert (draft.rows, draft.name) == (1, 'Say "good morning", in German; and in French')
    assert (draft.template, draft.model) == ("{{prompt}}", DEFAULT_MODEL)
    assert ask_all() == 1
    [call] = sandbox.calls("run")
    assert call.model == DEFAULT_MODEL
    page = html(web.get(draft.get_absolute_url()))
    assert "in French" in words(page, "try-1-2")
    assert "1 row answered" in words(page, "try-1-facts")


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"prompt": " \n", "model": DEFAULT_MODEL}, "Write a prompt first."),
        ({"prompt": "Hello", "model": "@cf/meta/m2m100-1.2b"}, "choose a model from the list"),
        ({"prompt": "x" * 2_000_000, "model": DEFAULT_MODEL}, "characters"),
    ],
)
def test_what_cannot_be_asked_is_said_and_nothing_is_made(
    web: Client, typed: dict[str, str], sentence: str
) -> None:
    answer = web.post(ASK, typed, headers=HTMX)
    assert answer["HX-Redirect"] == NEW
    assert sentence in html(web.get(NEW))
    assert not Batch.objects.exists()


def test_a_connection_that_is_paused_keeps_the_prompt_and_says_why(
    web: Client, sandbox: RunningSandbox
) -> None:
    web.post(ASK, {"prompt": "One", "model": DEFAULT_MODEL})
    sandbox.script({"fault": "error", "call": "run", "code": 3036})
    ask_all()
    web.post(ASK, {"prompt": "Two", "model": DEFAULT_MODEL})
    draft = Batch.objects.get(name="Two")
    assert not Try.objects.filter(batch=draft).exists()
    assert "Nothing was tried." in html(web.get(draft.get_absolute_url()))
