"""The table of exports: files with answers that are made in the background, and kept for a day."""

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

KEPT = timedelta(days=1)


class ExportStatus(models.TextChoices):
    """The status of an export. A worker makes it from `waiting` to `ready` or `failed`."""

    WAITING = "waiting"
    READY = "ready"
    FAILED = "failed"


class Export(models.Model):
    """A file with the rows of a batch and their answers, which has to be made as a whole."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    batch = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="exports")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)
    # What is made: a key of `whole_files.KINDS`, and what of the batch (see `exporting.Choice`).
    batch_version = models.PositiveIntegerField(default=0)
    kind = models.CharField(max_length=32)
    choice = models.JSONField(default=dict)
    status = models.CharField(
        max_length=32, choices=ExportStatus.choices, default=ExportStatus.WAITING
    )
    # As in Batch: a worker that lost its lease changes nothing any more.
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    begun = models.PositiveIntegerField(default=0)
    rows_done = models.PositiveIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    file = models.CharField(max_length=255, blank=True, default="")
    size = models.PositiveBigIntegerField(default=0)
    # Sentences: what a person should know about the file, or why there is none.
    notes = models.JSONField(default=list)
    problem = models.TextField(blank=True)

    objects = models.Manager["Export"]()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=("status", "created_at"), name="export_status"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def is_ready(self) -> bool:
        return self.status == ExportStatus.READY

    @property
    def is_waiting(self) -> bool:
        return self.status == ExportStatus.WAITING

    def changed(self, **changes: Any) -> bool:
        """Change it, as the worker that has claimed it. False: somebody else has it now."""
        mine = Export.objects.filter(pk=self.pk, status=ExportStatus.WAITING, epoch=self.epoch)
        return bool(mine.update(**changes))
