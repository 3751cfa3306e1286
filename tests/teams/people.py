"""People for tests, made the way the product makes them: by using links."""

from batchui.teams import invitations
from batchui.teams.models import Membership, Role, Team, User

PASSWORD = "kettle-orchard-9"


def set_up(*, name: str = "Ana", email: str = "ana@example.com", team: str = "Care") -> User:
    """The first administrator, with a team."""
    token = invitations.first_administrator_token()
    assert token is not None
    return invitations.accept(token, name=name, email=email, password=PASSWORD, team_name=team)


def join(
    by: User, *, name: str = "Ben", email: str = "ben@example.com", role: Role = Role.MEMBER
) -> User:
    """A colleague of `by`."""
    _, token = invitations.create(by.membership.team, by=by, role=role)
    return invitations.accept(token, name=name, email=email, password=PASSWORD)


def outsider(*, email: str = "zoe@example.org") -> User:
    """The administrator of another team."""
    person = User.objects.create_user(email=email, name="Zoe", password=PASSWORD)
    team = Team.objects.create(name="Elsewhere")
    Membership.objects.create(user=person, team=team, role=Role.ADMIN)
    return person
