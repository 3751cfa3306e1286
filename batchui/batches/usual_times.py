"""How long batches like one took, from the team's own history. It promises nothing."""

from datetime import timedelta
from typing import NamedTuple

from django.db.models import F
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.phrases import counted
from batchui.batches.states import BatchStatus

# Older batches tell little of how long one takes now.
LOOKED_BACK = timedelta(days=90)
# From fewer batches nothing is concluded; more of them are not looked at.
LEAST, MOST = 3, 50
# A batch is like another one with the same model, if neither has more than so many times its rows.
TIMES_AS_LARGE = 3


class UsualTime(NamedTuple):
    """The times within which most such batches ended.

    str() is for a sentence: “3 to 9 minutes”, “11 seconds to 2 minutes”.
    """

    shortest: timedelta
    longest: timedelta

    def __str__(self) -> str:
        (shortest, unit), (longest, longer) = map(_rounded, self)
        if (shortest, unit) == (longest, longer):
            return f"about {counted(longest, longer)}"
        if unit == longer:
            return f"{shortest} to {counted(longest, longer)}"
        return f"{counted(shortest, unit)} to {counted(longest, longer)}"


def usual_time(batch: Batch, *, rows: int | None = None) -> UsualTime | None:
    """How long batches like this one took; None: there are too few of them.

    rows: so many are asked; None: those of its file. Of ten batches the quickest and the slowest
    are left out: one that waited for a person for a day says nothing.
    """
    count = rows if rows is not None else batch.rows
    like_it = Batch.objects.filter(
        team=batch.team_id,
        finished_at__gt=timezone.now() - LOOKED_BACK,
        started_at__isnull=False,
        model=batch.ask.model,
        connection__kind=batch.connection.kind,
        status__in=(BatchStatus.FINISHED, BatchStatus.PROBLEMS),
        rows__gte=count / TIMES_AS_LARGE,
        rows__lte=count * TIMES_AS_LARGE,
    ).exclude(pk=batch.pk)
    took_each = F("finished_at") - F("started_at") - F("idle")
    latest = like_it.order_by("-finished_at").annotate(took=took_each)
    took = sorted(latest.values_list("took", flat=True)[:MOST])
    if len(took) < LEAST:
        return None
    left_out = len(took) // 10
    return UsualTime(took[left_out], took[-1 - left_out])


def _rounded(time: timedelta) -> tuple[int, str]:
    """A time as people say it: from a minute and a half on in minutes, then in hours."""
    for unit, length in (("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1))):
        if time >= 1.5 * length:
            return round(time / length), unit
    return max(1, round(time / timedelta(seconds=1))), "second"
