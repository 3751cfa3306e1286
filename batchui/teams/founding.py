"""The first team. The set-up page makes it, or a command before anybody has an account."""

from django.db import transaction
from django.db.models import Count

from batchui.teams.connections import ensure_connection
from batchui.teams.models import Membership, Role, Team

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


def has_one_administrator() -> bool:
    """Whether some team has one administrator, who could ask nobody for a password link."""
    administrators = Membership.objects.filter(role=Role.ADMIN, user__is_active=True)
    counts = administrators.values("team").annotate(number=Count("pk")).order_by()
    return counts.filter(number=1).exists()
