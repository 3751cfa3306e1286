"""The tables of tries: a draft's question asked of a few rows at once, before Start."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from batchui.batches.asked_models import Asked
from batchui.teams.models import Connection


class TriedStatus(models.TextChoices):
    """What became of a row that is tried. A worker takes it from `waiting` to one of the others.

    `unclear`: it was asked, no answer came, and it may have been charged. `not_asked`: it was
    certainly not charged; the error says why.
    """

    WAITING = "waiting"
    ASKING = "asking"
    ANSWERED = "answered"
    EMPTY = "empty"
    UNFIT = "unfit"  # the answer does not fit the answer columns
    FAILED = "failed"
    UNCLEAR = "unclear"
    NOT_ASKED = "not_asked"


UNDER_WAY = (TriedStatus.WAITING, TriedStatus.ASKING)


class Try(Asked):
    """A question as it was when somebody tried it on a few rows of a draft."""

    batch = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="tries")
    number = models.PositiveIntegerField()  # 1-based, by batch
    connection = models.ForeignKey("teams.Connection", on_delete=models.PROTECT, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # How the file was read (`Upload.format_key`): read otherwise, its rows have other numbers.
    format_key = models.CharField(max_length=16)
    stopped_at = models.DateTimeField(null=True)

    objects = models.Manager["Try"]()

    class Meta:
        ordering = ("batch", "number")
        constraints = (models.UniqueConstraint(fields=("batch", "number"), name="try_number_once"),)

    def __str__(self) -> str:
        return f"Try {self.number} of batch {self.batch_id}"


class TriedRow(models.Model):
    """A row of a try: its request until it was asked, then its answer."""

    in_try = models.ForeignKey(Try, on_delete=models.CASCADE, related_name="rows")
    number = models.PositiveIntegerField()  # of the row, as a spreadsheet shows it
    # The body of the request; "" once it was made, or will not be.
    item = models.TextField(blank=True)
    item_bytes = models.PositiveIntegerField(default=0)
    # What the row says of its picture; "" without one. It is fetched when the row is asked.
    picture = models.TextField(blank=True, default="")
    status = models.CharField(
        max_length=16, choices=TriedStatus.choices, default=TriedStatus.WAITING
    )
    # While `asking`: whose worker has it, and until when. As in Part.
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    answer = models.TextField(blank=True)  # JSON as received, on one line
    error = models.TextField(blank=True)
    code = models.IntegerField(null=True)  # Cloudflare's own
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    objects = models.Manager["TriedRow"]()

    class Meta:
        ordering = ("in_try", "number")
        constraints = (models.UniqueConstraint(fields=("in_try", "number"), name="tried_row_once"),)
        indexes = (
            # Few rows are under way at a time; a worker looks for them at every tick.
            models.Index(
                fields=("status",),
                name="tried_row_under_way",
                condition=models.Q(status__in=("waiting", "asking")),
            ),
        )

    def __str__(self) -> str:
        return f"row {self.number} of {self.in_try}"

    @property
    def connection(self) -> Connection:
        """The connection that it is asked through."""
        return self.in_try.connection

    @property
    def is_under_way(self) -> bool:
        """Whether its answer may still come."""
        return self.status in UNDER_WAY
