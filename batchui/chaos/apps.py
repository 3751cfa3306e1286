"""Chaos; no models. It does nothing in a product that runs, unless BATCHUI_CHAOS is set."""

from pathlib import Path

from django.apps import AppConfig
from django.conf import settings


class ChaosConfig(AppConfig):
    name = "batchui.chaos"
    label = "chaos"

    def ready(self) -> None:
        if settings.CHAOS_FOLDER:
            from batchui.chaos import points

            points.install(Path(settings.CHAOS_FOLDER))
