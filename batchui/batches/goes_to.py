"""Which connection a draft goes to: that of the team at the moment of Start, or a chosen one."""

from batchui.batches.models import Batch
from batchui.batches.states import EDITABLE
from batchui.teams.connections import ensure_connection, open_connections
from batchui.teams.models import Connection


def connection_of(batch: Batch) -> Connection:
    """The connection that a draft goes to.

    A chosen one that takes no new batches any more (it was removed) is as if none was chosen.
    """
    if batch.connection_chosen and (chosen := _open(batch, batch.connection_id)):
        return chosen
    return ensure_connection(batch.team)


def connection_for_retry(batch: Batch) -> Connection:
    """The connection that an ended batch goes on with: its own, while that takes new batches."""
    return _open(batch, batch.connection_id) or ensure_connection(batch.team)


def _open(batch: Batch, pk: int) -> Connection | None:
    return open_connections(batch.team).filter(pk=pk).first()


def choices(batch: Batch, now: Connection) -> list[Connection]:
    """The connections among which a person can choose for a draft that goes to `now`.

    None, if it could go nowhere else but to the sandbox.
    """
    found = list(open_connections(batch.team))
    others = [one for one in found if one != now and not one.is_sandbox]
    return found if others else []


def choose(batch: Batch, connection: Connection | None) -> bool:
    """Choose the connection of a draft; None: the one for new batches, as it is at Start.

    False: it was started meanwhile, or nothing can be sent there.
    """
    changes = {"connection_chosen": connection is not None}
    if connection is not None and _open(batch, connection.pk) is None:
        return False
    drafts = Batch.objects.filter(pk=batch.pk, deleted_at=None, status__in=EDITABLE)
    if connection is None:
        return bool(drafts.update(**changes))
    return bool(drafts.update(connection=connection, **changes))
