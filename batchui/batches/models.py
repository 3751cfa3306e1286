"""The tables of batches. They hold facts; the text is in files (see `files.py`)."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Least
from django.urls import reverse
from django.utils import timezone

from batchui.batches.asked_models import Asked, asked_fields
from batchui.batches.charged import ROWS_IN_VAIN
from batchui.batches.comparison_models import Comparison
from batchui.batches.export_models import Export
from batchui.batches.known_models import KnownModel, ModelListing
from batchui.batches.label_models import Label
from batchui.batches.look_up_models import LookUp
from batchui.batches.part_models import (
    MOST_FAILURES,
    UNANSWERED,
    WAITING_FOR_COPIES,
    WAITS_FOR_COPIES,
    AnswerCounts,
    Attempt,
    Part,
)
from batchui.batches.saved_models import SavedQuestion
from batchui.batches.search_models import Searched, SearchedQuerySet, SearchText
from batchui.batches.sheet_models import Counting, Digest, Search
from batchui.batches.states import (
    ACTIVE_BATCHES,
    ENDED_BATCHES,
    STOPPABLE_BATCHES,
    AttemptStatus,
    BatchStatus,
)
from batchui.batches.try_models import TriedRow, Try
from batchui.batches.upload_models import Upload

__all__ = [
    "MOST_FAILURES",
    "UNANSWERED",
    "WAITING_FOR_COPIES",
    "WAITS_FOR_COPIES",
    "Attempt",
    "Batch",
    "Comparison",
    "Counting",
    "Digest",
    "Event",
    "Export",
    "KnownModel",
    "Label",
    "LookUp",
    "ModelListing",
    "Part",
    "SavedQuestion",
    "Search",
    "SearchText",
    "TriedRow",
    "Try",
    "asked_fields",
]

# In characters: of a batch.
LONGEST_NAME = 200


class BatchQuerySet(SearchedQuerySet["Batch"]):
    """Queries for batches."""

    def of_team(self, team: Any) -> "BatchQuerySet":
        """The batches of a team, except deleted ones."""
        return self.filter(team=team, deleted_at=None)


class Batch(Searched, AnswerCounts, Upload, Asked):
    """What a person uploaded and started: a file, a question, and its status."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey("teams.Team", on_delete=models.CASCADE, related_name="batches")
    connection = models.ForeignKey("teams.Connection", on_delete=models.PROTECT, related_name="+")
    # Of a draft: whether somebody chose its connection (see `goes_to.py`).
    connection_chosen = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    name = models.CharField(max_length=LONGEST_NAME)
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # Between an end and what made it go on: a retry, rows that are asked again.
    idle = models.DurationField(default=timedelta(0))
    stop_requested_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)
    deleted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Until when it can be brought back (`deleting.py`). Of what a sweep deleted, or what is to go
    # for good: null.
    kept_until = models.DateTimeField(null=True)
    files_removed = models.BooleanField(default=False)

    status = models.CharField(
        max_length=32, choices=BatchStatus.choices, default=BatchStatus.CHECKING
    )
    # Counts moves and claims: a move that was based on an older epoch does not happen.
    epoch = models.PositiveIntegerField(default=0)
    # Counts visible changes, so that a page can ask cheaply whether there are new ones.
    version = models.PositiveIntegerField(default=1)
    # While `checking` or `preparing`: until when a worker has it, and how many rows it has read.
    lease_until = models.DateTimeField(null=True)
    # How often the reading under way was begun; 0 once it has ended.
    readings_begun = models.PositiveIntegerField(default=0)
    progress_rows = models.PositiveIntegerField(default=0)
    last_polled_at = models.DateTimeField(null=True)

    # Somebody else has sent it, and only its answers are known (see `looked_up.py`): none of its
    # rows can be asked.
    is_looked_up = models.BooleanField(default=False)

    # The batch whose sheet, answers included, is the file of this one: see `further.py`.
    asked_after = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="asked_further"
    )

    # Which open page saved last what is typed, and which of its changes (see `decisions.Change`).
    saved_page = models.CharField(max_length=16, blank=True, default="")
    saved_change = models.PositiveIntegerField(default=0)

    # What a draft asked before a question was filled in (see `saved_questions.py`), and the saved
    # question that was, if it was one.
    question_before = models.JSONField(default=dict)
    saved_question = models.ForeignKey(
        SavedQuestion, null=True, on_delete=models.SET_NULL, related_name="batches"
    )

    labels = models.ManyToManyField(Label, related_name="batches")

    # What was last chosen for a download (see `exporting.Choice`), and its kind.
    download_choice = models.JSONField(default=dict)
    download_kind = models.CharField(max_length=32, blank=True, default="")
    # How many cells the last CSV for spreadsheets kept from running as formulas.
    cells_made_inert = models.PositiveIntegerField(null=True)

    # The question of a draft held against all its rows (see `surveys.py`): what was found, for
    # which question it is wanted, and until when a worker is at it.
    survey = models.JSONField(default=dict)
    survey_wanted = models.CharField(max_length=32, blank=True, default="")
    survey_wanted_at = models.DateTimeField(null=True)
    survey_lease = models.DateTimeField(null=True)

    # What it was to cost when it was started, in US dollars (see `estimates.py`).
    estimated_low = models.FloatField(null=True)
    estimated_high = models.FloatField(null=True)
    # What a million tokens cost at Start, in US dollars; null: as batchui has it for the model.
    usd_read = models.FloatField(null=True)
    usd_written = models.FloatField(null=True)

    part_count = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (
            # All that the history counts and filters by: it reads the batches of a page only.
            models.Index(
                fields=(
                    *("team", "-created_at", "deleted_at", "status"),
                    *("created_by", "started_by", "started_at", "id"),
                ),
                name="batch_history",
            ),
            # The same of a status: what is under way, drafts, a filter, and how many there are.
            models.Index(
                fields=("team", "status", "-created_at", "deleted_at", "created_by", "id"),
                name="batch_by_status",
            ),
            models.Index(fields=("team", "source_sha256"), name="batch_of_file"),
            models.Index(fields=("status",), name="batch_status"),
            models.Index(fields=("team", "finished_at"), name="batch_ended"),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The page of this batch."""
        return reverse("batch", args=[self.pk])

    @property
    def first_row(self) -> int:
        """The number of its first row. Batches of older versions count from 1."""
        first = self.parts.order_by("number").values_list("first_row", flat=True).first()
        return self.format.first_row if first is None else first

    @property
    def is_active(self) -> bool:
        """Whether work is going on or waits for something. Pages refresh active batches."""
        return self.status in ACTIVE_BATCHES

    @property
    def is_unusable(self) -> bool:
        """Whether the file cannot be used; `problem` says why."""
        return self.status == BatchStatus.DRAFT and not self.rows

    @property
    def is_started(self) -> bool:
        """Whether the batch has parts, which it gets when it is started."""
        return self.part_count > 0

    @property
    def person(self) -> Any:
        """Who started it; of a draft, who uploaded it. None: somebody at the terminal."""
        return self.created_by if self.started_at is None else self.started_by

    @property
    def when(self) -> datetime:
        """When it was started; of a draft, when its file came."""
        return self.started_at or self.created_at

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen unless a person presses Retry."""
        return self.status in ENDED_BATCHES

    @property
    def can_stop(self) -> bool:
        """Whether Stop can be pressed now."""
        return self.status in STOPPABLE_BATCHES

    @property
    def can_retry(self) -> bool:
        """Whether the batch has ended and has rows that a retry would send again."""
        return self.has_ended and self.unanswered > 0 and not self.is_looked_up

    @property
    def can_count_empty(self) -> bool:
        """Whether the batch has ended and has empty answers that can count as answered."""
        return self.has_ended and self.empty > 0

    @property
    def can_ask_further(self) -> bool:
        """Whether the batch has ended and has answers, about which another one can ask."""
        return self.has_ended and self.answered > 0

    @property
    def waiting(self) -> int:
        """The number of rows that wait for an answer."""
        return max(0, self.rows - self.settled)

    @property
    def rows_in_doubt(self) -> int:
        """The largest number of rows that a retry may pay for a second time.

        They were charged, or may have been, without an answer (see `charged.py`).
        Answers that can still be fetched do not count: a retry asks for those first.
        """
        requests = Attempt.objects.filter(part=OuterRef("pk")).order_by()
        fetched_first = Exists(requests.filter(status=AttemptStatus.ACCEPTED))
        in_vain = requests.values("part").annotate(rows=Sum(ROWS_IN_VAIN)).values("rows")
        counted = Coalesce(Subquery(in_vain), 0, output_field=models.IntegerField())
        doubt = Least(UNANSWERED, counted, output_field=models.IntegerField())
        return self.parts.filter(~fetched_first).aggregate(rows=Sum(doubt))["rows"] or 0

    @property
    def duration(self) -> timedelta | None:
        """How long it took, from Start to the end without what was idle; None before the end."""
        if self.working_since is None or self.finished_at is None:
            return None
        return self.finished_at - self.working_since

    @property
    def working_since(self) -> datetime | None:
        """When it was started, as though it had never been idle; None: it was not started."""
        return None if self.started_at is None else self.started_at + self.idle


class Event(models.Model):
    """One line of a batch's timeline: what happened, when, and who did it."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    part_number = models.PositiveIntegerField(null=True)
    # Of a line about several parts; null: it is about one, or about the batch.
    part_numbers = models.JSONField(null=True)
    # A status, or what was done; the style sheet colours statuses.
    kind = models.CharField(max_length=32)
    text = models.TextField()
    # How often it was done by the same person, for what is told in one line.
    times = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ("-at", "-id")
        indexes = (models.Index(fields=("batch", "-at"), name="event_timeline"),)

    def __str__(self) -> str:
        return self.text
