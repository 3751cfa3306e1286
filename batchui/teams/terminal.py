"""Whom a command at the terminal works for."""

from django.db.models import QuerySet

from batchui.teams.connections import ensure_connection
from batchui.teams.founding import first_team
from batchui.teams.models import Membership, Role, Team, User
from batchui.teams.problems import TeamProblem

# For a link that is printed as a path alone, because settings.BASE_URL is not known.
WITHOUT_ADDRESS = (
    "Put the address of your server before it, such as http://localhost:8000. batchui knows the "
    "address while `manage.py up` runs, and where BATCHUI_BASE_URL is set."
)


def membership_for_link(email: str | None) -> Membership:
    """The membership of the person with this e-mail address; without one, of the administrator.

    Raises TeamProblem if nobody has the address, or there is not exactly one administrator.
    """
    if email is not None:
        return _membership_of(email)
    administrators = list(_administrators().order_by("user__email"))
    if not administrators:
        raise TeamProblem(
            "Nobody has an account yet. The link that makes the first one is printed by: "
            "manage.py setup_link"
        )
    if len(administrators) > 1:
        addresses = ", ".join(membership.user.email for membership in administrators)
        raise TeamProblem(f"There are several administrators. Name one of them: {addresses}")
    return administrators[0]


def team_for_terminal(email: str | None) -> tuple[Team, User | None]:
    """Return the team and the person that a command works for.

    With an e-mail address: that person and their team; TeamProblem if nobody has it. Without: the
    first administrator and their team, or the first team and nobody.
    """
    if email is not None:
        membership: Membership | None = _membership_of(email)
    else:
        membership = _administrators().order_by("joined_at", "pk").first()
    if membership is None:
        return first_team(), None
    ensure_connection(membership.team)
    return membership.team, membership.user


def _membership_of(email: str) -> Membership:
    """The membership of the person with this address. Raises TeamProblem if nobody has it."""
    membership = _memberships().filter(user__email=email.strip().lower()).first()
    if membership is None:
        raise TeamProblem(
            f"Nobody in batchui has the e-mail address {email.strip()}. Use the address of "
            "somebody on the People page."
        )
    return membership


def _administrators() -> QuerySet[Membership]:
    return _memberships().filter(role=Role.ADMIN)


def _memberships() -> QuerySet[Membership]:
    return Membership.objects.select_related("team", "user").filter(user__is_active=True)
