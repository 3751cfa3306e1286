"""How long batches like one took, from the team's own history. It promises nothing."""

from datetime import timedelta
from typing import NamedTuple

from django.db.models import F
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.states import BatchStatus

# Older batches tell little of how long one takes now.
LOOKED_BACK = timedelta(days=90)
# From fewer batches nothing is concluded; more of them are not looked at.
LEAST, MOST = 3, 50
# A batch is like another one with the same model, if neither has more than so many times its rows.
TIMES_AS_LARGE = 3


class UsualTime(NamedTuple):
    """The times within which most such batches ended. str() is for a sentence: “3 to 9 minutes”."""

    shortest: timedelta
    longest: timedelta

    def __str__(self) -> str:
        unit, seconds = _unit(self.longest)
        shortest, longest = (max(1, round(one / seconds)) for one in self)
        if shortest == longest:
            return f"about {longest} {unit if longest > 1 else unit.removesuffix('s')}"
        return f"{shortest} to {longest} {unit}"


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
    latest = like_it.order_by("-finished_at").annotate(took=F("finished_at") - F("started_at"))
    took = sorted(latest.values_list("took", flat=True)[:MOST])
    if len(took) < LEAST:
        return None
    left_out = len(took) // 10
    return UsualTime(took[left_out], took[-1 - left_out])


def _unit(longest: timedelta) -> tuple[str, timedelta]:
    """The unit in which the longest time is a number that is easily read."""
    if longest < timedelta(minutes=2):
        return "seconds", timedelta(seconds=1)
    if longest < timedelta(hours=2):
        return "minutes", timedelta(minutes=1)
    return "hours", timedelta(hours=1)
