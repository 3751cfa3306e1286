"""Whose history `manage.py submit` writes to."""

import pytest

from batchui.teams import members
from batchui.teams.models import Connection, Role, Team
from batchui.teams.problems import TeamProblem
from batchui.teams.terminal import team_for_terminal
from tests.teams.people import join, outsider, set_up

pytestmark = pytest.mark.django_db


def test_a_team_with_a_connection_is_made_where_there_is_none() -> None:
    team, person = team_for_terminal(None)
    assert (team.name, person) == ("My team", None)
    assert Connection.objects.get().team == team
    assert team_for_terminal(None)[0] == team
    assert Team.objects.count() == 1


def test_without_a_name_it_is_the_first_administrator() -> None:
    ana = set_up()
    join(ana, role=Role.ADMIN)
    assert team_for_terminal(None) == (ana.membership.team, ana)


def test_a_named_person_is_found_however_the_address_is_written() -> None:
    ben = join(set_up())
    assert team_for_terminal(" Ben@Example.com") == (ben.membership.team, ben)


def test_a_person_of_another_team_writes_to_that_team() -> None:
    set_up()
    zoe = outsider()
    assert team_for_terminal(zoe.email) == (zoe.membership.team, zoe)


def test_an_unknown_or_removed_person_is_told_in_a_sentence() -> None:
    ana = set_up()
    ben = join(ana)
    members.remove(ben.membership, by=ana)
    for email in ("nobody@example.com", "ben@example.com"):
        with pytest.raises(TeamProblem, match=f"Nobody in batchui has the e-mail address {email}"):
            team_for_terminal(email)
