"""Administrators alone change who is in a team. This is checked where the change is made."""

from django.core.exceptions import PermissionDenied

from batchui.teams.models import Membership, Role, Team, User

ONLY_ADMINISTRATORS = "Only an administrator of your team can do this."


def lock(team: Team, *, by: User | None) -> None:
    """Lock the people and links of a team until this transaction ends.

    by: who changes something; None at the terminal. Raises PermissionDenied if they are no
    administrator any more: somebody may have changed that after the page had looked.
    """
    Team.objects.select_for_update().get(pk=team.pk)
    if by and not Membership.objects.filter(team=team, user=by, role=Role.ADMIN).exists():
        raise PermissionDenied(ONLY_ADMINISTRATORS)
