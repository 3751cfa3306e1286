"""Who watches is answered at once: never what is not theirs, and never for long what is past."""

import re
import time
from html import unescape
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from batchui.batches import deleting
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.sandbox.testing import RunningSandbox
from batchui.teams.models import Membership, Role, User
from batchui.web import history, holds, idle, standstill, watchers
from batchui.web.sheet import live, progress, seen
from batchui.worker.heartbeat import beat
from tests.batches.conftest import work
from tests.teams.people import join, outsider
from tests.web.visiting import HTMX, element, html, signed_in

pytestmark = pytest.mark.django_db
MEMORIES = (
    *(seen.known, live.contexts, live.news, history.marks, history.current, history.news),
    *(holds.under_way, standstill.why, progress.usual),
)


@pytest.fixture(autouse=True)
def nothing_is_remembered() -> None:
    """Here it is; each test begins with nothing."""
    for memory in MEMORIES:
        memory._kept.clear()
    watchers._known.clear()


@pytest.fixture(autouse=True)
def somebody_works(db: None) -> None:
    beat()


@pytest.fixture
def ben(ana: User) -> User:
    return join(ana)


def address_of(batch: Batch, web: Client) -> str:
    """What the page of a batch asks."""
    found = re.search(r'hx-get="([^"]*)"', element(html(web.get(batch.get_absolute_url())), "live"))
    assert found
    return unescape(found[1])


def asks(web: Client, address: str) -> Any:
    return web.get(address, headers=HTMX)


def of_history(batch: Batch) -> str:
    return f"{reverse('history')}?seen={batch.pk}.{batch.version}"


def queries(web: Client, address: str, status: int) -> list[str]:
    with CaptureQueriesContext(connection) as found:
        assert asks(web, address).status_code == status
    return [query["sql"] for query in found]


def change(batch: Batch) -> None:
    Batch.objects.filter(pk=batch.pk).update(version=F("version") + 1)
    batch.refresh_from_db()


def forget_the_batch() -> None:
    """As if a second had passed."""
    for memory in (seen.known, history.marks):
        memory._kept.clear()


def test_a_poll_without_news_asks_one_thing_whether_all_is_as_it_was(
    web: Client, batch: Batch
) -> None:
    for address in (address_of(batch, web), of_history(batch)):
        assert asks(web, address).status_code == 204
        asks(web, address)
        [one] = queries(web, address, 204)
        assert "SELECT 1" in one
        assert "django_session" in one


def test_news_are_made_once_for_all_who_may_do_the_same(
    web: Client, batch: Batch, ben: User
) -> None:
    browsers = [web, signed_in(ben), signed_in(join(ben_by(ben), name="Cleo", email="c@x.org"))]
    address = address_of(batch, web)
    for browser in browsers:
        assert asks(browser, address).status_code == 204
    change(batch)
    forget_the_batch()
    assert len(queries(browsers[1], address, 200)) > 4
    assert len(queries(browsers[2], address, 200)) == 1
    bodies = {asks(browser, address).content for browser in browsers[1:]}
    assert len(bodies) == 1


def test_the_history_is_read_once_for_pages_that_showed_different_things(
    web: Client, batch: Batch, ben: User
) -> None:
    other, late = signed_in(ben), of_history(batch)
    change(batch)
    later = of_history(batch)
    for browser, address in ((web, late), (other, later)):
        asks(browser, address)
    change(batch)
    forget_the_batch()
    first = asks(web, late)
    [one] = queries(other, later, 200)  # who asks
    assert "django_session" in one
    for browser, address in ((web, late), (other, later)):
        told = asks(browser, address).content.decode()
        assert f'id="batch-{batch.pk}"' in told
        assert f"seen={batch.pk}.{batch.version}" in told
    assert first.status_code == 200


def test_a_page_that_shows_all_as_it_is_gets_no_row(web: Client, batch: Batch) -> None:
    """Another may be read anew before its marks are."""
    before = of_history(batch)
    assert asks(web, before).status_code == 204
    change(batch)
    told = asks(web, of_history(batch))
    assert told.status_code == 200
    assert f'id="batch-{batch.pk}"' not in told.content.decode()


