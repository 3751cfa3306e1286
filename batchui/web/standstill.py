"""Why no batch moves now, as the pages of batches say it."""

from batchui.web.remembered import Remembered
from batchui.worker import full_disk
from batchui.worker.heartbeat import worker_is_silent

why = Remembered[None, str](1.0, most=1)


def nothing_moves() -> str:
    """Why no active batch moves: the "disk" is full, or the "worker" is silent; "" if they move.

    The data folder's disk is told at once. PostgreSQL's own disk is told once a worker is silent,
    which is after a while.
    """
    return why.get(None, _find_out)


def _find_out() -> str:
    if full_disk.is_full():
        return "disk"
    if not worker_is_silent():
        return ""
    return "disk" if full_disk.is_full_anywhere() else "worker"
