"""A team connects a model server of its own, and asks through it: nothing of it is Cloudflare's."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import listing, preparing
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import crypto
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from tests.batches.conftest import MakeBatch, rows, work
from tests.batches.trying import ask_all
from tests.conftest import PATIENCE
from tests.project.helpers import until
from tests.sandbox.upstream.model_server import MODELS, ModelServer, model_server
from tests.stories.visitors import faults, sticks_out
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.tried import press, words
from tests.web.visiting import HTMX, drafted, element, html, listed_models, press_start, said

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = pytest.mark.django_db(transaction=True)

CONNECT = "/connections/connect/local/"
LIST = "/connections/"
KEY = "a-key-of-the-model-server-0123456789"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as server:
        yield server


def connect(web: Client, server: ModelServer, does: str = "save", **typed: str) -> Any:
    filled = {"address": server.url, "model": "small", "concurrency": "2", "minutes": "1"}
    return web.post(CONNECT, filled | {"does": does} | typed, headers=HTMX)


def worked(batch: Batch) -> Batch:
    """Send and poll until the batch has ended: the server needs a while for its answers."""
    return until(lambda: done if (done := work(batch, rounds=1)).has_ended else None)


def test_a_batch_goes_to_the_model_server_that_was_connected(
    web: Client, team: Team, server: ModelServer, start: MakeBatch, sandbox: RunningSandbox
) -> None:
    server.key = KEY
    assert connect(web, server, key=KEY, address=f" {server.url}/ ")["HX-Redirect"] == LIST
    stored = ensure_connection(team)
    assert (stored.kind, stored.base_url) == ("local", server.url)
    assert crypto.decrypt(stored.token_encrypted) == KEY
    page = html(web.get(LIST))
    assert KEY not in page
    assert f"small at {server.url.removeprefix('http://')}" in page
    done = worked(start(rows(6), model="small"))
    assert (done.status, done.answered) == (BatchStatus.FINISHED, 6), done.problem
    assert done.connection == stored
    assert len(server.answered) == 6
    shown = said(web.get(done.get_absolute_url()))
    assert "About " in shown
    assert "Cloudflare" not in shown
    assert "made up" not in shown
    assert "free on your own server" in said(web.get(reverse("row", args=[done.pk, 2])))


@pytest.mark.parametrize(
    ("typed", "place", "sentence"),
    [
        ({"address": " "}, "id_address", "Enter the address of the server."),
        ({"address": "ftp://a"}, "id_address", "does not begin with https:// or http://"),
        ({"model": "huge"}, "id_model", "It has: small, org/large:latest, nomic-embed-text."),
        ({"model": " "}, "id_model", "Enter the name of a model that the server has."),
        ({"key": "wrong"}, "id_key", "does not let batchui in"),
        ({"concurrency": "0"}, "id_concurrency", "greater than or equal to 1"),
        ({"minutes": "1441"}, "id_minutes", "less than or equal to 1440"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_saved(
    web: Client,
    server: ModelServer,
    sandbox: RunningSandbox,
    typed: dict[str, str],
    place: str,
    sentence: str,
) -> None:
    server.key = KEY
    answer = connect(web, server, **({"key": KEY} | typed))
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in element(html(answer), place)
    assert sentence in said(answer)
    assert KEY not in html(answer)
    assert not Connection.objects.filter(kind="local").exists()


def test_what_is_no_model_server_is_said_at_the_address(
    web: Client, server: ModelServer, sandbox: RunningSandbox
) -> None:
    answer = connect(web, server, address=sandbox.root_url)
    assert answer.status_code == 422
    assert "is no model server" in said(answer)
    assert 'aria-invalid="true"' in element(html(answer), "id_address")


def test_a_server_that_is_away_can_be_saved_untested(
    web: Client, server: ModelServer, sandbox: RunningSandbox
) -> None:
    away = "127.0.0.1:9"
    answer = connect(web, server, address=away)
    assert "cannot be reached" in said(answer)
    assert "Nothing was saved, because it could not be tested" in said(answer)
    assert connect(web, server, "untested", address=away)["HX-Redirect"] == LIST
    assert Connection.objects.get(kind="local").base_url == f"http://{away}"


def test_another_model_and_key_replace_the_first_and_an_empty_key_stays(
    web: Client, team: Team, server: ModelServer, sandbox: RunningSandbox
) -> None:
    server.key = KEY
    connect(web, server, key=KEY)
    stored = ensure_connection(team)
    address = reverse("replace_token", args=[stored.pk])
    assert 'value="small"' in html(web.get(address))
    typed = {"model": "org/large:latest", "concurrency": "3", "minutes": "2", "does": "save"}
    assert web.post(address, typed, headers=HTMX)["HX-Redirect"] == LIST
    stored.refresh_from_db()
    told = {"model": "org/large:latest", "concurrency": 3, "timeout_seconds": 120}
    assert stored.settings == told
    assert crypto.decrypt(stored.token_encrypted) == KEY
    server.key = KEY[::-1]
    assert web.post(address, typed | {"key": KEY[::-1]}, headers=HTMX)["HX-Redirect"] == LIST
    stored.refresh_from_db()
    assert crypto.decrypt(stored.token_encrypted) == KEY[::-1]


def test_its_models_are_those_of_the_server_and_no_others(
    web: Client, team: Team, server: ModelServer, sandbox: RunningSandbox
) -> None:
    draft = drafted(web, b"id,text\n1,Rain\n", "texts.csv")
    assert "Llama 3.3 70B" in html(web.get(draft.get_absolute_url()))
    connect(web, server)
    page = html(web.get(draft.get_absolute_url()))
    assert "Runs on your own server, which costs nothing" in page
    assert "@cf/" not in listed_models(web, draft)
    assert 'id="job-embed"' not in page
    assert listing.refresh_models(ensure_connection(team)) == ""
    page = html(web.get(draft.get_absolute_url()))
    for model in MODELS[:2]:
        assert f'value="{model["id"]}"' in listed_models(web, draft)
    assert 'id="job-embed"' in page  # it has a model for that now
    for job in ("translate", "rank"):
        assert f'id="job-{job}"' not in page
        assert web.post(reverse("choose_job", args=[draft.pk, job])).status_code == 404
    assert "Your Cloudflare account" not in page


def test_a_draft_and_its_try_go_to_the_model_server(
    web: Client, server: ModelServer, sandbox: RunningSandbox
) -> None:
    connect(web, server)
    draft = drafted(web, b"id,text\n1,Rain\n2,Sun\n", "texts.csv")
    asked = {"template": "Sum up {{text}}", "model": "small"}
    press(web, draft, **asked)
    ask_all()
    page = html(web.get(draft.get_absolute_url()))
    assert words(page, "try-1-2") == "About Sum up Rain"
    assert "2 rows answered" in words(page, "try-1-facts")
    assert "$" not in words(page, "try-1-facts")
    assert press_start(web, draft, **asked).status_code == 302
    preparing.prepare(draft.pk)
    done = worked(Batch.objects.get(pk=draft.pk))
    assert (done.status, done.answered) == (BatchStatus.FINISHED, 2), done.problem


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_follows_the_page_to_a_model_server(
    new_page: NewPage, ana: User, server: ModelServer, sandbox: RunningSandbox, width: int
) -> None:
    page: Page = new_page(ana, viewport={"width": width, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.goto(LIST)
    page.get_by_role("link", name="Use a local model").click()
    page.get_by_label("Address of the server").fill(server.url)
    page.get_by_label("Model", exact=True).fill("smal")
    page.get_by_role("button", name="Test").click()
    page.locator("#id_model[aria-invalid=true]").wait_for()
    assert faults(page) == []
    assert sticks_out(page) == []
    page.get_by_label("Model", exact=True).fill("small")
    page.get_by_role("button", name="Test").click()
    page.get_by_text("It works. Nothing is saved yet.").wait_for()
    page.get_by_role("button", name="Connect").click()
    page.locator(".badge", has_text="For new batches").wait_for()
    assert page.get_by_text("Local model (127.0.0.1:").count()
