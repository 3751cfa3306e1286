"""The tables of batches. They hold facts; the text is in files (see `files.py`)."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum, Value
from django.db.models.functions import Coalesce, Least
from django.urls import reverse
from django.utils import timezone

from batchui.batches.asked_models import Asked, asked_fields
from batchui.batches.charged import ROWS_IN_VAIN
from batchui.batches.comparison_models import Comparison
from batchui.batches.export_models import Export
from batchui.batches.label_models import Label
from batchui.batches.saved_models import SavedQuestion
from batchui.batches.search_models import Searched, SearchedQuerySet, SearchText
from batchui.batches.sheet_models import Counting, Digest, Search
from batchui.batches.states import (
    ACTIVE_BATCHES,
    ENDED_BATCHES,
    RETRYABLE_ANSWERS,
    SENT_PARTS,
    STOPPABLE_BATCHES,
    AnswerStatus,
    AttemptStatus,
    BatchStatus,
    PartStatus,
    Question,
)
from batchui.batches.try_models import TriedRow, Try
from batchui.batches.upload_models import Upload

__all__ = [
    "Attempt",
    "Batch",
    "Comparison",
    "Counting",
    "Digest",
    "Event",
    "Export",
    "Label",
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
# A request whose polls have failed so often in a row is in trouble.
MOST_FAILURES = 3
# The number of rows of a part that a retry would send again (`Part.unanswered`), for queries.
UNANSWERED = sum((F(status.value) for status in RETRYABLE_ANSWERS), start=Value(0))


class AnswerCounts(models.Model):
    """How many rows have each status. A part counts its rows; a batch sums up its parts."""

    answered = models.PositiveIntegerField(default=0)
    empty = models.PositiveIntegerField(default=0)
    unfit = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    missing = models.PositiveIntegerField(default=0)
    unsent = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0)
    skipped = models.PositiveIntegerField(default=0)
    # Of the answered ones (and those that do not fit): a person corrected them (`corrections.py`).
    edited = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True

    def answer_counts(self) -> dict[AnswerStatus, int]:
        """The counts, by status."""
        return {status: getattr(self, status.value) for status in AnswerStatus}

    @property
    def settled(self) -> int:
        """The number of rows that have a status of their own."""
        return sum(self.answer_counts().values())

    @property
    def never_asked(self) -> int:
        """The number of rows that cannot be asked, or have nothing to ask about."""
        return self.invalid + self.skipped

    @property
    def unanswered(self) -> int:
        """The number of rows that a retry would send again."""
        return sum(getattr(self, status.value) for status in RETRYABLE_ANSWERS)


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
        return self.has_ended and self.unanswered > 0

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
        """The time from Start to the end; None before the end."""
        if self.started_at is None or self.finished_at is None:
            return None
        return self.finished_at - self.started_at


# Why a part waits whose rows ask what other rows ask (see `copying.py`).
WAITS_FOR_COPIES = (
    "These rows ask what other rows ask, and get their answers as soon as those have them."
)
# The same for queries: nothing holds these parts up but other rows of their batch.
WAITING_FOR_COPIES = Q(status=PartStatus.HELD, message=WAITS_FOR_COPIES)


class Part(AnswerCounts):
    """A run of consecutive rows of a batch, sent as one request."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()  # 1-based; the page says "part 4 of 12"
    first_row = models.PositiveIntegerField()  # as a spreadsheet shows it
    rows = models.PositiveIntegerField()
    rows_file = models.CharField(max_length=255)
    # Which rows get the answer of another row, if there are any (see `copying.py`).
    copies_file = models.CharField(max_length=255, blank=True, default="")
    answers_file = models.CharField(max_length=255, blank=True)
    answers_version = models.PositiveIntegerField(default=0)
    # The status of rows that have no answer of their own; "" while they wait for one.
    waiting_became = models.CharField(max_length=16, choices=AnswerStatus.choices, blank=True)
    waiting_error = models.TextField(blank=True)
    # A retry was asked for: lines of rows without an answer no longer count.
    forget_unanswered = models.BooleanField(default=False)
    # Lines of rows with an empty answer count as answered (`empty_answers.py`).
    empty_counts = models.BooleanField(default=False)
    # Rows that somebody chose to ask again (`results.AskedAgain`), and how often that was done.
    asked_again = models.JSONField(null=True, default=None)
    times_chosen = models.PositiveIntegerField(default=0)
    # Most rows in one request, after a larger request was refused as too large.
    send_limit = models.PositiveIntegerField(null=True)
    # Attempts up to this number do not tell which rows are refused (`refusals.py`): a retry or a
    # smaller limit came after them.
    attempts_before = models.PositiveIntegerField(default=0)

    status = models.CharField(max_length=16, choices=PartStatus.choices, default=PartStatus.READY)
    epoch = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    # `ready`, `held`: not sent before this time. `held` without a time waits for a person.
    resume_at = models.DateTimeField(null=True)
    # `queued`, `running`: when the next poll is due, and the result of the polls so far.
    next_poll_at = models.DateTimeField(null=True)
    last_polled_at = models.DateTimeField(null=True)
    polls = models.PositiveIntegerField(default=0)
    failures_in_a_row = models.PositiveIntegerField(default=0)  # of sends, or of polls
    failing_since = models.DateTimeField(null=True)  # the first failed poll of those
    # A reply that is looked at again before it is believed (`patience.ODD`), or a request that
    # could not be made (`unprepared.py`).
    odd_kind = models.CharField(max_length=16, blank=True)
    odd_at = models.DateTimeField(null=True)  # when it was first seen
    odd_seen = models.PositiveIntegerField(default=0)
    # `unsure`: what a person is asked.
    question = models.CharField(max_length=16, choices=Question.choices, blank=True)
    resends = models.PositiveIntegerField(default=0)  # sent again because of `resend_once`
    message = models.TextField(blank=True)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ("batch", "number")
        constraints = (
            models.UniqueConstraint(fields=("batch", "number"), name="part_number_once"),
        )
        indexes = (
            models.Index(fields=("status", "resume_at"), name="part_to_send"),
            models.Index(fields=("status", "next_poll_at"), name="part_to_poll"),
            models.Index(fields=("batch", "first_row"), name="part_of_row"),
        )

    def __str__(self) -> str:
        return f"part {self.number} of batch {self.batch_id}"

    @property
    def connection(self) -> Any:
        """The connection that it goes through."""
        return self.batch.connection

    @property
    def last_row(self) -> int:
        """The row number of the part's last row."""
        return self.first_row + self.rows - 1

    @property
    def waiting(self) -> int:
        """The number of rows that wait for an answer."""
        return max(0, self.rows - self.settled)

    @property
    def waits_for_copies(self) -> bool:
        """Whether nothing holds it up but other rows, whose answers it gets."""
        return self.status == PartStatus.HELD and self.message == WAITS_FOR_COPIES

    @property
    def is_in_trouble(self) -> bool:
        """Whether it was sent, and the polls for its answers fail again and again."""
        return self.status in SENT_PARTS and self.failures_in_a_row >= MOST_FAILURES


class Attempt(models.Model):
    """One POST of a part, or of some of its rows. It is committed before the POST is made."""

    part = models.ForeignKey(Part, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    # The rows sent, in order, as positions in the part (from 0); null: every row of the part.
    positions = models.JSONField(null=True)
    items = models.PositiveIntegerField()
    payload_size = models.PositiveIntegerField()  # bytes
    status = models.CharField(
        max_length=16, choices=AttemptStatus.choices, default=AttemptStatus.WRITTEN
    )
    request_id = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    accepted_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    # Of an answered request: rows that were charged without an answer that can be used.
    in_vain = models.PositiveIntegerField(default=0)
    code = models.IntegerField(null=True)
    message = models.TextField(blank=True)
    reply_file = models.CharField(max_length=255, blank=True)

    class Meta:
        ordering = ("part", "number")
        constraints = (
            models.UniqueConstraint(fields=("part", "number"), name="attempt_number_once"),
        )
        indexes = (models.Index(fields=("finished_at",), name="attempt_finished"),)

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.part}"


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
