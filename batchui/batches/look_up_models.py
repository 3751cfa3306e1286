"""The tables of requests that are not of a batch: looked up, or told of by events."""

import uuid
from urllib.parse import urlencode

from django.conf import settings
from django.db import models
from django.utils import timezone

# In characters, of a request id.
LONGEST_ID = 200


class LookUpStatus(models.TextChoices):
    """How far a look-up is.

    `waiting`: nobody has looked yet. `queued`, `running`: as Cloudflare says. `kept`: its answers
    are a batch. `ended`: they will not come; `message` says why.
    """

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    KEPT = "kept"
    ENDED = "ended"


OPEN_LOOK_UPS = (LookUpStatus.WAITING, LookUpStatus.QUEUED, LookUpStatus.RUNNING)


class LookUp(models.Model):
    """A request of a model, by the id that its sender was given.

    looks: how often Cloudflare was asked. message: why it ended, or why the last look failed.
    batch: what its answers became.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="look_ups")
    connection = models.ForeignKey("teams.Connection", on_delete=models.PROTECT, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    model = models.CharField(max_length=200)
    request_id = models.CharField(max_length=LONGEST_ID)
    status = models.CharField(
        max_length=16, choices=LookUpStatus.choices, default=LookUpStatus.WAITING
    )
    message = models.TextField(blank=True)
    looks = models.PositiveIntegerField(default=0)
    failures_in_a_row = models.PositiveIntegerField(default=0)
    looked_at = models.DateTimeField(null=True)
    next_look_at = models.DateTimeField(default=timezone.now)
    # A look that was claimed on an older epoch changes nothing.
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    batch = models.OneToOneField(
        "batches.Batch", null=True, on_delete=models.CASCADE, related_name="look_up"
    )

    objects = models.Manager["LookUp"]()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=("status", "next_look_at"), name="look_up_due"),)

    def __str__(self) -> str:
        return f"look-up of request {self.request_id[:40]}"

    @property
    def query(self) -> str:
        """What the form is to be filled in with to correct it, for an address."""
        return urlencode({"request_id": self.request_id, "model": self.model})

    @property
    def is_open(self) -> bool:
        """Whether it is looked after."""
        return self.status in OPEN_LOOK_UPS


class ReportedRequest(models.Model):
    """A request that an event has told of and that batchui has not sent, as far as it knows.

    It may be somebody else's, or one whose receipt was lost.
    """

    connection = models.ForeignKey("teams.Connection", on_delete=models.CASCADE, related_name="+")
    request_id = models.CharField(max_length=LONGEST_ID)
    model = models.CharField(max_length=200)
    seen_at = models.DateTimeField(default=timezone.now)

    objects = models.Manager["ReportedRequest"]()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("connection", "request_id"), name="reported_request_once"
            ),
        )

    def __str__(self) -> str:
        return f"reported request {self.request_id[:40]}"

    @property
    def query(self) -> str:
        """What the form of a look-up is to be filled in with, for an address."""
        return urlencode(
            {
                "request_id": self.request_id,
                "model": self.model,
                "connection": self.connection_id,
            }
        )
