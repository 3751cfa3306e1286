"""Removes files of batches to which nothing points any more.

A worker that lost its lease leaves its answers, one that was killed leaves a half-written file, and
each new version of a part's answers leaves the old one.

In a batch that goes on, a download may read a version that was current a moment ago. So a file of
such a batch is removed when it is found a second time, some hours later. Both are done within a
day, after which the doctor calls such a file a fault.

Where the database is a copy that was put back, what is older than that moment stays: it may be of
the database before.
"""

import logging
from collections.abc import Container
from datetime import datetime, timedelta

from django.core.cache import cache
from django.core.files.storage import default_storage
from django.utils import timezone

from batchui.batches import files
from batchui.batches.models import Batch
from batchui.batches.pointers import files_of_batch
from batchui.batches.states import BEING_READ, ENDED_BATCHES
from batchui.worker.models import Installation

logger = logging.getLogger(__name__)

# Longer than a task, in which a file is written before something points to it, and than a download.
OLD = timedelta(hours=2)
AT_ONCE = 50
# How long ago the batches ended that are looked at where nothing is known of an earlier look.
FIRST_LOOK = timedelta(days=30)
LOOKED_UNTIL = "overtaken-until"
# How often a batch that goes on is looked at, and how long it is known what was found there.
BETWEEN_LOOKS = timedelta(hours=6)
A_DAY = 24 * 60 * 60


def remove() -> None:
    """Look at the next batches that have ended, and at those that go on and are due."""
    now, restored_at = timezone.now(), Installation.here().restored_at
    _remove_of_ended(now, restored_at)
    _remove_of_open(now, restored_at)


def _remove_of_ended(now: datetime, restored_at: datetime | None) -> None:
    """Look at the next AT_ONCE batches that have ended, in the order in which they did."""
    since: datetime = cache.get(LOOKED_UNTIL) or now - FIRST_LOOK
    ended = Batch.objects.filter(
        deleted_at=None, finished_at__gt=since, finished_at__lt=now - OLD
    ).order_by("finished_at")[:AT_ONCE]
    for batch in ended:
        _tidy(batch, now, restored_at, seen=None)
        cache.set(LOOKED_UNTIL, batch.finished_at, None)


def _remove_of_open(now: datetime, restored_at: datetime | None) -> None:
    """Look at up to AT_ONCE batches that go on, or have not begun, and are due."""
    # While a file is read, others are written long before something points to them.
    others = Batch.objects.filter(deleted_at=None, created_at__lt=now - OLD).exclude(
        status__in=(*ENDED_BATCHES, *BEING_READ)
    )
    keys = {f"overtaken:{batch.pk}": batch for batch in others.only("pk").order_by("created_at")}
    looks: dict[str, tuple[datetime, Container[str]]] = cache.get_many(keys)
    due = [key for key in keys if key not in looks or looks[key][0] <= now - BETWEEN_LOOKS]
    for key in due[:AT_ONCE]:
        _, seen = looks.get(key, (now, ()))
        cache.set(key, (now, _tidy(keys[key], now, restored_at, seen=seen)), A_DAY)


def _tidy(
    batch: Batch, now: datetime, restored_at: datetime | None, *, seen: Container[str] | None
) -> list[str]:
    try:
        return remove_of(batch, before=now - OLD, after=restored_at, seen=seen)
    except OSError as problem:
        logger.warning("The files of batch %s cannot be tidied: %s", batch.pk, problem)
        return []


def remove_of(
    batch: Batch,
    *,
    before: datetime,
    after: datetime | None = None,
    seen: Container[str] | None = None,
) -> list[str]:
    """Remove the files of a batch that were written between two times and nothing points to.

    seen: remove none but these. Returns the names of files to which nothing points that stay.
    """
    stay: list[str] = []
    # The files are listed first: what is written in between is not among them.
    there = list(files.stored_below(f"batches/{batch.pk}"))
    pointed = set(files_of_batch(batch.pk))
    for name in there:
        if name in pointed:
            continue
        written = default_storage.get_modified_time(name)
        is_old = written < before and (after is None or written > after)
        if is_old and (seen is None or name in seen):
            default_storage.delete(name)
        else:
            stay.append(name)
    return stay
