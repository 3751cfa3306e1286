"""A disk that is full: each page that saves says so, and promises nothing that does not happen."""

import errno
import json
import os
import secrets
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings as django_settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import include, path, reverse
from django.utils import timezone

from batchui.batches import decisions
from batchui.batches.models import Batch
from batchui.teams.models import User
from batchui.web import errors
from batchui.worker import full_disk, health
from batchui.worker.heartbeat import beat
from batchui.worker.models import Heartbeat
from tests.full_disk import SmallDisk, fill_disk, fill_postgresql, small_disk
from tests.teams.people import PASSWORD
from tests.web.visiting import HTMX, html, page, said

__all__ = ["fill_disk", "fill_postgresql", "small_disk"]

FillDisk = Callable[[], SmallDisk]


def sign_in() -> HttpResponse:
    data = {"login": "ana@example.com", "password": PASSWORD}
    return Client().post(reverse("account_login"), data)


def is_of_full_disk(response: HttpResponse) -> bool:
    """Whether nothing was done, and the page says that the disk is full."""
    return response.status_code == 503 and full_disk.SENTENCE in said(response)


def test_signing_in_says_that_the_disk_is_full_and_blames_no_attempts(
    fill_disk: FillDisk, ana: User
) -> None:
    cache.clear()
    fill_disk()
    refused = sign_in()
    assert is_of_full_disk(refused)
    assert "attempts" not in said(refused)


def test_a_csv_for_spreadsheets_comes_whole_from_a_full_disk(
    fill_disk: FillDisk, web: Client, batch: Batch
) -> None:
    address = reverse("download", args=[batch.pk, "csv"])
    with_room = b"".join(web.get(address).streaming_content)  # type: ignore[attr-defined]
    Batch.objects.update(cells_made_inert=None)
    fill_disk()
    assert b"".join(web.get(address).streaming_content) == with_room  # type: ignore[attr-defined]
    assert b"NOT COMPLETE" not in with_room


def test_stop_says_that_the_disk_is_full_and_not_that_batches_go_on(
    fill_disk: FillDisk, web: Client, batch: Batch
) -> None:
    fill_disk()
    refused = web.post(reverse("stop", args=[batch.pk]))
    assert is_of_full_disk(refused)
    assert "go on" not in said(refused)


def test_a_page_that_is_open_says_at_once_that_the_disk_is_full_and_when_it_no_longer_is(
    fill_disk: FillDisk, web: Client, batch: Batch
) -> None:
    beat()
    live, seen = reverse("live", args=[batch.pk]), batch.version
    assert web.get(f"{live}?seen={seen}", headers=HTMX).status_code == 204
    disk = fill_disk()
    shown = web.get(f"{live}?seen={seen}", headers=HTMX)
    assert full_disk.SENTENCE in said(shown)
    assert f"seen={seen}.disk&amp;" in html(shown)
    assert web.get(f"{live}?seen={seen}.disk", headers=HTMX).status_code == 204
    disk.make_room()
    assert "disk" not in said(web.get(f"{live}?seen={seen}.disk", headers=HTMX))


def test_a_batch_that_has_ended_says_nothing_of_the_disk(
    fill_disk: FillDisk, web: Client, batch: Batch
) -> None:
    decisions.stop(batch, by=None)
    fill_disk()
    assert "disk" not in page(web, batch)


def test_once_there_is_room_all_goes_on(fill_disk: FillDisk, web: Client, batch: Batch) -> None:
    cache.clear()
    fill_disk().make_room()
    assert sign_in().status_code == 302
    assert web.post(reverse("stop", args=[batch.pk])).status_code == 302


# -- PostgreSQL on a disk of its own ------------------------------------------------------------


def test_signing_in_says_that_the_disk_of_postgresql_is_full(
    fill_postgresql: Callable[[], None], ana: User
) -> None:
    cache.clear()
    fill_postgresql()
    refused = sign_in()
    assert is_of_full_disk(refused)


def test_a_silent_worker_is_put_down_to_the_disk_of_postgresql_while_that_is_full(
    fill_postgresql: Callable[[], None], web: Client, batch: Batch
) -> None:
    beat()
    Heartbeat.objects.update(at=timezone.now() - timedelta(hours=1))
    assert full_disk.SENTENCE not in page(web, batch)
    names = set(Heartbeat.objects.values_list("name", flat=True))
    fill_postgresql()
    assert full_disk.SENTENCE in page(web, batch)
    assert readyz()["worker"]["says"] == full_disk.SENTENCE
    assert set(Heartbeat.objects.values_list("name", flat=True)) == names


def readyz() -> dict[str, dict[str, str]]:
    health.forget()
    answer = health.readyz(RequestFactory().get("/readyz"))
    health.forget()
    checks: dict[str, dict[str, str]] = json.loads(answer.content)["checks"]
    return checks


# -- where Django hands the error to the page for errors ----------------------------------------


def uses_the_session(request: HttpRequest) -> HttpResponse:
    request.session["text"] = secrets.token_hex()
    return HttpResponse("It was not saved yet.")


def stores_a_file(request: HttpRequest) -> HttpResponse:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def cannot_read(request: HttpRequest) -> HttpResponse:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


urlpatterns = [
    path("session/", uses_the_session),
    path("file/", stores_a_file),
    path("damaged/", cannot_read),
    path("", include("batchui.urls")),
]
handler500 = errors.server_error
here = override_settings(ROOT_URLCONF=__name__)


@here
def test_a_session_that_cannot_be_saved_says_that_the_disk_is_full(fill_disk: FillDisk) -> None:
    """The session is saved by middleware, whose errors no other middleware is told of."""
    browser = Client(raise_request_exception=False)
    fill_disk()
    refused = browser.get("/session/")
    assert is_of_full_disk(refused)
    assert django_settings.SESSION_COOKIE_NAME not in refused.cookies


@here
def test_a_file_that_cannot_be_stored_says_that_the_disk_is_full() -> None:
    browser = Client(raise_request_exception=False)
    assert full_disk.SENTENCE in said(browser.get("/file/"))
    assert browser.get("/damaged/").status_code == 500
