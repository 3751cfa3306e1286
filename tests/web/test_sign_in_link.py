"""A lost password: the link from the terminal, and what is told of such links."""

import io
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.teams import invitations, members
from batchui.teams.models import Invitation, Role, User
from tests.teams.people import PASSWORD, join, outsider, set_up
from tests.web.visiting import html, said

pytestmark = pytest.mark.django_db

NEW = "slate-harbour-31"


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()


@pytest.fixture
def ana() -> User:
    return set_up()


def printed(*words: str) -> tuple[str, str]:
    """What the command prints: the link, and the words about it."""
    out, err = io.StringIO(), io.StringIO()
    call_command("sign_in_link", *words, stdout=out, stderr=err)
    return out.getvalue().strip(), err.getvalue()


def signed_in_with(link: str, password: str = NEW) -> Client:
    """A browser that used a link."""
    browser = Client()
    assert browser.post(link, {"password": password}).status_code == 302
    return browser


def sign_in(email: str, password: str) -> str:
    """The page after signing in with a password."""
    response = Client().post(
        reverse("account_login"), {"login": email, "password": password}, follow=True
    )
    return html(response)


# -- from the terminal --------------------------------------------------------------------------


def test_the_only_administrator_who_lost_the_password_comes_in_again(
    ana: User, settings: Any
) -> None:
    settings.BASE_URL = "https://batches.example.org"
    join(ana)
    link, words = printed()
    assert link.startswith("https://batches.example.org/join/")
    assert "For Ana, who signs in as ana@example.com." in words
    browser = signed_in_with(link)
    assert get_user(browser) == ana
    ana.refresh_from_db()
    assert ana.check_password(NEW)


@pytest.mark.parametrize("command", ["sign_in_link", "setup_link"])
def test_a_link_without_an_address_says_what_is_missing(
    db: None, settings: Any, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    if command == "sign_in_link":
        set_up()
    settings.BASE_URL = ""
    call_command(command)
    printed = capsys.readouterr()
    assert printed.out.startswith("/")
    assert "Put the address of your server before it" in printed.err
    settings.BASE_URL = "https://batches.example.org"
    call_command(command)
    printed = capsys.readouterr()
    assert printed.out.startswith("https://batches.example.org/")
    assert "Put the address" not in printed.err


def test_the_link_signs_in_once_for_a_day(ana: User) -> None:
    link, _ = printed()
    signed_in_with(link)
    assert Client().post(link, {"password": NEW}).status_code == 410
    made = Invitation.objects.latest("pk")
    assert made.expires_at - made.created_at == timedelta(days=1)
    later, _ = printed()
    Invitation.objects.update(expires_at=timezone.now())
    assert Client().get(later).status_code == 410


def test_somebody_is_named_by_address_and_older_links_stop_working(ana: User) -> None:
    ben = join(ana)
    first, _ = printed("Ben@example.com")
    second, words = printed("ben@example.com")
    assert "For Ben" in words
    assert Client().get(first).status_code == 410
    assert get_user(signed_in_with(second)) == ben


def test_of_several_administrators_one_must_be_named(ana: User) -> None:
    join(ana, role=Role.ADMIN)
    with pytest.raises(CommandError, match=r"Name one of them: ana@example.com, ben@example.com"):
        printed()
    assert not Invitation.objects.filter(for_user__isnull=False).exists()


@pytest.mark.parametrize("who", ["nobody@example.com", "ben@example.com"])
def test_nobody_gets_a_link_who_is_not_in_a_team(ana: User, who: str) -> None:
    members.remove(join(ana).membership, by=ana)
    with pytest.raises(CommandError, match=f"Nobody in batchui has the e-mail address {who}"):
        printed(who)


def test_before_the_set_up_there_is_nobody_to_sign_in(db: None) -> None:
    with pytest.raises(CommandError, match=r"manage\.py setup_link"):
        printed()


def test_the_sign_in_page_names_the_command_where_somebody_could_ask_nobody(ana: User) -> None:
    page = reverse("account_login")
    assert "manage.py sign_in_link" in said(Client().get(page))
    join(ana, role=Role.ADMIN)
    assert "sign_in_link" not in said(Client().get(page))
    outsider()
    assert "manage.py sign_in_link" in said(Client().get(page))


# -- whoever was signed in by somebody else's link is told --------------------------------------


def test_a_colleague_is_told_at_the_next_sign_in_that_a_link_was_used_and_by_whom_it_was_made(
    ana: User, caplog: pytest.LogCaptureFixture
) -> None:
    ben = join(ana)
    caplog.set_level(logging.INFO, "batchui.security")
    sign_in("ben@example.com", PASSWORD)
    invitation, token = invitations.create_password_link(ben.membership, by=ana)
    signed_in_with(reverse("join", args=[token]))
    told = sign_in("ben@example.com", NEW)
    assert re.search(r"Your password was chosen on .* with a link that Ana made\.", told)
    assert "Your password was chosen" not in sign_in("ben@example.com", NEW)
    noted = {record.getMessage(): record.__dict__["facts"] for record in caplog.records}
    link = str(invitation.pk)
    used = noted["password chosen by a link"]
    assert (used["link"], used["made_by"], used["who"]) == (link, ana.in_log, ben.in_log)
    assert noted["told of a password link"] == {"who": ben.in_log, "link": link} | {
        "address": "127.0.0.1"
    }


def test_who_comes_in_by_a_link_is_told_of_the_one_before_and_not_of_this_one(ana: User) -> None:
    ben = join(ana)
    _, first = invitations.create_password_link(ben.membership, by=ana)
    browser = signed_in_with(reverse("join", args=[first]))
    assert "Your password was chosen" not in html(browser.get(reverse("batches")))
    Invitation.objects.update(created_by=None)
    _, second = invitations.create_password_link(ben.membership, by=ana)
    browser = signed_in_with(reverse("join", args=[second]))
    told = html(browser.get(reverse("batches")))
    assert "with a link that somebody at the terminal made." in told


def test_nobody_is_told_of_links_of_others_or_of_long_ago(ana: User) -> None:
    ben = join(ana)
    _, token = invitations.create_password_link(ben.membership, by=ana)
    signed_in_with(reverse("join", args=[token]))
    assert "Your password was chosen" not in sign_in("ana@example.com", PASSWORD)
    User.objects.filter(pk=ben.pk).update(last_login=timezone.now() + timedelta(hours=1))
    assert "Your password was chosen" not in sign_in("ben@example.com", NEW)


def test_the_account_page_keeps_saying_when_a_link_was_used(ana: User) -> None:
    ben = join(ana)
    browser = Client()
    browser.force_login(ben)
    assert "Last chosen with a link" not in said(browser.get(reverse("account")))
    _, token = invitations.create_password_link(ben.membership, by=ana)
    assert "Last chosen with a link" not in said(browser.get(reverse("account")))
    browser = signed_in_with(reverse("join", args=[token]))
    page = said(browser.get(reverse("account")))
    assert "Last chosen with a link:" in page
    assert "Ana made the link." in page
