"""The models that an account lists, on the page before Start and beside saved questions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from batchui.batches import saved_questions
from batchui.batches.catalogues import NO_LONGER, TYPED_IN
from batchui.batches.listing import refresh_models
from batchui.batches.models import Batch
from batchui.cloudflare.catalogue import DEFAULT_MODEL
from batchui.prompts.ask import Ask
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Membership, Role
from batchui.web.sheet.became import cost_text
from batchui.web.templatetags.batches import cost_in_history
from tests.web.submitting import PROMPT, Ran, written
from tests.web.visiting import HTMX, answers, drafted, html, listed_models, press_start, said

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("every_file_is_small")]

SCOUT, NEW = "@cf/meta/llama-4-scout-17b-16e-instruct", "@cf/acme/brand-new-7b"


@pytest.fixture
def listing(sandbox: RunningSandbox) -> Iterator[RunningSandbox]:
    yield sandbox
    sandbox.change_models()


@pytest.fixture
def draft(web: Client, listing: RunningSandbox) -> Batch:
    batch = drafted(web, b"id,text\n1,x\n2,y\n")
    saved_questions.fill_in(batch, Ask(model=SCOUT, template="Judge {{text}}"))
    return batch


def press(web: Client, draft: Batch, what: str, **typed: str) -> str:
    address = reverse(what, args=[draft.pk])
    fields = answers(draft, model=SCOUT, template="Judge {{text}}") | typed
    response = web.post(address, fields, headers=HTMX)
    assert response.status_code == 200
    draft.refresh_from_db()
    return html(response)


def test_the_list_is_read_on_demand_and_its_changes_are_told(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    assert "was not read yet" in listed_models(web, draft)
    assert "The list of models was read." in press(web, draft, "read_models")
    listing.change_models({"name": SCOUT, "gone": True}, {"name": NEW, "like": DEFAULT_MODEL})
    page = press(web, draft, "read_models")
    line = page.split('id="model-line"')[1].split("</p>")[0]
    assert escape(NO_LONGER) in line
    models = listed_models(web, draft)
    assert f'value="{NEW}"' in models
    assert escape("New in Cloudflare's list.") in models
    assert "Models and prices as Sandbox listed them" in " ".join(models.split())


def test_the_list_is_at_the_model_that_the_page_has_chosen(web: Client, draft: Batch) -> None:
    def chosen(query: str = "") -> str:
        page = html(web.get(reverse("models", args=[draft.pk]) + query))
        [radio] = re.findall(r'<input type="radio"[^>]*checked[^>]*>', page)
        return radio.split('value="')[1].split('"')[0]

    assert chosen() == SCOUT
    assert chosen(f"?model={DEFAULT_MODEL}") == DEFAULT_MODEL
    assert chosen("?model=of-nobody") == SCOUT
    page = html(web.get(draft.get_absolute_url()))
    assert page.count('type="radio" name="model"') == 1
    assert draft.model == SCOUT


def test_a_list_that_does_not_come_says_why(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    listing.script({"fault": "error", "code": 3040, "call": "search", "times": 0})
    page = press(web, draft, "read_models")
    assert "The list of models was read." not in page
    assert "The latest list did not come:" in listed_models(web, draft)


def test_a_price_of_the_account_is_the_one_that_is_said(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    listing.change_models({"name": SCOUT, "usd_input": 9.5})
    assert refresh_models(draft.connection) == ""
    page = said(web.get(draft.get_absolute_url()))
    assert "High price ($9.50 for a million tokens read, $0.85 written)" in page


def test_what_a_batch_costs_is_reckoned_with_the_price_at_its_start(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    listing.change_models({"name": SCOUT, "usd_input": 9.5, "usd_output": 1.5})
    refresh_models(ensure_connection(draft.team))
    asked = {"model": SCOUT, "template": "Judge {{text}}"}
    assert press_start(web, draft, **asked).status_code == 302
    listing.change_models({"name": SCOUT, "usd_input": 1.0})
    refresh_models(ensure_connection(draft.team))
    draft.refresh_from_db()
    assert (draft.usd_read, draft.usd_written) == (9.5, 1.5)
    rest = Connection(kind=Connection.Kind.REST)
    draft.connection, draft.prompt_tokens, draft.completion_tokens = rest, 10**6, 10**6
    assert cost_in_history(draft) == "$11.00"
    assert cost_text(draft, read=10**6, written=0) == "$9.50"


def test_a_draft_that_goes_where_its_model_is_not_says_which_stands_in_its_place(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    saved_questions.fill_in(draft, Ask(model=NEW, template="Judge {{text}}"))
    line = html(web.get(draft.get_absolute_url())).split('id="model-line"')[1].split("</p>")[0]
    assert "“brand-new-7b”, which was chosen before, is none of the models of Sandbox:" in line
    assert "Llama 3.3 70B stands in its place." in line


def test_a_saved_question_says_that_its_model_is_gone(
    web: Client, draft: Batch, listing: RunningSandbox
) -> None:
    saved_questions.save(draft, "Judge", by=None)
    assert escape(NO_LONGER) not in html(web.get(reverse("saved_questions")))
    listing.change_models({"name": SCOUT, "gone": True})
    refresh_models(draft.connection)
    assert escape(NO_LONGER) in html(web.get(reverse("saved_questions")))


def test_an_administrator_adds_a_model_with_a_warning(web: Client, draft: Batch) -> None:
    page = press(web, draft, "add_model", other_model=NEW, other_task="chat")
    assert escape(TYPED_IN) in page
    assert (draft.model, draft.template) == (NEW, "Judge {{text}}")
    assert "Price not known" in page
    wrong = press(web, draft, "add_model", other_model="no name!", other_task="chat")
    assert "The model was not added." in wrong


def test_a_member_adds_none(web: Client, draft: Batch) -> None:
    Membership.objects.update(role=Role.MEMBER)
    assert 'id="add-model"' not in html(web.get(draft.get_absolute_url()))
    fields = {"other_model": NEW, "other_task": "chat"}
    response = web.post(reverse("add_model", args=[draft.pk]), fields, headers=HTMX)
    assert response.status_code == 403


def test_the_terminal_takes_a_model_that_the_account_lists(
    draft: Batch, listing: RunningSandbox, tmp_path: Path
) -> None:
    file = written(tmp_path, b"id,text\n1,x\n")
    assert Ran(file, *PROMPT, model=NEW).status == 2
    listing.change_models({"name": NEW, "like": DEFAULT_MODEL})
    refresh_models(draft.connection)
    assert Ran(file, *PROMPT, model=NEW).status == 0
