"""How long to wait before the next send or poll."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet, UUIDField

from batchui.batches import call_limit
from batchui.batches.clock import MOST_STEPS
from batchui.batches.models import Attempt, Part
from batchui.batches.prepared import Given, prepared
from batchui.batches.states import AttemptStatus
from batchui.teams.models import Connection

LONGEST_BACKOFF_SECONDS = 120
FAILURE_SECONDS = 10
LONGEST_FAILURE_SECONDS = 120
# The sandbox answers within seconds, and whoever tries batchui watches the sheet fill.
SANDBOX_POLL_SECONDS = 0.6
# A poll is made again after this time at the latest, whatever Cloudflare asked for.
LONGEST_ASKED_SECONDS = 3600
# Between two tries of a part that waits for a person.
PROBE_SECONDS = 300
LONGEST_PROBE_SECONDS = 3600
# Somebody may be waiting for a batch of so few parts, and it costs few calls to ask sooner.
FEW_PARTS = 8
# So much sooner.
SOONER = 5


def next_midnight(now: datetime) -> datetime:
    """The next 00:00 UTC, when the free daily allowance starts again."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, datetime.min.time(), UTC)


def backoff(failures_in_a_row: int) -> timedelta:
    """The pause before a part is sent again: 2 s, doubled after each failure, up to 2 min.

    It is jittered, so that several parts are not sent again at the same moment.
    """
    return _jittered(min(LONGEST_BACKOFF_SECONDS, 2.0 ** (min(failures_in_a_row, MOST_STEPS) + 1)))


def first_poll(part: Part) -> timedelta:
    """The pause before the first poll of an accepted part: see `first_seconds`.

    Once parts of the batch are answered: a little less than the median time of the last five, if
    that is longer, up to LONGEST_PAUSE_SECONDS. Polls count against the call limit, as sends do.
    """
    took = sorted(_took(*moments) for moments in _last_five(batch=part.batch_id))
    usual = took[len(took) // 2] if took else timedelta()
    longest = timedelta(seconds=settings.LONGEST_PAUSE_SECONDS)
    return max(timedelta(seconds=first_seconds(part)), min(usual, longest))


def _took(
    accepted: datetime,
    due: datetime | None,
    polled: datetime | None,
    finished: datetime,
    polls_before: int,
) -> timedelta:
    """A little less than what Cloudflare took for an answered request, as far as it is known.

    What it took to store the answers, with others in its way, says nothing of that. If they were
    there at the first poll, they may have been there long before. How late that poll was says
    nothing, either: no worker ran, or all had other things to do.
    """
    if polls_before:
        return (min(finished, polled or finished) - accepted) * 0.8
    return (min(finished, polled or finished, due or finished) - accepted) * 0.5


@prepared(batch=UUIDField())
def _last_five(batch: Given) -> QuerySet[Any, Any]:
    """The last five answered requests of a batch: when each was accepted, was to be asked for, was
    asked for, and was stored, and how many polls found no answers before.
    """
    answered = Attempt.objects.filter(
        part__batch=batch, status=AttemptStatus.ANSWERED, accepted_at__isnull=False
    )
    moments = ("accepted_at", "part__next_poll_at", "part__last_polled_at", "finished_at")
    return answered.order_by("-finished_at").values_list(*moments, "part__polls")[:5]


def next_poll(polls: int, *, first: float, told: bool = False) -> timedelta:
    """The pause after poll number `polls` (from 1): half as long again each time.

    first: the seconds before the first one. The pause is LONGEST_PAUSE_SECONDS at most; and always,
    where an event tells of the end (`told`).
    """
    if told:
        return timedelta(seconds=settings.LONGEST_PAUSE_SECONDS)
    seconds = max(first, 0.5) * 1.5 ** min(polls, MOST_STEPS)
    return timedelta(seconds=min(settings.LONGEST_PAUSE_SECONDS, seconds))


def first_seconds(part: Part) -> float:
    """How long after it was accepted a part is polled first, unless others tell better.

    A fifth of FIRST_POLL_SECONDS in a batch of up to FEW_PARTS, while its connection has plenty
    of calls: a few polls more are nothing to it then.
    """
    if part.batch.part_count <= FEW_PARTS and call_limit.has_plenty(part.connection):
        return min(usual_seconds(part.connection), settings.FIRST_POLL_SECONDS / SOONER)
    return usual_seconds(part.connection)


def usual_seconds(connection: Connection) -> float:
    """FIRST_POLL_SECONDS; in the sandbox, and of a model server, SANDBOX_POLL_SECONDS if that is
    less."""
    first = float(settings.FIRST_POLL_SECONDS)
    return min(first, SANDBOX_POLL_SECONDS) if connection.is_free else first


def after_failure(failures_in_a_row: int, wait: float | None) -> timedelta:
    """The pause after a failed poll: 10 s, doubled after each failure, up to 2 min, jittered.

    It is at least the time that Cloudflare asked for (`wait`, seconds), up to an hour.
    """
    pause = _jittered(
        min(LONGEST_FAILURE_SECONDS, FAILURE_SECONDS * 2.0 ** min(failures_in_a_row, MOST_STEPS))
    )
    return max(pause, timedelta(seconds=min(wait or 0, LONGEST_ASKED_SECONDS)))


def probe(failures_in_a_row: int) -> timedelta:
    """The pause before a part that waits for a person is tried again, after so many refusals.

    It is 5 min, doubled after each refusal, up to an hour.
    """
    steps = min(max(failures_in_a_row - 1, 0), MOST_STEPS)
    return timedelta(seconds=min(LONGEST_PROBE_SECONDS, PROBE_SECONDS * 2.0**steps))


def _jittered(seconds: float) -> timedelta:
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311
