"""The states of batches, parts, attempts and rows, and every legal move between them.

Only `lifecycle.py`, which asks these tables first, and `many_parts.py` change a status.
"""

from collections.abc import Mapping

from django.db import models


class BatchStatus(models.TextChoices):
    """The status of a batch. From `queued` on it follows from its parts (see `derive`)."""

    CHECKING = "checking"
    DRAFT = "draft"
    PREPARING = "preparing"
    QUEUED = "queued"
    RUNNING = "running"
    ATTENTION = "attention"
    FINISHED = "finished"
    PROBLEMS = "finished with problems"
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"


class PartStatus(models.TextChoices):
    """The status of a part, on its way to Cloudflare and back."""

    READY = "ready"
    SENDING = "sending"
    HELD = "held"
    UNSURE = "unsure"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"


class Question(models.TextChoices):
    """What a person is asked about a part: that is `unsure`, or that was sent (the last two)."""

    UNCLEAR = "unclear"  # it may have been sent, or not
    UNREADABLE = "unreadable"  # it was sent, and for hours no reply could be read
    MISMATCH = "mismatch"  # its reply does not fit what was sent
    DAMAGED = "damaged"  # it cannot go on: a file of it is lost or damaged, memory is short …
    RESTORED = "restored"  # the database is a copy: it may have been sent since
    # These follow from other columns; no part has them stored.
    TROUBLE = "trouble"  # it was sent, and its polls fail again and again
    STOPPING = "stopping"  # it was sent before Stop, and has no answer yet


class AttemptStatus(models.TextChoices):
    """The status of one POST. Before the POST, and after a crash, it is `written`."""

    WRITTEN = "written"
    ACCEPTED = "accepted"
    NOT_SENT = "not sent"
    BUSY = "busy"
    REFUSED = "refused"
    UNSURE = "unsure"
    ANSWERED = "answered"
    LOST = "lost"
    QUARANTINED = "quarantined"


class AnswerStatus(models.TextChoices):
    """The status of a row at its end. A row without one of these still waits."""

    ANSWERED = "answered"
    EMPTY = "empty"
    UNFIT = "unfit"  # the answer does not fit the answer columns; it is kept
    FAILED = "failed"
    MISSING = "missing"
    UNSENT = "unsent"
    INVALID = "invalid"
    SKIPPED = "skipped"  # nothing was there to ask about; that is no problem


PART_MOVES: Mapping[PartStatus, frozenset[PartStatus]] = {
    PartStatus.READY: frozenset(
        {
            PartStatus.SENDING,
            PartStatus.STOPPED,
            PartStatus.DONE,  # Stop, when it may have been sent before
            PartStatus.QUEUED,  # Stop, when it had been accepted after all
            PartStatus.UNSURE,  # the database is a copy
        }
    ),
    PartStatus.SENDING: frozenset(
        {
            PartStatus.READY,  # certainly not sent
            PartStatus.HELD,
            PartStatus.UNSURE,
            PartStatus.QUEUED,
            PartStatus.DONE,  # refused for good, or nothing in it to send
        }
    ),
    PartStatus.HELD: frozenset(
        {
            PartStatus.READY,
            PartStatus.STOPPED,
            PartStatus.DONE,  # these as above
            PartStatus.QUEUED,
            PartStatus.UNSURE,
        }
    ),
    PartStatus.UNSURE: frozenset(
        {
            PartStatus.QUEUED,
            PartStatus.READY,
            PartStatus.DONE,
            PartStatus.STOPPED,  # Stop, when it was certainly not sent
        }
    ),
    PartStatus.QUEUED: frozenset(
        {
            PartStatus.RUNNING,
            PartStatus.DONE,
            PartStatus.READY,  # answered, but some rows did not fit in the request
            PartStatus.UNSURE,  # the reply does not fit what was sent: a person decides
        }
    ),
    PartStatus.RUNNING: frozenset({PartStatus.DONE, PartStatus.READY, PartStatus.UNSURE}),
    PartStatus.DONE: frozenset({PartStatus.READY}),  # retry
    PartStatus.STOPPED: frozenset({PartStatus.READY}),  # retry
}

ATTEMPT_MOVES: Mapping[AttemptStatus, frozenset[AttemptStatus]] = {
    AttemptStatus.WRITTEN: frozenset(
        {
            AttemptStatus.ACCEPTED,
            AttemptStatus.NOT_SENT,
            AttemptStatus.BUSY,
            AttemptStatus.REFUSED,
            AttemptStatus.UNSURE,
        }
    ),
    AttemptStatus.ACCEPTED: frozenset(
        {
            AttemptStatus.ANSWERED,
            AttemptStatus.REFUSED,
            AttemptStatus.LOST,
            AttemptStatus.QUARANTINED,
        }
    ),
    AttemptStatus.UNSURE: frozenset({AttemptStatus.ACCEPTED}),  # a receipt that came late
    AttemptStatus.NOT_SENT: frozenset(),
    AttemptStatus.BUSY: frozenset(),
    AttemptStatus.REFUSED: frozenset(),
    AttemptStatus.ANSWERED: frozenset(),
    AttemptStatus.LOST: frozenset(),
    AttemptStatus.QUARANTINED: frozenset({AttemptStatus.ACCEPTED}),  # it is asked for again
}

