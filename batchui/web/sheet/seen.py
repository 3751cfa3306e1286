"""What a page has seen of a batch: a text that its polls name, so that only news is sent."""

from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet, UUIDField

from batchui.batches import call_limit
from batchui.batches.loading import fields_of
from batchui.batches.models import Batch
from batchui.batches.prepared import Given, prepared
from batchui.teams.models import Connection
from batchui.web import holds
from batchui.web.remembered import Remembered
from batchui.web.standstill import nothing_moves

READ = fields_of(
    Batch, ("version", "status", "team_id", "created_by_id", "started_by_id", "connection_id")
)
READ_OF_CONNECTION = fields_of(Connection, ("paused_until", "calls_left", "calls_counted_at"))


class Now(NamedTuple):
    """What a poll has to know of a batch. authors: who uploaded and who started it."""

    seen: str
    version: int
    team: int
    authors: tuple[int | None, int | None]


# Everybody who watches a batch asks for the same.
known = Remembered[UUID, Now | None](1.0, most=1_000)


def now_of(pk: UUID) -> Now | None:
    """A batch as it is now, or was a second ago; None: there is none, or it is deleted."""
    return known.get(pk, lambda: _now_of(pk))


def _now_of(pk: UUID) -> Now | None:
    for row in _read(batch=pk):
        batch = Batch.from_db("default", READ, row[: len(READ)])
        batch.connection = Connection.from_db("default", READ_OF_CONNECTION, row[len(READ) :])
        authors = (batch.created_by_id, batch.started_by_id)
        return Now(seen_of(batch), batch.version, batch.team_id, authors)
    return None


@prepared(batch=UUIDField())
def _read(batch: Given) -> QuerySet[Any, Any]:
    found = Batch.objects.filter(pk=batch, deleted_at=None).order_by()
    of_connection = (f"connection__{name}" for name in READ_OF_CONNECTION)
    return found.values_list(*READ, *of_connection)


def seen_of(batch: Batch) -> str:
    """A text that changes when the progress of a batch must be shown again.

    It has the batch's version, what holds its connection, and why nothing moves at all. Another
    batch may pause the connection, end its pause or fill it; the version of this one stays the
    same then.
    """
    connection = batch.connection
    paused_until = holds.connection_paused_until(connection)
    pause = f".{paused_until.timestamp()}" if paused_until else ""
    calls = ".calls" if call_limit.is_used_up(connection) else ""
    full = ".full" if batch.is_active and holds.is_full(connection) else ""
    standstill = f".{why}" if batch.is_active and (why := nothing_moves()) else ""
    return f"{batch.version}{pause}{calls}{full}{standstill}"
