"""axe finds no fault, and nothing sticks out of a phone: light, dark, dialogs open."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import pytest
from django.urls import reverse
from pytest_django.live_server_helper import LiveServer

from batchui.teams import invitations
from batchui.teams.models import Role, User
from tests.conftest import PATIENCE
from tests.stories import visitors
from tests.teams.people import join, set_up
from tests.web.visiting import session_cookie

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# The rules of axe for each scheme: all, or in the dark those about colours.
RULES: dict[Literal["light", "dark"], tuple[str, ...]] = {"light": (), "dark": visitors.COLOURS}


@pytest.fixture
def ana(transactional_db: None) -> User:
    ana = set_up(name="Ana Sofia Marques de Vasconcelos", email="ana.sofia.marques@example.com")
    join(ana, name="Benedikt", email="benedikt.ullmann@long-department-name.example.com")
    invitations.create(ana.membership.team, by=ana, role=Role.ADMIN)
    return ana


@pytest.fixture
def page(browser: "Browser", live_server: LiveServer, ana: User) -> Iterator["Page"]:
    with browser.new_context(base_url=live_server.url) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        yield page


def sign_in(page: "Page", person: User) -> None:
    url = page.context.pages[0].evaluate("location.origin")
    page.context.add_cookies([session_cookie(person, url)])  # type: ignore[list-item]


def faults(page: "Page") -> list[str]:
    """What axe finds in both schemes."""
    found = []
    for scheme, rules in RULES.items():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {fault}" for fault in visitors.faults(page, rules=rules)]
    return found


def sticks_out(page: "Page") -> list[str]:
    """What is wider than a phone."""
    page.set_viewport_size({"width": 375, "height": 760})
    return visitors.sticks_out(page)


@pytest.mark.parametrize("address", ["/sign-in/", "/join/{token}/", "/join/nonsense/", "/none/"])
def test_pages_before_signing_in(page: "Page", ana: User, address: str) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    page.goto(address.format(token=token))
    assert faults(page) == []
    assert sticks_out(page) == []


def test_a_form_with_errors(page: "Page", ana: User) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    page.goto(reverse("join", args=[token]))
    page.get_by_label("Your name").fill("Ben")
    page.get_by_label("E-mail address").fill("ana.sofia.marques@example.com")
    page.get_by_label("Password", exact=True).fill("short")
    page.get_by_role("button", name="Join the team").click()
    password = page.get_by_label("Password", exact=True)
    assert password.get_attribute("aria-invalid") == "true"
    described = password.get_attribute("aria-describedby") or ""
    said = " ".join(page.locator(f"[id='{name}']").inner_text() for name in described.split())
    assert "too short" in said
    assert "At least 10 characters" in said
    assert faults(page) == []
    assert sticks_out(page) == []


PAGES = ("/people/", "/account/", "/sign-out/", "/questions/", "/deleted/")


@pytest.mark.parametrize("address", PAGES)
def test_pages_after_signing_in(page: "Page", ana: User, address: str) -> None:
    page.goto("/sign-in/")
    sign_in(page, ana)
    page.goto(address)
    assert faults(page) == []
    assert sticks_out(page) == []


@pytest.mark.parametrize(
    "buttons",
    [
        ["Ana Sofia Marques de Vasconcelos"],
        ["Sandbox: answers are made up"],
        ["Invite a colleague"],
        ["Invite a colleague", "Make the link"],
        ["Change Benedikt"],
        ["Change Benedikt", "Make an administrator"],
        ["Change Benedikt", "Make a password link"],
        ["Withdraw"],
    ],
    ids=lambda buttons: ", then ".join(buttons),
)
def test_menus_and_dialogs_of_the_people_page(page: "Page", ana: User, buttons: list[str]) -> None:
    page.goto("/sign-in/")
    sign_in(page, ana)
    page.goto("/people/")
    for name in buttons:
        page.get_by_role("button", name=name).last.click()
    if buttons[-1] == "Make the link":
        page.get_by_label("Link", exact=True).wait_for()
    assert faults(page) == []
    assert sticks_out(page) == []


def test_the_keyboard_alone_reaches_the_content_and_closes_a_dialog(
    page: "Page", ana: User
) -> None:
    page.goto("/sign-in/")
    sign_in(page, ana)
    page.goto("/people/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Go to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert "Invite a colleague" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog", name="Invite a colleague").is_visible()
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog", name="Invite a colleague").is_visible()
    assert "Invite a colleague" in page.evaluate("document.activeElement.textContent")
