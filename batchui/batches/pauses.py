"""How long to wait before the next try or look."""

import random
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import F

from batchui.batches.models import Attempt, Part
from batchui.batches.states import AttemptStatus

LONGEST_BACKOFF_SECONDS = 120
TROUBLE_SECONDS = 10
LONGEST_TROUBLE_SECONDS = 120
# Beyond so many steps every pause is at its longest anyway, and powers would overflow.
MOST_STEPS = 40


def next_midnight(now: datetime) -> datetime:
    """The next 00:00 UTC, when the free daily allocation starts anew."""
    tomorrow = now.astimezone(UTC).date() + timedelta(days=1)
    return datetime.combine(tomorrow, datetime.min.time(), UTC)


def backoff(troubles: int) -> timedelta:
    """Before the next send: doubles from 2 s to 2 min, spread so that parts do not come back
    together."""
    return _spread(min(LONGEST_BACKOFF_SECONDS, 2.0 ** (min(troubles, MOST_STEPS) + 1)))


def first_look(part: Part) -> timedelta:
    """Before the first look at an accepted part: soon, or, once parts of the batch have come back,
    a little before this one is likely to. Looks count against the call budget as sends do."""
    answered = Attempt.objects.filter(
        part__batch=part.batch_id, status=AttemptStatus.ANSWERED, accepted_at__isnull=False
    )
    latest = answered.annotate(took=F("finished_at") - F("accepted_at")).order_by("-finished_at")
    took = sorted(latest.values_list("took", flat=True)[:5])
    usual = took[len(took) // 2] * 0.8 if took else timedelta()
    longest = timedelta(seconds=settings.LONGEST_PAUSE_SECONDS)
    return max(timedelta(seconds=settings.FIRST_LOOK_SECONDS), min(usual, longest))


def next_look(looks: int) -> timedelta:
    """After the n-th look (from 1): growing by half, up to the longest."""
    seconds = max(settings.FIRST_LOOK_SECONDS, 0.5) * 1.5 ** min(looks, MOST_STEPS)
    return timedelta(seconds=min(settings.LONGEST_PAUSE_SECONDS, seconds))


def after_trouble(troubles: int, wait: float | None) -> timedelta:
    """After a look that failed: 10 s doubling to 2 min, jittered, and never sooner than
    Cloudflare asked for (`wait`, seconds)."""
    pause = _spread(
        min(LONGEST_TROUBLE_SECONDS, TROUBLE_SECONDS * 2.0 ** min(troubles, MOST_STEPS))
    )
    return max(pause, timedelta(seconds=wait or 0))


def _spread(seconds: float) -> timedelta:
    return timedelta(seconds=seconds * random.uniform(0.75, 1.25))  # noqa: S311
