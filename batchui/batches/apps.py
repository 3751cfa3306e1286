"""The app of batches: their tables, and how their statuses change."""

from django.apps import AppConfig


class BatchesConfig(AppConfig):
    name = "batchui.batches"
    label = "batches"

    def ready(self) -> None:
        """Tell who reads files what the settings allow."""
        from django.conf import settings

        from batchui.prompts.problems import LIMITS

        LIMITS.cell, LIMITS.columns = settings.MAX_CELL_CHARACTERS, settings.MAX_COLUMNS