# From `queued` on a batch's status is recomputed from its parts, so any of these may follow any.
STARTED = frozenset(
    {
        BatchStatus.QUEUED,
        BatchStatus.RUNNING,
        BatchStatus.ATTENTION,
        BatchStatus.FINISHED,
        BatchStatus.PROBLEMS,
        BatchStatus.FAILED,
        BatchStatus.STOPPING,
        BatchStatus.STOPPED,
    }
)

BATCH_MOVES: Mapping[BatchStatus, frozenset[BatchStatus]] = {
    # To `checking` again: a person chose another way to read the file.
    BatchStatus.CHECKING: frozenset({BatchStatus.DRAFT, BatchStatus.CHECKING}),
    BatchStatus.DRAFT: frozenset({BatchStatus.PREPARING, BatchStatus.CHECKING}),
    BatchStatus.PREPARING: frozenset({BatchStatus.DRAFT, BatchStatus.QUEUED}),
    **{status: STARTED - {status} for status in STARTED},
}

# Work is going on, or waits for something. Pages refresh these.
ACTIVE_BATCHES = frozenset(
    {
        BatchStatus.CHECKING,
        BatchStatus.PREPARING,
        BatchStatus.QUEUED,
        BatchStatus.RUNNING,
        BatchStatus.ATTENTION,
        BatchStatus.STOPPING,
    }
)
EDITABLE = (BatchStatus.CHECKING, BatchStatus.DRAFT)
ENDED_BATCHES = STARTED - ACTIVE_BATCHES
# Of these the file is being read, or waits to be read.
BEING_READ = frozenset({BatchStatus.CHECKING, BatchStatus.PREPARING})
STOPPABLE_BATCHES = frozenset({BatchStatus.QUEUED, BatchStatus.RUNNING, BatchStatus.ATTENTION})

ENDED_PARTS = (PartStatus.DONE, PartStatus.STOPPED)
OPEN_PARTS = frozenset(PartStatus) - frozenset(ENDED_PARTS)
# Of a part that moves between two of these, nothing follows for its batch: `derive` says the same.
ALIKE_PARTS = frozenset({PartStatus.READY, PartStatus.SENDING, PartStatus.QUEUED})
SENT_PARTS = frozenset({PartStatus.QUEUED, PartStatus.RUNNING})

# Requests without an answer that Cloudflare has charged, or may have charged.
CHARGED_PERHAPS = (AttemptStatus.UNSURE, AttemptStatus.QUARANTINED, AttemptStatus.LOST)
# Requests whose rows may be charged although there are no answers, or not yet.
PERHAPS_SENT = (AttemptStatus.WRITTEN, AttemptStatus.ACCEPTED, *CHARGED_PERHAPS)
# Requests that were charged, or may have been.
CHARGED = (AttemptStatus.ACCEPTED, AttemptStatus.ANSWERED, *CHARGED_PERHAPS)
# Requests that Cloudflare has accepted.
TAKEN = frozenset(CHARGED) - {AttemptStatus.UNSURE}

# What a retry sends again: everything that was asked and has no answer that can be used.
RETRYABLE_ANSWERS = (
    AnswerStatus.EMPTY,
    AnswerStatus.UNFIT,
    AnswerStatus.FAILED,
    AnswerStatus.MISSING,
    AnswerStatus.UNSENT,
)

# The model wrote something for these rows, whatever it is worth.
CAME_BACK = (AnswerStatus.ANSWERED, AnswerStatus.EMPTY, AnswerStatus.UNFIT)

# Rows of these leave nothing to do.
NO_PROBLEM = (AnswerStatus.ANSWERED, AnswerStatus.SKIPPED)


def derive(
    parts: Mapping[PartStatus, int],
    *,
    held_for_person: int,
    answers: Mapping[AnswerStatus, int],
    stop_requested: bool,
) -> BatchStatus:
    """The status of a started batch, from the number of its parts and of its rows by status.

    held_for_person: the number of held parts that wait for a person, not for a time.
    """
    is_open = any(parts.get(status, 0) for status in OPEN_PARTS)
    if not is_open:
        return _ended(parts, answers)
    if stop_requested:
        return BatchStatus.STOPPING
    if parts.get(PartStatus.UNSURE, 0) or held_for_person:
        return BatchStatus.ATTENTION
    if parts.get(PartStatus.RUNNING, 0) or parts.get(PartStatus.DONE, 0):
        return BatchStatus.RUNNING
    return BatchStatus.QUEUED


def _ended(parts: Mapping[PartStatus, int], answers: Mapping[AnswerStatus, int]) -> BatchStatus:
    if parts.get(PartStatus.STOPPED, 0):
        return BatchStatus.STOPPED
    problems = sum(n for status, n in answers.items() if status not in NO_PROBLEM)
    if not problems:
        return BatchStatus.FINISHED
    if any(answers.get(status, 0) for status in CAME_BACK):
        return BatchStatus.PROBLEMS
    return BatchStatus.FAILED
