"""The People page: who sees what, and who may change what."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from batchui.teams import invitations
from batchui.teams.models import Invitation, Membership, Role, User
from tests.teams.people import join, outsider, set_up
from tests.web.visiting import said

pytestmark = pytest.mark.django_db

PEOPLE = "/people/"


@pytest.fixture
def ana() -> User:
    return set_up()


@pytest.fixture
def ben(ana: User) -> User:
    return join(ana)


def signed_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def text(client: Client, path: str = PEOPLE) -> str:
    return client.get(path).content.decode()


def test_everybody_sees_everybody_of_their_team_and_nobody_else(ana: User, ben: User) -> None:
    outsider()
    for person in (ana, ben):
        page = text(signed_in(person))
        assert "ana@example.com" in page
        assert "ben@example.com" in page
        assert "zoe@example.org" not in page


def test_fifty_people_are_on_a_page(ana: User) -> None:
    team = ana.membership.team
    for number in range(60):
        user = User.objects.create_user(
            email=f"p{number}@example.com", name=f"P {number:02}", password=None
        )
        Membership.objects.create(user=user, team=team)
    first, second = (text(signed_in(ana), f"{PEOPLE}?page={page}") for page in (1, 2))
    assert [page.count('class="person"') for page in (first, second)] == [50, 11]
    assert [len(re.findall(r'id="remove-\d+"', page)) for page in (first, second)] == [49, 11]
    assert "1–50 of 61 people" in said(signed_in(ana).get(PEOPLE))
    assert 'href="/people/?page=2"' in first
    assert "p59@example.com" in second
    assert "p59@example.com" not in first


def test_who_changes_a_colleague_stays_on_the_page(ana: User, ben: User) -> None:
    """The last one, if that one has no colleagues any more. Nonsense is the first."""
    web, member = signed_in(ana), ben.membership
    page = text(web, f"{PEOPLE}?page=1")
    assert page.count('<input type="hidden" name="page" value="1">') == 2
    change_role = reverse("people_change_role", args=[member.pk])
    for sent, shown in (("2", "?page=2"), ("9" * 5_000, "?page=999999"), ("x", ""), ("", "")):
        done = web.post(change_role, {"role": "member", "page": sent})
        assert done["Location"] == f"{PEOPLE}{shown}"
    removed = web.post(reverse("people_remove", args=[member.pk]), {"page": "2"}, follow=True)
    assert "In the team 1 " in said(removed)


def test_only_administrators_see_links_and_buttons(ana: User, ben: User) -> None:
    invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    assert "Invite a colleague" in text(signed_in(ana))
    assert "Links that nobody has used yet" in text(signed_in(ana))
    page = text(signed_in(ben))
    assert "Invite a colleague" not in page
    assert "Links that nobody has used yet" not in page
    assert "<dialog" not in page


def test_an_invitation_is_shown_once_as_a_whole_address(ana: User) -> None:
    browser = signed_in(ana)
    answer = browser.post(
        reverse("people_invite"), {"role": "admin"}, headers={"HX-Request": "true"}
    )
    page = answer.content.decode()
    found = re.search(r"http://testserver/join/([\w-]+)/", page)
    assert found
    assert invitations.find(found[1]).role == Role.ADMIN
    assert 'hx-swap-oob="true"' in page
    assert "no-store" in answer["Cache-Control"]
    assert found[1] not in text(browser)


def test_without_htmx_the_link_has_a_page_of_its_own(ana: User) -> None:
    page = signed_in(ana).post(reverse("people_invite"), {"role": "member"}).content.decode()
    assert "<!doctype html>" in page
    assert "http://testserver/join/" in page


def test_an_invitation_with_an_impossible_role_is_refused(ana: User) -> None:
    answer = signed_in(ana).post(reverse("people_invite"), {"role": "emperor"})
    assert answer.status_code == 422
    assert not Invitation.objects.filter(for_user=None, team=ana.membership.team).exists()


def test_an_administrator_changes_a_role_and_reads_that_it_happened(ana: User, ben: User) -> None:
    address = reverse("people_change_role", args=[ben.membership.pk])
    answer = signed_in(ana).post(address, {"role": "admin"}, follow=True)
    assert "Ben is now an administrator." in answer.content.decode()
    assert Membership.objects.get(user=ben).is_admin


def test_an_administrator_removes_a_colleague(ana: User, ben: User) -> None:
    answer = signed_in(ana).post(reverse("people_remove", args=[ben.membership.pk]), follow=True)
    assert "Ben was removed and is signed out everywhere." in answer.content.decode()
    assert "ben@example.com" not in text(signed_in(ana))


def test_what_cannot_be_done_is_said_on_the_page(ana: User) -> None:
    answer = signed_in(ana).post(reverse("people_remove", args=[ana.membership.pk]), follow=True)
    assert "You cannot remove yourself." in answer.content.decode()


def test_a_link_is_withdrawn_once(ana: User) -> None:
    invitation, _ = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    address = reverse("people_withdraw", args=[invitation.pk])
    browser = signed_in(ana)
    assert "The link was withdrawn." in browser.post(address, follow=True).content.decode()
    assert "was used or withdrawn before" in browser.post(address, follow=True).content.decode()


def changing_addresses(colleague: Membership, invitation: Invitation) -> list[str]:
    return [
        reverse("people_invite"),
        reverse("people_change_role", args=[colleague.pk]),
        reverse("people_password_link", args=[colleague.pk]),
        reverse("people_remove", args=[colleague.pk]),
        reverse("people_withdraw", args=[invitation.pk]),
    ]


def test_members_may_change_nothing(ana: User, ben: User) -> None:
    invitation, _ = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    for address in changing_addresses(ana.membership, invitation):
        answer = signed_in(ben).post(address, {"role": "member"})
        assert answer.status_code == 403, address
        assert "Only an administrator of your team can do this." in answer.content.decode()
    assert Membership.objects.get(user=ana).is_admin
    assert invitations.open_invitations(ana.membership.team).count() == 1


def test_another_teams_people_are_not_found(ana: User, ben: User) -> None:
    invitation, _ = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    zoe = signed_in(outsider())
    for address in changing_addresses(ben.membership, invitation)[1:]:
        assert zoe.post(address).status_code == 404, address
    assert Membership.objects.filter(user=ben).exists()


def test_nothing_changes_for_somebody_who_is_not_signed_in(ana: User, ben: User) -> None:
    invitation, _ = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    for address in changing_addresses(ben.membership, invitation):
        answer = Client().post(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/sign-in/")
    assert Membership.objects.filter(user=ben).exists()


def test_a_page_comes_back_after_signing_in_and_a_fragment_leaves_its_page(ana: User) -> None:
    assert Client().get(PEOPLE)["Location"] == "/sign-in/?next=/people/"
    answer = Client().get(
        PEOPLE, headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/account/"}
    )
    assert answer["HX-Redirect"] == "/sign-in/?next=/account/"


def test_somebody_without_a_team_is_told_what_to_do() -> None:
    person = User.objects.create_user(email="lone@example.com", name="Lone", password=None)
    answer = signed_in(person).get(PEOPLE)
    assert answer.status_code == 403
    assert "Ask an administrator for an invitation" in said(answer)


def test_the_page_costs_the_same_with_three_people_and_with_twelve(
    ana: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(ana)

    def add(first: int, last: int) -> None:
        for number in range(first, last):
            join(ana, name=f"Colleague {number}", email=f"c{number}@example.com")
            invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)

    add(0, 2)
    with django_assert_num_queries(6):
        browser.get(PEOPLE)
    add(2, 11)
    with django_assert_num_queries(6):
        browser.get(PEOPLE)
