"""The tables of parts and of the requests that were made of them."""

from datetime import datetime, timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q, Value
from django.utils import timezone

from batchui.batches.states import (
    RETRYABLE_ANSWERS,
    SENT_PARTS,
    AnswerStatus,
    AttemptStatus,
    PartStatus,
    Question,
)

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
    # Of the answered ones: the answer was cut off at the longest answer (`answer_reading.py`).
    cut = models.PositiveIntegerField(default=0)

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


# A raw reply that was taken for answers is kept so long; any other one as long as its batch.
CLEAN_REPLIES_ARE_KEPT = timedelta(days=3)
# For queries: an attempt whose raw reply is stored, and was taken for answers.
CLEAN_REPLY = Q(status=AttemptStatus.ANSWERED) & ~Q(reply_file="")

# Why a part waits whose rows ask what other rows ask (see `copying.py`).
WAITS_FOR_COPIES = (
    "These rows ask what other rows ask, and get their answers as soon as those have them."
)
# The same for queries: nothing holds these parts up but other rows of their batch.
WAITING_FOR_COPIES = Q(status=PartStatus.HELD, message=WAITS_FOR_COPIES)


class Part(AnswerCounts):
    """A run of consecutive rows of a batch, sent as one request."""

    batch = models.ForeignKey("batches.Batch", on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()  # 1-based; the page says "part 4 of 12"
    first_row = models.PositiveIntegerField()  # as a spreadsheet shows it
    rows = models.PositiveIntegerField()
    rows_file = models.CharField(max_length=255)
    # The body of a request for all of its rows has at most so many; 0: of an older version.
    request_bytes = models.PositiveIntegerField(default=0)
    # Which rows get the answer of another row, if there are any (see `copying.py`).
    copies_file = models.CharField(max_length=255, blank=True, default="")
    # The pictures of its rows, once they were gathered (see `part_pictures.py`).
    pictures_file = models.CharField(max_length=255, blank=True, default="")
    answers_file = models.CharField(max_length=255, blank=True)
    answers_version = models.PositiveIntegerField(default=0)
    # The status of rows that have no answer of their own; "" while they wait for one.
    waiting_became = models.CharField(max_length=16, choices=AnswerStatus.choices, blank=True)
    waiting_error = models.TextField(blank=True)
    # A retry was asked for: lines of rows without an answer no longer count.
    forget_unanswered = models.BooleanField(default=False)
    # Lines of rows with an empty answer count as answered (`empty_answers.py`).
    empty_counts = models.BooleanField(default=False)
    # Rows that somebody chose to ask again (`part_answers.AskedAgain`), and how often.
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
    # The longest answer of these rows, in tokens, if they are asked again with another one than the
    # batch's; null: with that.
    longest = models.PositiveIntegerField(null=True)
    # Of an answered request: rows that were charged without an answer that can be used.
    in_vain = models.PositiveIntegerField(default=0)
    code = models.IntegerField(null=True)
    message = models.TextField(blank=True)
    # The raw reply; that of an answered request goes some days later, by a sweep.
    reply_file = models.CharField(max_length=255, blank=True)
    # The beginning of the latest reply that batchui did not recognise, as it came.
    raw = models.TextField(blank=True, default="")

    class Meta:
        ordering = ("part", "number")
        constraints = (
            models.UniqueConstraint(fields=("part", "number"), name="attempt_number_once"),
        )
        indexes = (
            models.Index(fields=("finished_at",), name="attempt_finished"),
            models.Index(
                fields=("finished_at",), condition=CLEAN_REPLY, name="attempt_clean_reply"
            ),
        )

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.part}"

    @property
    def reply_is_gone(self) -> bool:
        """Whether its reply was kept for as long as a clean one is, and is not there any more."""
        return self.status == AttemptStatus.ANSWERED and not self.reply_file

    @property
    def reply_kept_until(self) -> datetime | None:
        """Until when its reply is kept for sure; None where that is as long as its batch."""
        if self.status != AttemptStatus.ANSWERED or self.finished_at is None:
            return None
        return self.finished_at + CLEAN_REPLIES_ARE_KEPT
