"""Invariant 7: nothing stays in motion beyond its lease."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from batchui.batches.clock import LONGEST_LEASE
from batchui.batches.due import MOST_UNDER_WAY, requests_under_way
from batchui.batches.models import Attempt, Batch, Event, Part, TriedRow
from batchui.batches.states import BEING_READ, SENT_PARTS, PartStatus
from batchui.batches.try_models import TriedStatus
from batchui.batches.trying import WAITS
from batchui.doctor.findings import Finding
from batchui.doctor.records import Record, Scope
from batchui.teams.models import Connection

# How long after the end of its lease something may still be in motion: a tick comes every 5 s.
GRACE = timedelta(minutes=1)
# How long what is due may wait for its turn, when nothing else is being sent.
QUIET = timedelta(minutes=10)
WAKE = (
    "See that a worker runs (`manage.py up` or `manage.py worker`; /readyz tells). If one runs and "
    "this stays, look into its log, and report it as a bug of batchui, with this line."
)


def nothing_outstays_its_lease(record: Record) -> Iterator[Finding]:
    """Invariant 7, of one batch: nothing stays in motion beyond its lease by more than a minute."""
    batch, late = record.batch, record.at - GRACE
    if batch.status in BEING_READ:
        until = batch.lease_until or batch.started_at or batch.created_at
        if until < late - (timedelta() if batch.lease_until else QUIET):
            yield record.finding(7, "reading", f"It is still {batch.status}.", since=until, do=WAKE)
    for part in record.parts:
        lease, due = part.lease_until, part.next_poll_at
        if part.status == PartStatus.SENDING and lease is None:
            yield record.finding(
                7, "no lease", "It is being sent, and no lease says until when.", part=part, do=WAKE
            )
        elif part.status == PartStatus.SENDING and lease is not None and lease < late:
            yield record.finding(
                7, "sending", "It is still being sent.", part=part, since=lease, do=WAKE
            )
        elif lease is not None and lease > record.at + LONGEST_LEASE + GRACE:
            yield record.finding(
                7,
                "lease",
                f"Its lease ends at {lease:%Y-%m-%d %H:%M} UTC only: a clock was set back.",
                part=part,
                do="See that the clocks of the hosts are right.",
            )
        if part.status in SENT_PARTS and due is None:
            yield record.finding(
                7, "no poll", "It was sent, and nobody will ask for it.", part=part, do=WAKE
            )
        elif (
            part.status in SENT_PARTS
            and due is not None
            and max(lease or due, due) < (record.at - QUIET)
        ):
            yield record.finding(
                7, "poll", "Nobody asked for it when it was due.", part=part, since=due, do=WAKE
            )


def no_try_outstays_its_lease(record: Record) -> Iterator[Finding]:
    """Invariant 7, of the tries of a batch: no row is being asked beyond its lease.

    And none waits for longer than it may.
    """
    late = record.at - GRACE
    asking = Q(status=TriedStatus.ASKING, lease_until__lt=late)
    waiting = Q(status=TriedStatus.WAITING, in_try__created_at__lt=late - WAITS)
    stuck = TriedRow.objects.filter(asking | waiting, in_try__batch=record.batch)
    for row in stuck.select_related("in_try"):
        is_asking = row.status == TriedStatus.ASKING
        yield record.finding(
            7,
            "trying",
            f"Try {row.in_try.number} still {'asks this row' if is_asking else 'waits with it'}.",
            row=row.number,
            since=row.lease_until or row.in_try.created_at,
            do=WAKE,
        )


def what_is_ready_is_sent(scope: Scope) -> Iterator[Finding]:
    """Invariant 7, of everything: no connection lies idle for ten minutes while parts are ready."""
    now = timezone.now()
    ready = Part.objects.filter(
        Q(resume_at=None) | Q(resume_at__lt=now - QUIET),
        status=PartStatus.READY,
        batch__connection=OuterRef("pk"),
        batch__deleted_at=None,
    ).exclude(batch__in=Event.objects.filter(at__gt=now - QUIET).values("batch"))
    if scope.batch is not None:
        ready = ready.filter(batch=scope.batch)
    under_way = requests_under_way()
    for connection in Connection.objects.filter(Exists(ready)):
        if connection.paused_until is not None and connection.paused_until > now - QUIET:
            continue
        if under_way[connection.pk] >= MOST_UNDER_WAY:
            continue
        latest = Attempt.objects.filter(part__batch__connection=connection)
        sent_at = latest.aggregate(at=Max("created_at"))["at"]
        if sent_at is not None and sent_at > now - QUIET:
            continue
        batch = Batch.objects.filter(
            connection=connection, parts__status=PartStatus.READY, deleted_at=None
        ).first()
        yield Finding(
            invariant=7,
            kind="idle",
            what="Parts are ready, and for ten minutes none was sent.",
            do=WAKE,
            batch=batch.pk if batch else None,
            where=f"connection {connection.name}",
            since=sent_at,
        )
