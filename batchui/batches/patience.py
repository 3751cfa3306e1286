"""How often polls that bring no answers are repeated before they count, or a person is asked.

What was sent is paid for. So a reply that would give its answers up is believed only when it was
seen several times (`ODD`). And no part is polled for ever: after some hours without a usable reply
a person is asked.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from batchui.batches.changes import PartChanges
from batchui.batches.models import Attempt, Part


@dataclass(frozen=True)
class Repeats:
    """How often a reply must be seen, and over how long, before it is believed."""

    polls: int
    time: timedelta

    @property
    def pause(self) -> timedelta:
        """The time between two of these polls."""
        return self.time / (self.polls - 1)


# By the kind of reply (`Part.odd_kind`). None takes longer than, with the lease of a worker that
# died before, the ten minutes in which everything closes once faults have ended.
ODD = {
    "gone": Repeats(3, timedelta(minutes=2)),
    "refused": Repeats(3, timedelta(minutes=2)),
    "mismatch": Repeats(3, timedelta(minutes=2)),
    "incomplete": Repeats(2, timedelta(minutes=1)),
    "oversized": Repeats(2, timedelta(minutes=2)),
    # A stored file cannot be read. A folder that was away for a moment comes back.
    "damaged": Repeats(3, timedelta(minutes=2)),
    # The worker ended while it polled, as one does that needs too much memory. Before most of these
    # a lease has come to its end (see `claims.MOST_ROUNDS`): there is little to wait for.
    "cut off": Repeats(5, timedelta(seconds=40)),
}
# A person is asked after polls have failed for so long. Where nobody answers, the network is at
# fault, which people know before us; and where Cloudflare asks to wait, it is waited for.
UNREADABLE_AFTER = timedelta(hours=6)
UNREACHED_AFTER = timedelta(hours=24)
# And after so many polls, because a computer that slept for a night did not poll.
FEWEST_FAILURES = 10
# Cloudflare needs minutes, rarely hours; what it has not begun after a week is gone.
OVERDUE_AFTER = timedelta(days=3)
# What a poll with a usable reply changes.
NOTHING_WRONG: PartChanges = {
    "message": "",
    "failures_in_a_row": 0,
    "failing_since": None,
    "odd_kind": "",
    "odd_seen": 0,
    "odd_at": None,
}


def is_enough(part: Part, kind: str) -> bool:
    """Whether a reply of this kind, seen once more now, was seen often enough to be believed."""
    now, repeats = timezone.now(), ODD[kind]
    seen = sighting(part, kind, now)
    first = seen["odd_at"] or now
    return seen["odd_seen"] >= repeats.polls and now - first >= repeats.time


def may_be_last(part: Part, kind: str) -> bool:
    """Whether a reply of this kind, seen once more, may be the last poll that brings it."""
    return part.odd_kind == kind and part.odd_seen + 1 >= ODD[kind].polls


def sighting(part: Part, kind: str, now: datetime) -> PartChanges:
    """The changes that note that a reply of this kind was seen."""
    known = part.odd_kind == kind
    return {
        "odd_kind": kind,
        "odd_seen": part.odd_seen + 1 if known else 1,
        "odd_at": _past(part.odd_at, now) if known else now,
    }


def has_failed_for_hours(part: Part, now: datetime, *, patient: bool) -> bool:
    """Whether a person must be asked, if the poll that ended now brought nothing either.

    patient: nobody answered, or Cloudflare asked to wait.
    """
    time = UNREACHED_AFTER if patient else UNREADABLE_AFTER
    failures = part.failures_in_a_row + 1
    return failures >= FEWEST_FAILURES and now - failing_since(part, now) >= time


def failing_since(part: Part, now: datetime) -> datetime:
    """When the first of the polls in a row failed that brought nothing."""
    return _past(part.failing_since, now)


def is_overdue(attempt: Attempt) -> bool:
    """Whether Cloudflare has had a request for longer than it can need."""
    accepted_at = attempt.accepted_at
    return accepted_at is not None and timezone.now() - accepted_at >= OVERDUE_AFTER


def _past(time: datetime | None, now: datetime) -> datetime:
    """The time, but not one in the future, as after a clock was set back."""
    return min(time or now, now)
