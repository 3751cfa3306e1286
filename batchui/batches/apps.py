"""The app that knows batches: what is stored and how it moves."""

from typing import Any

from django.apps import AppConfig
from django.core.management import call_command
from django.db.models.signals import post_migrate


class BatchesConfig(AppConfig):
    name = "batchui.batches"
    label = "batches"

    def ready(self) -> None:
        from batchui import checks  # noqa: F401 (importing it registers the checks)

        post_migrate.connect(complete_database, sender=self)


def complete_database(**_: Any) -> None:
    """After `migrate`: the schedule of the sweep, and the table of the cache."""
    from batchui.batches.tasks import ensure_schedule

    ensure_schedule()
    call_command("createcachetable", verbosity=0)
