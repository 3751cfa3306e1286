"""What keeps batches from being sent now: the reason, and until when."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import DateTimeField, Exists, F, OuterRef, Q, Subquery, TextField
from django.db.models.functions import Now
from django.utils import timezone

from batchui.batches import call_limit
from batchui.batches.due import MOST_UNDER_WAY, requests_under_way
from batchui.batches.models import WAITING_FOR_COPIES, Batch, Part
from batchui.batches.states import SENT_PARTS, BatchStatus, PartStatus
from batchui.teams.models import Connection
from batchui.web.remembered import Remembered

TOO_MANY_REQUESTS = (
    "{} requests are under way at {}, the most at one time. The next ones are sent as "
    "answers come back."
)
TOO_MANY_CALLS = (
    "The limit of {:,} calls to {} in five minutes is reached. batchui goes on as calls "
    "become free again."
)
_GOING_ON = (BatchStatus.QUEUED, BatchStatus.RUNNING)
# Only batches of these may be paused.
MAY_BE_PAUSED = (*_GOING_ON, BatchStatus.ATTENTION)
_ON_HOLD = ~WAITING_FOR_COPIES & Q(status=PartStatus.HELD)
_PARTS = Part.objects.filter(batch=OuterRef("pk")).order_by()
# For queries of batches: something of it is on hold, and nothing of it is under way, which is to be
# sent now or to be at Cloudflare. Or it waits for a person, who is not asked to decide about it.
IS_PAUSED = Q(
    Q(Exists(_PARTS.filter(_ON_HOLD)))
    | Q(Exists(_PARTS.filter(status=PartStatus.READY)), connection__paused_until__gt=Now()),
    Q(
        ~Q(Exists(_PARTS.filter(status__in=(PartStatus.SENDING, *SENT_PARTS)))),
        status__in=_GOING_ON,
    )
    | Q(~Q(Exists(_PARTS.filter(status=PartStatus.UNSURE))), status=BatchStatus.ATTENTION),
)


# It counts the parts of all batches, and every poll of a page asks for it.
under_way = Remembered[None, Counter[int]](1.0, most=1)


class Hold(NamedTuple):
    """Why nothing of a batch is sent now.

    resume_at: when batchui tries again; None: that is not known. is_probing: one part is sent then,
    and the others once Cloudflare has accepted one. can_be_ended: by “Try now”.
    """

    message: str
    resume_at: datetime | None
    is_probing: bool = False
    can_be_ended: bool = True

    @property
    def tried(self) -> str:
        """What “Try now” has done."""
        return "batchui sends one part now." if self.is_probing else "batchui tries again now."


# Of the batches that are paused: why, and until when.
Holds = Mapping[UUID, Hold]


def what_holds(batch: Batch, *, has_held: bool = True) -> Hold | None:
    """Why nothing more of a batch is sent now; None if nothing is on hold.

    Other parts of it may be under way: then it is not paused (see `of`). has_held: False where no
    part is held, as is known.
    """
    connection = batch.connection
    paused_until = connection_paused_until(connection)
    probing = connection.failures_in_a_row > 0
    part = batch.parts.filter(_ON_HOLD).order_by("number").first() if has_held else None
    if part is not None:
        return Hold(part.message, part.resume_at or paused_until, probing)
    if paused_until and batch.parts.filter(status=PartStatus.READY).exists():
        return Hold(connection.pause_reason, paused_until, probing)
    if batch.is_active and call_limit.is_used_up(connection):
        message = TOO_MANY_CALLS.format(settings.CALLS_PER_5_MINUTES, _who(connection))
        return Hold(message, resume_at=None, can_be_ended=False)
    if is_full(connection) and batch.parts.filter(status=PartStatus.READY).exists():
        message = TOO_MANY_REQUESTS.format(MOST_UNDER_WAY, _who(connection))
        return Hold(message, resume_at=None, can_be_ended=False)
    return None


def _who(connection: Connection) -> str:
    """What sentences call the other side of a connection."""
    if connection.is_local:
        return "the model server"
    return "the sandbox" if connection.is_sandbox else "Cloudflare"


def connection_paused_until(connection: Connection) -> datetime | None:
    """Until when nothing is sent through a connection; None: it is not paused now."""
    until = connection.paused_until
    return until if until is not None and until > timezone.now() else None


def is_full(connection: Connection) -> bool:
    """Whether as many requests of a connection are under way as may be at one time."""
    return under_way.get(None, requests_under_way)[connection.pk] >= MOST_UNDER_WAY


def of(batches: Iterable[Batch]) -> Holds:
    """Those of these batches that are paused, each with the reason. It takes one query."""
    asked = [batch.pk for batch in batches if batch.status in MAY_BE_PAUSED]
    if not asked:
        return {}
    held = _PARTS.filter(_ON_HOLD).order_by("number")
    found = (
        Batch.objects.filter(IS_PAUSED, pk__in=asked)
        .annotate(
            why=Subquery(held.values("message")[:1], output_field=TextField()),
            until=Subquery(held.values("resume_at")[:1], output_field=DateTimeField()),
        )
        .values_list(
            *("pk", "why", "until"),
            F("connection__pause_reason"),
            F("connection__paused_until"),
            F("connection__failures_in_a_row"),
        )
    )
    now = timezone.now()
    return {
        pk: Hold(
            reason if why is None else why,
            until or (paused_until if paused_until and paused_until > now else None),
            failures > 0,
        )
        for pk, why, until, reason, paused_until, failures in found
    }
