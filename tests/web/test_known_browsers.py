"""A stranger's wrong passwords lock nobody out of a browser in which they have signed in before."""

import itertools

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from batchui.teams import browsers, invitations
from batchui.teams.models import Role, User
from tests.teams.people import PASSWORD, join, set_up

pytestmark = pytest.mark.django_db

COOKIE = "batchui-browser"
STRANGE = itertools.cycle(f"2001:db8:{number:x}::1" for number in range(1, 5000))


@pytest.fixture(autouse=True)
def behind_a_proxy(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    cache.clear()


@pytest.fixture
def ana() -> User:
    return set_up()


def sign_in(browser: Client, person: User, password: str = PASSWORD) -> str:
    """The page after trying to sign in, each time from another address."""
    headers = {"X-Forwarded-For": next(STRANGE)}
    data = {"login": person.email, "password": password}
    return browser.post(reverse("account_login"), data, headers=headers).content.decode()


def used_by(*people: User) -> Client:
    """A browser in which these people have signed in, one after another."""
    browser = Client()
    for person in people:
        sign_in(browser, person)
        browser.post(reverse("account_logout"))
    return browser


def guess(person: User, *, browser: Client | None = None) -> None:
    """As many wrong passwords as are allowed in five minutes."""
    for _ in range(5):
        assert "do not match" in sign_in(browser or Client(), person, "wrong")


def gets_in(browser: Client, person: User) -> bool:
    browser.post(reverse("account_logout"))
    page = sign_in(browser, person)
    assert ("Too many attempts" in page) != (browser.get("/people/").status_code == 200)
    return "Too many attempts" not in page


def test_a_stranger_cannot_lock_somebody_out_of_their_own_browser_at_a_new_address(
    ana: User,
) -> None:
    hers = used_by(ana)
    guess(ana)
    assert not gets_in(Client(), ana)
    assert gets_in(hers, ana)


def test_who_came_in_by_a_link_has_a_known_browser(ana: User) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    browser = Client()
    form = {"name": "Ben", "email": "Ben@example.com", "password": PASSWORD}
    browser.post(reverse("join", args=[token]), form)
    browser.post(reverse("account_logout"))
    ben = User.objects.get(name="Ben")
    guess(ben)
    assert gets_in(browser, ben)


def test_who_came_in_by_a_link_has_a_known_address(ana: User) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    form = {"name": "Ben", "email": "ben@example.com", "password": PASSWORD}
    office = {"X-Forwarded-For": "198.51.100.7"}
    Client().post(reverse("join", args=[token]), form, headers=office)
    guess(User.objects.get(name="Ben"))
    data = {"login": "ben@example.com", "password": PASSWORD}
    answer = Client().post(reverse("account_login"), data, headers=office)
    assert answer.status_code == 302


def test_the_failures_of_a_known_browser_are_counted_also_from_many_addresses(ana: User) -> None:
    hers = used_by(ana)
    guess(ana, browser=hers)
    copied = Client()
    copied.cookies[COOKIE] = hers.cookies[COOKIE].value
    assert not gets_in(copied, ana)
    assert gets_in(Client(), ana), "her other browsers are not locked by this one"


def test_a_colleagues_browser_is_a_strangers(ana: User) -> None:
    guess(ana, browser=used_by(join(ana)))
    assert not gets_in(Client(), ana)


@pytest.mark.parametrize("change", ["forged", "x", ""])
def test_a_cookie_that_batchui_did_not_sign_is_none(ana: User, change: str) -> None:
    browser = used_by(ana)
    browser.cookies[COOKIE] = change and change + browser.cookies[COOKIE].value
    guess(ana)
    assert not gets_in(browser, ana)


def test_a_browser_is_known_for_a_year(ana: User, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = used_by(ana)
    assert browser.cookies[COOKIE]["max-age"] == 365 * 24 * 3600
    guess(ana)
    monkeypatch.setattr(browsers, "SECONDS", 0)  # it has passed
    assert not gets_in(browser, ana)


def test_a_shared_browser_knows_five_people(ana: User) -> None:
    others = [join(ana, email=f"{number}@example.com") for number in range(5)]
    browser = used_by(ana, *others)
    for person in (ana, *others):
        guess(person)
    assert [gets_in(browser, person) for person in (others[0], ana)] == [True, False]


@pytest.mark.parametrize("https", [True, False])
def test_scripts_and_other_sites_have_no_use_of_the_cookie_and_it_names_nobody(
    ana: User, settings: Settings, https: bool
) -> None:
    settings.SECURE_PROXY = https
    cookie = used_by(ana).cookies[COOKIE]
    assert bool(cookie["secure"]) is https
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert "@" not in cookie.value
