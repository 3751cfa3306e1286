"""Links that work once: for set-up, for joining a team, for choosing a new password.

The token is 256 random bits; only its SHA-256 is stored. Using a link is one conditional UPDATE in
the transaction that makes the person, so if two people click at once, only one gets in.
"""

import hashlib
import secrets
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import formats, timezone

from batchui.teams.connections import ensure_connection
from batchui.teams.founding import first_team
from batchui.teams.models import Invitation, Membership, Role, Team, User
from batchui.teams.problems import EmailTaken, LinkProblem, TeamProblem

LIFETIME = timedelta(days=7)

_USED = (
    "This link was used already, and a link works only once. If you used it, sign in. If not, tell "
    "an administrator of your team, who can make a new one."
)


def create(team: Team, *, by: User | None, role: Role) -> tuple[Invitation, str]:
    """Invite one colleague. Returns the invitation and its token, which is not stored."""
    return _make(team=team, created_by=by, role=role)


def create_password_link(membership: Membership, *, by: User) -> tuple[Invitation, str]:
    """A link for a colleague to choose a new password. Their older links stop working.

    Returns the invitation and its token, which is not stored.
    """
    with transaction.atomic():
        open_invitations(membership.team).filter(for_user=membership.user).update(
            withdrawn_at=timezone.now()
        )
        return _make(
            team=membership.team,
            created_by=by,
            role=Role(membership.role),
            for_user=membership.user,
        )


def first_administrator_token() -> str | None:
    """Return a new set-up token and withdraw older ones; None if batchui is set up already."""
    with transaction.atomic():
        if User.objects.exists():
            return None
        now = timezone.now()
        Invitation.objects.filter(team=None, used_at=None, withdrawn_at=None).update(
            withdrawn_at=now
        )
        return _make(team=None, created_by=None, role=Role.ADMIN)[1]


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """The team's links that still work, newest first."""
    return (
        Invitation.objects.filter(
            team=team, used_at=None, withdrawn_at=None, expires_at__gt=timezone.now()
        )
        .select_related("created_by", "for_user")
        .order_by("-created_at", "-pk")
    )


def find(token: str) -> Invitation:
    """Return the invitation of a link. Raises LinkProblem if the link does not work."""
    invitation = (
        Invitation.objects.select_related("team", "created_by", "for_user")
        .filter(token_hash=_hash(token))
        .first()
    )
    if invitation is None:
        raise LinkProblem(
            "batchui does not know this link. Perhaps a part of it is missing: paste the whole "
            "address, or ask for a new link.",
            gone=False,
        )
    _check_usable(invitation)
    return invitation


def accept(token: str, *, name: str, email: str, password: str, team_name: str = "") -> User:
    """Use a set-up or invitation link: make the person and put them in the team.

    If the e-mail address belongs to somebody who was removed, that person comes back. Raises
    LinkProblem if the link does not work, EmailTaken if somebody in a team has the address.
    """
    with transaction.atomic():
        invitation = find(token)
        if invitation.purpose == Invitation.Purpose.PASSWORD:
            raise TeamProblem("This link is for choosing a new password, not for joining a team.")
        _use(invitation)
        person = _person(name=name, email=email, password=password)
        team = invitation.team or first_team(name=team_name)
        Membership.objects.create(user=person, team=team, role=invitation.role)
        ensure_connection(team)
        Invitation.objects.filter(pk=invitation.pk).update(used_by=person)
    return person


def choose_password(token: str, *, password: str) -> User:
    """Use a password link: store the new password. It signs the person out everywhere else.

    Raises LinkProblem if the link does not work.
    """
    with transaction.atomic():
        invitation = find(token)
        person = invitation.for_user
        if person is None:
            raise TeamProblem("This link is for joining a team, not for choosing a new password.")
        _use(invitation)
        person.set_password(password)
        person.save(update_fields=["password"])
        Invitation.objects.filter(pk=invitation.pk).update(used_by=person)
    return person


def withdraw(invitation: Invitation) -> bool:
    """Withdraw a link. False: it was used or withdrawn before."""
    rows = Invitation.objects.filter(pk=invitation.pk, used_at=None, withdrawn_at=None).update(
        withdrawn_at=timezone.now()
    )
    return rows == 1


def _make(
    *, team: Team | None, created_by: User | None, role: Role, for_user: User | None = None
) -> tuple[Invitation, str]:
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    invitation = Invitation.objects.create(
        team=team,
        for_user=for_user,
        token_hash=_hash(token),
        role=role,
        created_by=created_by,
        created_at=now,
        expires_at=now + LIFETIME,
    )
    return invitation, token


def _hash(token: str) -> str:
    return hashlib.sha256(token.strip().encode()).hexdigest()


def _check_usable(invitation: Invitation) -> None:
    setting_up = invitation.purpose == Invitation.Purpose.SETUP
    if invitation.used_at is not None:
        raise LinkProblem(_USED)
    if setting_up and User.objects.exists():
        raise LinkProblem(
            "batchui is already set up. Sign in, or ask an administrator for an invitation."
        )
    if invitation.withdrawn_at is not None:
        raise LinkProblem(
            "A newer set-up link has replaced this one. Use the link that was printed last."
            if setting_up
            else "This link was withdrawn. Ask an administrator of your team for a new one."
        )
    if invitation.expires_at <= timezone.now():
        day = formats.date_format(invitation.expires_at, "j F Y")
        ask = (
            "Start batchui again to get a new one."
            if setting_up
            else "Ask an administrator of your team for a new one."
        )
        raise LinkProblem(f"This link worked until {day}. {ask}")


def _use(invitation: Invitation) -> None:
    """Mark a link as used. Raises LinkProblem if somebody else was quicker."""
    now = timezone.now()
    won = Invitation.objects.filter(
        pk=invitation.pk, used_at=None, withdrawn_at=None, expires_at__gt=now
    ).update(used_at=now)
    if not won:
        raise LinkProblem(_USED)


def _person(*, name: str, email: str, password: str) -> User:
    email = email.strip().lower()
    taken = EmailTaken(
        f"Somebody already signs in as {email}. Sign in instead, or use another address."
    )
    person = User.objects.filter(email=email).first()
    if person is None:
        try:
            with transaction.atomic():
                return User.objects.create_user(email=email, name=name, password=password)
        except IntegrityError:  # the same address, through another link, at the same moment
            raise taken from None
    if Membership.objects.filter(user=person).exists():
        raise taken
    person.name = name.strip()
    person.is_active = True
    person.set_password(password)
    person.save(update_fields=["name", "is_active", "password"])
    return person
