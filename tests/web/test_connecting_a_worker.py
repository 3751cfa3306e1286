"""A team connects its own Worker, on Cloudflare's runtime, and asks through it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches.states import BatchStatus, PartStatus
from batchui.sandbox.testing import RunningSandbox, running_sandbox
from batchui.teams import crypto
from batchui.teams.connections import ensure_connection
from batchui.teams.models import Connection, Team, User
from batchui.web.forms.connections import WORKER_JS
from tests.batches.conftest import MakeBatch, rows, send_all, work
from tests.conftest import PATIENCE
from tests.stories.visitors import faults, sticks_out
from tests.web.test_people_in_the_browser import NewPage, new_page
from tests.web.visiting import HTMX, element, html, said
from tests.worker_binding.conftest import SECRET
from tests.worker_binding.workerd import Workerd

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["new_page"]
pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

CONNECT = "/connections/connect/worker/"
LIST = "/connections/"
WRONG = SECRET[::-1]


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningSandbox, Workerd]]:
    """workerd, and the sandbox behind its binding."""
    with running_sandbox(binding=True) as sandbox:
        log = tmp_path_factory.mktemp("workerd") / "log"
        workerd = Workerd(log=log, sandbox=sandbox.root_url.removeprefix("http://"))
        workerd.start()
        try:
            yield sandbox, workerd
        finally:
            workerd.kill()


@pytest.fixture
def workerd(behind: tuple[RunningSandbox, Workerd]) -> Workerd:
    behind[0].script()
    behind[1].start()
    return behind[1]


def connect(web: Client, workerd: Workerd, does: str = "save", **typed: str) -> Any:
    filled = {"address": workerd.address(), "secret": SECRET, "does": does} | typed
    return web.post(CONNECT, filled, headers=HTMX)


def test_a_batch_goes_through_the_worker_that_was_connected(
    web: Client, team: Team, workerd: Workerd, start: MakeBatch, sandbox: RunningSandbox
) -> None:
    assert connect(web, workerd, address=f" {workerd.address()}/\n")["HX-Redirect"] == LIST
    stored = ensure_connection(team)
    assert (stored.kind, stored.name) == ("worker", "Cloudflare Worker")
    assert stored.account_id == workerd.address().removeprefix("http://")
    assert crypto.decrypt(stored.token_encrypted) == SECRET
    assert f"Cloudflare Worker {stored.account_id}, secret ends in …cdef" in said(web.get(LIST))
    done = work(start(rows(60)))
    assert (done.status, done.answered) == (BatchStatus.FINISHED, 60)
    assert done.connection == stored
    assert sandbox.calls() == []  # nothing went past the Worker


@pytest.mark.parametrize(
    ("typed", "place", "sentence"),
    [
        ({"secret": WRONG}, "id_secret", "does not accept the secret of this connection"),
        ({"secret": "short"}, "id_secret", "is shorter than 32 characters"),
        ({"secret": " "}, "id_secret", "Enter the secret that the Worker has as BATCHUI_SECRET"),
        ({"address": "http://example.com"}, "id_address", "does not begin with https://"),
        ({"address": "https://example.com/ai"}, "id_address", "after the name of the server"),
        ({"address": "nonsense here"}, "id_address", "it has a blank or a line break in it"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_saved(
    web: Client, workerd: Workerd, typed: dict[str, str], place: str, sentence: str
) -> None:
    answer = connect(web, workerd, **typed)
    assert answer.status_code == 422
    page = html(answer)
    assert 'aria-invalid="true"' in element(page, place)
    assert sentence in said(answer)
    assert SECRET not in page
    assert WRONG not in page
    assert not Connection.objects.filter(kind="worker").exists()


def test_another_server_at_the_address_is_told_from_the_worker(
    web: Client, workerd: Workerd, sandbox: RunningSandbox
) -> None:
    answer = connect(web, workerd, address=sandbox.root_url)
    assert answer.status_code == 422
    assert "Something other than your Worker answered" in said(answer)
    assert 'aria-invalid="true"' in element(html(answer), "id_address")


def test_a_worker_that_is_away_can_be_saved_untested(web: Client, workerd: Workerd) -> None:
    away = "http://127.0.0.1:9"
    assert "Nothing was saved, because it could not be tested" in said(
        connect(web, workerd, address=away)
    )
    assert connect(web, workerd, "untested", address=away)["HX-Redirect"] == LIST


def test_the_page_has_the_code_that_is_deployed_and_a_secret_that_is_new_each_time(
    web: Client,
) -> None:
    first, second = (html(web.get(CONNECT)) for _ in range(2))
    assert WORKER_JS.read_text().splitlines()[0] in first
    assert Path(__file__).parents[2] / "cloudflare-worker" / "worker.js" == WORKER_JS
    assert element(first, "id_secret") != element(second, "id_secret")
    assert 'value="' in element(first, "id_secret")


def test_a_changed_secret_holds_parts_until_it_is_entered_and_goes_on_by_itself(
    web: Client, team: Team, workerd: Workerd, start: MakeBatch
) -> None:
    connect(web, workerd)
    stored = ensure_connection(team)
    stored.token_encrypted = crypto.encrypt(WRONG)
    stored.save(update_fields=["token_encrypted"])
    batch = start(rows(60))
    send_all()
    assert set(batch.parts.values_list("status", flat=True)) == {PartStatus.HELD}
    assert "Replace the secret" in html(web.get(batch.get_absolute_url()))
    form = html(web.get(reverse("replace_token", args=[stored.pk])))
    assert 'id="id_address"' not in form
    answer = web.post(reverse("replace_token", args=[stored.pk]), {"secret": SECRET}, headers=HTMX)
    assert answer["HX-Redirect"] == LIST
    assert "has a new secret. 3 parts that waited go on." in html(web.get(LIST))
    assert work(batch).status == BatchStatus.FINISHED


@pytest.mark.browser
def test_somebody_follows_the_page_to_a_worker_that_runs(
    ana: User, new_page: NewPage, workerd: Workerd
) -> None:
    page = new_page(ana, viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.goto(LIST)
    page.get_by_role("link", name="Connect a Worker").click()
    made = page.get_by_label("Secret", exact=True).input_value()
    assert len(made) >= 32
    page.get_by_text("The code of the Worker", exact=True).click()
    page.locator("#worker-script").get_by_text("BATCHUI_SECRET").first.wait_for()
    assert faults(page) == []
    _is_fine_on_a_phone(page)
    page.get_by_label("Address of the Worker").fill(workerd.address())
    page.get_by_role("button", name="Test").click()
    page.locator("#id_secret_error").wait_for()
    assert page.get_by_label("Secret", exact=True).input_value() == made
    page.get_by_label("Secret", exact=True).fill(SECRET)
    page.get_by_role("button", name="Test").click()
    page.get_by_text("It works. Nothing is saved yet.").wait_for()
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_text("is connected, and new batches go to it.").wait_for()
    assert page.locator(".chip-sandbox").count() == 0


def _is_fine_on_a_phone(page: "Page") -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert sticks_out(page) == []
    assert faults(page) == []
    page.set_viewport_size({"width": 1280, "height": 900})
