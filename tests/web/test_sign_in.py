"""Coming in: set-up, invitations, signing in, one's own account."""

import re

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import NoReverseMatch, reverse
from pytest_django import Settings

from batchui.teams import invitations, members
from batchui.teams.models import Connection, Invitation, Membership, Role, Team, User
from tests.teams.people import PASSWORD, join, set_up

pytestmark = pytest.mark.django_db

ANA = {"name": "Ana", "email": "Ana@Example.com", "password": PASSWORD, "team_name": "Care"}
SIGN_IN = "/sign-in/"


@pytest.fixture(autouse=True)
def no_attempts_yet() -> None:
    cache.clear()


def sign_in(client: Client, email: str, password: str = PASSWORD, **headers: str) -> str:
    """The page after trying to sign in."""
    data = {"login": email, "password": password}
    return client.post(SIGN_IN, data, headers=headers).content.decode()


def errors_of(page: str) -> list[str]:
    return re.findall(r'class="field-error">.*?<span>(.*?)</span>', page, re.DOTALL)


def test_the_set_up_page_makes_the_first_administrator_and_signs_them_in() -> None:
    browser = Client()
    address = reverse("setup", args=[invitations.first_administrator_token()])
    assert "set batchui up" in browser.get(address).content.decode()
    answer = browser.post(address, ANA)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    membership = Membership.objects.get()
    assert (membership.user.email, membership.role) == ("ana@example.com", Role.ADMIN)
    assert Connection.objects.get().team == Team.objects.get(name="Care")
    assert browser.get("/people/").status_code == 200


def test_looking_at_a_link_does_not_use_it() -> None:
    address = reverse("setup", args=[invitations.first_administrator_token()])
    for _ in range(3):
        assert Client().get(address).status_code == 200
    assert Client().post(address, ANA).status_code == 302


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"password": "short"}, "too short"),
        ({"password": "password123"}, "too common"),
        ({"password": "ana@example.com"}, "too similar"),
        ({"email": "ana"}, "This is not an e-mail address."),
        ({"name": ""}, "Write your name."),
        ({"team_name": " "}, "Give your team a name."),
    ],
)
def test_what_is_wrong_with_the_form_is_said_beside_the_field(
    change: dict[str, str], sentence: str
) -> None:
    address = reverse("setup", args=[invitations.first_administrator_token()])
    answer = Client().post(address, ANA | change)
    assert answer.status_code == 422
    assert any(sentence in error for error in errors_of(answer.content.decode()))
    assert not User.objects.exists()
    assert Client().get(address).status_code == 200


def test_an_invitation_joins_the_team_of_whoever_made_it() -> None:
    ana = set_up()
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    browser = Client()
    page = browser.get(reverse("join", args=[token])).content.decode()
    assert "Join Care" in page
    assert "Ana invites you" in page
    ben = {"name": "Ben", "email": "ben@example.com", "password": PASSWORD}
    assert browser.post(reverse("join", args=[token]), ben).status_code == 302
    assert User.objects.get(email="ben@example.com").membership.team == ana.membership.team


def test_a_taken_address_is_said_beside_the_field() -> None:
    ana = set_up()
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    answer = Client().post(reverse("join", args=[token]), ANA)
    assert answer.status_code == 422
    assert "Somebody already signs in as ana@example.com" in answer.content.decode()


def test_a_link_that_did_work_once_is_gone_and_an_unknown_one_is_not_found() -> None:
    ana = set_up()
    invitation, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    invitations.withdraw(invitation)
    for path, status, sentence in [
        (reverse("join", args=[token]), 410, "This link was withdrawn."),
        (reverse("join", args=["nonsense"]), 404, "batchui does not know this link."),
        (reverse("setup", args=["nonsense"]), 404, "batchui does not know this link."),
    ]:
        for answer in (Client().get(path), Client().post(path, ANA)):
            assert answer.status_code == status
            assert sentence in answer.content.decode()


def test_somebody_signed_in_does_not_use_up_a_colleagues_link() -> None:
    ana = set_up()
    _, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    browser = Client()
    browser.force_login(ana)
    answer = browser.post(reverse("join", args=[token]), ANA)
    assert "You are already signed in" in answer.content.decode()
    assert invitations.find(token)


