"""The models that an account lists, as they were read last; and those that were typed in."""

from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

# How long it is said that a model is new, or that its price is another one.
TOLD = timedelta(days=14)


class ModelListing(models.Model):
    """When the models of a connection were read.

    first_read_at: what is listed then is not new. read_at: the latest that came. tried_at: the
    latest that was asked for. problem: why it did not come; "" if it did.
    """

    connection = models.OneToOneField(
        "teams.Connection", on_delete=models.CASCADE, related_name="listing"
    )
    first_read_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    tried_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"listing of connection {self.connection_id}"


class KnownModel(models.Model):
    """One model of a connection.

    takes_batches: the listing has its batch flag; took_batches: it had once. usd_read_before,
    usd_written_before: the price for a million tokens read and written before it changed.
    withdrawn_on: the day on which Cloudflare plans to take it away. facts: what its schema says, as
    `listed_models.SchemaFacts`; {} if that was not read. added_by: who typed it in, though the
    listing does not have it.
    """

    connection = models.ForeignKey(
        "teams.Connection", on_delete=models.CASCADE, related_name="known_models"
    )
    name = models.CharField(max_length=200)
    task = models.CharField(max_length=20)
    description = models.TextField(blank=True)
    takes_batches = models.BooleanField(default=False)
    took_batches = models.BooleanField(default=False)
    usd_read = models.FloatField(null=True)
    usd_written = models.FloatField(null=True)
    usd_read_before = models.FloatField(null=True)
    usd_written_before = models.FloatField(null=True)
    price_changed_at = models.DateTimeField(null=True)
    context_window = models.PositiveIntegerField(null=True)
    needs_paid_plan = models.BooleanField(default=False)
    reasons = models.BooleanField(default=False)
    sees = models.BooleanField(default=False)
    withdrawn_on = models.DateField(null=True)
    facts = models.JSONField(default=dict)
    first_seen = models.DateTimeField(default=timezone.now)
    last_seen = models.DateTimeField(null=True)
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connection", "name"], name="model_once_per_connection")
        ]

    def __str__(self) -> str:
        return self.name
