"""Files with ready-made items of the Batch API."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.references import item_writer
from batchui.batches.states import BatchStatus
from batchui.cloudflare import catalogue
from batchui.web.forms.ask import AskForm, column_mark
from tests.web.test_new_batch import TRANSLATION, chosen_model, preview
from tests.web.visiting import HTMX, drafted, html, press_start, said

pytestmark = pytest.mark.django_db

TRANSLATIONS = b'{"requests": [{"text": "Hi", "source_lang": "en", "target_lang": "fr"}]}'
CONTEXTS = b'{"requests": [{"query": "Rain?", "contexts": [{"text": "It pours."}]}]}'
BGE_M3 = "@cf/baai/bge-m3"


@pytest.mark.parametrize(
    ("content", "model"),
    [
        (TRANSLATIONS, TRANSLATION),
        (CONTEXTS, BGE_M3),
        (b'{"requests": [{"text": "Hi"}]}', "@cf/baai/bge-base-en-v1.5"),
        (b'{"requests": [{"input": "Hi"}]}', "@cf/openai/gpt-oss-120b"),
        (b'{"requests": [{"prompt": "Hi"}]}', catalogue.DEFAULT_MODEL),
        (b'{"requests": [{"prompt": "Hi"}, {"text": "Hi"}]}', catalogue.DEFAULT_MODEL),
    ],
)
def test_a_model_that_takes_the_items_of_a_file_is_chosen_already(
    web: Client, content: bytes, model: str
) -> None:
    batch = drafted(web, content, "r.json")
    assert AskForm(batch=batch).initial["model"] == model
    assert chosen_model(html(web.get(batch.get_absolute_url())))[0] == model
    assert press_start(web, batch, template="", as_items="on", model=model).status_code == 302


def test_once_a_file_turns_out_to_have_items_the_form_comes_anew(web: Client) -> None:
    batch = drafted(web, TRANSLATIONS, "r.json")
    address = reverse("checking", args=[batch.pk])
    assert web.get(f"{address}?form=0", headers=HTMX)["HX-Refresh"] == "true"
    assert "HX-Refresh" not in web.get(f"{address}?form={batch.format_key}", headers=HTMX)
    table = reverse("checking", args=[drafted(web, b"id,text\n1,x\n").pk])
    assert "HX-Refresh" not in web.get(f"{table}?form=0", headers=HTMX)


def test_items_with_languages_are_asked_for_none(web: Client) -> None:
    batch = drafted(web, TRANSLATIONS, "r.json")
    assert "for-translation in-items" in html(web.get(batch.get_absolute_url()))
    press_start(web, batch, template="", as_items="on", model=TRANSLATION, target_lang="de")
    batch.refresh_from_db()
    assert (batch.status, batch.ask.target_lang) == (BatchStatus.PREPARING, "")
    plain = drafted(web, b'{"text": "Hi"}\n', "items.jsonl")
    assert "in-items" not in html(web.get(plain.get_absolute_url()))
    asked = press_start(web, plain, template="", as_items="on", model=TRANSLATION)
    assert "Choose the language to translate into." in said(asked)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (TRANSLATIONS, "These items are for a translation model. Choose M2M100 translation."),
        (CONTEXTS, "These items are for a model that takes “contexts”. Choose BGE M3."),
        (
            b'{"requests": [{"text": "Hi"}]}',
            "These items are for an embedding model. Choose one such as BGE Base (English).",
        ),
    ],
)
def test_of_a_model_that_does_not_take_the_items_it_is_said_which_does(
    web: Client, content: bytes, sentence: str
) -> None:
    batch = drafted(web, content, "r.json")
    typed = {"model": catalogue.DEFAULT_MODEL, "template": "", "as_items": "on"}
    assert sentence in preview(web, batch, **typed)
    response = press_start(web, batch, **typed)
    assert response.status_code == 422
    assert sentence in said(response)
    typed |= {"as_items": "", "template": column_mark(batch.columns[0])}
    assert press_start(web, batch, **typed).status_code == 302


def test_references_inside_contexts_are_told_and_moved_when_sent(web: Client) -> None:
    inside = b'{"requests": [{"contexts": [{"text": "Rain", "external_reference": "r-1"}]}]}'
    batch = drafted(web, inside, "r.json")
    page = said(web.get(batch.get_absolute_url()))
    assert "Cloudflare answers null for them there" in page
    press_start(web, batch, template="", as_items="on", model=BGE_M3, move_references="on")
    batch.refresh_from_db()
    sent = json.loads(item_writer(batch).encode(1, batch.first_rows[0]))
    assert sent == {"contexts": [{"text": "Rain"}], "external_reference": "r-1"}
    other = drafted(web, CONTEXTS, "r.json")
    assert "Cloudflare answers null" not in said(web.get(other.get_absolute_url()))
