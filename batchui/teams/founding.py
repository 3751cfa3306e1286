"""The first team: made by the set-up page, or by the terminal before anybody has signed in."""

from django.db import transaction

from batchui.teams.connections import ensure_connection
from batchui.teams.models import Membership, Role, Team, User
from batchui.teams.problems import TeamProblem

DEFAULT_NAME = "My team"


def first_team(*, name: str = "") -> Team:
    """Return the first team, made if there is none yet, with its connection.

    A `name` is given to a team that is new or that nobody has joined (the terminal may have made
    it, and its batches must not be lost to the first administrator).
    """
    with transaction.atomic():
        team = Team.objects.order_by("pk").first()
        if team is None:
            team = Team.objects.create(name=name or DEFAULT_NAME)
        elif name and not team.memberships.exists():
            team.name = name
            team.save(update_fields=["name"])
        ensure_connection(team)
    return team


def team_for_terminal(email: str | None) -> tuple[Team, User | None]:
    """Return whose history a command writes to, and in whose name.

    With an e-mail address: that person and their team; TeamProblem when nobody has it. Without:
    the first administrator and their team, or the first team and nobody.
    """
    memberships = Membership.objects.select_related("team", "user").filter(user__is_active=True)
    if email is not None:
        membership = memberships.filter(user__email=email.strip().lower()).first()
        if membership is None:
            raise TeamProblem(
                f"Nobody signs in here as {email.strip()}. "
                "Use the e-mail address of somebody on the People page."
            )
    else:
        membership = memberships.filter(role=Role.ADMIN).order_by("joined_at", "pk").first()
    if membership is None:
        return first_team(), None
    ensure_connection(membership.team)
    return membership.team, membership.user
