"""What an attacker, an accident or a full disk meets."""

import io
import logging
import os
import runpy
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

import batchui.settings
from batchui.batches import call_limit
from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus
from batchui.logs import LinksBlottedOut, PlainLines
from batchui.sandbox.testing import RunningSandbox
from batchui.teams import invitations
from batchui.teams.models import Role, User
from batchui.worker import this_host
from tests.batches.conftest import MakeBatch, rows, work
from tests.teams.people import PASSWORD
from tests.web.visiting import answers, drafted, press_start, said, upload


@pytest.mark.parametrize(
    "options",
    [
        '{"a":NaN}',
        '{"a":Infinity}',
        '{"a":"\\ud800"}',
        '{"a":"\\u0000"}',
        '{"\\u0000":1}',
        "[" * 100_000,
        "[1]",
        "not json",
    ],
)
def test_options_that_cannot_be_sent_are_refused_at_their_field(web: Client, options: str) -> None:
    batch = drafted(web, rows(3))
    Batch.objects.filter(pk=batch.pk).update(options={"top_p": 0.5})
    address = reverse("start", args=[batch.pk])
    response = web.post(address, answers(batch, options=options))
    assert response.status_code == 422
    assert "This is not JSON." in said(response)


def test_a_link_that_lets_people_in_is_never_logged(
    ana: User, caplog: pytest.LogCaptureFixture
) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    with caplog.at_level(logging.WARNING):
        response = Client().post(reverse("join", args=[token]), {"name": ""})
    assert response.status_code == 422
    for written in (token, f" {token}", f"%20{token}", f"'{token}", f'"{token} ', f"/{token}"):
        record = logging.LogRecord("x", 40, "", 0, "Error: %s", (f"/join/{written}/",), None)
        LinksBlottedOut().filter(record)
        assert record.getMessage().replace("//", "/") == "Error: /join/…/"


MANY = "a=1&" * (batchui.settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1)


@pytest.mark.parametrize(
    ("request_that", "said"),
    [
        (lambda web: web.get(f"/sign-in/?{MANY}"), "number of GET/POST parameters"),
        (lambda web: web.post("/sign-in/", MANY, FORM), "number of GET/POST parameters"),
        (lambda web: web.post("/sign-in/", files(101)), "number of files"),
        (lambda web: web.post("/sign-in/", "a=" + "x" * 3_000_000, FORM), "Request body"),
    ],
    ids=["parameters", "fields", "files", "bytes"],
)
def test_what_a_client_did_wrong_is_one_line_of_the_log(
    request_that: Callable[[Client], Any], said: str, log: io.StringIO, db: None
) -> None:
    assert request_that(Client()).status_code == 400
    [line] = log.getvalue().splitlines()
    assert said in line


FORM = "application/x-www-form-urlencoded"


def files(number: int) -> dict[str, io.BytesIO]:
    return {f"file{at}": io.BytesIO(b"x") for at in range(number)}


def test_an_error_of_ours_keeps_its_traceback(log: io.StringIO) -> None:
    try:
        raise ValueError("ours")
    except ValueError:
        logging.getLogger("batchui").exception("It broke.")
    assert log.getvalue().splitlines()[-1] == "ValueError: ours"


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the product's own handler writes."""
    written = io.StringIO()
    [handler] = [
        one for one in logging.getLogger().handlers if isinstance(one.formatter, PlainLines)
    ]
    monkeypatch.setattr(handler, "stream", written)
    return written


def test_counters_of_sign_in_attempts_outlive_many_others(db: None) -> None:
    cache.set("a-counter", 5, 600)
    for number in range(600):
        cache.set(f"another-{number}", 1, 600)
    assert cache.get("a-counter") == 5


@pytest.mark.parametrize("name", ["a." + "é" * 180, "upload.php", "x. ", "   .csv"])
def test_no_file_name_is_a_problem(web: Client, files_in: Path, name: str) -> None:
    response = upload(web, rows(3), name)
    assert response.status_code == 302
    assert [path.name for path in files_in.rglob("source/*")] == ["upload.zst"]
    assert Batch.objects.get().name.strip()


