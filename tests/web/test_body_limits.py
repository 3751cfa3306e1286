"""How large a body the web server keeps, before it knows what the request is."""

import shutil
import time
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.core.signing import TimestampSigner, b62_encode
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from batchui.batches.models import Batch
from batchui.teams import members
from batchui.teams.models import User
from batchui.web import body_limits
from batchui.web.body_limits import ANYBODY, BESIDES_FILE, MEMBER, may_send
from tests.teams.people import join
from tests.web.visiting import said, signed_in, upload

pytestmark = pytest.mark.django_db


def headers(web: Client) -> dict[str, str]:
    """The cookies of a browser, as the web server has them."""
    pairs = (f"{name}={morsel.value}" for name, morsel in web.cookies.items())
    return {"COOKIE": "; ".join(pairs)}


def most_bytes(path: str, headers: dict[str, str], under_way: int = 0) -> int:
    return body_limits.most_bytes(path, headers, under_way)


def test_a_member_may_upload_a_file_and_send_forms(web: Client, settings: Any) -> None:
    web.get(reverse("batches"))
    assert most_bytes(reverse("new"), headers(web)) == settings.MAX_UPLOAD_BYTES + BESIDES_FILE
    pictures = reverse("add_pictures", args=[uuid4()])
    assert most_bytes(pictures, headers(web)) == settings.MAX_UPLOAD_BYTES + BESIDES_FILE
    assert most_bytes(f"{pictures}choose/", headers(web)) == MEMBER
    assert most_bytes(reverse("account"), headers(web)) == MEMBER
    assert MEMBER > settings.DATA_UPLOAD_MAX_MEMORY_SIZE


@pytest.mark.parametrize("odd", ['theme={"a":1}', "a=b c", "x", "=", "a=\x01", '"'])
def test_a_cookie_of_another_program_on_the_host_changes_nothing(web: Client, odd: str) -> None:
    web.get(reverse("batches"))
    ours = headers(web)["COOKIE"]
    for cookies in (f"{odd}; {ours}", f"{ours}; {odd}"):
        assert most_bytes(reverse("account"), {"COOKIE": cookies}) == MEMBER


def test_anybody_else_may_send_little(client: Client) -> None:
    client.get(reverse("account_login"))
    for path in (reverse("new"), reverse("account_login")):
        assert most_bytes(path, headers(client)) == ANYBODY
        assert most_bytes(path, {}) == ANYBODY


@pytest.mark.parametrize(
    "value",
    ["member", "member:1abc:forged", TimestampSigner(salt="another").sign("member"), "", "\x01"],
    ids=["unsigned", "forged", "signed for something else", "empty", "a control character"],
)
def test_a_cookie_of_ones_own_making_is_worth_nothing(settings: Any, value: str) -> None:
    cookie = {"COOKIE": f"{settings.UPLOAD_COOKIE_NAME}={value}"}
    assert most_bytes(reverse("new"), cookie) == ANYBODY


