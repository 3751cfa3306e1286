"""The app of background work, which sends and polls batches."""

from typing import Any

from django.apps import AppConfig
from django.core.management import call_command
from django.db.models.signals import post_migrate

from batchui.processes import memory


class WorkerConfig(AppConfig):
    name = "batchui.worker"
    label = "worker"

    def ready(self) -> None:
        memory.share_among_threads()
        # Importing them registers the checks.
        import batchui.checks
        import batchui.worker.checks  # noqa: F401
        from batchui.batches.signals import work_waits
        from batchui.worker.waking import wake_workers

        work_waits.connect(wake_workers, dispatch_uid="wake workers")
        post_migrate.connect(complete_database, sender=self)


def complete_database(**_: Any) -> None:
    """Make the table of the cache, after `migrate`."""
    call_command("createcachetable", verbosity=0)
