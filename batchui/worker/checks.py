"""The checks that a database and its files belong together.

    batchui.E017  another host of this database keeps its files in another folder (database check)
    batchui.E018  the files belong to another database (database check)

The app's `ready` imports this module, which registers the checks.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import checks
from django.db import DatabaseError
from django.utils import timezone

from batchui.worker.heartbeat import kept_storage_id
from batchui.worker.installation_mark import another_database, belong_to_another
from batchui.worker.models import Heartbeat

# An older heartbeat does not show where a host keeps its files now.
FRESH = timedelta(minutes=5)


@checks.register(checks.Tags.database)
def files_are_shared(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """An error if another host with this database keeps its files in another folder."""

    if not databases or settings.DATABASE_KIND != "PostgreSQL" or settings.S3_BUCKET:
        return []
    try:
        other = (
            Heartbeat.objects.filter(at__gt=timezone.now() - FRESH)
            .exclude(storage_id__in=["", kept_storage_id()])
            .first()
        )
    except DatabaseError:  # no tables yet, or no database: other checks report that
        return []
    return [another_storage(other.name.partition(":")[0], host=other.host)] if other else []


@checks.register(checks.Tags.database)
def files_are_ours(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[checks.CheckMessage]:
    """An error if the files here belong to another database than the one that is set."""
    if not databases:
        return []
    try:
        another = belong_to_another()
    except Exception:  # no database or no storage; that of a bucket has errors of its own
        return []
    return [checks.Error(another_database(), id="batchui.E018")] if another else []


def another_storage(name: str, *, host: str) -> checks.CheckMessage:
    """The error for a process whose files this one cannot read."""
    return checks.Error(
        f"The {name} process on {host or 'another host'} uses the same database, but keeps its "
        "files in another folder, so neither can read the files of the other.",
        hint="Let both use one folder (BATCHUI_DATA on a disk that they share), or set "
        "BATCHUI_S3_BUCKET for both.",
        id="batchui.E017",
    )
