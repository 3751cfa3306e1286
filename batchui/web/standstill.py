"""Why no batch moves now, as the pages of batches say it."""

from batchui.batches.models import Batch
from batchui.worker import full_disk
from batchui.worker.heartbeat import worker_is_silent


def nothing_moves(batch: Batch) -> str:
    """Why nothing moves, if a batch should: "disk" is full, or "worker" is silent; "" if it moves.

    The data folder's disk is told at once. PostgreSQL's own disk is told once a worker is silent,
    which is after a while.
    """
    if not batch.is_active:
        return ""
    if full_disk.is_full():
        return "disk"
    if not worker_is_silent():
        return ""
    return "disk" if full_disk.is_full_anywhere() else "worker"
