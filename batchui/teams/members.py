"""What an administrator may change about colleagues. A team never loses its last administrator."""

from django.db import transaction

from batchui import security_log
from batchui.teams import administrators
from batchui.teams.invitations import withdraw_links_made_by, withdraw_password_links
from batchui.teams.models import Membership, Role, Team, User
from batchui.teams.problems import TeamProblem


def change_role(membership: Membership, *, role: Role, by: User) -> None:
    """Give a colleague another role. The links of somebody who was an administrator stop working.

    Raises TeamProblem for the last administrator, PermissionDenied if `by` is none any more.
    """
    with transaction.atomic():
        membership = _locked(membership, by=by)
        if membership.is_admin and role != Role.ADMIN:
            _keep_an_administrator(membership)
        membership.role = role
        membership.save(update_fields=["role"])
        if role != Role.ADMIN:
            withdraw_links_made_by(membership.user)
    person = membership.user
    security_log.record("role changed", who=by.in_log, whom=person.in_log, role=role.value)


def remove(membership: Membership, *, by: User) -> None:
    """Remove a colleague: sign them out and withdraw their links.

    Their name stays on their batches. Raises TeamProblem for `by` themselves, PermissionDenied if
    `by` is no administrator any more.
    """
    with transaction.atomic():
        membership = _locked(membership, by=by)
        person = membership.user
        if person == by:
            raise TeamProblem("You cannot remove yourself. Ask another administrator to do it.")
        withdraw_links_made_by(person)
        withdraw_password_links(person)
        membership.delete()
        person.is_active = False
        person.save(update_fields=["is_active"])
    security_log.record("removed", who=by.in_log, whom=person.in_log)


def set_confirm_above(team: Team, usd: float | None, *, by: User) -> None:
    """Set the price, in US dollars, above which Start asks once more; None: it never asks.

    Raises PermissionDenied if `by` is no administrator any more.
    """
    with transaction.atomic():
        administrators.lock(team, by=by)
        Team.objects.filter(pk=team.pk).update(confirm_above=usd)
    security_log.record("spending changed", who=by.in_log, team=team.pk, above=usd)


def _locked(membership: Membership, *, by: User) -> Membership:
    """The membership as it is now. Other changes of the same team wait for this transaction."""
    administrators.lock(membership.team, by=by)
    found = Membership.objects.select_related("user", "team").filter(pk=membership.pk).first()
    if found is None:
        raise TeamProblem("This colleague is no longer in the team. Somebody just removed them.")
    return found


def _keep_an_administrator(membership: Membership) -> None:
    """Raise TeamProblem for the only administrator, who is the one who asks."""
    others = Membership.objects.filter(team=membership.team, role=Role.ADMIN)
    if not others.exclude(pk=membership.pk).exists():
        raise TeamProblem(
            "You are the only administrator. Make somebody else an administrator first."
        )