def test_a_password_link_asks_for_a_password_alone() -> None:
    ana = set_up()
    ben = join(ana)
    _, token = invitations.create_password_link(ben.membership, by=ana)
    browser = Client()
    address = reverse("join", args=[token])
    assert "For Ben, who signs in as ben@example.com." in browser.get(address).content.decode()
    assert browser.post(address, {"password": "ben@example.com"}).status_code == 422
    assert browser.post(address, {"password": "paper-lantern-22"}).status_code == 302
    assert browser.get("/account/").status_code == 200
    assert Invitation.objects.latest("pk").used_by == ben


def test_signing_in_takes_the_address_in_any_case() -> None:
    set_up()
    browser = Client()
    sign_in(browser, "ANA@example.com")
    assert browser.get("/people/").status_code == 200


def test_a_wrong_password_and_an_unknown_address_are_answered_alike() -> None:
    set_up()
    pages = [sign_in(Client(), email, "wrong") for email in ("ana@example.com", "x@example.com")]
    for page in pages:
        assert "do not match" in page


def test_somebody_who_was_removed_is_told_so_and_stays_out() -> None:
    ana = set_up()
    ben = join(ana)
    members.remove(ben.membership, by=ana)
    browser = Client()
    answer = browser.post(SIGN_IN, {"login": ben.email, "password": PASSWORD}, follow=True)
    assert "You are no longer in the team" in answer.content.decode()
    assert browser.get("/people/").status_code == 302


