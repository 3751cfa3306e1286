"""The pages about people in a real browser: what only happens there."""

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.urls import reverse
from pytest_django.live_server_helper import LiveServer

from batchui.teams import invitations
from batchui.teams.models import Membership, Role, User
from tests.conftest import PATIENCE
from tests.teams.people import PASSWORD, join, set_up
from tests.web.visiting import session_cookie

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NewPage = Callable[..., "Page"]
NO_ANSWER = ("htmx:afterRequest", "htmx:sendError", "htmx:sendAbort")
HOME = re.compile(r"://[^/]+/$")


@pytest.fixture
def new_page(
    browser: "Browser", live_server: LiveServer, two_static_files: None
) -> Iterator[NewPage]:
    """Opens a browser of its own for somebody (or nobody), with whatever a context takes.

    Nothing moves in it unless that is asked for: drawing what moves takes a third of a processor.
    What the browser complains about, such as a broken content security policy, fails the test.
    """
    contexts, complaints = [], []

    def listen(message: "ConsoleMessage") -> None:
        # Answers with an error status, or none, are what some stories are about.
        expected = ("Failed to load resource", "Response Status Error Code", *NO_ANSWER)
        if message.type == "error" and not message.text.startswith(expected):
            complaints.append(message.text)

    def open_one(person: User | None = None, **options: Any) -> "Page":
        options = {"reduced_motion": "reduce"} | options
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        if person:
            cookie = session_cookie(person, live_server.url)
            context.add_cookies([cookie])  # type: ignore[list-item]
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def ana(transactional_db: None) -> User:
    return set_up()


def invite(page: "Page") -> str:
    """Make a link for this computer on the People page; returns it, with its dialog still open."""
    page.goto("/people/")
    page.get_by_role("button", name="Invite a colleague").click()
    page.get_by_label("for this computer alone").check()
    page.get_by_role("button", name="Make the link").click()
    return page.get_by_label("Link", exact=True).input_value()


def test_an_invited_colleague_comes_in_from_another_browser(ana: User, new_page: NewPage) -> None:
    here, there = new_page(ana), new_page()
    link = invite(here)
    there.goto(link)
    there.get_by_label("Your name").fill("Ben")
    there.get_by_label("E-mail address").fill("ben@example.com")
    there.get_by_label("Password", exact=True).fill(PASSWORD)
    there.get_by_role("button", name="Join the team").click()
    there.wait_for_url(HOME)
    there.goto("/people/")
    assert there.get_by_role("row").filter(has_text="Ben").get_by_text("You").is_visible()
    here.reload()
    assert here.get_by_role("row").filter(has_text="ben@example.com").is_visible()


def test_the_link_is_copied_and_then_forgotten(ana: User, new_page: NewPage) -> None:
    page = new_page(ana, permissions=["clipboard-read", "clipboard-write"])
    link = invite(page)
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == link
    assert page.get_by_role("row").filter(has_text="A new colleague").count() == 1
    page.get_by_role("button", name="Done").click()
    page.locator("#made-link").wait_for(state="detached")
    assert link not in page.content()
    page.get_by_role("button", name="Invite a colleague").click()
    assert page.get_by_role("button", name="Make the link").is_visible()


def test_a_second_invitation_can_be_made_without_reloading(ana: User, new_page: NewPage) -> None:
    page = new_page(ana)
    first = invite(page)
    page.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Invite a colleague").click()
    page.get_by_role("button", name="Make the link").click()
    assert page.get_by_label("Link", exact=True).input_value() != first
    assert page.get_by_role("row").filter(has_text="A new colleague").count() == 2


def test_removing_a_colleague_asks_first(ana: User, new_page: NewPage) -> None:
    ben = join(ana)
    page = new_page(ana)
    page.goto("/people/")
    page.get_by_role("button", name="Change Ben").click()
    page.get_by_role("button", name="Remove from the team").click()
    dialog = page.get_by_role("dialog", name="Remove Ben?")
    dialog.get_by_role("button", name="Cancel").click()
    assert Membership.objects.filter(user=ben).exists()
    page.get_by_role("button", name="Change Ben").click()
    page.get_by_role("button", name="Remove from the team").click()
    dialog.get_by_role("button", name="Remove").click()
    page.get_by_text("Ben was removed and is signed out everywhere.").wait_for()
    assert not Membership.objects.filter(user=ben).exists()


