"""What Cloudflare gives free of charge each day, and how much of it a connection has used today.

An account may use 10,000 neurons a day, until midnight UTC. What else uses the account is not known
here: the rest is an upper bound.
"""

from typing import Any

from django.db.models import Q, Sum

from batchui.batches.models import Part
from batchui.batches.money import Prices
from batchui.batches.spending import beginning_of, spent, today_in_utc
from batchui.batches.states import ACTIVE_BATCHES
from batchui.cloudflare.catalogue import FREE_NEURONS_A_DAY, USD_PER_1000_NEURONS
from batchui.teams.models import Connection

FREE_USD_A_DAY = FREE_NEURONS_A_DAY * USD_PER_1000_NEURONS / 1000


def free_usd_left(connection: Connection) -> float:
    """How much may still be used today without paying, in US dollars, as far as batchui knows.

    0 where nothing costs anything anyhow.
    """
    if connection.is_free:
        return 0.0
    return max(0.0, FREE_USD_A_DAY - usd_used_today(connection))


def usd_used_today(connection: Connection) -> float:
    """What a connection has used today at the listed prices, free or not.

    What a model used whose price is not known counts as the whole allowance.
    """
    used = (
        spent(
            one["batch__model"],
            connection.kind,
            read=one["read"],
            written=one["written"],
            prices=Prices(one["batch__usd_read"], one["batch__usd_written"]),
        )
        for one in _tokens_of_today(connection)
    )
    return sum(FREE_USD_A_DAY if usd is None else usd for usd in used)


def _tokens_of_today(connection: Connection) -> list[Any]:
    """The tokens of the answers of today, by model.

    A part of which rows were asked again today counts whole.
    """
    midnight = beginning_of(today_in_utc())
    recent = Q(batch__finished_at__gte=midnight) | Q(batch__status__in=ACTIVE_BATCHES)
    parts = Part.objects.filter(
        recent,
        batch__team=connection.team_id,
        batch__connection=connection,
        last_polled_at__gte=midnight,
    )
    by_model = parts.order_by().values("batch__model", "batch__usd_read", "batch__usd_written")
    return list(by_model.annotate(read=Sum("prompt_tokens"), written=Sum("completion_tokens")))