def test_guessing_a_password_is_stopped_even_from_many_addresses(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    set_up()
    for number in range(5):
        page = sign_in(Client(), "ana@example.com", "wrong", X_Forwarded_For=f"192.0.2.{number}")
        assert "do not match" in page
    page = sign_in(Client(), "ana@example.com", PASSWORD, X_Forwarded_For="192.0.2.99")
    assert "Too many attempts to sign in. Wait five minutes" in page


def test_another_port_in_the_host_name_begins_no_new_count(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    set_up()
    pages = [
        sign_in(
            Client(),
            "ana@example.com",
            "wrong",
            Host=f"localhost:{number}",
            X_Forwarded_For=f"192.0.2.{number}",
        )
        for number in range(1, 7)
    ]
    assert ["do not match" in page for page in pages] == [True] * 5 + [False]
    assert "Too many attempts" in pages[-1]


def test_a_colleagues_wrong_passwords_keep_nobody_out_of_the_office(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    office = {"X_Forwarded_For": "198.51.100.7"}
    join(set_up())
    sign_in(Client(), "ana@example.com", PASSWORD, **office)
    for number in range(31):  # more than allauth lets an address send to the page by itself
        sign_in(Client(), f"guess{number}@example.com", "wrong", **office)
    hers, new = Client(), Client()
    sign_in(hers, "ana@example.com", PASSWORD, **office)
    assert hers.get("/people/").status_code == 200
    page = sign_in(new, "ben@example.com", PASSWORD, **office)
    assert "Too many attempts" in page, "who was never there waits a minute"


def test_nobody_is_locked_out_where_they_have_signed_in_before(settings: Settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    set_up()
    sign_in(Client(), "ana@example.com", PASSWORD, X_Forwarded_For="198.51.100.7")
    for number in range(6):
        sign_in(Client(), "ana@example.com", "wrong", X_Forwarded_For=f"192.0.2.{number}")
    at_her_desk = Client()
    sign_in(at_her_desk, "ana@example.com", PASSWORD, X_Forwarded_For="198.51.100.7")
    assert at_her_desk.get("/people/").status_code == 200
    # And who sits there cannot guess for ever.
    for _ in range(5):
        sign_in(Client(), "ana@example.com", "wrong", X_Forwarded_For="198.51.100.7")
    page = sign_in(Client(), "ana@example.com", PASSWORD, X_Forwarded_For="198.51.100.7")
    assert "Too many attempts" in page


def test_one_address_that_tries_many_accounts_is_stopped_and_others_are_not(
    settings: Settings,
) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    set_up()
    for number in range(10):
        sign_in(Client(), f"guess{number}@example.com", "wrong", X_Forwarded_For="192.0.2.1")
    page = sign_in(Client(), "ana@example.com", PASSWORD, X_Forwarded_For="192.0.2.1")
    assert "Too many attempts" in page
    elsewhere = Client()
    # What a client writes into the header itself stands before what the proxy adds.
    sign_in(elsewhere, "ana@example.com", PASSWORD, X_Forwarded_For="192.0.2.1, 198.51.100.7")
    assert elsewhere.get("/people/").status_code == 200


def test_signing_out_needs_a_button() -> None:
    browser = Client()
    browser.force_login(set_up())
    assert "Sign out?" in browser.get("/sign-out/").content.decode()
    assert browser.get("/people/").status_code == 200
    browser.post("/sign-out/")
    assert browser.get("/people/").status_code == 302


def test_before_the_set_up_the_sign_in_page_says_where_to_go() -> None:
    assert "batchui is not set up yet" in Client().get(SIGN_IN).content.decode()
    set_up()
    assert "batchui is not set up yet" not in Client().get(SIGN_IN).content.decode()


@pytest.mark.parametrize("name", ["account_signup", "account_reset_password", "account_email"])
def test_nobody_signs_up_or_manages_addresses_here(name: str) -> None:
    with pytest.raises(NoReverseMatch):
        reverse(name)


def test_a_person_changes_their_name() -> None:
    ana = set_up()
    browser = Client()
    browser.force_login(ana)
    page = browser.post("/account/", {"name": "Ana Sofia"}, follow=True).content.decode()
    assert "Your name is saved." in page
    assert User.objects.get().name == "Ana Sofia"
    assert browser.post("/account/", {"name": ""}).status_code == 422


def test_changing_the_password_keeps_this_browser_and_ends_the_others() -> None:
    ana = set_up()
    here, elsewhere = Client(), Client()
    here.force_login(ana)
    elsewhere.force_login(ana)
    new = {
        "oldpassword": PASSWORD,
        "password1": "paper-lantern-22",
        "password2": "paper-lantern-22",
    }
    page = here.post("/account/password/", new, follow=True).content.decode()
    assert "Your password is changed." in page
    assert here.get("/account/").status_code == 200
    assert elsewhere.get("/account/").status_code == 302


def test_two_new_passwords_that_differ_are_told_in_plain_words() -> None:
    browser = Client()
    browser.force_login(set_up())
    new = {"oldpassword": PASSWORD, "password1": "paper-lantern-22", "password2": "paper-22-lamp"}
    page = browser.post("/account/password/", new).content.decode()
    assert "The two new passwords differ. Write the same one twice." in page
    assert "You must type" not in page


def test_a_new_password_needs_the_current_one() -> None:
    browser = Client()
    browser.force_login(set_up())
    new = {"oldpassword": "no", "password1": "paper-lantern-22", "password2": "paper-lantern-22"}
    page = browser.post("/account/password/", new).content.decode()
    assert "This is not your current password." in page


def test_the_first_field_has_the_focus() -> None:
    for address, field in (
        (SIGN_IN, "id_login"),
        (reverse("setup", args=[invitations.first_administrator_token()]), "id_name"),
    ):
        page = Client().get(address).content.decode()
        [tag] = re.findall(r"<input[^>]*\sautofocus[^>]*>", page)
        assert f'id="{field}"' in tag


def test_what_is_wrong_with_a_new_password_stands_on_the_account_page() -> None:
    browser = Client()
    browser.force_login(set_up(name="Ana"))
    new = {"oldpassword": "no", "password1": "paper-lantern-22", "password2": "paper-lantern-22"}
    response = browser.post("/account/password/", new)
    page = response.content.decode()
    assert response.status_code == 422
    assert "<h1>Your account</h1>" in page
    assert 'value="Ana"' in page
    [focused] = re.findall(r"<input[^>]*\sautofocus[^>]*>", page)
    assert 'name="oldpassword"' in focused
    assert browser.get("/account/password/")["Location"] == "/account/"


def test_a_used_link_leads_somebody_who_is_signed_in_to_the_batches() -> None:
    address = reverse("setup", args=[invitations.first_administrator_token()])
    browser = Client()
    person = {"name": "Ana", "email": "ana@example.com", "password": PASSWORD, "team": "Rivers"}
    names = re.findall(r'name="(\w+)"', browser.get(address).content.decode())
    filled = {name: person[name] for name in names if name in person}
    filled |= {name: "Rivers" for name in names if "team" in name}
    assert browser.post(address, filled).status_code == 302
    again = browser.get(address)
    assert again.status_code == 410
    assert "You are signed in as Ana (ana@example.com) in this browser." in again.content.decode()
    assert ">Go to the batches</a>" in again.content.decode()
    assert ">Sign in</a>" not in again.content.decode()
    assert ">Sign in</a>" in Client().get(address).content.decode()
