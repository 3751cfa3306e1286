"""What administrators change about colleagues."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from batchui.teams import invitations, members
from batchui.teams.models import Invitation, Membership, Role, User
from batchui.teams.problems import LinkProblem, TeamProblem
from tests.batches.test_at_the_same_moment import at_once
from tests.teams.people import join, outsider, set_up

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return set_up()


def test_an_administrator_makes_another(ana: User) -> None:
    ben = join(ana)
    members.change_role(ben.membership, role=Role.ADMIN, by=ana)
    assert Membership.objects.get(user=ben).is_admin


def test_the_last_administrator_stays_one(ana: User) -> None:
    join(ana)
    outsider()  # an administrator, of another team
    with pytest.raises(TeamProblem, match="You are the only administrator"):
        members.change_role(ana.membership, role=Role.MEMBER, by=ana)
    assert Membership.objects.get(user=ana).is_admin


def test_two_administrators_cannot_both_step_down(ana: User) -> None:
    ben = join(ana, role=Role.ADMIN)
    members.change_role(ana.membership, role=Role.MEMBER, by=ana)
    with pytest.raises(TeamProblem, match="You are the only administrator"):
        members.change_role(ben.membership, role=Role.MEMBER, by=ben)


@pytest.mark.django_db(transaction=True)
def test_two_administrators_who_step_down_at_the_same_moment_do_not_both() -> None:
    ana = set_up()
    both = [ana, join(ana, role=Role.ADMIN)]
    mine = Membership.objects.filter(team=ana.membership.team)

    def step_down(person: User) -> bool:
        try:
            members.change_role(mine.get(user=person), role=Role.MEMBER, by=person)
        except TeamProblem:
            return False
        return True

    for _ in range(5):
        mine.update(role=Role.ADMIN)
        assert sorted(at_once([partial(step_down, person) for person in both])) == [False, True]
        assert mine.filter(role=Role.ADMIN).count() == 1


def test_nobody_removes_themselves(ana: User) -> None:
    join(ana, role=Role.ADMIN)
    with pytest.raises(TeamProblem, match="cannot remove yourself"):
        members.remove(ana.membership, by=ana)


LATE: list[Callable[[User, Membership], object]] = [
    lambda ben, _: invitations.create(ben.membership.team, by=ben, role=Role.ADMIN),
    lambda ben, ana: invitations.create_password_link(ana, by=ben),
    lambda ben, _: members.change_role(ben.membership, role=Role.ADMIN, by=ben),
    lambda ben, ana: members.remove(ana, by=ben),
]


@pytest.mark.parametrize("act", LATE)
def test_a_request_that_was_let_in_before_the_role_was_lost_changes_nothing(
    ana: User, act: Callable[[User, Membership], object]
) -> None:
    ben = join(ana, role=Role.ADMIN)
    members.change_role(ben.membership, role=Role.MEMBER, by=ana)
    links = Invitation.objects.count()
    with pytest.raises(PermissionDenied, match="Only an administrator"):
        act(ben, ana.membership)
    assert Invitation.objects.count() == links
    assert list(Membership.objects.filter(role=Role.ADMIN)) == [ana.membership]


def test_who_administers_another_team_changes_nothing_in_this_one(ana: User) -> None:
    ben, zoe = join(ana), outsider()
    links = Invitation.objects.count()
    with pytest.raises(PermissionDenied, match="Only an administrator"):
        invitations.create(ana.membership.team, by=zoe, role=Role.ADMIN)
    with pytest.raises(PermissionDenied, match="Only an administrator"):
        members.remove(ben.membership, by=zoe)
    assert Invitation.objects.count() == links
    assert Membership.objects.filter(user=ben).exists()


@pytest.mark.django_db(transaction=True)
def test_who_is_demoted_while_making_links_has_none_left() -> None:
    ana = set_up()
    ben = join(ana, role=Role.ADMIN)
    team = ana.membership.team

    def invite() -> None:
        with suppress(PermissionDenied):
            invitations.create(team, by=ben, role=Role.ADMIN)

    demote = partial(members.change_role, ben.membership, role=Role.MEMBER, by=ana)
    for _ in range(5):
        Membership.objects.filter(user=ben).update(role=Role.ADMIN)
        at_once([invite, invite, demote, invite, invite])
        assert not invitations.open_invitations(team).exists()


def test_somebody_removed_is_signed_out_at_once_and_stays_in_history(ana: User) -> None:
    ben = join(ana)
    browser = Client()
    browser.force_login(ben)
    members.remove(ben.membership, by=ana)
    assert browser.get(reverse("people")).status_code == 302
    assert User.objects.get(pk=ben.pk).name == "Ben"
    assert not Membership.objects.filter(user=ben).exists()


def test_the_links_of_somebody_removed_stop_working(ana: User) -> None:
    ben = join(ana, role=Role.ADMIN)
    team = ana.membership.team
    _, made_by_ben = invitations.create(team, by=ben, role=Role.ADMIN)
    _, for_ben = invitations.create_password_link(ben.membership, by=ana)
    _, made_by_ana = invitations.create(team, by=ana, role=Role.MEMBER)
    members.remove(ben.membership, by=ana)
    for token in (made_by_ben, for_ben):
        with pytest.raises(LinkProblem, match="withdrawn"):
            invitations.find(token)
    assert invitations.find(made_by_ana)


def test_the_links_of_an_administrator_stop_working_with_the_role(ana: User) -> None:
    ben = join(ana, role=Role.ADMIN)
    _, for_an_administrator = invitations.create(ana.membership.team, by=ben, role=Role.ADMIN)
    _, for_anas_password = invitations.create_password_link(ana.membership, by=ben)
    _, made_by_ana = invitations.create(ana.membership.team, by=ana, role=Role.MEMBER)
    members.change_role(ben.membership, role=Role.ADMIN, by=ana)
    assert invitations.find(for_an_administrator)
    members.change_role(ben.membership, role=Role.MEMBER, by=ana)
    for token in (for_an_administrator, for_anas_password):
        with pytest.raises(LinkProblem, match="withdrawn"):
            invitations.find(token)
    assert invitations.find(made_by_ana)


def test_a_colleague_who_was_just_removed_is_told_so(ana: User) -> None:
    ben = join(ana)
    stale = Membership.objects.get(user=ben)
    members.remove(ben.membership, by=ana)
    with pytest.raises(TeamProblem, match="no longer in the team"):
        members.change_role(stale, role=Role.ADMIN, by=ana)


def test_an_address_is_kept_in_lower_case_and_once() -> None:
    person = User.objects.create_user(email=" Ana@Example.COM ", name=" Ana ", password=None)
    assert (person.email, person.name) == ("ana@example.com", "Ana")
    assert not person.has_usable_password()
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(email="ANA@example.com", name="Other", password=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=person.pk).update(email="Ana@example.com")
