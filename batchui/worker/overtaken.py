"""Removes files of batches that have ended to which nothing points any more.

A worker that lost its lease leaves its answers, one that was killed leaves a half-written file, and
each new version of a part's answers leaves the old one.

Where the database is a copy that was put back, what is older than that moment stays: it may be of
the database before.
"""

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.core.cache import cache
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches.models import Batch
from batchui.batches.pointers import files_of_batch
from batchui.batches.states import ENDED_BATCHES
from batchui.worker.models import Installation

logger = logging.getLogger(__name__)

# Longer than a task, in which a file is written before something points to it, and than a download.
OLD = timedelta(hours=2)
AT_ONCE = 50
# How long ago the batches ended that are looked at where nothing is known of an earlier look.
FIRST_LOOK = timedelta(days=30)
LOOKED_UNTIL = "overtaken-until"


def remove() -> None:
    """Look at the next AT_ONCE batches that have ended, in the order in which they did."""
    now = timezone.now()
    since: datetime = cache.get(LOOKED_UNTIL) or now - FIRST_LOOK
    ended = Batch.objects.filter(
        status__in=ENDED_BATCHES,
        deleted_at=None,
        finished_at__gt=since,
        finished_at__lt=now - OLD,
    ).order_by("finished_at")[:AT_ONCE]
    restored_at = Installation.here().restored_at
    for batch in ended:
        try:
            remove_of(batch, before=now - OLD, after=restored_at)
        except OSError as problem:
            logger.warning("The files of batch %s cannot be tidied: %s", batch.pk, problem)
        cache.set(LOOKED_UNTIL, batch.finished_at, None)


def remove_of(batch: Batch, *, before: datetime, after: datetime | None = None) -> None:
    """Remove the files of a batch that were written between two times and nothing points to."""
    # The files are listed first: what is written in between is not among them.
    there = list(_files(f"batches/{batch.pk}"))
    pointed = set(files_of_batch(batch.pk))
    for name in there:
        if name in pointed:
            continue
        written = default_storage.get_modified_time(name)
        if written < before and (after is None or written > after):
            default_storage.delete(name)


def _files(folder: str) -> Iterator[str]:
    folders, names = default_storage.listdir(folder)
    yield from (f"{folder}/{name}" for name in names)
    for inner in folders:
        yield from _files(f"{folder}/{inner}")
