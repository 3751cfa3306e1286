"""The tables of people, teams, connections and invitations."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone


class UserManager(BaseUserManager["User"]):
    def create_user(self, *, email: str, name: str, password: str | None) -> "User":
        """Add a person. password None: they cannot sign in until they have one."""
        user = self.model(email=email.strip().lower(), name=name.strip())
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser):
    """A person, who signs in with an e-mail address.

    Somebody who was removed from their team stays here as inactive, so that the history still has
    their name.
    """

    email = models.EmailField("e-mail address", unique=True)
    name = models.CharField(max_length=80)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[UserManager] = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(email=Lower("email")),
                name="user_email_is_lower_case",
                violation_error_message="Write the e-mail address in lower case.",
            )
        ]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def in_log(self) -> str:
        """The person in the security log: a number that stays, and the address of today."""
        return f"{self.pk} {self.email}"

    def clean(self) -> None:
        self.email = self.email.strip().lower()


class Team(models.Model):
    """People who share a history; everything else belongs to one team."""

    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Start asks once more if a batch may cost more than so many US dollars; None: never.
    confirm_above = models.FloatField(null=True, blank=True, default=5.0)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a person may do in a team: administrators also invite and remove people."""

    ADMIN = "admin", "Administrator"
    MEMBER = "member", "Member"


class Membership(models.Model):
    """One person's place in one team."""

    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="membership")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"

    @property
    def is_admin(self) -> bool:
        """Whether the person is an administrator of the team."""
        return self.role == Role.ADMIN


class Connection(models.Model):
    """How a team reaches a Batch API: an account and its token, a Worker, or the built-in sandbox;
    or a model server of its own, for which the sandbox plays the API.

    A batch keeps the connection it was started with. Another account is another connection, so
    that answers to earlier requests can still be fetched from the old one. Which one new batches go
    to is decided in `connections.py`; what administrators change, in `connecting.py`.
    """

    class Kind(models.TextChoices):
        REST = "rest", "Cloudflare account"
        WORKER = "worker", "Cloudflare Worker"
        LOCAL = "local", "Local model"
        SANDBOX = "sandbox", "Sandbox"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="connections")
    kind = models.CharField(max_length=10, choices=Kind)
    name = models.CharField(max_length=80)
    # Of a Worker the name of its server, and its secret is the token. Of a model server a name in
    # the sandbox, with the server's address as `base_url` and its key as the token.
    account_id = models.CharField(max_length=255)
    token_encrypted = models.TextField()
    # The end of the token, to tell two of them apart; "" where there is no need.
    token_hint = models.CharField(max_length=4, blank=True)
    base_url = models.URLField(max_length=300)
    # What a kind needs besides; nothing secret.
    settings = models.JSONField(default=dict, blank=True)
    # Whether account and token are those of the server's environment, which only it can change.
    from_environment = models.BooleanField(default=False)
    # Whether an administrator chose it for new batches.
    is_default = models.BooleanField(default=False)
    # The Cloudflare Queue that is told of batch events; "" for none (`batches/events.py`). When it
    # was looked into last, and why that failed; "" if it did not.
    queue_id = models.CharField(max_length=64, blank=True, default="")
    events_looked_at = models.DateTimeField(null=True, editable=False)
    events_problem = models.TextField(blank=True, default="", editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # It takes no new batches; those that it has go on.
    removed_at = models.DateTimeField(null=True)
    # The latest test, and what it found wrong, as a sentence; "" for nothing.
    tested_at = models.DateTimeField(null=True)
    test_problem = models.TextField(blank=True)
    # Since when the other side has let nothing in, until a person corrects something; and why.
    refused_since = models.DateTimeField(null=True, editable=False)
    refused_reason = models.TextField(blank=True, editable=False)

    # The call limit, shared by every worker (`batches/call_limit.py`).
    calls_left = models.FloatField(null=True, editable=False)
    calls_counted_at = models.DateTimeField(null=True, editable=False)
    # Sends in a row that ended unclear or waited for a person. While there are any, one part at a
    # time is sent, to see whether it is over.
    failures_in_a_row = models.PositiveIntegerField(default=0, editable=False)
    # Nothing is sent before this time; the reason is a sentence for the page.
    paused_until = models.DateTimeField(null=True, editable=False)
    pause_reason = models.TextField(blank=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["team", "kind", "account_id"], name="connection_once_per_account"
            ),
            models.UniqueConstraint(
                fields=["team"],
                condition=Q(is_default=True),
                name="connection_one_default_per_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_sandbox(self) -> bool:
        """Whether the sandbox answers, and no AI model."""
        return self.kind == self.Kind.SANDBOX

    @property
    def is_local(self) -> bool:
        """Whether a model server of the team answers."""
        return self.kind == self.Kind.LOCAL

    @property
    def is_free(self) -> bool:
        """Whether nobody is paid for answers. They also come sooner than those of Cloudflare."""
        return self.kind in FREE_KINDS


# Who answers through these is paid nothing.
FREE_KINDS = (Connection.Kind.SANDBOX, Connection.Kind.LOCAL)


class Invitation(models.Model):
    """A link that works once: to set batchui up, to join a team, or to choose a new password.

    Only the SHA-256 of its token is stored: the link is shown when it is made, and never again.
    """

    class Purpose(models.TextChoices):
        SETUP = "setup"
        JOIN = "join"
        PASSWORD = "password"  # noqa: S105

    # No team: the set-up link. The person who uses it becomes the first administrator.
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="invitations")
    # Somebody who already has an account: the link lets them choose a new password.
    for_user = models.ForeignKey(
        User, null=True, on_delete=models.CASCADE, related_name="password_links"
    )
    token_hash = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    used_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.purpose.value} link {self.pk}"

    @property
    def maker(self) -> str:
        """Who made the link, for a sentence."""
        return self.created_by.name if self.created_by else "somebody at the terminal"

    @property
    def purpose(self) -> "Invitation.Purpose":
        """What the link is for."""
        if self.for_user_id is not None:
            return self.Purpose.PASSWORD
        return self.Purpose.SETUP if self.team_id is None else self.Purpose.JOIN
