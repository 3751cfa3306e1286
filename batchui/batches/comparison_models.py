"""The table of comparisons of two runs of one file."""

import uuid
from typing import Any

from django.db import models
from django.utils import timezone


class Comparison(models.Model):
    """The answers of two batches held against each other, as they were at these versions.

    differs: a bit for each row from `first_row` on; 1: the answers differ, or only one batch has
    one. columns: of each that was compared, [name, rows that both answered, rows that agree].
    problem: why one has failed.
    """

    class Status(models.TextChoices):
        """A worker brings a comparison from `running` to `done` or `failed`."""

        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    one = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="+")
    one_version = models.PositiveIntegerField()
    other_version = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.RUNNING)
    lease_until = models.DateTimeField(null=True)
    begun = models.PositiveIntegerField(default=0)

    rows = models.PositiveIntegerField(default=0)
    rows_done = models.PositiveIntegerField(default=0)
    first_row = models.PositiveIntegerField(default=1)
    answered = models.PositiveIntegerField(default=0)  # by both
    agree = models.PositiveIntegerField(default=0)
    different = models.PositiveIntegerField(default=0)
    columns: Any = models.JSONField(default=list)
    differs = models.BinaryField(default=b"")
    problem = models.TextField(blank=True, default="")

    objects = models.Manager["Comparison"]()

    def __str__(self) -> str:
        return f"comparison {self.pk}"

    @property
    def is_running(self) -> bool:
        """Whether it is not whole yet."""
        return self.status == self.Status.RUNNING

    @property
    def percent(self) -> int:
        """How far it is."""
        return 100 * self.rows_done // max(1, self.rows)