def test_what_another_process_has_made_is_taken_from_it(
    web: Client, batch: Batch, ben: User
) -> None:
    address, other = address_of(batch, web), signed_in(ben)
    asks(other, address)
    change(batch)
    told = asks(web, address)
    live.news._kept.clear()  # as in another process
    live.contexts._kept.clear()
    forget_the_batch()
    assert len(queries(other, address, 200)) == 2  # who asks, and which version there is
    assert told.content == asks(other, address).content
    assert told.headers["HX-Trigger"] == asks(other, address).headers["HX-Trigger"]


def ben_by(ben: User) -> User:
    return User.objects.get(membership__team=ben.membership.team, membership__role=Role.ADMIN)


@pytest.mark.parametrize("where", ["batch", "history"])
def test_a_change_is_seen_after_a_second_at_most(web: Client, batch: Batch, where: str) -> None:
    address = address_of(batch, web) if where == "batch" else of_history(batch)
    asks(web, address)
    assert asks(web, address).status_code == 204
    change(batch)
    began = time.monotonic()
    while asks(web, address).status_code == 204:
        assert time.monotonic() - began < 1.5
        time.sleep(0.05)


def test_what_is_told_once_is_not_told_again(web: Client, batch: Batch) -> None:
    address = address_of(batch, web)
    asks(web, address)
    change(batch)
    forget_the_batch()
    answer = html(asks(web, address))
    found = re.search(r'hx-get="([^"]*)"', element(answer, "live"))
    assert found
    assert asks(web, unescape(found[1])).status_code == 204


@pytest.mark.parametrize("how", ["removed", "signed out", "password", "inactive", "expired"])
def test_who_may_not_see_any_more_is_sent_away_at_the_next_poll(
    web: Client, batch: Batch, ben: User, how: str
) -> None:
    browser, stays = signed_in(ben), web
    addresses = (address_of(batch, browser), of_history(batch))
    for address in addresses:
        for one in (browser, stays, browser):
            assert asks(one, address).status_code == 204
    key = browser.session.session_key
    if how == "removed":
        ben.membership.delete()
    elif how == "signed out":
        Session.objects.filter(pk=key).delete()
    elif how == "password":
        ben.set_password("another-kettle-3")
        ben.save()
    elif how == "inactive":
        User.objects.filter(pk=ben.pk).update(is_active=False)
    else:
        Session.objects.filter(pk=key).update(expire_date=timezone.now())
    for address in addresses:
        answer = asks(browser, address)
        if how == "removed":
            assert answer.status_code == 403
        else:
            assert "/sign-in/" in answer["HX-Redirect"]
        assert asks(stays, address).status_code == 204


def test_who_goes_to_another_team_sees_nothing_of_the_first(batch: Batch, ben: User) -> None:
    browser = signed_in(ben)
    address = address_of(batch, browser)
    assert asks(browser, address).status_code == 204
    elsewhere = outsider().membership.team
    Membership.objects.filter(user=ben).update(team=elsewhere)
    assert asks(browser, address).status_code == 404
    assert asks(browser, address).status_code == 404


def test_a_batch_of_another_team_is_not_told_of_to_somebody_who_watches(
    web: Client, batch: Batch
) -> None:
    zoe = signed_in(outsider())
    assert asks(zoe, reverse("history") + "?seen=").status_code == 204  # she is known now
    address = address_of(batch, web)
    asks(web, address)
    assert asks(zoe, address).status_code == 404
    shown = asks(zoe, of_history(batch))
    assert batch.name not in html(shown)
    assert 'hx-swap-oob="delete"' in html(shown)


def test_a_session_that_nobody_uses_ends_although_its_page_asks(web: Client, batch: Batch) -> None:
    address = address_of(batch, web)
    session = web.session
    session[idle.USED_AT] = time.time() - 12 * 3600 + 1
    session.save()
    assert asks(web, address).status_code == 204
    time.sleep(1.1)
    assert "/sign-in/" in asks(web, address)["HX-Redirect"]


