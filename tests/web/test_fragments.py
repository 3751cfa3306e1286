"""Every fragment that refreshes itself: one root, a stable id, its own address, and an end."""

import re
import time
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import reverse

from batchui.batches import checking
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.web import idle
from batchui.worker.heartbeat import beat
from tests.batches.conftest import rows, work
from tests.web.visiting import HTMX, drafted, element, html, roots, upload

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Fragment:
    """The name of its address, its id, and the name of the page it stands on."""

    name: str
    identity: str
    page: str = "batch"

    def __str__(self) -> str:
        return self.name

    def address(self, batch: Batch) -> str:
        """Where it refreshes itself from."""
        return reverse(self.name, args=[] if self.page == "batches" else [batch.pk])


FRAGMENTS = [
    Fragment("live", "live"),
    Fragment("parts", "parts", page="parts"),
    Fragment("timeline", "timeline", page="timeline"),
    Fragment("history", "history-poll", page="batches"),
]
everyone = pytest.mark.parametrize("fragment", FRAGMENTS, ids=str)


def root(web: Client, batch: Batch, fragment: Fragment) -> dict[str, str | None]:
    """The one root of a fragment; a title beside it goes to the browser, what is swapped out of
    band (rows of a table in a template) to its own place."""
    stale = {"seen": f"{batch.pk}.0"}
    headers = HTMX | {"HX-Target": fragment.identity}
    markup = html(web.get(fragment.address(batch), stale, headers=headers))
    beside = ("title", "template")
    found = [r for r in roots(markup) if r["tag"] not in beside and "hx-swap-oob" not in r]
    assert len(found) == 1
    return found[0]


def on_the_page(web: Client, batch: Batch, fragment: Fragment) -> str:
    address = reverse(fragment.page, args=[] if fragment.page == "batches" else [batch.pk])
    return element(html(web.get(address)), fragment.identity)


@everyone
def test_it_has_one_root_with_a_stable_id(web: Client, batch: Batch, fragment: Fragment) -> None:
    assert root(web, batch, fragment)["id"] == fragment.identity


@everyone
def test_while_active_it_refreshes_itself_from_its_own_address(
    web: Client, batch: Batch, fragment: Fragment
) -> None:
    found = root(web, batch, fragment)
    assert (found["hx-get"] or "").split("?")[0] == fragment.address(batch)
    assert found["hx-swap"] == "outerHTML"
    assert re.fullmatch(r"every [12]s(, seen)?|batch-changed from:body", found["hx-trigger"] or "")


@everyone
def test_it_looks_the_same_on_its_page_as_refreshed(
    web: Client, batch: Batch, fragment: Fragment
) -> None:
    painted = on_the_page(web, batch, fragment)
    refreshed = root(web, batch, fragment)
    assert f'id="{refreshed["id"]}"' in painted
    assert (refreshed["hx-get"] or "").replace("&", "&amp;").split("&amp;grid")[0] in painted


@everyone
def test_what_an_open_page_asks_by_itself_keeps_nobody_signed_in(
    web: Client, batch: Batch, fragment: Fragment
) -> None:
    address = root(web, batch, fragment)["hx-get"] or ""
    session = web.session
    session[idle.USED_AT] = an_hour_ago = time.time() - 3600
    session.save()
    assert web.get(address, headers=HTMX).status_code in (200, 204)
    assert web.session[idle.USED_AT] == an_hour_ago


@everyone
def test_polling_ends_with_the_batch(
    web: Client, sandbox: RunningSandbox, batch: Batch, fragment: Fragment
) -> None:
    batch = work(batch)
    assert batch.status == BatchStatus.FINISHED
    ended = root(web, batch, fragment)
    assert ended.get("hx-trigger", "seen") == "seen"
    assert "every" not in on_the_page(web, batch, fragment)


def test_nothing_on_the_page_of_an_ended_batch_polls(
    web: Client, sandbox: RunningSandbox, batch: Batch
) -> None:
    work(batch)
    for address in (batch.get_absolute_url(), reverse("batches")):
        page = html(web.get(address))
        assert 'hx-trigger="every' not in page
        assert "batch-changed" not in page


def test_nothing_is_sent_while_nothing_changed(web: Client, batch: Batch) -> None:
    beat()
    address = reverse("live", args=[batch.pk])
    assert web.get(f"{address}?seen={batch.version}", headers=HTMX).status_code == 204
    assert web.get(f"{address}?seen={batch.version - 1}", headers=HTMX).status_code == 200


def test_the_check_of_a_file_polls_until_it_is_read(web: Client) -> None:
    upload(web, rows(60))
    batch = Batch.objects.get()
    page = html(web.get(batch.get_absolute_url()))
    address = reverse("checking", args=[batch.pk])
    assert f'hx-get="{address}?phase=checking' in element(page, "check")
    assert 'hx-trigger="every 1s"' in element(page, "check")
    query = f"?phase=checking&seen={batch.version}"
    assert "Background work is not running" in html(web.get(f"{address}{query}", headers=HTMX))
    beat()
    assert web.get(f"{address}{query}", headers=HTMX).status_code == 204
    checking.check_file(batch.pk)
    read = html(web.get(f"{address}{query}", headers=HTMX))
    found = [root.get("id") or root["hx-swap-oob"] for root in roots(read)]
    assert found == ["check", "reading", "grid-area", "skips"]
    assert "hx-trigger" not in element(read, "check")


def test_the_filled_prompts_follow_the_form_without_polling(web: Client) -> None:
    batch = drafted(web, rows(3))
    page = element(html(web.get(batch.get_absolute_url())), "prompt-preview")
    assert f'hx-post="{reverse("preview", args=[batch.pk])}"' in page
    assert "every" not in page
    address, typed = reverse("preview", args=[batch.pk]), {"template": "{{text}}"}
    above = ["prompt-preview", "model-line", "question-label"]
    in_the_bar = ["same-rows", "skips-words", "bar-rows", "price", "found-rows", "start-rows"]
    refreshed = html(web.post(address, typed | {"read_as": batch.format_key}))
    assert [one["id"] for one in roots(refreshed)] == [*above, *in_the_bar, "try-price"]
    # The file has just been read, and the page has not got its bar yet.
    assert [one["id"] for one in roots(html(web.post(address, typed)))] == above


def test_a_page_has_every_id_once(web: Client, sandbox: RunningSandbox, batch: Batch) -> None:
    for state in (batch, work(batch)):
        for address in (state.get_absolute_url(), reverse("batches"), reverse("new")):
            ids = re.findall(r'\sid="([^"]*)"', html(web.get(address)))
            assert sorted(ids) == sorted(set(ids))
