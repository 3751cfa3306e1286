"""Invitations, set-up links and password links: each works once, for seven days."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from batchui.teams import invitations, members
from batchui.teams.models import Invitation, Membership, Role, Team, User
from batchui.teams.problems import EmailTaken, LinkProblem, TeamProblem
from batchui.teams.terminal import team_for_terminal
from tests.teams.people import PASSWORD, join, outsider, set_up

pytestmark = pytest.mark.django_db

CARLA = {"name": "Carla", "email": "carla@example.com", "password": PASSWORD}


@pytest.fixture
def ana() -> User:
    return set_up()


def invite(by: User, role: Role = Role.MEMBER) -> str:
    return invitations.create(by.membership.team, by=by, role=role)[1]


def test_a_link_brings_somebody_into_the_team(ana: User) -> None:
    carla = invitations.accept(invite(ana, Role.ADMIN), **CARLA)
    membership = Membership.objects.get(user=carla)
    assert (membership.team, membership.role) == (ana.membership.team, Role.ADMIN)
    assert carla.check_password(PASSWORD)
    used = Invitation.objects.latest("pk")
    assert used.used_by == carla


def test_a_link_leads_to_the_team_that_made_it_and_shows_there_alone(ana: User) -> None:
    zoe = outsider()
    token = invite(zoe)
    assert not invitations.open_invitations(ana.membership.team).exists()
    assert invitations.open_invitations(zoe.membership.team).exists()
    assert invitations.accept(token, **CARLA).membership.team == zoe.membership.team


def test_a_link_works_once(ana: User) -> None:
    token = invite(ana)
    invitations.accept(token, **CARLA)
    with pytest.raises(LinkProblem, match="was used already, and a link works only once"):
        invitations.accept(token, name="Dan", email="dan@example.com", password=PASSWORD)
    assert not User.objects.filter(email="dan@example.com").exists()


@pytest.mark.parametrize(
    "ending",
    [
        "UPDATE teams_invitation SET used_at = CURRENT_TIMESTAMP",
        "UPDATE teams_invitation SET withdrawn_at = CURRENT_TIMESTAMP",
        "UPDATE teams_invitation SET expires_at = CURRENT_TIMESTAMP",
    ],
    ids=["used", "withdrawn", "expired"],
)
def test_a_link_that_ends_while_it_is_used_lets_nobody_in(ana: User, ending: str) -> None:
    """Its use by another, or its end, is committed after we looked at it and before we use it."""
    token = invite(ana)

    def somebody_is_quicker(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        if sql.startswith('UPDATE "teams_invitation" SET "used_at"'):
            with connection.cursor() as cursor:
                cursor.cursor.execute(ending)
        return execute(sql, params, many, context)

    with (
        connection.execute_wrapper(somebody_is_quicker),
        pytest.raises(LinkProblem, match="was used already"),
    ):
        invitations.accept(token, **CARLA)
    assert not User.objects.filter(email=CARLA["email"]).exists()


def test_a_link_stops_working_after_seven_days(ana: User) -> None:
    token = invite(ana)
    invitation = invitations.find(token)
    assert invitation.expires_at - invitation.created_at == timedelta(days=7)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(LinkProblem, match=r"This link worked until .* Ask an administrator"):
        invitations.accept(token, **CARLA)


def test_a_withdrawn_link_opens_nothing(ana: User) -> None:
    invitation, token = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    assert invitations.withdraw(invitation)
    assert not invitations.withdraw(invitation)
    with pytest.raises(LinkProblem, match="was withdrawn"):
        invitations.accept(token, **CARLA)


def test_an_unknown_link_is_told_apart_from_one_that_did_work_once() -> None:
    with pytest.raises(LinkProblem, match="does not know this link") as problem:
        invitations.find("nonsense")
    assert not problem.value.gone


def test_the_token_is_nowhere_in_the_database(ana: User) -> None:
    token = invite(ana)
    row = Invitation.objects.filter(token_hash__isnull=False).values_list().latest("pk")
    assert not any(token in str(value) for value in row)


def test_a_colleagues_address_is_refused_and_the_link_stays_good(ana: User) -> None:
    token = invite(ana)
    with pytest.raises(EmailTaken, match=r"already signs in as ana@example\.com"):
        invitations.accept(token, name="Ana again", email=" ANA@example.com", password=PASSWORD)
    assert invitations.accept(token, **CARLA).email == "carla@example.com"


def test_the_address_of_somebody_who_was_removed_makes_a_new_person(ana: User) -> None:
    """Whoever has a link may write any address: it proves nothing."""
    ben = join(ana)
    address = ben.email
    members.remove(ben.membership, by=ana)
    again = invitations.accept(invite(ana), name="Eve", email=address, password="paper-lantern-22")
    assert (again.name, again.email) == ("Eve", address)
    assert again.pk != ben.pk
    ben.refresh_from_db()
    assert (ben.name, ben.is_active, ben.email == address) == ("Ben", False, False)
    assert ben.check_password(PASSWORD)


def test_a_password_link_works_for_a_day(ana: User) -> None:
    link, _ = invitations.create_password_link(join(ana).membership, by=ana)
    assert link.expires_at - link.created_at == timedelta(days=1)


def test_a_password_link_dies_with_the_password_it_was_made_for(ana: User) -> None:
    ben = join(ana)
    _, token = invitations.create_password_link(ben.membership, by=ana)
    browser = Client()
    browser.force_login(ben)
    new = {
        "oldpassword": PASSWORD,
        "password1": "slate-harbour-31",
        "password2": "slate-harbour-31",
    }
    assert browser.post(reverse("account_change_password"), new).status_code == 302
    with pytest.raises(LinkProblem, match="was withdrawn"):
        invitations.choose_password(token, password="paper-lantern-22")
    ben.refresh_from_db()
    assert ben.check_password("slate-harbour-31")


def test_only_the_newest_set_up_link_works() -> None:
    first = invitations.first_administrator_token()
    second = invitations.first_administrator_token()
    assert first is not None
    assert second is not None
    with pytest.raises(LinkProblem, match="newer set-up link has replaced this one"):
        invitations.find(first)
    invitations.accept(second, **CARLA, team_name="Care")
    assert Team.objects.get().name == "Care"
    assert Membership.objects.get().role == Role.ADMIN


def test_there_is_no_set_up_link_once_somebody_is_here() -> None:
    token = invitations.first_administrator_token()
    assert token is not None
    User.objects.create_user(email="ana@example.com", name="Ana", password=PASSWORD)
    assert invitations.first_administrator_token() is None
    with pytest.raises(LinkProblem, match="already set up"):
        invitations.accept(token, **CARLA)


def test_the_first_administrator_takes_over_what_the_terminal_began() -> None:
    team, person = team_for_terminal(None)
    assert (team.name, person) == ("My team", None)
    ana = set_up(team="Customer care")
    assert ana.membership.team == team
    assert Team.objects.get().name == "Customer care"


def test_a_password_link_sets_a_password_and_signs_out_elsewhere(ana: User) -> None:
    ben = join(ana)
    elsewhere = Client()
    elsewhere.force_login(ben)
    assert elsewhere.get(reverse("people")).status_code == 200
    _, token = invitations.create_password_link(ben.membership, by=ana)
    invitations.choose_password(token, password="paper-lantern-22")
    ben.refresh_from_db()
    assert ben.check_password("paper-lantern-22")
    assert elsewhere.get(reverse("people")).status_code == 302
    with pytest.raises(LinkProblem, match="was used already"):
        invitations.choose_password(token, password="another-one-3")


def test_a_newer_password_link_replaces_the_older(ana: User) -> None:
    ben = join(ana)
    _, older = invitations.create_password_link(ben.membership, by=ana)
    _, newer = invitations.create_password_link(ben.membership, by=ana)
    with pytest.raises(LinkProblem, match="was withdrawn"):
        invitations.choose_password(older, password="paper-lantern-22")
    assert invitations.choose_password(newer, password="paper-lantern-22") == ben


def test_a_link_does_only_what_it_is_for(ana: User) -> None:
    ben = join(ana)
    _, password_token = invitations.create_password_link(ben.membership, by=ana)
    with pytest.raises(TeamProblem, match="for choosing a new password"):
        invitations.accept(password_token, **CARLA)
    with pytest.raises(TeamProblem, match="for joining a team"):
        invitations.choose_password(invite(ana), password=PASSWORD)
    assert not User.objects.filter(email=CARLA["email"]).exists()
