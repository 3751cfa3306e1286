"""The rows and the spending of a team, day by day, from the tokens that were reported."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, Count, QuerySet, Sum, Value, When
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.money import BUNDLED, Prices, usd_of
from batchui.batches.states import ACTIVE_BATCHES
from batchui.teams.models import FREE_KINDS, Team

DAYS = 30


class Day(NamedTuple):
    """What a team had answered on a day. usd: None if the price of a model is not known."""

    day: date
    batches: int = 0
    rows: int = 0
    usd: float | None = 0.0


def last_days(team: Team, days: int = DAYS) -> list[Day]:
    """The last days up to today, each once, oldest first. They are days of UTC, as Cloudflare's.

    A batch counts on the day on which it ended; what one under way has so far counts today. Deleted
    batches count: they were paid for.
    """
    today = today_in_utc()
    first = today - timedelta(days=days - 1)
    found = {first + timedelta(days=n): Day(first + timedelta(days=n)) for n in range(days)}
    for day, used in _used(team, first, today):
        if day in found:  # a clock may be ahead of ours
            found[day] = _added(found[day], used)
    return list(found.values())


def today_in_utc() -> date:
    """The day that Cloudflare has now."""
    return timezone.now().astimezone(UTC).date()


def beginning_of(day: date) -> datetime:
    """The first moment of a day of UTC."""
    return datetime.combine(day, time(), tzinfo=UTC)


def prices_of(batch: Batch) -> Prices:
    """The prices of a started batch, as they were at its Start."""
    return Prices(batch.usd_read, batch.usd_written)


def spent(
    model: str, kind: str, *, read: int, written: int, prices: Prices = BUNDLED
) -> float | None:
    """What tokens cost. kind: of the connection. None: the price of the model is not known."""
    return 0.0 if kind in FREE_KINDS else usd_of(model, read=read, written=written, prices=prices)


def _used(team: Team, first: date, today: date) -> Iterator[tuple[date, dict[str, Any]]]:
    of_team = Batch.objects.filter(team=team)
    ended = of_team.filter(finished_at__gte=beginning_of(first)).exclude(status__in=ACTIVE_BATCHES)
    for used in _summed(ended.annotate(days=_days_since(first, today)), "days"):
        yield first + timedelta(days=used["days"]), used
    for used in _summed(of_team.filter(status__in=ACTIVE_BATCHES, part_count__gt=0)):
        yield today, used


def _days_since(first: date, today: date) -> Case:
    """How many days after the first one a batch ended, for queries.

    Comparing is much quicker than asking SQLite for the date of each batch, which asks Python.
    """
    ends = [beginning_of(first + timedelta(days=n + 1)) for n in range((today - first).days + 1)]
    days = [When(finished_at__lt=end, then=Value(n)) for n, end in enumerate(ends)]
    return Case(*days, default=Value(len(ends)))


def _summed(batches: QuerySet[Batch], *by: str) -> Iterable[dict[str, Any]]:
    summed: Iterable[dict[str, Any]] = (
        batches.order_by()
        .values(*by, "model", "connection__kind", "usd_read", "usd_written")
        .annotate(
            batches=Count("pk"),
            answers=Sum("answered"),
            read=Sum("prompt_tokens"),
            written=Sum("completion_tokens"),
        )
    )
    return summed


def _added(day: Day, used: dict[str, Any]) -> Day:
    usd = spent(
        used["model"],
        used["connection__kind"],
        read=used["read"],
        written=used["written"],
        prices=Prices(used["usd_read"], used["usd_written"]),
    )
    return Day(
        day.day,
        day.batches + used["batches"],
        day.rows + used["answers"],
        None if usd is None or day.usd is None else day.usd + usd,
    )
