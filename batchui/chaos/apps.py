"""Chaos; no models. It does nothing in a product that runs, unless BATCHUI_CHAOS is set."""

from django.apps import AppConfig


class ChaosConfig(AppConfig):
    name = "batchui.chaos"
    label = "chaos"
