"""How a batch goes, in the line beside its strip: pace and cost so far."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import F, Sum
from django.utils import timezone

from batchui.batches.models import Attempt, Batch
from batchui.batches.money import UsdRange
from batchui.batches.states import AttemptStatus
from batchui.batches.usual_times import usual_time
from batchui.web.remembered import Remembered
from batchui.web.sheet.became import cost_text

PACE_OVER = timedelta(seconds=60)
# A shorter time says nothing about a pace.
SHORTEST = timedelta(seconds=3)

# How long others took changes when one of them ends.
usual = Remembered[UUID, str](30.0, most=1_000)


@dataclass(frozen=True)
class Progress:
    """The figures of the line. pace: “about 40 rows a second”; "" while it is not known.

    usual: “3 to 9 minutes”, which batches like this took; "" if that is not known, or it has ended.
    cost: what the tokens so far cost; "" if none are counted, or their price is not known.
    """

    pace: str
    cost: str
    tokens: int
    usual: str = ""


def progress_of(batch: Batch) -> Progress:
    """The figures of a started batch."""
    read, written = batch.prompt_tokens, batch.completion_tokens
    cost = cost_text(batch, read=read, written=written) if read or written else ""
    if cost and (expected := _estimated(batch)):
        # Of neither is taken off what is free each day: that is the account's, not the batch's.
        cost += f" at list price, estimated {expected}"
    if not batch.is_active:
        return Progress("", cost, read + written)
    return Progress(
        _pace(batch),
        cost,
        read + written,
        usual.get(batch.pk, lambda: str(usual_time(batch) or "")),
    )


def _estimated(batch: Batch) -> str:
    """What it was to cost when it was started; "" if that is not known, or it is free."""
    low, high = batch.estimated_low, batch.estimated_high
    return "" if low is None or not high else str(UsdRange(low, high))


def _pace(batch: Batch) -> str:
    """How many rows came back a second, over the last minute or since Start."""
    now = timezone.now()
    since = now - PACE_OVER
    if batch.started_at is not None:
        since = max(since, batch.started_at)
    if now - since < SHORTEST:
        return ""
    came = Attempt.objects.filter(
        part__batch=batch, finished_at__gte=since, status=AttemptStatus.ANSWERED
    )
    rows = came.aggregate(rows=Sum(F("items") - F("in_vain")))["rows"] or 0
    return _words(rows / (now - since).total_seconds())


def _words(a_second: float) -> str:
    if a_second <= 0:
        return ""
    if a_second >= 1.5:
        return f"about {a_second:,.0f} rows a second"
    a_minute = a_second * 60
    return "about 1 row a minute" if a_minute < 1.5 else f"about {a_minute:,.0f} rows a minute"