def test_a_column_name_that_no_database_keeps_is_refused(web: Client) -> None:
    response = upload(web, b'{"a\\u0000b": "x"}\n', "rows.jsonl")
    assert response.status_code == 422
    assert "NUL character" in said(response)
    assert not Batch.objects.exists()


def test_a_full_disk_is_said_and_leaves_nothing(web: Client, files_in: Path) -> None:
    files_in.write_bytes(b"in the way")
    response = upload(web, rows(3))
    assert response.status_code == 422
    assert "could not read or store the file" in said(response)
    assert not Batch.objects.exists()


def test_a_database_that_does_not_answer_is_said(
    web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = drafted(web, rows(3))

    def locked(*_: Any, **__: Any) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr("batchui.batches.decisions.move_batch", locked)
    response = press_start(web, batch)
    assert response.status_code == 503
    assert "It is not certain whether what you did was saved." in said(response)


def test_what_was_done_before_the_database_fell_silent_is_not_called_undone(
    web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = drafted(web, rows(3))

    def locked(*_: Any, **__: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("batchui.batches.decisions.read_now_or_soon", locked)
    response = press_start(web, batch)
    batch.refresh_from_db()
    assert (response.status_code, batch.status) == (503, BatchStatus.PREPARING)
    assert "Nothing was changed" not in said(response)


def test_a_batch_behind_a_paused_connection_says_why(
    web: Client, sandbox: RunningSandbox, start: MakeBatch
) -> None:
    batch = start(rows(3))
    soon = timezone.now() + timedelta(minutes=5)
    call_limit.pause(batch.connection, until=soon, reason="Cloudflare refused the token.")
    assert "Cloudflare refused the token." in said(web.get(batch.get_absolute_url()))


def test_what_a_broken_upload_leaves_is_removed_a_day_later(settings: Any, tmp_path: Path) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path
    old, new = tmp_path / "tmp1.upload.csv", tmp_path / "tmp2.upload.csv"
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (0, time.time() - 2 * 24 * 60 * 60))
    this_host.remove_left_behind()
    assert (old.exists(), new.exists()) == (False, True)


def test_pages_of_people_signed_in_are_not_kept(web: Client) -> None:
    assert web.get(reverse("batches"))["Cache-Control"] == "private, no-store"


def test_a_column_that_is_not_closed_is_not_sent_as_text(web: Client) -> None:
    batch = drafted(web, rows(3))
    address = reverse("start", args=[batch.pk])
    response = web.post(address, answers(batch, template="{{text}} and {{id}"))
    assert response.status_code == 422
    assert "does not close it" in said(response)


def test_a_forged_host_name_writes_nothing_into_the_log(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert Client().get("/", headers={"host": "evil.example"}).status_code == 400
    assert [record for record in caplog.records if record.name.startswith("django")] == []


def test_what_goes_over_the_wire_is_not_logged_at_any_level(
    sandbox: RunningSandbox, start: MakeBatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert work(start(rows(3))).status == BatchStatus.FINISHED
    wire = [record for record in caplog.records if record.name.startswith(("httpx", "httpcore"))]
    assert wire == []


def test_no_other_site_reads_static_files(db: None) -> None:
    response = Client().get("/static/app.js")
    response.close()
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("Access-Control")]


def test_behind_a_proxy_no_other_host_of_the_domain_can_set_our_cookies(
    ana: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECURE_PROXY", "1")
    for name, value in runpy.run_path(batchui.settings.__file__).items():
        if "_COOKIE_" in name or name.startswith("SECURE_"):
            setattr(settings, name, value)
    browser = Client(headers={"X-Forwarded-Proto": "https"})
    browser.get(reverse("account_login"))
    browser.post(reverse("account_login"), {"login": ana.email, "password": PASSWORD})
    browser.get("/account/")
    what = {name.removeprefix("__Host-batchui-"): held for name, held in browser.cookies.items()}
    assert set(what) == {"session", "csrf", "uploads", "browser"}
    # A browser takes a cookie of such a name only with these.
    for held in what.values():
        assert (held["secure"], held["path"], held["domain"]) == (True, "/", "")
