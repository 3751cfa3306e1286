"""Batch events: a connection that names a queue is told which of its requests have ended.

Their polls are due at once then, and come seldom otherwise. Events carry no answers, and may come
twice, late or never: a poll alone says what is so. Without a queue nothing changes.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

from django.db.models import Q, QuerySet
from django.utils import timezone

from batchui.batches import call_limit
from batchui.batches.clients import shared_client
from batchui.batches.look_up_models import LONGEST_ID, OPEN_LOOK_UPS, LookUp, ReportedRequest
from batchui.batches.models import Attempt, Batch, Part
from batchui.batches.prepared import prepared
from batchui.batches.states import SENT_PARTS, AttemptStatus
from batchui.cloudflare import errors
from batchui.cloudflare.catalogue import LONGEST_NAME
from batchui.cloudflare.event_queue import ENDED, BatchEvent, EventClient
from batchui.teams.models import Connection
from batchui.teams.problems import TeamProblem

# Requests that are not known: so many are offered, and so long they are kept.
MOST_UNKNOWN, KEPT = 10, timedelta(days=7)
# Between two pulls of a queue; and while they fail.
PULL_EVERY, AFTER_PROBLEM = timedelta(seconds=3), timedelta(minutes=1)


class Pull(NamedTuple):
    """A queue that is to be looked into: that of a connection."""

    connection: Connection


def are_used(connection: Connection) -> bool:
    """Whether a connection is told when its requests end, so that polls may come seldom."""
    return bool(connection.queue_id) and not connection.events_problem


def due() -> list[Pull]:
    """The queues to look into now: of connections with requests under way."""
    if not _some_have_queues():  # as nearly always
        return []
    now = timezone.now()
    rested = Q(events_looked_at=None) | Q(events_looked_at__lt=now - PULL_EVERY)
    calm = Q(events_problem="") | Q(events_looked_at__lt=now - AFTER_PROBLEM)
    found = Connection.objects.exclude(queue_id="").filter(rested, calm)
    return [Pull(connection) for connection in found if _has_requests(connection)]


@prepared()
def _some_have_queues() -> QuerySet[Any, Any]:
    return Connection.objects.exclude(queue_id="").order_by().values_list("pk")[:1]


def next_pull_by(until: datetime) -> datetime | None:
    """When the next queue is to be looked into, if that is by `until`."""
    found = Connection.objects.exclude(queue_id="").filter(events_looked_at__lt=until - PULL_EVERY)
    pulls = [
        connection.events_looked_at + (AFTER_PROBLEM if connection.events_problem else PULL_EVERY)
        for connection in found
        if connection.events_looked_at is not None and _has_requests(connection)
    ]
    return min((moment for moment in pulls if moment <= until), default=None)


def _has_requests(connection: Connection) -> bool:
    sent = Part.objects.filter(
        batch__connection=connection, status__in=SENT_PARTS, batch__deleted_at=None
    )
    looked_up = LookUp.objects.filter(connection=connection, status__in=OPEN_LOOK_UPS)
    return sent.exists() or looked_up.exists()


def look(pull: Pull) -> bool:
    """Look into a queue once: claim it, pull, let polls be due, acknowledge. False: no call."""
    connection = pull.connection
    seen = connection.events_looked_at
    mine = Connection.objects.filter(pk=connection.pk, events_looked_at=seen)
    if not mine.update(events_looked_at=timezone.now()):
        return False
    try:
        client = cast(EventClient, shared_client(connection))
        pulled = client.pull_events(connection.queue_id)
        _poll_now(connection, [one.request_id for one in pulled.events if one.kind in ENDED])
        _keep_unknown(connection, pulled.events)
        if pulled.leases and call_limit.take(connection, 1):
            client.acknowledge(connection.queue_id, pulled.leases)
    except TeamProblem as problem:
        _note(connection, str(problem))
        return False
    except errors.CloudflareError as problem:
        _note(connection, problem.user_message)
    else:
        _note(connection, "")
    return True


def _poll_now(connection: Connection, request_ids: list[str]) -> None:
    """Let the polls of these requests be due. A request that is not known stays so."""
    now = timezone.now()
    parts = Part.objects.filter(
        batch__connection=connection,
        status__in=SENT_PARTS,
        attempts__status=AttemptStatus.ACCEPTED,
        attempts__request_id__in=request_ids,
    )
    numbers = list(parts.values_list("pk", flat=True))
    Part.objects.filter(pk__in=numbers, status__in=SENT_PARTS, next_poll_at__gt=now).update(
        next_poll_at=now
    )
    looked_up = LookUp.objects.filter(connection=connection, request_id__in=request_ids)
    looked_up.filter(status__in=OPEN_LOOK_UPS, next_look_at__gt=now).update(next_look_at=now)


def _keep_unknown(connection: Connection, found: Iterable[BatchEvent]) -> None:
    """Keep the requests that batchui does not know: one may be that of a lost receipt."""
    models = {
        one.request_id: one.model
        for one in found
        if len(one.request_id) <= LONGEST_ID and len(one.model) <= LONGEST_NAME
    }
    sent = _sent(connection).filter(request_id__in=list(models))
    known = set(sent.values_list("request_id", flat=True))
    ReportedRequest.objects.bulk_create(
        (
            ReportedRequest(connection=connection, request_id=request_id, model=model)
            for request_id, model in models.items()
            if request_id not in known
        ),
        ignore_conflicts=True,
    )


def _sent(connection: Connection) -> QuerySet[Attempt]:
    """The requests of a connection whose receipts there are."""
    return Attempt.objects.filter(part__batch__connection=connection).exclude(request_id="")


def unknown_to(batch: Batch) -> list[ReportedRequest]:
    """The requests of its model that events told of since its start, and that no attempt has.

    Whether one is that of a part whose receipt was lost, nobody can tell but a person: events name
    neither its rows nor its references.
    """
    if not batch.connection.queue_id or batch.started_at is None:
        return []
    found = ReportedRequest.objects.filter(
        connection=batch.connection_id, model=batch.ask.model, seen_at__gte=batch.started_at
    )
    # Of many sends an event comes before the receipt is stored: these are known by now.
    unknown = found.exclude(request_id__in=_sent(batch.connection).values("request_id"))
    return list(unknown.order_by("-seen_at")[:MOST_UNKNOWN])


def forget_old() -> None:
    """Forget what was told of KEPT ago."""
    ReportedRequest.objects.filter(seen_at__lt=timezone.now() - KEPT).delete()


def _note(connection: Connection, problem: str) -> None:
    """Keep why a queue cannot be looked into; "" if it can. Polls come as usual meanwhile."""
    changed = Connection.objects.filter(pk=connection.pk).exclude(events_problem=problem)
    if changed.update(events_problem=problem) and problem:
        # What was put off because events would tell is asked for soon again.
        soon = timezone.now() + timedelta(seconds=5)
        Part.objects.filter(
            batch__connection=connection, status__in=SENT_PARTS, next_poll_at__gt=soon
        ).update(next_poll_at=soon)
