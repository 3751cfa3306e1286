"""The first team. The set-up page makes it, or a command before anybody has an account."""

from django.db import transaction

from batchui.teams.connections import ensure_connection
from batchui.teams.models import Membership, Role, Team, User
from batchui.teams.problems import TeamProblem

DEFAULT_NAME = "My team"


def first_team(*, name: str = "") -> Team:
    """Return the first team, with its connection. It is made if there is none yet.

    `name` is the name of a new team, and of one that nobody has joined: a command may have made
    it, and the first administrator gets its batches.
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
    """Return the team and the person that a command works for.

    With an e-mail address: that person and their team; TeamProblem if nobody has it. Without: the
    first administrator and their team, or the first team and nobody.
    """
    memberships = Membership.objects.select_related("team", "user").filter(user__is_active=True)
    if email is not None:
        membership = memberships.filter(user__email=email.strip().lower()).first()
        if membership is None:
            raise TeamProblem(
                f"Nobody in batchui has the e-mail address {email.strip()}. "
                "Use the address of somebody on the People page."
            )
    else:
        membership = memberships.filter(role=Role.ADMIN).order_by("joined_at", "pk").first()
    if membership is None:
        return first_team(), None
    ensure_connection(membership.team)
    return membership.team, membership.user
