"""Links that work once: for set-up, for joining a team, for choosing a new password.

The token is 256 random bits; only its SHA-256 is stored. Using a link is one conditional UPDATE in
the transaction that makes the person, so if two people click at once, only one gets in.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import formats, timezone

from batchui import security_log
from batchui.teams import administrators
from batchui.teams.connections import ensure_connection
from batchui.teams.founding import first_team
from batchui.teams.models import Invitation, Membership, Role, Team, User
from batchui.teams.problems import EmailTaken, LinkProblem, TeamProblem

LIFETIME = timedelta(days=7)
PASSWORD_LINK_LIFETIME = timedelta(days=1)

_USED = (
    "This link was used already, and a link works only once. If you used it, sign in. If not, tell "
    "an administrator of your team, who can make a new one."
)


def create(team: Team, *, by: User | None, role: Role) -> tuple[Invitation, str]:
    """Invite one colleague. Returns the invitation and its token, which is not stored.

    by: None at the terminal. Raises PermissionDenied if they are no administrator any more.
    """
    with transaction.atomic():
        administrators.lock(team, by=by)
        invitation, token = _make(team=team, created_by=by, role=role)
    _note("invitation made", invitation, who=by)
    return invitation, token


def create_password_link(membership: Membership, *, by: User | None) -> tuple[Invitation, str]:
    """A link for a colleague to choose a new password. Their older links stop working.

    by: None for a link made in the terminal. Returns the invitation and its token, which is not
    stored. Raises PermissionDenied if they are no administrator any more.
    """
    with transaction.atomic():
        administrators.lock(membership.team, by=by)
        withdraw_password_links(membership.user)
        invitation, token = _make(
            team=membership.team,
            created_by=by,
            role=Role(membership.role),
            for_user=membership.user,
        )
    _note("password link made", invitation, who=by)
    return invitation, token


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
        _open()
        .filter(team=team)
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

    The e-mail address of somebody who was removed is free again: whoever joins with it is a new
    person, as nobody has proved to be the old one. Raises LinkProblem if the link does not work,
    EmailTaken if somebody in a team has the address.
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
    _note("joined", invitation, who=person)
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
        withdraw_password_links(person)
        Invitation.objects.filter(pk=invitation.pk).update(used_by=person)
    _note("password chosen by a link", invitation, who=person)
    return person


def last_password_link(person: User) -> Invitation | None:
    """The password link that this person, or whoever had it, used last; None if there was none."""
    used = Invitation.objects.filter(for_user=person, used_at__isnull=False)
    return used.select_related("created_by").order_by("-used_at").first()


def note_sign_in(link: Invitation, person: User) -> None:
    """Note that the latest sign-in of this person was by a link, which they have just used."""
    Invitation.objects.filter(pk=link.pk).update(used_at=person.last_login)


def signed_in_by_link(person: User, *, at: datetime | None) -> Invitation | None:
    """The password link with which somebody signed in as this person at that time, or None.

    Whoever has such a link can be this person, so they are told when they sign in next.
    """
    used = Invitation.objects.filter(for_user=person, used_at__isnull=False, used_at=at)
    return used.select_related("created_by").first()


def withdraw(invitation: Invitation, *, by: User | None = None) -> bool:
    """Withdraw a link. False: it was used or withdrawn before."""
    rows = Invitation.objects.filter(pk=invitation.pk, used_at=None, withdrawn_at=None).update(
        withdrawn_at=timezone.now()
    )
    if rows:
        _note("link withdrawn", invitation, who=by)
    return rows == 1


def _note(event: str, invitation: Invitation, *, who: User | None) -> None:
    whom, maker = invitation.for_user, invitation.created_by
    security_log.record(
        event,
        who=who and who.in_log,
        whom=whom.in_log if whom and whom != who else None,
        made_by=maker.in_log if maker and maker != who else None,
        link=invitation.pk,
        role=invitation.role,
        team=invitation.team_id,
    )


def withdraw_links_made_by(person: User) -> None:
    """Withdraw the open links that somebody made: they had the power of an administrator."""
    _open().filter(created_by=person).update(withdrawn_at=timezone.now())


def withdraw_password_links(person: User) -> None:
    """Withdraw the open links with which this person's password can be chosen."""
    _open().filter(for_user=person).update(withdrawn_at=timezone.now())


def _open() -> QuerySet[Invitation]:
    return Invitation.objects.filter(used_at=None, withdrawn_at=None, expires_at__gt=timezone.now())


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
        expires_at=now + (PASSWORD_LINK_LIFETIME if for_user else LIFETIME),
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
        day = formats.date_format(invitation.expires_at, "j F Y, H:i e")
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
    try:
        with transaction.atomic():
            for removed in User.objects.filter(email=email, membership=None):
                removed.email = f"removed-{removed.pk}@batchui.invalid"
                removed.is_active = False
                removed.save(update_fields=["email", "is_active"])
            return User.objects.create_user(email=email, name=name, password=password)
    except IntegrityError:  # somebody in a team has it, perhaps since a moment
        raise taken from None
