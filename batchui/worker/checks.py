"""Whether the hosts that share a database also share their files.

    batchui.E017  another host of this database keeps its files in another folder (database check)

Imported by the app's `ready`, which registers it.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError
from django.utils import timezone

from batchui.worker.heartbeat import kept_storage_id
from batchui.worker.models import Heartbeat

# A sign of life older than this says nothing about who keeps files where now.
FRESH = timedelta(minutes=5)


@checks.register(checks.Tags.database)
def files_are_shared(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """Whether the other hosts that use this database keep their files where this one does."""

    if not databases or settings.DATABASE_KIND != "PostgreSQL" or settings.S3_BUCKET:
        return []
    try:
        other = (
            Heartbeat.objects.filter(at__gt=timezone.now() - FRESH)
            .exclude(storage_id__in=["", kept_storage_id()])
            .first()
        )
    except DatabaseError:  # not migrated yet, or not there: other checks say so
        return []
    return [another_storage(other.name.partition(":")[0], host=other.host)] if other else []


def another_storage(name: str, *, host: str) -> checks.CheckMessage:
    """The error for a part of the product that keeps its files where this one cannot read them."""
    return checks.Error(
        f"The {name} process on {host or 'another host'} uses the same database, but keeps its "
        "files in another folder: what one stores, the other cannot read.",
        hint="Let both use one folder (BATCHUI_DATA on a disk they share), or set "
        "BATCHUI_S3_BUCKET for both.",
        id="batchui.E017",
    )
