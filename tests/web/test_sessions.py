"""How long somebody stays signed in, and what ends it."""

import time

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from batchui.teams.models import User
from batchui.web import idle
from tests.teams.people import join, set_up
from tests.web.visiting import signed_in

pytestmark = pytest.mark.django_db
PEOPLE = "/people/"


@pytest.fixture
def ana() -> User:
    return set_up()


def used(browser: Client, *, seconds_ago: float) -> None:
    session = browser.session
    session[idle.USED_AT] = time.time() - seconds_ago
    session.save()


def stays(browser: Client, address: str = PEOPLE) -> bool:
    return browser.get(address).status_code == 200


def test_twelve_hours_without_use_end_a_session(ana: User) -> None:
    browser = signed_in(ana)
    assert stays(browser)
    used(browser, seconds_ago=12 * 3600 - 5)
    assert stays(browser)
    used(browser, seconds_ago=12 * 3600 + 5)
    assert not stays(browser)


def test_two_weeks_end_a_session_however_much_it_is_used(ana: User) -> None:
    browser = signed_in(ana)
    for days, kept in ((13.9, True), (14.1, False)):
        assert stays(browser)
        session = browser.session
        session[idle.BEGAN_AT] = time.time() - days * 24 * 3600
        session.save()
        assert stays(browser) == kept


def test_use_keeps_a_session_and_what_a_page_asks_by_itself_does_not(ana: User) -> None:
    browser = signed_in(ana)
    assert stays(browser)
    for address, kept in ((f"{PEOPLE}?seen=1", False), (PEOPLE, True)):
        used(browser, seconds_ago=3600)
        assert stays(browser, address)
        assert (time.time() - browser.session[idle.USED_AT] < 60) == kept


def test_use_is_written_down_every_ten_minutes_at_most(ana: User) -> None:
    browser = signed_in(ana)
    for seconds, noted in ((590, False), (610, True)):
        used(browser, seconds_ago=seconds)
        stays(browser)
        assert (time.time() - browser.session[idle.USED_AT] < 60) == noted


def test_somebody_signs_out_everywhere_else_and_stays_here(ana: User) -> None:
    here, laptop, phone = (signed_in(ana) for _ in range(3))
    colleague = signed_in(join(ana))
    answer = here.post(reverse("sign_out_elsewhere"), follow=True)
    assert "You are signed out in 2 other browsers." in answer.content.decode()
    assert [stays(one) for one in (here, laptop, phone, colleague)] == [True, False, False, True]
    again = here.post(reverse("sign_out_elsewhere"), follow=True)
    assert "You are signed out in 0 other browsers." in again.content.decode()


def test_signing_out_elsewhere_needs_a_button(ana: User) -> None:
    here, laptop = signed_in(ana), signed_in(ana)
    assert here.get(reverse("sign_out_elsewhere"))["Location"] == reverse("account")
    assert stays(laptop)


def test_cookies_have_names_of_this_product(ana: User) -> None:
    browser = signed_in(ana)
    browser.get("/account/")
    assert set(browser.cookies) == {"batchui-session", "batchui-csrf", "batchui-uploads"}
    assert Session.objects.filter(pk=browser.cookies["batchui-session"].value).exists()
    assert settings.SESSION_COOKIE_HTTPONLY


@pytest.mark.parametrize("name", ["account_change_password", "account_logout", "account"])
def test_no_page_about_oneself_is_kept_by_the_browser(ana: User, name: str) -> None:
    assert "no-store" in signed_in(ana).get(reverse(name))["Cache-Control"]