def test_a_double_click_joins_once(ana: User, new_page: NewPage) -> None:
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    page = new_page()
    posts = []
    page.on("request", lambda request: posts.append(request) if request.method == "POST" else None)
    page.goto(reverse("join", args=[token]))
    page.get_by_label("Your name").fill("Ben")
    page.get_by_label("E-mail address").fill("ben@example.com")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Join the team").dblclick()
    page.wait_for_url(HOME)
    assert len(posts) == 1


def test_an_unreachable_server_shows_one_banner_until_it_is_back(
    ana: User, new_page: NewPage
) -> None:
    page = new_page(ana)
    page.goto("/people/")
    banner = page.locator("#offline").get_by_text("batchui cannot be reached now.")
    assert not banner.is_visible()
    page.route("**/people/invite/", lambda route: route.fulfill(status=503))
    page.get_by_role("button", name="Invite a colleague").click()
    page.get_by_role("button", name="Make the link").click()
    banner.wait_for()
    page.unroute("**/people/invite/")
    page.get_by_role("button", name="Make the link").click()
    page.get_by_label("Link", exact=True).wait_for()
    assert not banner.is_visible()


def test_an_answer_that_says_no_is_told_in_a_sentence(ana: User, new_page: NewPage) -> None:
    page = new_page(ana)
    page.goto("/people/")
    page.get_by_role("button", name="Invite a colleague").click()
    Membership.objects.update(role=Role.MEMBER)
    page.get_by_role("button", name="Make the link").click()
    page.get_by_role("alert").get_by_text("You may not do this").wait_for()


def test_somebody_signed_out_meanwhile_is_led_to_the_sign_in_page(
    ana: User, new_page: NewPage
) -> None:
    page = new_page(ana)
    page.goto("/people/")
    page.get_by_role("button", name="Invite a colleague").click()
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    page.get_by_role("button", name="Make the link").click()
    page.wait_for_url("**/sign-in/?next=/people/")


def test_colours_and_density_are_remembered(ana: User, new_page: NewPage) -> None:
    page = new_page(ana, color_scheme="light")
    page.goto("/people/")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Ana").click()
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(ground) != light
    page.get_by_role("button", name="Compact").click()
    page.goto("/account/")
    assert page.evaluate(ground) != light
    assert page.locator("html").get_attribute("data-density") == "compact"


def test_times_are_relative_with_the_exact_time_on_hover_and_focus(
    ana: User, new_page: NewPage
) -> None:
    page = new_page(ana, timezone_id="Asia/Tokyo")
    page.goto("/people/")
    time = page.get_by_role("row").filter(has_text="ana@example.com").locator("time").first
    assert time.inner_text() in {"just now", *(f"{n} s ago" for n in range(60))}
    exact = time.evaluate(
        "t => new Intl.DateTimeFormat('en-GB', {dateStyle: 'medium', timeStyle: 'medium',"
        " timeZone: 'Asia/Tokyo'}).format(new Date(t.dateTime))"
    )
    assert time.get_attribute("title") == exact
    time.focus()
    shown = time.evaluate("t => getComputedStyle(t, '::after').content")
    assert json.loads(shown) == exact


def test_a_column_goes_in_where_the_caret_is(ana: User, new_page: NewPage) -> None:
    page = new_page(ana)
    page.goto("/people/")
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
            '<textarea id="ask">Is  good?</textarea>' +
            '<button type="button" data-insert="{{review}}" data-into="ask">review</button>')"""
    )
    page.evaluate("document.getElementById('ask').setSelectionRange(3, 3)")
    page.get_by_role("button", name="review").click()
    assert page.locator("#ask").input_value() == "Is {{review}} good?"
    page.locator("#ask:focus").wait_for()