def test_everybody_goes_the_whole_way_now_and_then(
    web: Client, batch: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchers, "LONGEST_SECONDS", 0.5)
    address = address_of(batch, web)
    asks(web, address)
    asks(web, address)
    assert len(queries(web, address, 204)) == 1
    time.sleep(0.6)
    assert len(queries(web, address, 204)) > 1


def test_only_so_many_are_known_the_latest(
    batch: Batch, web: Client, ben: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watchers, "MOST", 1)
    address, browser = address_of(batch, web), signed_in(ben)
    for one in (web, browser, browser):
        asks(one, address)
    assert len(queries(browser, address, 204)) == 1
    assert len(queries(web, address, 204)) > 1


def test_a_deleted_batch_is_loaded_anew(web: Client, batch: Batch, ana: User) -> None:
    address = address_of(batch, web)
    assert asks(web, address).status_code == 204
    Batch.objects.update(status=BatchStatus.STOPPED)
    batch.refresh_from_db()
    assert deleting.delete(batch, by=ana)
    forget_the_batch()
    assert asks(web, address)["HX-Refresh"] == "true"


def test_nothing_that_is_shared_is_a_persons(
    web: Client, batch: Batch, ben: User, sandbox: RunningSandbox
) -> None:
    """Of all that is told at the end only “Delete …” depends on who reads it."""
    cleo = join(ben_by(ben), name="Cleo", email="cleo@example.com")
    Batch.objects.update(created_by=ben, started_by=ben)
    dan = join(ben_by(ben), name="Dan", email="dan@example.com")
    of_dan = Membership.objects.filter(user=dan)
    of_dan.update(role=Role.ADMIN)
    people = {"admin": web, "author": signed_in(ben), "colleague": signed_in(cleo)}
    people["no administrator any more"] = signed_in(dan)
    address = address_of(batch, web)
    for browser in people.values():
        assert asks(browser, address).status_code == 204
    of_dan.update(role=Role.MEMBER)
    work(batch)
    forget_the_batch()
    told = {name: html(asks(browser, address)) for name, browser in people.items()}
    assert ["Delete …" in told[name] for name in people] == [True, True, False, False]
    assert told["admin"] == told["author"]
    assert "csrfmiddlewaretoken" not in told["admin"]
    assert "Run again, with changes" in told["colleague"]
    fresh = html(signed_in(ben).get(address, headers=HTMX))
    assert fresh == told["author"]


def test_a_form_that_came_with_a_poll_is_let_through_with_the_token_of_its_page(
    ana: User, batch: Batch
) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ana)
    page = html(browser.get(batch.get_absolute_url()))
    found = re.search(r'hx-headers=\'{"X-CSRFToken": "(\w+)"}\'', page)
    assert found
    address = reverse("stop", args=[batch.pk])
    assert browser.post(address).status_code == 403
    assert browser.post(address, headers={"X-CSRFToken": found[1]}).status_code == 302


def test_an_answer_at_once_travels_and_is_kept_like_that_of_the_view(
    web: Client, batch: Batch
) -> None:
    address = address_of(batch, web).replace("seen=", "seen=x")
    packed = {**HTMX, "Accept-Encoding": "gzip"}
    answers = [web.get(address, headers=packed) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    for name in ("Content-Encoding", "Content-Length", "Cache-Control", "HX-Trigger"):
        assert answers[0][name] == answers[1][name], name
    assert answers[1]["Content-Encoding"] == "gzip"
    assert answers[1]["Cache-Control"] == "private, no-store"
    assert "Accept-Encoding" in answers[1]["Vary"]
    assert "Content-Security-Policy" in answers[1].headers


@pytest.mark.parametrize("method", ["post", "head"])
def test_only_what_pages_ask_is_answered_at_once(web: Client, batch: Batch, method: str) -> None:
    address = address_of(batch, web)
    asks(web, address)
    with CaptureQueriesContext(connection) as found:
        getattr(web, method)(address)
    assert len(found) > 1


def test_a_wrong_host_is_refused_as_everywhere(web: Client, batch: Batch) -> None:
    address = address_of(batch, web)
    asks(web, address)
    assert web.get(address, headers={**HTMX, "Host": "evil.example"}).status_code == 400
