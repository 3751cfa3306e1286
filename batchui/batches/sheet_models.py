"""The tables of the sheet: digests of the parts of a batch, and what somebody searched for."""

import uuid
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

# Digests of another format are made again. 2: with the rows of a column; 3: with the reasons of
# answers that were cut off; 4: in two halves.
DIGEST_FORMAT = 4


class Digest(models.Model):
    """A small summary of the answers of a part, as they were when it was made.

    It is one of a certain version of the answers. Of any other it says nothing, and is made again.
    """

    part = models.OneToOneField(
        "batches.Part", on_delete=models.CASCADE, primary_key=True, related_name="digest"
    )
    # A name only: it keeps no file. The others are as in Part.
    of_answers = models.CharField(max_length=255, blank=True)
    waiting_became = models.CharField(max_length=16, blank=True)
    waiting_error = models.TextField(blank=True)
    forget_unanswered = models.BooleanField(default=False)
    times_chosen = models.PositiveIntegerField(default=0)
    empty_counts = models.BooleanField(default=False)
    # Always given. Its default is no format, so that a new format needs no migration.
    format = models.PositiveIntegerField(default=1)
    # The two halves of a `Summary` (`sheet/digesting.py`). Most pages read the reasons alone.
    reasons: Any = models.JSONField(default=dict)
    fields: Any = models.JSONField(default=list)

    objects = models.Manager["Digest"]()

    def __str__(self) -> str:
        return f"digest of part {self.part_id}"


# What of a part its digest depends on: the column of the digest, and that of the part.
DIGESTED = {
    "of_answers": "answers_file",
    "waiting_became": "waiting_became",
    "waiting_error": "waiting_error",
    "forget_unanswered": "forget_unanswered",
    "times_chosen": "times_chosen",
    "empty_counts": "empty_counts",
}
# Of parts, for queries: the digest is one of the answers as they are now.
HAS_DIGEST = Q(
    digest__format=DIGEST_FORMAT,
    **{f"digest__{column}": F(of_part) for column, of_part in DIGESTED.items()},
)


class Counting(models.Model):
    """A batch whose digests somebody has asked for, and that a worker is to make."""

    batch = models.OneToOneField(
        "batches.Batch", on_delete=models.CASCADE, primary_key=True, related_name="counting"
    )
    wanted_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True)
    begun = models.PositiveIntegerField(default=0)

    objects = models.Manager["Counting"]()

    def __str__(self) -> str:
        return f"counting of {self.batch_id}"


class SearchStatus(models.TextChoices):
    """The status of a search. A worker brings it from `running` to `done` or `failed`."""

    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"  # by somebody who had seen enough
    FAILED = "failed"


class Search(models.Model):
    """Rows of a batch in which words stand, among those that a filter shows."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    batch = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="searches")
    batch_version = models.PositiveIntegerField(default=0)
    show = models.CharField(max_length=400, blank=True)
    words = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(
        max_length=16, choices=SearchStatus.choices, default=SearchStatus.RUNNING
    )
    lease_until = models.DateTimeField(null=True)
    begun = models.PositiveIntegerField(default=0)
    # How many rows were looked at, of how many; and what was found: part -> positions, in order.
    rows_done = models.PositiveIntegerField(default=0)
    rows = models.PositiveIntegerField(default=0)
    hits = models.JSONField(default=dict)
    # There are more rows with these words than are kept.
    is_cut = models.BooleanField(default=False)

    objects = models.Manager["Search"]()

    class Meta:
        indexes = (models.Index(fields=("batch", "words"), name="search_words"),)

    def __str__(self) -> str:
        return f"search {self.pk}"

    @property
    def is_running(self) -> bool:
        return self.status == SearchStatus.RUNNING

    @property
    def percent(self) -> int:
        """How far it is."""
        return 100 * self.rows_done // max(1, self.rows)
