"""A connection that the other side does not let in: since when, what waits, and that it is over.

Its parts wait for a person (`pauses.py`). Administrators are told on their pages; a new token, or a
test that finds nothing wrong, lets everything go on at once.
"""

from django.db.models import QuerySet
from django.utils import timezone

from batchui.batches import call_limit, due
from batchui.batches.models import Batch, Part
from batchui.batches.signals import work_waits
from batchui.batches.states import SENT_PARTS, BatchStatus
from batchui.teams.models import Connection

# A batch that was started, and whose parts are sent or asked for.
_UNDER_WAY = (BatchStatus.QUEUED, BatchStatus.RUNNING, BatchStatus.ATTENTION)


def note(connection: Connection, reason: str) -> None:
    """Note that a connection is not let in, for a `reason` that the page shows."""
    letting_in = Connection.objects.filter(pk=connection.pk, refused_since=None)
    letting_in.update(refused_since=timezone.now(), refused_reason=reason)


def answered(connection: Connection) -> None:
    """Note that a poll was answered. Sends may be refused even so; if one was, that stands."""
    if connection.refused_since is not None:
        Connection.objects.filter(pk=connection.pk, failures_in_a_row=0).update(
            refused_since=None, refused_reason=""
        )


def batches_waiting(connection: Connection) -> QuerySet[Batch]:
    """The batches that are under way through a connection, and wait while it is not let in."""
    return Batch.objects.filter(connection=connection, status__in=_UNDER_WAY, deleted_at=None)


def go_on(connection: Connection, *, proven: bool = True) -> int:
    """Let everything go on that waits for this connection. Returns how many parts were on hold.

    proven: a test found nothing wrong. If not, one part is sent first, and the others follow once
    it is accepted.
    """
    call_limit.resume(connection.pk)
    cleared = {"refused_since": None, "refused_reason": ""}
    if proven:
        Connection.objects.filter(pk=connection.pk).update(failures_in_a_row=0, **cleared)
    released = due.release_refused(connection)
    failing = Part.objects.filter(
        batch__connection=connection,
        batch__deleted_at=None,
        status__in=SENT_PARTS,
        failures_in_a_row__gt=0,
    )
    failing.update(next_poll_at=timezone.now())
    if waiting := batches_waiting(connection).first():
        work_waits.send(Batch, batch=waiting)
    return released