def test_the_cookie_ends_by_itself_and_is_renewed_before(
    web: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    web.get(reverse("batches"))
    first = web.cookies[settings.UPLOAD_COOKIE_NAME].value
    web.get(reverse("batches"))
    assert web.cookies[settings.UPLOAD_COOKIE_NAME].value == first
    monkeypatch.setattr(body_limits, "SECONDS", -1)
    assert most_bytes(reverse("new"), headers(web)) == ANYBODY
    assert settings.UPLOAD_COOKIE_NAME in web.get(reverse("batches")).cookies


@pytest.mark.parametrize(("hours", "renewed"), [(11, False), (13, True)])
def test_the_cookie_is_renewed_half_way_so_that_a_page_may_be_open_for_long(
    web: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, hours: int, renewed: bool
) -> None:
    signer = body_limits._signer(web.session.session_key or "")
    then = b62_encode(int(time.time()) - hours * 3600)
    monkeypatch.setattr(signer, "timestamp", lambda: then)
    web.cookies[settings.UPLOAD_COOKIE_NAME] = signer.sign("member")
    assert most_bytes(reverse("new"), headers(web)) > MEMBER
    assert (settings.UPLOAD_COOKIE_NAME in web.get(reverse("batches")).cookies) is renewed


def test_the_cookie_is_worth_nothing_beside_another_session(web: Client, settings: Any) -> None:
    web.get(reverse("batches"))
    another = Client()
    another.cookies[settings.UPLOAD_COOKIE_NAME] = web.cookies[settings.UPLOAD_COOKIE_NAME].value
    assert most_bytes(reverse("new"), headers(another)) == ANYBODY
    another.cookies[settings.SESSION_COOKIE_NAME] = "another"
    assert most_bytes(reverse("new"), headers(another)) == ANYBODY


def test_who_signs_in_again_may_upload_at_once(web: Client, ana: User, settings: Any) -> None:
    web.get(reverse("batches"))
    again = signed_in(ana)
    again.cookies[settings.UPLOAD_COOKIE_NAME] = web.cookies[settings.UPLOAD_COOKIE_NAME].value
    again.get(reverse("batches"))
    assert most_bytes(reverse("new"), headers(again)) > MEMBER


@pytest.mark.django_db(transaction=True)
def test_who_was_removed_or_signed_out_may_send_no_more(web: Client, ana: User) -> None:
    bea = join(ana, name="Bea", email="bea@example.com")
    theirs = headers(signed_in(bea))
    ours = headers(web)
    assert may_send(theirs)
    members.remove(bea.membership, by=ana)
    assert not may_send(theirs)
    assert may_send(ours)
    web.post(reverse("account_logout"))
    assert not may_send(ours)
    assert not may_send({})


@pytest.mark.django_db(transaction=True)
def test_a_database_that_does_not_answer_takes_no_upload_away(
    web: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(body_limits, "get_user", fails)
    assert may_send(headers(web))


NEARLY_FULL = "The disk of this server is nearly full, so nothing was"


def test_what_was_thrown_away_because_others_upload_too_is_said(
    web: Client, client: Client
) -> None:
    def answer(who: Client, name: str, length: int) -> HttpResponse:
        """The answer to a form that the web server has thrown away."""
        return who.post(
            reverse(name),
            b"",
            content_type="application/x-www-form-urlencoded",
            CONTENT_LENGTH=str(length),
            HTTP_THROWN_AWAY="1",
        )

    web.get(reverse("batches"))
    form, file = answer(web, "account", MEMBER), answer(web, "new", MEMBER + 1)
    assert (form.status_code, f"{NEARLY_FULL} saved." in said(form)) == (503, True)
    assert (file.status_code, f"{NEARLY_FULL} uploaded." in said(file)) == (422, True)
    too_large, strangers = answer(web, "account", MEMBER + 1), answer(client, "account_login", 9)
    assert NEARLY_FULL not in said(too_large) + said(strangers)
    Session.objects.all().delete()
    assert answer(web, "account", MEMBER).status_code == 302


def test_the_cookie_goes_with_the_session(web: Client, settings: Any) -> None:
    web.get(reverse("batches"))
    web.post(reverse("account_logout"))
    web.get(reverse("account_login"))
    assert web.cookies[settings.UPLOAD_COOKIE_NAME].value == ""


def test_no_script_reads_the_cookie(web: Client, settings: Any) -> None:
    web.get(reverse("batches"))
    cookie = web.cookies[settings.UPLOAD_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_an_upload_that_would_fill_the_disk_is_refused_before_it_is_kept(
    web: Client, settings: Any
) -> None:
    web.get(reverse("batches"))
    free = shutil.disk_usage(settings.DATA).free
    settings.KEEP_FREE_BYTES, settings.MAX_UPLOAD_BYTES = free // 2, free
    most = most_bytes(reverse("new"), headers(web))
    assert free // 10 < most < free // 7  # an upload takes four times its size
    assert most_bytes(reverse("new"), headers(web), under_way=free // 20) < most - free // 40
    assert upload(web, b"a,b\n1,2\n").status_code == 302
    settings.KEEP_FREE_BYTES = 2 * free
    assert most_bytes(reverse("new"), headers(web)) == ANYBODY
    assert most_bytes(reverse("account"), headers(web)) == ANYBODY
    refused = upload(web, b"a,b\n1,2\n")
    assert refused.status_code == 422
    assert "The disk of this server is nearly full" in said(refused)
    assert Batch.objects.count() == 1


def test_a_file_that_was_thrown_away_is_asked_for_again(web: Client) -> None:
    """The web server did so: it was sent without the cookie."""
    for length, sentence in ((100, "No file was chosen."), (ANYBODY, "The file did not arrive.")):
        answer = web.post(
            reverse("new"),
            b"",
            content_type="application/x-www-form-urlencoded",
            CONTENT_LENGTH=str(length),
        )
        assert answer.status_code == 422
        assert sentence in said(answer)
